"""Subscriptions keep their identity, their pauses and their reasons through every start of the bot."""

from dataclasses import asdict

import pytest
from sqlalchemy import select

from bot.store import schema, subscriptions
from bot.store.database import Database
from bot.store.subscriptions import NewSubscription
from tests.store import make
from tests.store.make import NOW, later


async def test_sync_adds_keeps_changes_and_removes(database: Database) -> None:
    async with database.transaction() as conn:
        source = await make.source(conn)
        wanted = [
            NewSubscription(1, "ai"),
            NewSubscription(1, source_id=source.id, format="compact"),
            NewSubscription(2, everything=True, role_id=5),
        ]
        await subscriptions.sync(conn, wanted, NOW)
        before = await subscriptions.active(conn)
        assert [(s.channel_id, s.topic, s.source_id, s.everything, s.format, s.role_id) for s in before] == [
            (1, "ai", None, False, "card", None),
            (1, None, source.id, False, "compact", None),
            (2, None, None, True, "card", 5),
        ]
        assert {s.created_at for s in before} == {NOW}
        await subscriptions.sync(conn, wanted, later(days=1))
        assert await subscriptions.active(conn) == before
        await subscriptions.sync(conn, [NewSubscription(1, "ai", format="embed", role_id=6)], later(days=1))
        (kept,) = await subscriptions.active(conn)
        assert (kept.id, kept.format, kept.role_id, kept.created_at) == (before[0].id, "embed", 6, NOW)
        assert await subscriptions.everyone(conn) == [kept]
        assert (await subscriptions.get(conn, before[2].id)).state == "removed"


async def test_a_paused_one_stays_paused_with_its_reason(database: Database) -> None:
    async with database.transaction() as conn:
        await subscriptions.sync(conn, [NewSubscription(1, "ai")], NOW)
        (wish,) = await subscriptions.active(conn)
        assert await subscriptions.pause(conn, wish.id, reason="Missing Access", now=NOW)
        await subscriptions.sync(conn, [NewSubscription(1, "ai", format="compact")], later(hours=1))
        (paused,) = await subscriptions.everyone(conn)
        assert (paused.state, paused.reason, paused.paused_at, paused.format) == (
            "paused",
            "Missing Access",
            NOW,
            "compact",
        )
        assert await subscriptions.active(conn) == []
        assert await subscriptions.resume(conn, wish.id, NOW) is True
        assert await subscriptions.resume(conn, wish.id, NOW) is False
        (active,) = await subscriptions.active(conn)
        assert (active.reason, active.paused_at) == (None, None)


async def test_one_that_comes_back_starts_as_if_new(database: Database) -> None:
    async with database.transaction() as conn:
        await subscriptions.sync(conn, [NewSubscription(1, "ai")], NOW)
        (wish,) = await subscriptions.active(conn)
        await subscriptions.pause(conn, wish.id, reason="x", now=NOW)
        await subscriptions.sync(conn, [], NOW)
        assert await subscriptions.pause(conn, wish.id, reason="x", now=NOW) is False
        assert await subscriptions.resume(conn, wish.id, NOW) is False
        await subscriptions.sync(conn, [NewSubscription(1, "ai")], later(days=3))
        (again,) = await subscriptions.active(conn)
        assert (again.id, again.reason, again.created_at) == (wish.id, None, later(days=3))


async def test_wishes_of_guilds_are_left_alone(database: Database) -> None:
    async with database.transaction() as conn:
        mine = await subscriptions.add(conn, NewSubscription(1, "ai", owner="guild", guild_id=77), NOW)
        await subscriptions.sync(conn, [NewSubscription(1, "ai")], NOW)
        await subscriptions.sync(conn, [], NOW)
        assert await subscriptions.everyone(conn) == [mine]
        with pytest.raises(ValueError, match="already"):
            await subscriptions.add(conn, NewSubscription(1, "ai", owner="guild", guild_id=77), NOW)
        await subscriptions.remove(conn, mine.id, reason="asked for", now=NOW)
        again = await subscriptions.add(conn, NewSubscription(1, "ai", owner="guild", guild_id=77), later(days=1))
        assert (again.id, again.state) == (mine.id, "active")


async def test_the_same_wish_written_twice_is_one(database: Database) -> None:
    async with database.transaction() as conn:
        await subscriptions.sync(conn, [NewSubscription(1, "ai", format="embed"), NewSubscription(1, "ai")], NOW)
        (wish,) = await subscriptions.active(conn)
        assert wish.format == "embed"
        rows = (await conn.execute(select(schema.subscriptions))).all()
        assert len(rows) == 1


async def test_a_wish_for_nothing_is_refused(database: Database) -> None:
    async with database.transaction() as conn:
        with pytest.raises(ValueError, match="topic, a source or everything"):
            await subscriptions.sync(conn, [NewSubscription(1)], NOW)
    assert "wish" not in asdict(NewSubscription(1, "ai"))
