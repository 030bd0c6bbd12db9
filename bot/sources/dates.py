"""Dates as feeds write them, read without inventing anything: a date stays a date, nonsense is None."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from time import struct_time

from dateutil import parser as dateutil_parser

# Nothing on the web is older than this; an earlier year is a two-digit year misread or a zero (feeds.md, section 1).
OLDEST = datetime(1990, 1, 1, tzinfo=UTC)
# Clocks are wrong and zones are missing, so a little future is believed.
TOLERANCE = timedelta(days=2)

_ISO_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\Z")
_CLOCK = re.compile(r"\d{1,2}\s*:\s*\d{2}|\d\s*[ap]\.?m\b|\dT\d{2}|^\d{14}$", re.IGNORECASE)
_TWELVE_HOURS = re.compile(r"\d\s*[ap]\.?\s?m\b", re.IGNORECASE)
_TWO_DIGIT_YEAR = re.compile(r"\b\d{1,2}[ -][A-Za-z]{3,9}[ -]\d{2}\b")
_TIME_OF_DAY = re.compile(r"\d{1,2}\s*:\s*\d{2}(\s*:\s*\d{2})?([.,]\d+)?\s*([+-]\d{2}:?\d{2})?")
_EPOCH = re.compile(r"\d{9,10}(\.\d+)?\Z|\d{12,13}\Z")
# RFC 822 section 5.1 and what North American feeds add; dateutil knows only UTC and the machine's own zone by name.
_ZONES = {
    name: hours * 3600
    for name, hours in {
        "UT": 0, "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "BST": 1, "WEST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2,
        "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
        "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    }.items()
}  # fmt: skip


def read_date(raw: str | None, parsed: struct_time | None = None, *, now: datetime) -> date | datetime | None:
    """The date of an entry: an aware datetime, a date where the text has no clock time, None where it says nothing.

    ``parsed`` is what the feed parser made of it (UTC). A time without a zone is UTC, as RFC 822 readers take it.
    Impossible dates (31 February), those before 1990 and those more than two days in the future are None.
    """
    text = " ".join((raw or "").split())[:100]
    if not text:
        return None
    if found := _ISO_DATE.match(text):
        try:
            return _believable_date(date(int(found[1]), int(found[2]), int(found[3])), now)
        except ValueError:
            return None
    if _EPOCH.match(text):
        seconds = float(text)
        return _believable(datetime.fromtimestamp(seconds / (1000 if seconds > 1e11 else 1), UTC), now)
    numbers = re.findall(r"\d+", _TIME_OF_DAY.sub(" ", text))
    if len(numbers) < 2 and not any(len(number) >= 7 for number in numbers):
        return None  # no year or no day: parsers fill in today's, or the first of January
    clock = _CLOCK.search(text) is not None
    moment: datetime | None = None
    # feedparser 6.0.14 drops the "PM" of 12-hour times and reads year 23 as 0023.
    if parsed is not None and not _TWELVE_HOURS.search(text) and not _TWO_DIGIT_YEAR.search(text):
        try:
            moment = datetime(*parsed[:6], tzinfo=UTC)
        except ValueError:
            moment = None
        if moment is not None and _believable(moment, now) is None:
            moment = None
    moment = moment or _by_dateutil(text)
    if moment is None:
        return None
    return _believable(moment, now) if clock else _believable_date(moment.date(), now)


def _by_dateutil(text: str) -> datetime | None:
    """What dateutil reads, if the text itself says year, month and day: read against two defaults, both must agree."""
    try:
        first, second = (
            dateutil_parser.parse(text, default=default, tzinfos=_ZONES, fuzzy=False)
            for default in (datetime(2001, 1, 1), datetime(2004, 2, 2))
        )
    except (ValueError, OverflowError, TypeError):
        return None
    if first.date() != second.date():
        return None
    try:
        return first.replace(tzinfo=UTC) if first.tzinfo is None else first.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _believable(moment: datetime, now: datetime) -> datetime | None:
    return moment if OLDEST <= moment <= now + TOLERANCE else None


def _believable_date(day: date, now: datetime) -> date | None:
    return day if OLDEST.date() <= day <= (now + TOLERANCE).date() else None
