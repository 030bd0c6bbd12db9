"""Dates as people type them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.chat.since import HINT, moment

NOW = datetime(2026, 11, 4, 15, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("typed", "day"),
    [
        ("yesterday", "2026-11-03"),
        ("Today", "2026-11-04"),
        ("3d", "2026-11-01"),
        ("3 days ago", "2026-11-01"),
        ("a week ago", "2026-10-28"),
        ("2w", "2026-10-21"),
        ("last week", "2026-10-28"),
        ("this week", "2026-11-02"),
        ("this month", "2026-11-01"),
        ("this year", "2026-01-01"),
        ("1 month", "2026-10-04"),
        ("1y", "2025-11-04"),
        ("last monday", "2026-11-02"),
        ("monday", "2026-11-02"),
        ("since monday", "2026-11-02"),
        ("wed", "2026-11-04"),
        ("last wednesday", "2026-10-28"),
        ("october", "2026-10-01"),
        ("december", "2025-12-01"),
        ("oct 2025", "2025-10-01"),
        ("2026-10-01", "2026-10-01"),
        ("2026-10", "2026-10-01"),
        ("2026", "2026-01-01"),
        ("1 oct 2026", "2026-10-01"),
        ("October 1, 2026", "2026-10-01"),
        ("1.10.2026", "2026-10-01"),
        ("24 december", "2025-12-24"),
        ("25/10/2026", "2026-10-25"),
    ],
)
def test_a_day_is_read(typed: str, day: str) -> None:
    assert moment(typed, NOW) == datetime.fromisoformat(day).replace(tzinfo=UTC)


def test_hours_are_counted_from_now() -> None:
    assert moment("6h", NOW) == NOW - timedelta(hours=6)
    assert moment("2026-10-01T12:00+02:00", NOW) == datetime(2026, 10, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "typed", ["", "foo", "3", "10/11/2026", "13.13.2026", "99999y", "in 3 days", "`x`", "2026-99-99"]
)
def test_what_cannot_be_read_gets_a_hint(typed: str) -> None:
    with pytest.raises(ValueError, match="I cannot read") as caught:
        moment(typed, NOW)
    assert HINT in str(caught.value)


def test_the_future_is_no_beginning() -> None:
    with pytest.raises(ValueError, match="is in the future"):
        moment("2027-01-01", NOW)


@given(st.text(max_size=60) | st.from_regex(r"[0-9a-z./: -]{1,30}", fullmatch=True))
@example("9999y")
@example("0000-00-00")
@example("1" * 60)
def test_whatever_is_typed_is_a_past_moment_or_a_hint(typed: str) -> None:
    found, said = None, ""
    try:
        found = moment(typed, NOW)
    except ValueError as error:
        said = str(error)
    assert HINT in said or (found and datetime(1970, 1, 1, tzinfo=UTC) <= found <= NOW)
