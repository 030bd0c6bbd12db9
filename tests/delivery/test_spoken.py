"""Times and days are read as people write them; what is none is answered with the nearest that is."""

import contextlib
from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.delivery.spoken import DAYS, read_days, read_time


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("08:00", time(8)), ("8", time(8)), ("8:5", time(8, 5)), ("8.30", time(8, 30)), ("18h15", time(18, 15)),
        ("8 am", time(8)), ("8PM", time(20)), ("12 am", time(0)), ("12:30 p.m.", time(12, 30)), (" 00:00 ", time(0)),
        ("23:59", time(23, 59)), ("07:30:00", time(7, 30)),
    ],
)  # fmt: skip
def test_a_time(said: str, meant: time) -> None:
    assert read_time(said) == meant


@pytest.mark.parametrize(
    ("said", "hint"),
    [("25:00", "did you mean 01:00"), ("24:00", "did you mean 00:00"), ("8:75", "did you mean 08:59"),
     ("13 pm", "did you mean 13:00"), ("soon", "such as 08:00"), ("", "such as 08:00"), ("8:00:30", "such as 08:00")],
)  # fmt: skip
def test_what_is_no_time(said: str, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        read_time(said)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("daily", None), ("Every day", None), ("weekdays", {0, 1, 2, 3, 4}), ("weekend", {5, 6}), ("mon, thu", {0, 3}),
        ("Monday and Friday", {0, 4}), ("tu/th", {1, 3}), ("weekends + wed.", {2, 5, 6}), ("sunday", {6}),
    ],
)  # fmt: skip
def test_days(said: str, meant: set[int] | None) -> None:
    assert read_days(said) == meant


@pytest.mark.parametrize(
    ("said", "hint"),
    [("mondya", "did you mean monday"), ("t", "there is no day 't'"), ("xyzzy", "write daily"), (" , ", "no day"),
     ("dayly", "did you mean daily")],
)  # fmt: skip
def test_what_is_no_day(said: str, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        read_days(said)


@given(st.text(max_size=30))
def test_anything_is_read_or_answered(said: str) -> None:
    for read in (read_time, read_days):
        with contextlib.suppress(ValueError):
            read(said)


@given(st.times(), st.sets(st.integers(0, 6), min_size=1))
def test_what_is_written_in_full_is_read(at: time, days: set[int]) -> None:
    assert read_time(f"{at:%H:%M}") == at.replace(second=0, microsecond=0)
    assert read_days(", ".join(DAYS[day] for day in days)) == days
