"""What a digest shows is chosen by a stated formula, and its runs give every brief once whatever the clock does."""

from __future__ import annotations

import asyncio
import contextlib
import math
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from bot.briefs.model import Brief, Coverage, Topic
from bot.delivery import digests
from bot.delivery.digests import Contents, Digests, Page, choose, importance, is_silent, paged
from bot.store import digests as store
from bot.store import outbox, subscriptions
from bot.store.briefs import StoredBrief
from bot.store.database import Database
from bot.store.digests import Candidate, Digest, NewDigest, Schedule
from bot.store.schema import Unreadable
from bot.store.subscriptions import Subscription
from tests.store import make
from tests.store.make import NOW, later

EVERYTHING = Subscription(1, "config", None, 7, None, None, True, "digest", None, "active", None, None, NOW)
BERLIN = Schedule(time(8), zone="Europe/Berlin")  # 07:00 UTC in winter


def candidate(
    id: int, topic: str | None = "ai", *, sources: int = 1, seen: datetime = NOW, **values: object
) -> Candidate:
    brief = Brief(title=f"Brief {id}", topic=Topic(topic.upper(), topic) if topic else None)
    return Candidate(StoredBrief(id, replace(brief, **values), 1, seen, False), sources)  # type: ignore[arg-type]


# -- what --


def test_importance_is_the_stated_formula() -> None:
    assert importance(candidate(1), EVERYTHING, NOW) == 1 + 0 + 1
    assert importance(candidate(1, sources=3), EVERYTHING, NOW) == 2 + 0 + 1
    covered = candidate(1, coverage=(Coverage("https://a.example/"),) * 7)
    assert importance(covered, EVERYTHING, NOW) == 3 + 0 + 1
    named = replace(EVERYTHING, topic="AI")
    assert importance(candidate(1), named, NOW) == 1 + 1 + 1
    assert importance(candidate(1, "web"), named, NOW) == 1 + 0 + 1
    assert importance(candidate(1, "web"), replace(EVERYTHING, everything=False, source_id=1), NOW) == 3
    day_old = candidate(1, published=NOW - timedelta(days=1))
    assert math.isclose(importance(day_old, EVERYTHING, NOW), 1.5)
    undated = candidate(1, seen=NOW - timedelta(days=2))
    assert math.isclose(importance(undated, EVERYTHING, NOW), 1.25)


@pytest.mark.parametrize(
    "published",
    [None, date.min, date.max, datetime.min, datetime.max, datetime.min.replace(tzinfo=UTC), date(2026, 12, 1)],
)
def test_no_date_is_too_odd(published: date | None) -> None:
    assert 1 <= importance(candidate(1, published=published), EVERYTHING, NOW) <= 2


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from(["ai", "web", None, "AI"]), st.integers(1, 9), st.integers(0, 99)), max_size=40),
    st.integers(1, 30),
)
def test_the_most_important_are_shown_by_topic_and_none_is_lost(
    drawn: Sequence[tuple[str | None, int, int]], most: int
) -> None:
    found = [
        candidate(id, topic, sources=sources, seen=NOW - timedelta(hours=hours))
        for id, (topic, sources, hours) in enumerate(drawn)
    ]
    chosen = choose(found, EVERYTHING, most, NOW)
    weight = {c.stored.id: importance(c, EVERYTHING, NOW) for c in found}
    shown, others = [b.id for b in chosen.shown], [b.id for b in chosen.others]
    assert sorted(shown + others) == sorted(weight)
    assert len(shown) == min(most, len(found))
    assert not shown or not others or min(weight[i] for i in shown) >= max(weight[i] for i in others)
    for topic in chosen.topics:
        assert len({(b.brief.topic.slug.casefold() if b.brief.topic else None) for b in topic}) == 1
        assert [weight[b.id] for b in topic] == sorted((weight[b.id] for b in topic), reverse=True)
    leads = [weight[topic[0].id] for topic in chosen.topics]
    assert leads == sorted(leads, reverse=True)
    assert choose(list(reversed(found)), EVERYTHING, most, NOW) == chosen


