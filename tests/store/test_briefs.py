"""A brief comes out of the store as it went in, once, and is found by address, topic and time."""

import json
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from bot.briefs.model import Brief, Coverage, Section, SourceLink, Topic
from bot.errors import DatabaseCorrupt
from bot.store import briefs
from bot.store.database import Database
from bot.store.schema import Unreadable
from tests.store import make
from tests.store.make import NOW, later


def is_one_text(value: str) -> bool:
    """No two lone surrogates side by side that are one character in JSON."""
    return json.loads(json.dumps(value)) == value


# Any text at all, lone surrogates and NUL included.
anything = st.text(st.characters(), max_size=20).filter(is_one_text)
maybe = st.none() | anything
zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
published = st.none() | st.dates() | st.datetimes(timezones=zones)
any_brief = st.builds(
    Brief,
    title=anything,
    dek=anything,
    source=st.none() | st.builds(SourceLink, anything, maybe),
    published=published,
    topic=st.none() | st.builds(Topic, anything, anything, maybe),
    permalink=maybe,
    original=maybe,
    sections=st.lists(st.builds(Section, maybe, anything, maybe), max_size=3).map(tuple),
    coverage=st.lists(st.builds(Coverage, maybe, maybe), max_size=3).map(tuple),
    notice=maybe,
    extra=st.lists(st.tuples(anything, anything), max_size=3).map(tuple),
    warnings=st.lists(anything, max_size=2).map(tuple),
)


def same(a: Brief, b: Brief) -> None:
    assert a == b
    assert a.warnings == b.warnings
    assert type(a.published) is type(b.published)
    if isinstance(a.published, datetime):
        assert a.published.utcoffset() == b.published.utcoffset()


@settings(max_examples=100, deadline=None)
@given(any_brief)
def test_a_brief_survives_json(brief: Brief) -> None:
    same(briefs.from_dict(json.loads(json.dumps(briefs.to_dict(brief)))), brief)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_brief)
async def test_a_brief_survives_the_store(database: Database, brief: Brief) -> None:
    async with database.transaction() as conn:
        source_id = (await make.source(conn)).id
        id, _ = await briefs.add(conn, brief, source_id=source_id, now=NOW, baseline=False)
    async with database.read() as conn:
        stored = await briefs.get(conn, id)
        await briefs.latest(conn, limit=3)
        await briefs.topics(conn)
    assert stored
    same(stored.brief, brief)


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"title": "t", "published": "soon"},
        {"title": "t", "sections": [[1, 2, 3, 4]]},
        {"title": "t", "topic": 3},
    ],
)
def test_what_is_no_brief_is_unreadable(data: object) -> None:
    with pytest.raises(Unreadable):
        briefs.from_dict(data)


async def test_the_same_permalink_is_the_same_brief(database: Database) -> None:
    async with database.transaction() as conn:
        wire, other = (await make.source(conn, "Wire")).id, (await make.source(conn, "Other")).id
        old = Brief("Old", permalink="https://Brifing.example:443/s/1/?utm_source=x&b=2#top", topic=Topic("AI", "ai"))
        id, created = await briefs.add(conn, old, source_id=wire, now=NOW, baseline=True)
        assert created
        new = Brief("New", permalink="http://brifing.example/s/1?b=2")
        assert await briefs.add(conn, new, source_id=other, now=later(hours=1), baseline=False) == (id, False)
        stored = await briefs.get(conn, id)
        assert (stored.brief.title, stored.source_id, stored.first_seen_at, stored.baseline) == ("New", wire, NOW, True)
        assert await briefs.sources_of(conn, id) == [wire, other]
        assert await briefs.by_permalink(conn, "https://brifing.example/s/1/?b=2&utm_medium=y") == stored
        assert await briefs.by_permalink(conn, "https://brifing.example/s/2") is None
        assert (
            await briefs.add(
                conn, Brief("x", permalink="https://brifing.example/s/1?b=3"), source_id=wire, now=NOW, baseline=False
            )
        )[1]


