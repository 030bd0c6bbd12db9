"""Odd dates are read right or not at all."""

import calendar
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime

import feedparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sources.dates import read_date

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def read(raw: str) -> object:
    """As the feed reader does it: feedparser's reading beside the text."""
    return read_date(raw, feedparser.datetimes._parse_date(raw), now=NOW)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Sun, 10 Sep 2017 13:55:00 GMT", datetime(2017, 9, 10, 13, 55, tzinfo=UTC)),
        ("Sun, 10 Sep 2017 13:55:00", datetime(2017, 9, 10, 13, 55, tzinfo=UTC)),
        ("Sun, 10 Sep 2017 13:55", datetime(2017, 9, 10, 13, 55, tzinfo=UTC)),
        ("10 Sep 2017 1:55 PM", datetime(2017, 9, 10, 13, 55, tzinfo=UTC)),
        ("Sep 10, 2017 1:55:03 PM EST", datetime(2017, 9, 10, 18, 55, 3, tzinfo=UTC)),
        ("9/25/2017 12:05:00 a.m.", datetime(2017, 9, 25, 0, 5, tzinfo=UTC)),
        ("Sun, 10 Sep 2017 13:55:00 +0200", datetime(2017, 9, 10, 11, 55, tzinfo=UTC)),
        ("Sun, 10 Sep 2017 13:55:00 PDT", datetime(2017, 9, 10, 20, 55, tzinfo=UTC)),
        ("Sun, 10 Sep 17 13:55:00 GMT", datetime(2017, 9, 10, 13, 55, tzinfo=UTC)),
        ("2017-09-10T13:55:00+02:00", datetime(2017, 9, 10, 11, 55, tzinfo=UTC)),
        ("2017-09-10T13:55:00.123Z", datetime(2017, 9, 10, 13, 55, tzinfo=UTC)),
        ("2017-09-10 13:55:00", datetime(2017, 9, 10, 13, 55, tzinfo=UTC)),
        ("1505051700", datetime(2017, 9, 10, 13, 55, tzinfo=UTC)),
        ("1505051700000", datetime(2017, 9, 10, 13, 55, tzinfo=UTC)),
        ("2017-09-10", date(2017, 9, 10)),
        ("2017/09/10", date(2017, 9, 10)),
        ("Sun, 10 Sep 2017", date(2017, 9, 10)),
        ("September 10, 2017", date(2017, 9, 10)),
        ("31 Feb 2026 10:00:00 GMT", None),
        ("2026-02-31", None),
        ("Mon, 31 Dec 2035 10:00:00 GMT", None),
        ("2035-01-01", None),
        ("0001-01-01T00:00:00Z", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
        ("", None),
        ("yesterday", None),
        ("10:30", None),
        ("September", None),
        ("2017", None),
        ("n/a", None),
        ("0", None),
    ],
)
def test_a_date_is_read_right_or_not_at_all(raw: str, expected: object) -> None:
    found = read(raw)
    if isinstance(found, datetime):
        found = found.replace(microsecond=0)
    assert found == expected
    assert type(found) is type(expected)


@given(st.datetimes(datetime(1991, 1, 1), datetime(2026, 11, 30)), st.integers(-12, 14))
def test_a_proper_date_is_its_instant(naive: datetime, hours: int) -> None:
    moment = naive.replace(microsecond=0, tzinfo=UTC)
    offset = f"{'-' if hours < 0 else '+'}{abs(hours):02d}00"
    text = f"{(moment + timedelta(hours=hours)).strftime('%d %b %Y %H:%M:%S')} {offset}"
    assert read(text) == moment
    assert read(format_datetime(moment)) == moment
    assert read(moment.isoformat()) == moment
    assert read(str(calendar.timegm(moment.timetuple()))) == moment


@given(st.text(max_size=60))
def test_no_text_raises(raw: str) -> None:
    found = read_date(raw, None, now=NOW)
    assert found is None or isinstance(found, date)