@given(st.lists(st.integers(), max_size=100))
def test_pages_are_about_as_long_and_hold_all(ids: list[int]) -> None:
    pages = paged(ids)
    assert [id for page in pages for id in page] == ids
    assert all(1 <= len(page) <= 6 for page in pages)
    assert len(pages) == math.ceil(len(ids) / 6)
    assert not pages or max(map(len, pages)) - min(map(len, pages)) <= 1


def test_a_page_is_read_as_it_was_written() -> None:
    page = Page("Mörning", date(2026, 12, 1), 7, 1, 2, (3, 4), (Contents("KI", 2, 3),), 2, 9, True)
    assert digests.read(digests.write(page)) == page
    for damaged in (None, "", "[]", "{}", digests.write(page)[:-3], digests.write(page).replace("2026-12-01", "x")):
        with pytest.raises(Unreadable):
            digests.read(damaged)


@pytest.mark.parametrize(
    ("zone", "utc", "silent"),
    [("UTC", 21, False), ("UTC", 22, True), ("UTC", 6, True), ("UTC", 7, False), ("Asia/Tokyo", 22, False),
     ("America/New_York", 11, True)],
)  # fmt: skip
def test_night_is_local(zone: str, utc: int, silent: bool) -> None:
    now = datetime(2026, 12, 1, utc, tzinfo=UTC)
    assert is_silent(Schedule(time(8), zone=zone), now) is silent
    assert is_silent(Schedule(time(8), zone=zone, silent="always"), now)
    assert not is_silent(Schedule(time(8), zone=zone, silent="never"), now)


# -- when --


async def add(database: Database, schedule: Schedule = BERLIN, channel: int = 7, now: datetime = NOW) -> Digest:
    async with database.transaction() as conn:
        return await store.add(conn, NewDigest(channel, schedule, everything=True), now)


async def run(database: Database, digest: Digest, now: datetime) -> store.Run | None:
    async with database.transaction() as conn:
        return await digests.run(conn, digest.subscription.id, now=now, instance="i")


async def test_a_run_its_briefs_and_its_pages_are_one_commit(database: Database) -> None:
    digest = await add(database)
    async with database.transaction() as conn:
        ids = [await make.brief(conn, n) for n in range(7)]
    assert await run(database, digest, later(hours=18)) is None
    due_at = datetime(2026, 12, 2, 7, tzinfo=UTC)
    with contextlib.suppress(ZeroDivisionError):
        async with database.transaction() as conn:
            assert await digests.run(conn, digest.subscription.id, now=due_at, instance="i")
            raise ZeroDivisionError
    made = await run(database, digest, due_at)
    assert made
    assert (made.day, made.state, made.briefs, made.pages) == (date(2026, 12, 2), "queued", 7, 2)
    async with database.read() as conn:
        rows = await outbox.for_run(conn, made.id)
        pages = [digests.read(row.content) for row in rows]
        full = [await digests.full(conn, row) for row in rows]
        stored = await store.get(conn, digest.subscription.id)
    assert [(p.number, p.of, len(p.brief_ids), p.shown, p.more) for p in pages] == [(0, 2, 3, 7, 0), (1, 2, 4, 7, 0)]
    assert sorted(id for p in pages for id in p.brief_ids) == ids
    assert [c.topic for c in pages[0].contents] == ["AI"]
    assert [b.id for f in full for b in f.briefs] == [id for p in pages for id in p.brief_ids]
    assert stored
    assert (stored.last_done, stored.next_at) == (date(2026, 12, 2), due_at + timedelta(days=1))
    assert await run(database, digest, due_at) is None


async def test_a_zone_that_is_gone_pauses_the_digest_and_says_why(database: Database) -> None:
    digest = await add(database, replace(BERLIN, zone="Europe/Belrin"))
    assert await Digests(database, clock=lambda: later(days=1)).tick() == 0
    async with database.read() as conn:
        found = await subscriptions.get(conn, digest.subscription.id)
    assert found
    assert found.state == "paused"
    assert "Did you mean Europe/Berlin" in str(found.reason)


