"""What people write for a time of day and for days, read; what cannot be is answered with the nearest that can."""

from __future__ import annotations

import difflib
import re
from datetime import time

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
EVERY = {"daily", "everyday", "every day", "all", "*"}
GROUPS = {"weekday": range(5), "weekdays": range(5), "weekend": range(5, 7), "weekends": range(5, 7)}

_TIME = re.compile(r"(\d{1,2})(?:[:.h](\d{1,2}))?(?::00)?\s*([ap]\.?m\.?)?", re.IGNORECASE)


def read_time(text: str) -> time:
    """``08:00``, ``8.30``, ``8 pm`` as a time of day. ValueError with the nearest one that exists."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text.strip()[:40]!r} is no time of day: write hours and minutes, such as 08:00")
    hour, minute, half = int(found[1]), int(found[2] or 0), (found[3] or "").replace(".", "").lower()
    if half and not 1 <= hour <= 12:
        raise ValueError(f"{text.strip()!r} is no time of day: did you mean {hour % 24:02}:{min(minute, 59):02}?")
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    if hour > 23 or minute > 59:
        raise ValueError(f"{text.strip()!r} is no time of day: did you mean {hour % 24:02}:{min(minute, 59):02}?")
    return time(hour, minute)


def read_days(text: str) -> frozenset[int] | None:
    """``daily`` (None), ``weekdays``, ``weekends`` or days such as ``mon, thu``; 0 is Monday.

    ValueError with the nearest word that would be right.
    """
    if text.strip().casefold() in EVERY:
        return None
    days: set[int] = set()
    for word in re.split(r"[\s,;/+&]+|\band\b", text.casefold()):
        if not word:
            continue
        matching = [at for at, day in enumerate(DAYS) if len(word) > 1 and day.startswith(word.removesuffix("."))]
        if word in GROUPS:
            days.update(GROUPS[word])
        elif len(matching) == 1:
            days.update(matching)
        else:
            close = difflib.get_close_matches(word, [*DAYS, *GROUPS, "daily"], n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else "write daily, weekdays, weekends or days such as mon, thu"
            raise ValueError(f"there is no day {word[:40]!r}: {hint}")
    if not days:
        raise ValueError("no day is named: write daily, weekdays, weekends or days such as mon, thu")
    return frozenset(days)
