"""When a source is asked again: the longest of what is set, what the server and what the feed ask for, within bounds."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sources.freshness import backoff, gives_up, jittered, max_age, next_interval, retry_after, validator

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
        ({"Cache-Control": "max-age=99999999999999"}, 99999999999999),
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


def test_floors() -> None:
    assert next_interval(timedelta(minutes=1)) == timedelta(minutes=15)
    assert next_interval(timedelta(minutes=1), validators=False) == HOUR
    assert next_interval(timedelta(days=3)) == timedelta(days=3)


def test_errors_double_to_a_day() -> None:
    assert [backoff(n) // HOUR for n in (1, 2, 3, 4, 5, 6, 99)] == [1, 2, 4, 8, 16, 24, 24]
    assert backoff(1, asked=7200) == 2 * HOUR
    assert backoff(3, asked=60) == 4 * HOUR


def test_given_up_after_two_weeks() -> None:
    assert not gives_up(None, NOW)
    assert not gives_up(NOW - timedelta(days=13), NOW)
    assert gives_up(NOW - timedelta(days=14), NOW)


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
