"""When a source is asked again: what its server says, within our bounds. Pure functions of headers and times.

The numbers: hourly by default; never under 15 minutes, nor under an hour where the server gives nothing to ask with (no
validators); a feed that gives neither validators nor a time once a day (``UNCONDITIONAL``); a day at the longest, unless
it was set so; a tenth of jitter. Errors wait 1, 2, 4 … 24 hours; Retry-After counts
up to a week; the owner is told after a day of failure, and a source is disabled after 14 days of it, then probed daily.
They follow from how ten feed readers behave and from what server owners ask (https://rachelbythebay.com/fs/help.html).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

FLOOR = timedelta(minutes=15)
UNVALIDATED_FLOOR = timedelta(hours=1)  # without validators
UNCONDITIONAL = timedelta(hours=24)  # for feeds without validators that name no time
LONGEST = timedelta(hours=24)
JITTER = 0.1
LONGEST_RETRY_AFTER = timedelta(days=7)
FIRST_BACKOFF = timedelta(hours=1)
TELL_AFTER = timedelta(days=1)
GIVE_UP_AFTER = timedelta(days=14)
PROBE = timedelta(hours=24)
LONGEST_VALIDATOR = 1024  # bytes

_FOREVER = 2.0**31  # RFC 9111, 1.2.2: a number of seconds that is too large to hold counts as 2^31
_DIRECTIVE = re.compile(r"""([\w!#$%&'*+.^`|~-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^,\s]*))?""", re.ASCII)
_PERIODS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(weeks=1),
    "monthly": timedelta(days=30),
    "yearly": timedelta(days=365),
}


def max_age(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds for which an answer is still fresh (RFC 9111, 4.2): max-age, else Expires relative to Date; less its Age.

    None where the server names no time. no-cache and no-store name none.
    """
    directives: dict[str, str] = {}
    for name, value in _DIRECTIVE.findall(", ".join(_all(headers, "Cache-Control"))[:4096]):
        directives.setdefault(name.lower(), value.strip('"'))
    if "no-cache" in directives or "no-store" in directives:
        return None
    if (fresh := _seconds(directives.get("max-age", ""))) is None:
        if (expires := http_date(headers.get("Expires"))) is None:
            return None
        fresh = (expires - (http_date(headers.get("Date")) or now)).total_seconds()
    return max(0.0, fresh - (_seconds(headers.get("Age", "")) or 0.0))


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that Retry-After asks for, as a number or as a date (RFC 9110, 10.2.3), a week at the most.

    A date counts from the server's own Date, so that a wrong clock on either side does no harm. None where it is absent,
    negative or garbage: then our own back-off holds.
    """
    raw = headers.get("Retry-After", "").strip()
    seconds = _seconds(raw)
    if seconds is None and (moment := http_date(raw)) is not None:
        seconds = (moment - (http_date(headers.get("Date")) or now)).total_seconds()
    return None if seconds is None else min(max(0.0, seconds), LONGEST_RETRY_AFTER.total_seconds())


def next_interval(
    interval: timedelta,
    *,
    fresh_for: float | None = None,
    ttl: float | None = None,
    validators: bool = True,
    floor: timedelta = FLOOR,
    unconditional: timedelta = UNVALIDATED_FLOOR,
) -> timedelta:
    """Time until the next poll after a good one: the longest of what is set, what the server and what the feed ask for.

    ``fresh_for`` is the answer's ``max_age`` and ``ttl`` what the feed itself says, both in seconds. Never under
    ``floor``; without validators not under an hour, nor under ``unconditional`` where no time was named either. Never over
    a day, unless the interval that was set is longer. A ``floor`` of zero is for the operator's own hosts: nothing is added
    for politeness.
    """
    named = [timedelta(seconds=min(s, LONGEST.total_seconds())) for s in (fresh_for, ttl) if s]
    if floor and not validators:
        floor = max(floor, UNVALIDATED_FLOOR, timedelta(0) if named else unconditional)
    return max(interval, min(max(floor, *named, timedelta(0)), LONGEST))


def backoff(failures: int, *, asked: float | None = None, first: timedelta = FIRST_BACKOFF) -> timedelta:
    """Time until the next poll after so many failures in a row: ``first`` doubled each time, a day at the longest.

    ``asked`` is what Retry-After asked for, in seconds, and goes over it where it is longer.
    """
    wait = min(LONGEST, first * float(2 ** min(max(failures, 1) - 1, 20)))
    return max(wait, timedelta(seconds=asked)) if asked is not None else wait


def jittered(wait: timedelta, salt: str) -> timedelta:
    """The wait made up to a tenth longer, by a share that depends on ``salt`` alone: no herd on the hour."""
    share = int.from_bytes(hashlib.blake2b(salt.encode("utf-8", "replace"), digest_size=4).digest()) / 2**32
    return wait * (1 + JITTER * share)


def is_told(failing_since: datetime | None, now: datetime) -> bool:
    """Whether a source has failed for so long that its owner should know."""
    return failing_since is not None and now - failing_since >= TELL_AFTER


def gives_up(failing_since: datetime | None, now: datetime) -> bool:
    """Whether a source has failed for so long that it is disabled: from then on it is only probed, every ``PROBE``."""
    return failing_since is not None and now - failing_since >= GIVE_UP_AFTER


def after_skips(due: datetime, *, hours: Collection[int] = (), days: Collection[str] = ()) -> datetime:
    """``due`` moved out of a feed's skipHours (0..23, or 24 for 0; UTC) and skipDays (English names), a week at the most."""
    skipped_hours = {hour % 24 for hour in hours}
    skipped_days = {day.strip().casefold()[:3] for day in days}
    at = due.astimezone(UTC)
    for _ in range(8 * 24):
        if at.hour not in skipped_hours and _DAYS[at.weekday()] not in skipped_days:
            return at
        at = at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return due  # every hour is skipped: the feed means nothing by it


_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def update_period(period: str, frequency: str | int | None = 1) -> float | None:
    """Seconds between updates by a feed's sy:updatePeriod and sy:updateFrequency; None where they make no sense."""
    every = _PERIODS.get(period.strip().casefold())
    times = _seconds(str(frequency if frequency is not None else 1).strip())
    return every.total_seconds() / times if every is not None and times else None


def validator(raw: str | None) -> str | None:
    """An ETag or Last-Modified to hand back byte for byte; None for what no sane server sends (over 1 kB, controls)."""
    if not raw or any(ord(c) < 32 or ord(c) == 127 for c in raw):
        return None
    return raw if len(raw.encode("utf-8", "surrogateescape")) <= LONGEST_VALIDATOR else None


def http_date(raw: str | None) -> datetime | None:
    """An HTTP date in any of its three forms (RFC 9110, 5.6.7) as an aware datetime in UTC, or None."""
    if not raw or len(raw) > 100:
        return None
    try:
        moment = parsedate_to_datetime(raw)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _seconds(raw: str) -> float | None:
    """A number of seconds in ASCII digits; fractions, which some servers send, are taken too."""
    if not re.fullmatch(r"[0-9]{1,300}(?:\.[0-9]{1,20})?", raw.strip()):
        return None
    return min(float(raw), _FOREVER)


def _all(headers: Mapping[str, str], name: str) -> list[str]:
    getall = getattr(headers, "getall", None)
    if getall is not None:
        return list(getall(name, []))
    return [headers[name]] if name in headers else []