async def test_the_same_key_of_the_same_source_is_the_same_brief(database: Database) -> None:
    async with database.transaction() as conn:
        wire, other = (await make.source(conn, "Wire")).id, (await make.source(conn, "Other")).id
        add = {"now": NOW, "baseline": False}
        id, _ = await briefs.add(conn, Brief("A"), source_id=wire, key=b"k" * 16, **add)
        assert await briefs.add(
            conn, Brief("B", permalink="https://x.example/1"), source_id=wire, key=b"k" * 16, **add
        ) == (id, False)
        assert (await briefs.add(conn, Brief("A"), source_id=other, key=b"k" * 16, **add))[1]
        assert (await briefs.add(conn, Brief("A"), source_id=wire, **add))[1]
        # The address says more than the key, and the key follows it.
        moved, created = await briefs.add(
            conn, Brief("C", permalink="https://x.example/2"), source_id=wire, key=b"m" * 16, **add
        )
        assert created
        assert await briefs.add(
            conn, Brief("C2", permalink="https://x.example/2"), source_id=wire, key=b"k" * 16, **add
        ) == (moved, False)
        assert (await briefs.get(conn, id)).brief.title == "B"


async def test_latest_is_by_publication_and_the_future_does_not_lead(database: Database) -> None:
    async with database.transaction() as conn:
        wire = (await make.source(conn)).id

        async def add(title: str, published: date | datetime | None, now: datetime, topic: str = "ai") -> None:
            brief = Brief(title, published=published, topic=Topic(topic, topic))
            await briefs.add(conn, brief, source_id=wire, now=now, baseline=False)

        await add("wrong clock", datetime(2099, 1, 1, tzinfo=UTC), later(hours=1))
        await add("yesterday", date(2026, 11, 30), later(hours=2))
        await add("no date", None, later(hours=3))
        await add("this morning", datetime(2026, 12, 1, 11, tzinfo=timezone(timedelta(hours=3))), later(hours=4))
        await add("other", date(2026, 12, 1), later(hours=5), topic="chips")
        titles = [stored.brief.title for stored in await briefs.latest(conn, limit=9)]
        assert titles == ["no date", "wrong clock", "this morning", "other", "yesterday"]
        assert [s.brief.title for s in await briefs.latest(conn, topic="chips", limit=9)] == ["other"]
        assert [s.brief.title for s in await briefs.latest(conn, topic="ai", limit=2)] == ["no date", "wrong clock"]
        assert await briefs.latest(conn, topic="none", limit=9) == []


async def test_topics_are_counted_under_their_newest_name(database: Database) -> None:
    async with database.transaction() as conn:
        wire = (await make.source(conn)).id
        for number, topic in enumerate(
            [Topic("AI", "data-ai"), Topic("Data & AI", "data-ai", "https://x.example/c"), Topic("", "chips"), None]
        ):
            await briefs.add(conn, Brief("t", topic=topic), source_id=wire, now=later(hours=number), baseline=False)
        assert await briefs.topics(conn) == [
            briefs.TopicCount(Topic("Data & AI", "data-ai", "https://x.example/c"), 2, later(hours=1)),
            briefs.TopicCount(Topic("chips", "chips"), 1, later(hours=2)),
        ]


async def test_a_damaged_document_is_told_as_a_damaged_database(database: Database) -> None:
    async with database.transaction() as conn:
        id = await make.brief(conn, 1)
        await conn.execute(text("UPDATE briefs SET document = substr(document, 1, 20)"))
    with pytest.raises(DatabaseCorrupt, match="is damaged"):
        async with database.read() as conn:
            await briefs.get(conn, id)


@given(anything)
def test_any_permalink_has_one_canonical_form(permalink: str) -> None:
    key = briefs.canonical(permalink)
    assert key is None or key == briefs.canonical(f" {permalink} ")
    key and key.encode("utf-8")
