from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.briefs.model import Brief, Topic
from bot.delivery.routing import COLLECTS_FOR, enqueue, wanted
from bot.store import briefs, outbox, sources, subscriptions
from bot.store.database import Database
from bot.store.sources import NewSource
from bot.store.subscriptions import NewSubscription, Subscription

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def sub(id: int, channel_id: int = 1, **values: object) -> Subscription:
    plain = Subscription(id, "config", None, channel_id, None, None, False, "card", None, "active", None, None, NOW)
    return replace(plain, **values)  # type: ignore[arg-type]


BRIEF = Brief("T", topic=Topic("Data & AI", "data-ai"))


def test_each_kind_of_wish() -> None:
    everything, topic, source = sub(1, 1, everything=True), sub(2, 2, topic="data-ai"), sub(3, 3, source_id=7)
    others = [sub(4, 4, topic="security"), sub(5, 5, source_id=8), sub(6, 6)]
    assert wanted(BRIEF, {7}, [everything, topic, source, *others]) == [everything, topic, source]


def test_the_most_specific_subscription_of_a_channel_decides() -> None:
    everything, topic, source = sub(1, everything=True), sub(2, topic="data-ai"), sub(3, source_id=7)
    assert wanted(BRIEF, {7}, [everything, topic, source]) == [source]
    assert wanted(BRIEF, {8}, [everything, topic, source]) == [topic]
    assert wanted(Brief("T"), {8}, [everything, topic, source]) == [everything]
    assert wanted(BRIEF, {7}, [sub(5, source_id=7), sub(4, source_id=7)]) == [sub(4, source_id=7)]


def test_an_active_subscription_goes_before_a_paused_one() -> None:
    assert wanted(BRIEF, {7}, [sub(1, source_id=7, state="paused"), sub(2, everything=True)])[0].id == 2
    assert wanted(BRIEF, {7}, [sub(1, source_id=7, state="removed")]) == []


_subscriptions = st.lists(
    st.builds(
        sub,
        st.integers(1, 50),
        st.integers(1, 6),
        topic=st.sampled_from([None, "data-ai", "Data-AI", "security"]),
        source_id=st.sampled_from([None, 7, 8, 9]),
        everything=st.booleans(),
        state=st.sampled_from(["active", "paused", "removed"]),
    ),
    unique_by=lambda s: s.id,
    max_size=20,
)


@settings(max_examples=100)
@given(_subscriptions, st.sets(st.sampled_from([7, 8, 9])), st.sampled_from([None, "data-ai", "security"]))
def test_each_channel_that_wants_it_gets_it_once(
    subscriptions: list[Subscription], source_ids: set[int], slug: str | None
) -> None:
    brief = Brief("T", topic=Topic(slug, slug) if slug else None)

    def matches(s: Subscription) -> list[bool]:
        by_topic = slug is not None and s.topic is not None and s.topic.casefold() == slug
        return [s.source_id in source_ids, by_topic, s.everything]

    chosen = wanted(brief, source_ids, subscriptions)
    channels = [s.channel_id for s in chosen]
    takers = [s for s in subscriptions if s.state != "removed" and any(matches(s))]
    assert sorted(channels) == sorted({s.channel_id for s in takers})
    assert [s.id for s in chosen] == sorted(s.id for s in chosen)
    for s in chosen:
        rivals = [r for r in takers if r.channel_id == s.channel_id and r.state == "active"]
        if s.state == "active":
            assert all(matches(s).index(True) <= matches(r).index(True) for r in rivals)
        else:
            assert not rivals
    assert wanted(brief, source_ids, subscriptions[::-1]) == chosen


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "briefbot.db")
    yield opened
    await opened.close()


async def test_enqueue_writes_rows_once_and_none_for_a_baseline(database: Database) -> None:
    async with database.transaction() as conn:
        new = NewSource(name="W", kind="site", location="https://w.example/", interval=timedelta(hours=1))
        source = await sources.add(conn, new, NOW)
        for channel in (1, 2):
            await subscriptions.add(conn, NewSubscription(channel, everything=True), NOW)
        for number, baseline, rows in ((1, False, 2), (2, True, 0)):
            brief = replace(BRIEF, permalink=f"https://w.example/s/{number}")
            id, _ = await briefs.add(conn, brief, source_id=source.id, now=NOW, baseline=baseline)
            stored = await briefs.get(conn, id)
            assert stored
            assert await enqueue(conn, stored, now=NOW, instance=database.instance) == rows
            assert await enqueue(conn, stored, now=NOW, instance=database.instance) == 0
            assert len(await outbox.for_brief(conn, id)) == rows


async def test_a_new_subscription_gets_no_old_briefs_and_a_paused_one_misses_none(database: Database) -> None:
    async with database.transaction() as conn:
        new = NewSource(name="W", kind="site", location="https://w.example/", interval=timedelta(hours=1))
        source = await sources.add(conn, new, NOW)
        paused = await subscriptions.add(conn, NewSubscription(1, everything=True), NOW)
        await subscriptions.pause(conn, paused.id, reason="the bot lacks Send Messages", now=NOW)
        found = []
        for number, when in enumerate((NOW + timedelta(hours=1), NOW + COLLECTS_FOR)):
            brief = replace(BRIEF, permalink=f"https://w.example/s/{number}")
            id, _ = await briefs.add(conn, brief, source_id=source.id, now=when, baseline=False)
            stored = await briefs.get(conn, id)
            assert stored
            await enqueue(conn, stored, now=when, instance=database.instance)
            found.append([(row.state, row.reason) for row in await outbox.for_brief(conn, id)])
        assert found == [[("queued", "the bot lacks Send Messages")], []]
        assert await outbox.due(conn, NOW + timedelta(days=1), 10) == []
        await subscriptions.add(conn, NewSubscription(2, everything=True), NOW)
        assert {row.channel_id for row in await outbox.for_brief(conn, id)} == set()
        await subscriptions.resume(conn, paused.id, NOW + timedelta(days=1))
        assert len(await outbox.due(conn, NOW + timedelta(days=1), 10)) == 1
