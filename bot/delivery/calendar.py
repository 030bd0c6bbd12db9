"""The next due time of a digest: a pure function of rule, zone, last local date done and now.

A digest is due once for each local date that its rule names, at the first instant of that date at which the clock on
the wall reads ``rule.at`` or later. So, in the two nights a year when clocks change:

- a time that the clock shows twice (autumn) is meant the first time;
- a time that the clock skips (spring) is due the moment the clock has jumped: 02:30 in Berlin on 2026-03-29 is due at
  03:00 local time. Where the jump ends the date (23:00 to 00:00 in Nuuk), that moment belongs to the date it ended;
- a date that does not exist (2011-12-30 in Apia) is not due.

APScheduler's CronTrigger does none of this: measured on 3.11.3, it skips 00:00 to 00:59 the day after spring-forward and
fires twice in autumn.
"""

from __future__ import annotations

import calendar
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

DAY = timedelta(days=1)
# A rule names a date at least once in a month; with a weekday and a day of the month together, at least once in 12 years
# (the Gregorian calendar's longest wait for a date to fall on a weekday again across a skipped leap year).
_HORIZON = 12 * 366
_LOOK_BACK = 62


@dataclass(frozen=True, slots=True)
class Rule:
    """When a digest is due: ``at`` local wall-clock time on ``days`` (0 = Monday; None: every day).

    With ``monthday`` (1 to 31) it is due on that day of each month; in a shorter month on its last day. With both,
    both must hold. Raises ValueError for a rule that can never be due.
    """

    at: time
    days: frozenset[int] | None = None
    monthday: int | None = None

    def __post_init__(self) -> None:
        if self.at.tzinfo is not None:
            raise ValueError("the time of a digest is a local time without a zone")
        if self.days is not None and (not self.days or not self.days <= set(range(7))):
            raise ValueError("the days of a digest are numbers from 0 (Monday) to 6 (Sunday), at least one")
        if self.monthday is not None and not 1 <= self.monthday <= 31:
            raise ValueError("the day of the month of a digest lies between 1 and 31")

    def names(self, day: date) -> bool:
        """Whether the digest is due on this local date."""
        if self.days is not None and day.weekday() not in self.days:
            return False
        if self.monthday is None:
            return True
        return day.day == min(self.monthday, calendar.monthrange(day.year, day.month)[1])


@dataclass(frozen=True, slots=True)
class Due:
    """One due run: the local ``date`` it is for and the instant ``at`` (UTC) from which it may run."""

    date: date
    at: datetime


def next_due(rule: Rule, zone: str, last_done: date | None, now: datetime) -> datetime:
    """The instant (UTC) at which the digest is next due; see ``due`` for the date that goes with it.

    An instant that is not later than ``now`` means: due at once. Runs missed since ``last_done`` come as one, the latest.
    """
    return due(rule, zone, last_done, now).at


def due(rule: Rule, zone: str, last_done: date | None, now: datetime) -> Due:
    """The next due run after the local date ``last_done`` (None: a new digest, first due at ``now`` or later).

    Raises ValueError for an unknown zone or a ``now`` without a zone.
    """
    if now.tzinfo is None:
        raise ValueError("now must be an aware datetime")
    tz, now = find_zone(zone), now.astimezone(UTC)
    today = now.astimezone(tz).date()
    missed: Due | None = None
    for day in _dates(rule, max(last_done + DAY, today - _LOOK_BACK * DAY) if last_done else today - DAY):
        at = instant(day, rule.at, tz)
        if at is None:
            continue
        run = Due(day, at)
        if at > now or (last_done is None and at == now):
            return missed or run
        if last_done is not None:
            missed = run
    if missed:
        return missed
    raise ValueError("this rule names no date before the end of the calendar")


def _dates(rule: Rule, first: date) -> Iterator[date]:
    for number in range(min(_HORIZON, (date.max - first).days)):
        day = first + number * DAY
        if rule.names(day):
            yield day


def instant(day: date, at: time, zone: ZoneInfo) -> datetime | None:
    """The first instant (UTC) of the local date at which the wall clock reads ``at`` or later.

    None if the date does not exist in the zone.
    """
    naive = datetime.combine(day, at.replace(fold=0))
    after = naive.replace(tzinfo=zone).astimezone(UTC)
    if after.astimezone(zone).replace(tzinfo=None) == naive:
        return after
    # The wall clock jumps over this time. The two readings of it lie on either side of the jump: close in on it.
    before = naive.replace(tzinfo=zone, fold=1).astimezone(UTC)
    offset = after.astimezone(zone).utcoffset()
    low, high = int(before.timestamp()), int(after.timestamp())
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == offset:
            high = middle
        else:
            low = middle
    jump = datetime.fromtimestamp(high, UTC)
    last_before = (jump - timedelta(seconds=1)).astimezone(zone).date()
    return jump if day in (jump.astimezone(zone).date(), last_before) else None


def find_zone(name: str) -> ZoneInfo:
    """The IANA zone of that name. Raises ValueError with the nearest valid names."""
    try:
        if name in _zones():
            return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    close = nearest_zones(name)
    hint = f" Did you mean {' or '.join(close)}?" if close else " Use a name such as Europe/Ljubljana or UTC."
    raise ValueError(f"there is no time zone {name!r}.{hint}")


def nearest_zones(name: str, limit: int = 3) -> list[str]:
    """The valid zone names nearest to what somebody typed, best first."""
    wanted = name.strip().replace(" ", "_").casefold()
    by_folded = {zone.casefold(): zone for zone in _zones()}
    if wanted in by_folded:
        return [by_folded[wanted]]
    cities = {zone.rpartition("/")[2].casefold(): zone for zone in sorted(_zones(), key=len, reverse=True)}
    if wanted in cities:
        return [cities[wanted]]
    close = difflib.get_close_matches(wanted, [*by_folded, *cities], n=limit * 2, cutoff=0.6)
    return list(dict.fromkeys(by_folded.get(c) or cities[c] for c in close))[:limit]


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())
