"""Dates as people type them: ``yesterday``, ``3d``, ``last monday``, ``october``, ``2026-10-01``; a wrong one gets a hint.

Everything relative is read here, in UTC; what names a day is left to python-dateutil.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from dateutil import parser
from dateutil.relativedelta import relativedelta

HINT = "Write a day such as yesterday, 3d, 2 weeks, last monday, october or 2026-10-01"

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_UNITS = {"h": "hours", "d": "days", "w": "weeks", "mo": "months", "m": "months", "y": "years"}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_SPAN = re.compile(
    r"(?:last |past )?(?:(\d{1,4}|an?|one|two|three|four|five|six|seven|ten) ?)?"
    r"(h|hours?|hrs?|d|days?|w|wks?|weeks?|mo|months?|m|y|yrs?|years?)(?: ago)?"
)
_NAMED = re.compile(r"(this |last |past )?([a-z]+)\.?(?: (\d{4}))?")
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


def moment(typed: str, now: datetime) -> datetime:
    """The moment that ``typed`` means, seen from ``now`` (aware), in UTC. Raises ValueError with a sentence for a person."""
    text = " ".join(typed.casefold().replace(",", " ").split()).removeprefix("since ")
    now = now.astimezone(UTC)
    try:
        found = _relative(text, now) or _absolute(text, now)
    except (OverflowError, ValueError, TypeError):
        found = None
    if found is None:
        raise ValueError(f"I cannot read {_quoted(typed)} as a date. {HINT}.")
    if found > now:
        raise ValueError(f"{_quoted(typed)} is in the future. {HINT}.")
    return max(found, _EARLIEST)


def _quoted(typed: str) -> str:
    short = " ".join(typed.split())[:40].replace("`", "'")
    return f"`{short}`" if short else "that"


def _relative(text: str, now: datetime) -> datetime | None:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("now", "today", "this day"):
        return today
    if text in ("yesterday", "last day"):
        return today - timedelta(days=1)
    if text == "the day before yesterday":
        return today - timedelta(days=2)
    if text in ("this week", "this month", "this year"):
        first = {"week": today - timedelta(days=today.weekday()), "month": today.replace(day=1)}
        return first.get(text[5:], today.replace(month=1, day=1))
    if (found := _SPAN.fullmatch(text)) and (found[1] or text.startswith(("last ", "past "))):
        number = int(found[1]) if (found[1] or "").isdigit() else _NUMBERS[found[1] or "one"]
        unit = _UNITS["mo" if found[2].startswith("mo") else found[2][0]]
        back = now - relativedelta(**{unit: number})  # type: ignore[arg-type]  # hours to years are all numbers
        return back if unit == "hours" else back.replace(hour=0, minute=0, second=0, microsecond=0)
    if found := _NAMED.fullmatch(text):
        return _named(found[1], found[2], found[3], today)
    return None


def _named(which: str | None, name: str, year: str | None, today: datetime) -> datetime | None:
    """A weekday, the latest one gone by (today only where nothing says ``last``), or the first of a month."""
    if len(name) < 3:
        return None
    day = next((at for at, full in enumerate(_DAYS) if full.startswith(name)), None)
    if day is not None and not year:
        back = (today.weekday() - day) % 7
        return today - timedelta(days=back or (7 if which in ("last ", "past ") else 0))
    month = next((at for at, full in enumerate(_MONTHS, 1) if full.startswith(name)), None)
    if month is None:
        return None
    if year:
        return today.replace(year=int(year), month=month, day=1)
    begun = today.replace(month=month, day=1)
    return begun if begun <= today else begun.replace(year=today.year - 1)


def _absolute(text: str, now: datetime) -> datetime | None:
    if not re.search(r"\d", text) or len(text) > 40:
        return None
    if re.fullmatch(r"\d{1,3}", text):
        return None
    found = re.fullmatch(r"(\d{1,2})/(\d{1,2})/(\d{2,4})", text)
    if found and int(found[1]) <= 12 and int(found[2]) <= 12 and found[1] != found[2]:
        return None  # 10/11: October in one country is November in the other
    if re.fullmatch(r"\d{4}", text):
        text += "-01-01"
    elif re.fullmatch(r"\d{4}-\d{1,2}", text):
        text += "-01"
    default = now.replace(hour=0, minute=0, second=0, microsecond=0)
    read = parser.parse(text, default=default, dayfirst="." in text)
    found_at = read if read.tzinfo else read.replace(tzinfo=UTC)
    if found_at > now and not re.search(r"\d{4}", text):
        found_at = found_at - relativedelta(years=1)  # 24 december, asked in spring
    return found_at.astimezone(UTC)
