"""A digest is due once for each local date, through every trick that clocks play."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.delivery.calendar import Due, Rule, due, find_zone, nearest_zones, next_due

ZONES = sorted(available_timezones())


def runs(rule: Rule, zone: str, start: datetime, end: datetime, last: date | None = None) -> list[Due]:
    """What a bot that is always up would do between two instants."""
    found, now = [], start
    while (run := due(rule, zone, last, now)).at < end:
        found.append(run)
        last, now = run.date, max(now, run.at)
    return found


def local(rule: Rule, zone: str, first: str, last: str) -> list[str]:
    """The local times of all runs between two local dates."""
    tz = ZoneInfo(zone)
    start = datetime.fromisoformat(first).replace(tzinfo=tz).astimezone(UTC)
    end = datetime.fromisoformat(last).replace(tzinfo=tz).astimezone(UTC)
    return [f"{run.at.astimezone(tz):%m-%d %H:%M}" for run in runs(rule, zone, start, end)]


@pytest.mark.parametrize(
    ("zone", "at", "first", "last", "expected"),
    [
        ("Europe/Berlin", "00:00", "2026-03-29", "2026-04-01", ["03-29 00:00", "03-30 00:00", "03-31 00:00"]),
        ("Europe/Berlin", "00:30", "2026-03-29", "2026-04-01", ["03-29 00:30", "03-30 00:30", "03-31 00:30"]),
        ("Europe/Berlin", "02:30", "2026-03-28", "2026-03-31", ["03-28 02:30", "03-29 03:00", "03-30 02:30"]),
        ("Europe/Berlin", "02:30", "2026-10-24", "2026-10-27", ["10-24 02:30", "10-25 02:30", "10-26 02:30"]),
        ("America/New_York", "01:30", "2026-10-31", "2026-11-03", ["10-31 01:30", "11-01 01:30", "11-02 01:30"]),
        ("Africa/Cairo", "00:00", "2026-04-23", "2026-04-26", ["04-23 00:00", "04-24 01:00", "04-25 00:00"]),
        ("America/Havana", "00:15", "2026-03-07", "2026-03-10", ["03-07 00:15", "03-08 01:00", "03-09 00:15"]),
        ("America/Havana", "00:15", "2026-10-31", "2026-11-03", ["10-31 00:15", "11-01 00:15", "11-02 00:15"]),
        ("America/Santiago", "00:15", "2026-09-05", "2026-09-08", ["09-05 00:15", "09-06 01:00", "09-07 00:15"]),
        ("America/Santiago", "23:30", "2026-04-03", "2026-04-06", ["04-03 23:30", "04-04 23:30", "04-05 23:30"]),
        ("Australia/Lord_Howe", "02:15", "2026-10-03", "2026-10-06", ["10-03 02:15", "10-04 02:30", "10-05 02:15"]),
        ("Australia/Lord_Howe", "01:45", "2026-04-04", "2026-04-07", ["04-04 01:45", "04-05 01:45", "04-06 01:45"]),
        ("Pacific/Apia", "08:00", "2011-12-28", "2012-01-01", ["12-28 08:00", "12-29 08:00", "12-31 08:00"]),
        # The hour before midnight is skipped: Saturday's digest comes the moment Sunday begins.
        ("America/Nuuk", "23:30", "2026-03-27", "2026-03-30", ["03-27 23:30", "03-29 00:00", "03-29 23:30"]),
    ],
)
def test_both_clock_changes(zone: str, at: str, first: str, last: str, expected: list[str]) -> None:
    assert local(Rule(time.fromisoformat(at)), zone, first, last) == expected


def test_the_first_of_two_equal_readings_is_meant() -> None:
    at = next_due(Rule(time(2, 30)), "Europe/Berlin", date(2026, 10, 24), datetime(2026, 10, 24, 12, tzinfo=UTC))
    assert at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_monthly_on_the_31st_is_the_last_day_of_shorter_months() -> None:
    found = runs(
        Rule(time(9), monthday=31), "Europe/Berlin", datetime(2028, 1, 1, tzinfo=UTC), datetime(2028, 7, 1, tzinfo=UTC)
    )
    assert [run.date.isoformat()[5:] for run in found] == ["01-31", "02-29", "03-31", "04-30", "05-31", "06-30"]


def test_a_weekday_is_judged_in_local_time() -> None:
    """Monday 08:00 in Auckland is Sunday evening in UTC."""
    at = next_due(Rule(time(8), frozenset({0})), "Pacific/Auckland", None, datetime(2026, 7, 1, tzinfo=UTC))
    assert at == datetime(2026, 7, 5, 20, tzinfo=UTC)


def test_down_over_the_due_minute_is_due_at_once() -> None:
    now = datetime(2026, 12, 1, 7, 20, tzinfo=UTC)  # 08:20 in Berlin
    assert next_due(Rule(time(8)), "Europe/Berlin", date(2026, 11, 30), now) == datetime(2026, 12, 1, 7, tzinfo=UTC)


def test_three_days_down_are_one_digest() -> None:
    now = datetime(2026, 12, 1, 7, 20, tzinfo=UTC)
    run = due(Rule(time(8)), "Europe/Berlin", date(2026, 11, 27), now)
    assert run == Due(date(2026, 12, 1), datetime(2026, 12, 1, 7, tzinfo=UTC))
    assert due(Rule(time(8)), "Europe/Berlin", run.date, now).date == date(2026, 12, 2)


def test_a_new_digest_waits_for_its_next_time() -> None:
    now = datetime(2026, 12, 1, 7, 20, tzinfo=UTC)
    assert due(Rule(time(8)), "Europe/Berlin", None, now).date == date(2026, 12, 2)
    assert due(Rule(time(8, 20)), "Europe/Berlin", None, now).at == now


@pytest.mark.parametrize(
    ("old", "new", "at", "expected"),
    [
        ("Europe/Berlin", "America/New_York", time(23, 30), date(2026, 12, 2)),  # westward: the date was done already
        ("America/New_York", "Europe/Berlin", time(23, 30), date(2026, 12, 2)),
        ("Europe/Berlin", "Pacific/Auckland", time(0, 0), date(2026, 12, 2)),  # eastward: the next date is due at once
        ("Pacific/Auckland", "Pacific/Honolulu", time(0, 0), date(2026, 12, 2)),
    ],
)
def test_a_zone_change_at_2350_neither_doubles_nor_skips(old: str, new: str, at: time, expected: date) -> None:
    now = datetime(2026, 12, 1, 23, 50, tzinfo=ZoneInfo(old)).astimezone(UTC)
    assert due(Rule(at), old, date(2026, 12, 1), now).date == expected
    assert due(Rule(at), new, date(2026, 12, 1), now).date == expected


@given(st.data())
def test_a_clock_that_jumps_never_makes_a_second_digest(data: st.DataObject) -> None:
    start = datetime(2026, 3, 27, tzinfo=UTC)
    seen: set[date] = set()
    last: date | None = None
    now = start
    for _ in range(12):
        now += timedelta(hours=data.draw(st.integers(-60, 90)))
        run = due(Rule(time(2, 30)), "Europe/Berlin", last, now)
        if run.at <= now:
            assert run.date not in seen
            seen.add(run.date)
            last = run.date


rules = st.builds(
    Rule,
    st.times().map(lambda t: t.replace(microsecond=0, fold=0)),
    st.none() | st.frozensets(st.integers(0, 6), min_size=1),
) | st.builds(Rule, st.times().map(lambda t: t.replace(second=0, microsecond=0, fold=0)), st.none(), st.integers(1, 31))


@settings(deadline=None)
@given(rules, st.sampled_from(ZONES), st.dates(date(2017, 1, 1), date(2026, 12, 1)), st.integers(0, 86399))
def test_exactly_one_run_for_each_due_date(rule: Rule, zone: str, first: date, second: int) -> None:
    tz = ZoneInfo(zone)
    start = datetime.combine(first, time(), UTC) + timedelta(seconds=second)
    found = runs(rule, zone, start, start + timedelta(days=60))
    dates = [run.date for run in found]
    assert dates == sorted(set(dates))
    for run in found:
        assert rule.names(run.date)
        wall = run.at.astimezone(tz)
        planned = datetime.combine(run.date, rule.at)
        # Never early; late only by the length of a jump of the clock, which is at most a day and an hour.
        assert planned <= wall.replace(tzinfo=None) <= planned + timedelta(hours=25)
        if wall.replace(tzinfo=None) != planned:
            earlier = (run.at - timedelta(seconds=1)).astimezone(tz)
            assert earlier.replace(tzinfo=None) < planned, "the wall clock showed the time before the run"
    # Every date that exists and is named by the rule had its run.
    existing = {(start + timedelta(minutes=30 * n)).astimezone(tz).date() for n in range(48 * 2, 48 * 58)}
    assert {d for d in existing if rule.names(d)} <= set(dates)


def test_every_zone_over_ten_years_at_the_tricky_hours() -> None:
    """The same, without chance, around every offset change of the zones that have changes."""
    for zone in (
        "America/Nuuk",
        "Africa/Casablanca",
        "Asia/Gaza",
        "America/Asuncion",
        "Asia/Beirut",
        "Antarctica/Troll",
    ):
        for at in (time(0, 0), time(0, 30), time(2, 30), time(23, 30)):
            dates = [
                r.date
                for r in runs(Rule(at), zone, datetime(2017, 1, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))
            ]
            assert all((b - a).days == 1 for a, b in pairwise(dates)), zone


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Europe/Berln", "Europe/Berlin"),
        ("berlin", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("europe/ljubljana", "Europe/Ljubljana"),
    ],
)
def test_a_wrong_zone_names_the_nearest_right_one(typed: str, meant: str) -> None:
    with pytest.raises(ValueError, match=meant):
        find_zone(typed)
    assert nearest_zones(typed)[0] == meant


@pytest.mark.parametrize("zone", ["", "../etc/passwd", "/etc/localtime", "Mars/Olympus", "\x00", "Europe"])
def test_what_is_no_zone_is_refused(zone: str) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        next_due(Rule(time(8)), zone, None, datetime.now(UTC))


@pytest.mark.parametrize("bad", [{"days": frozenset()}, {"days": frozenset({7})}, {"monthday": 0}, {"monthday": 32}])
def test_a_rule_that_can_never_be_due_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="digest"):
        Rule(time(8), **bad)  # type: ignore[arg-type]


def test_a_naive_now_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        next_due(Rule(time(8)), "UTC", None, datetime(2026, 1, 1))