async def test_a_damaged_brief_stops_no_other_digest(database: Database) -> None:
    first, second = await add(database, channel=7), await add(database, channel=8)
    async with database.transaction() as conn:
        id = await make.brief(conn, 1)
        await store.change(conn, second.subscription.id, NewDigest(8, BERLIN, topic="web"), NOW)
        await make.brief(conn, 2, topic="web")
        await conn.execute(text(f"UPDATE briefs SET document = '[' WHERE id = {id}"))
    clock = later(days=1)
    tick = Digests(database, clock=lambda: clock)
    assert await tick.tick() == 1
    assert await tick.tick() == 0
    async with database.read() as conn:
        assert await store.runs(conn, first.subscription.id) == []
        assert len(await store.runs(conn, second.subscription.id)) == 1
    async with database.transaction() as conn:
        await conn.execute(text(f'UPDATE briefs SET document = \'{{"title":"T"}}\' WHERE id = {id}'))
    clock += digests.RETRY
    assert await tick.tick() == 1


async def test_a_flood_is_read_up_to_a_bound_and_counted_whole(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "READ_AT_ONCE", 30)
    digest = await add(database)
    async with database.transaction() as conn:
        for number in range(50):
            await make.brief(conn, number)
    made = await run(database, digest, later(days=1))
    assert made
    assert (made.briefs, made.pages) == (50, 4)
    async with database.read() as conn:
        page = digests.read((await outbox.for_run(conn, made.id))[0].content)
        assert (page.shown, page.more) == (24, 26)
        briefs, of = await store.given(conn, made.id, start=24, limit=100)
    assert (len(briefs), of) == (26, 50)


moves = st.lists(
    st.one_of(
        st.tuples(st.just("wait"), st.integers(1, 40)),  # hours
        st.tuples(st.just("jump"), st.integers(-30, 30)),  # hours, then back
        st.tuples(st.just("briefs"), st.integers(1, 8)),
        st.tuples(st.just("restart"), st.just(0)),
        st.tuples(st.just("pause"), st.integers(0, 1)),
    ),
    max_size=25,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(moves, st.sampled_from(["Europe/Berlin", "Pacific/Auckland", "America/Los_Angeles"]), st.integers(0, 23))
def test_whatever_happens_each_brief_is_given_once_and_each_date_run_once(
    drawn: list[tuple[str, int]], zone: str, hour: int
) -> None:
    asyncio.run(walked(drawn, Schedule(time(hour, 30), zone=zone)))


async def walked(drawn: Sequence[tuple[str, int]], schedule: Schedule) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = await Database.open(Path(folder) / "a.db")
        try:
            made, moment = 0, [NOW]
            digest = await add(database, schedule)
            id = digest.subscription.id
            clock = partial(moment.__getitem__, 0)
            tick = Digests(database, clock=clock)
            for what, number in [*drawn, ("pause", 0), ("wait", 48)]:
                if what == "wait":
                    moment[0] += timedelta(hours=number)
                elif what == "jump":
                    moment[0] += timedelta(hours=number)
                    await tick.tick()
                    moment[0] -= timedelta(hours=number)
                elif what == "restart":
                    tick = Digests(database, clock=clock)
                else:
                    async with database.transaction() as conn:
                        if what == "pause" and number:
                            await subscriptions.pause(conn, id, reason="x", now=clock())
                        elif what == "pause":
                            await subscriptions.resume(conn, id, clock())
                        for brief in range(made, made + number) if what == "briefs" else ():
                            await make.brief(conn, brief)
                        made += number if what == "briefs" else 0
                await tick.tick()
            async with database.read() as conn:
                runs = await store.runs(conn, id)
                rows = [row for r in runs for row in await outbox.for_run(conn, r.id)]
            days = [r.day for r in runs]
            assert len(days) == len(set(days))
            ids = [id for row in rows for id in digests.read(row.content).brief_ids]
            assert len(ids) == len(set(ids)) == sum(min(r.briefs, 24) for r in runs)
            assert sum(r.briefs for r in runs) == made
        finally:
            await database.close()
