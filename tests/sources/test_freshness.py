"""When a source is asked again: the longest of what is set, what the server and what the feed ask for, within bounds."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sources.freshness import (
    UNCONDITIONAL,
    after_skips,
    backoff,
    gives_up,
    is_told,
    jittered,
    max_age,
    next_interval,
    retry_after,
    update_period,
    validator,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Cache-Control": "max-age=7200"}, 7200),
        ({"Cache-Control": "public, MAX-AGE = 600, must-revalidate"}, 600),
        ({"Cache-Control": "max-age=600", "Age": "100"}, 500),
        ({"Cache-Control": "max-age=600", "Expires": "Tue, 01 Dec 2026 20:00:00 GMT"}, 600),
        ({"Cache-Control": "no-cache, max-age=600"}, None),
        ({"Expires": "Tue, 01 Dec 2026 13:00:00 GMT"}, 3600),
        ({"Expires": "Tue, 01 Dec 2026 13:00:00 GMT", "Date": "Tue, 01 Dec 2026 12:30:00 GMT"}, 1800),
        ({"Expires": "0"}, None),
        ({"Expires": "Mon, 30 Nov 2026 13:00:00 GMT"}, 0),
        ({"Cache-Control": "max-age=99999999999999"}, 2**31),
        ({"Cache-Control": 'private="a, max-age=1", max-age="600"'}, 600),
        ({"Cache-Control": "max-age=600, max-age=5"}, 600),
        ({"Cache-Control": "s-maxage=9, max-age=600"}, 600),
        ({"Cache-Control": "max-age=-5", "Expires": "Tuesday, 01-Dec-26 13:00:00 GMT"}, 3600),
        ({"Expires": "Tue Dec  1 13:00:00 2026", "Age": "600"}, 3000),
        ({"Expires": "Tue, 01 Dec 99999 13:00:00 GMT"}, None),
        ({"Cache-Control": "max-age=６００"}, None),
        ({"Cache-Control": "max-age=soon"}, None),
    ],
)
def test_how_long_an_answer_is_fresh(headers: dict[str, str], seconds: float | None) -> None:
    assert max_age(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("raw", "seconds"),
    [
        ("", None),
        ("120", 120),
        ("Tue, 01 Dec 2026 12:10:00 GMT", 600),
        ("Tue, 01 Dec 2026 11:00:00 GMT", 0),
        ("x", None),
        ("9" * 17, 604800),
    ],
)
def test_retry_after_in_both_forms(raw: str, seconds: float | None) -> None:
    assert retry_after({"Retry-After": raw} if raw else {}, NOW) == seconds


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({}, HOUR),
        ({"fresh_for": 7200}, 2 * HOUR),
        ({"ttl": 10800, "fresh_for": 60}, 3 * HOUR),
        ({"fresh_for": 1e9}, 24 * HOUR),
    ],
)
def test_the_longest_wish_counts(given_: dict[str, float], expected: timedelta) -> None:
    assert next_interval(HOUR, **given_) == expected


def test_a_date_counts_from_the_servers_own_clock() -> None:
    late = {"Retry-After": "Tue, 01 Dec 2026 15:10:00 GMT", "Date": "Tue, 01 Dec 2026 15:00:00 GMT"}
    assert retry_after(late, NOW) == 600


def test_floors() -> None:
    minute, feed = timedelta(minutes=1), {"validators": False, "unconditional": UNCONDITIONAL}
    assert next_interval(minute) == timedelta(minutes=15)
    assert next_interval(minute, validators=False) == HOUR
    assert next_interval(HOUR, **feed) == 24 * HOUR
    assert next_interval(minute, fresh_for=60, **feed) == HOUR
    assert next_interval(HOUR, fresh_for=7200, **feed) == 2 * HOUR
    assert next_interval(timedelta(days=3)) == timedelta(days=3)
    assert next_interval(timedelta(seconds=5), floor=timedelta(0), **feed) == timedelta(seconds=5)


@given(st.timedeltas(timedelta(seconds=1), timedelta(days=9)), *[st.none() | st.floats(0, 1e12)] * 2, st.booleans())
def test_the_next_poll_lies_within_bounds(
    interval: timedelta, fresh_for: float | None, ttl: float | None, validators: bool
) -> None:
    wait = next_interval(interval, fresh_for=fresh_for, ttl=ttl, validators=validators)
    assert max(interval, timedelta(minutes=15)) <= wait <= max(interval, 24 * HOUR)


def test_skipped_hours_and_days() -> None:
    """1 December 2026 is a Tuesday."""
    half = NOW + timedelta(minutes=30)
    assert after_skips(half) == half
    assert after_skips(half, hours={12, 13, 14}) == NOW + 3 * HOUR
    assert after_skips(half, days=["Tuesday", "wednesday "]) == datetime(2026, 12, 3, tzinfo=UTC)
    assert after_skips(NOW + 11.5 * HOUR, hours={23, 24}) == datetime(2026, 12, 2, 1, tzinfo=UTC)
    assert after_skips(half, hours=range(24)) == half


@pytest.mark.parametrize(
    ("period", "frequency", "seconds"),
    [
        ("hourly", "2", 1800),
        (" Daily", None, 86400),
        ("weekly", 1, 604800),
        ("never", "1", None),
        ("daily", "0", None),
        ("daily", "x", None),
    ],
)
def test_update_periods(period: str, frequency: str | int | None, seconds: float | None) -> None:
    assert update_period(period, frequency) == seconds


def test_errors_double_to_a_day() -> None:
    assert [backoff(n) // HOUR for n in (1, 2, 3, 4, 5, 6, 99)] == [1, 2, 4, 8, 16, 24, 24]
    assert backoff(1, asked=7200) == 2 * HOUR
    assert backoff(3, asked=60) == 4 * HOUR


def test_given_up_after_two_weeks() -> None:
    assert not gives_up(None, NOW)
    assert not gives_up(NOW - timedelta(days=13), NOW)
    assert gives_up(NOW - timedelta(days=14), NOW)
    assert not is_told(NOW - timedelta(hours=23), NOW)
    assert is_told(NOW - timedelta(days=1), NOW)


@given(st.text(max_size=20))
def test_jitter_is_at_most_a_tenth_and_always_the_same(salt: str) -> None:
    assert HOUR <= jittered(HOUR, salt) <= HOUR * 1.1
    assert jittered(HOUR, salt) == jittered(HOUR, salt)


def test_jitter_spreads() -> None:
    waits = sorted(jittered(HOUR, str(n)) for n in range(100))
    assert waits[90] - waits[10] > timedelta(minutes=3)


@pytest.mark.parametrize(
    ("raw", "kept"), [('W/"x"', True), ("", False), ("a" * 1025, False), ("a\nb", False), (None, False)]
)
def test_validators_are_opaque_and_bounded(raw: str | None, kept: bool) -> None:
    assert validator(raw) == (raw if kept else None)


@given(
    st.dictionaries(st.sampled_from(["Cache-Control", "Expires", "Date", "Age", "Retry-After"]), st.text(max_size=60))
)
def test_no_header_raises(headers: dict[str, str]) -> None:
    assert (max_age(headers, NOW) or 0) >= 0
    assert 0 <= (retry_after(headers, NOW) or 0) <= 7 * 86400
