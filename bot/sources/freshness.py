"""When a source is asked again: what its server says, within our bounds. Pure functions of headers and times.

The numbers are those proposed from ten peers' behaviour (feeds.md, section 3): hourly by default, never under 15 minutes
and never under an hour without validators, a day at the longest, errors doubling from one hour to a day, given up after
14 days of failure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

FLOOR = timedelta(minutes=15)
LONGEST = timedelta(hours=24)
JITTER = 0.1
LONGEST_RETRY_AFTER = timedelta(days=7)
FIRST_BACKOFF = timedelta(hours=1)
GIVE_UP_AFTER = timedelta(days=14)
LONGEST_VALIDATOR = 1024


def max_age(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds for which an answer is fresh (RFC 9111, 4.2.1): max-age, else Expires relative to Date, else None."""
    control = ", ".join(_all(headers, "Cache-Control")).casefold()
    if re.search(r"\bno-(cache|store)\b", control):
        return None
    if found := re.search(r'\bmax-age\s*=\s*"?(\d{1,18})', control):
        age = headers.get("Age", "").strip()
        return max(0.0, float(found[1]) - (float(age) if re.fullmatch(r"\d{1,9}", age) else 0.0))
    if (expires := http_date(headers.get("Expires"))) is None:
        return None
    sent = http_date(headers.get("Date")) or now
    return max(0.0, (expires - sent).total_seconds())


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that Retry-After asks for, as a number or a date (RFC 9110, 10.2.3), a week at the most; None if absent."""
    raw = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,18}(\.\d+)?", raw):
        seconds = float(raw)
    elif (moment := http_date(raw)) is not None:
        seconds = (moment - now).total_seconds()
    else:
        return None
    return min(max(0.0, seconds), LONGEST_RETRY_AFTER.total_seconds())


def next_interval(
    interval: timedelta,
    *,
    fresh_for: float | None = None,
    ttl: float | None = None,
    validators: bool = True,
    floor: timedelta = FLOOR,
) -> timedelta:
    """Time until the next poll after a good one: the longest of what is set, what the server and what the feed ask for.

    Never under ``floor``, or an hour where the server gave no validators to ask with; never over a day, unless the
    interval that was set is longer.
    """
    asked = [interval, floor if validators else max(floor, timedelta(hours=1))]
    asked += [timedelta(seconds=min(s, LONGEST.total_seconds())) for s in (fresh_for, ttl) if s is not None]
    return max(interval, min(max(asked), LONGEST))


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


def gives_up(failing_since: datetime | None, now: datetime) -> bool:
    """Whether a source has failed for so long that it is no longer counted on."""
    return failing_since is not None and now - failing_since >= GIVE_UP_AFTER


def validator(raw: str | None) -> str | None:
    """An ETag or Last-Modified to hand back byte for byte; None for what no sane server sends."""
    if not raw or len(raw) > LONGEST_VALIDATOR or any(ord(c) < 32 or ord(c) == 127 for c in raw):
        return None
    return raw


def http_date(raw: str | None) -> datetime | None:
    """An HTTP date (RFC 9110, 5.6.7) as an aware datetime, or None."""
    if not raw:
        return None
    try:
        moment = parsedate_to_datetime(raw)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _all(headers: Mapping[str, str], name: str) -> list[str]:
    getall = getattr(headers, "getall", None)
    if getall is not None:
        return list(getall(name, []))
    return [headers[name]] if name in headers else []
