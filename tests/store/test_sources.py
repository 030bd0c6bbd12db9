"""Sources and their items: what is known stays known, and a new place is seen for the first time."""

import hashlib
import os
from datetime import timedelta

import pytest

from bot.store import sources
from bot.store.database import Database
from bot.store.sources import GONE
from tests.store import make
from tests.store.make import NOW, later, new_source


def key(text: object) -> bytes:
    return hashlib.blake2b(str(text).encode(), digest_size=16).digest()


async def polled(conn, source_id: int, **values: object) -> None:
    given = {
        "now": NOW,
        "next_poll_at": later(hours=1),
        "validators": ('"e"', "Tue"),
        "body_hash": "h",
        "baseline": True,
    }
    await sources.succeeded(conn, source_id, **(given | values))


async def test_a_new_source_is_due_at_once_and_knows_nothing(database: Database) -> None:
    async with database.transaction() as conn:
        added = await sources.add(conn, new_source("Wire", backfill=3, allow_private=True, guild_id=2**60), NOW)
        assert (added.state, added.next_poll_at, added.baseline_at, added.failures) == ("active", NOW, None, 0)
        assert (added.interval, added.backfill, added.allow_private, added.guild_id) == (
            timedelta(hours=1),
            3,
            True,
            2**60,
        )
        assert await sources.due(conn, NOW, 5) == [added]
        assert await sources.get(conn, added.id) == await sources.by_name(conn, " wIRE ") == added
        with pytest.raises(ValueError, match="name taken"):
            await sources.add(conn, new_source("WIRE"), NOW)
        assert await sources.get(conn, 99) is None


async def test_due_is_what_is_active_enabled_and_past_longest_first(database: Database) -> None:
    async with database.transaction() as conn:
        a, b, c, d, off = [(await make.source(conn, name)).id for name in "abcde"]
        for id, minutes in ((a, 10), (b, 5), (c, 30)):
            await polled(conn, id, next_poll_at=later(minutes=minutes))
        await sources.failed(conn, d, now=NOW, next_poll_at=NOW, reason="410", permanent=True)
        await sources.sync(conn, [], NOW)
        await polled(conn, off, next_poll_at=later(days=9))
        assert [s.id for s in await sources.due(conn, later(minutes=10), 9)] == [b, a]
        assert [s.id for s in await sources.due(conn, later(minutes=10), 1)] == [b]
        assert await sources.next_due(conn) == later(minutes=5)


async def test_good_and_bad_polls_leave_their_marks(database: Database) -> None:
    async with database.transaction() as conn:
        id = (await make.source(conn)).id
        await polled(conn, id, baseline=False)
        assert (await sources.get(conn, id)).baseline_at is None
        await polled(conn, id)
        await polled(conn, id, now=later(hours=1), validators=(None, None), body_hash=None)
        good = await sources.get(conn, id)
        assert (good.baseline_at, good.last_ok_at, good.etag, good.body_hash) == (NOW, later(hours=1), None, None)
        await sources.failed(conn, id, now=later(hours=2), next_poll_at=later(hours=3), reason="timed out")
        await sources.failed(conn, id, now=later(hours=3), next_poll_at=later(hours=5), reason="503")
        bad = await sources.get(conn, id)
        assert (bad.failures, bad.failing_since, bad.reason) == (2, later(hours=2), "503")
        assert (bad.last_poll_at, bad.last_ok_at, bad.next_poll_at) == (later(hours=3), later(hours=1), later(hours=5))
        assert (bad.state, bad.baseline_at) == ("active", NOW)
        await polled(conn, id, now=later(hours=5))
        fine = await sources.get(conn, id)
        assert (fine.failures, fine.failing_since, fine.reason) == (0, None, None)


async def test_sync_keeps_state_and_changes_what_is_written(database: Database) -> None:
    async with database.transaction() as conn:
        await sources.sync(conn, [new_source("A"), new_source("B")], NOW)
        a, b = await sources.everyone(conn)
        assert (a.owner, a.name, b.name) == ("config", "A", "B")
        await polled(conn, a.id, next_poll_at=later(hours=24))
        before = await sources.get(conn, a.id)
        await sources.sync(conn, [new_source("A"), new_source("B")], later(hours=2))
        assert await sources.everyone(conn) == [before, b]
        # A shorter interval counts from now; a name in other letters is the same name.
        await sources.sync(
            conn, [new_source("a", location=a.location, interval=timedelta(minutes=5)), new_source("B")], NOW
        )
        changed = await sources.get(conn, a.id)
        assert (changed.name, changed.next_poll_at, changed.etag) == ("a", later(minutes=5), '"e"')


@pytest.mark.parametrize("change", [{"location": "https://moved.example/"}, {"kind": "brief"}])
async def test_another_place_is_seen_for_the_first_time_and_items_stay(
    database: Database, change: dict[str, str]
) -> None:
    async with database.transaction() as conn:
        await sources.sync(conn, [new_source("A")], NOW)
        (a,) = await sources.everyone(conn)
        await polled(conn, a.id)
        item = await sources.remember(conn, a.id, keys=[key(1)], title="t", link=None, state="stored", now=NOW)
        await sources.failed(conn, a.id, now=NOW, next_poll_at=later(days=1), reason="410", permanent=True)
        await sources.sync(conn, [new_source("A", **change)], later(hours=1))
        moved = await sources.get(conn, a.id)
        assert (moved.etag, moved.last_modified, moved.body_hash, moved.baseline_at) == (None, None, None, None)
        assert (moved.state, moved.reason, moved.failures, moved.next_poll_at) == ("active", None, 0, later(hours=1))
        assert await sources.known(conn, a.id, [key(1)]) == {key(1): item}


async def test_one_that_is_gone_is_disabled_and_returns(database: Database) -> None:
    async with database.transaction() as conn:
        await sources.sync(conn, [new_source("A")], NOW)
        await sources.add(conn, new_source("By hand"), NOW)
        (a, _) = await sources.everyone(conn)
        await polled(conn, a.id)
        await sources.sync(conn, [], NOW)
        gone = await sources.get(conn, a.id)
        assert (gone.state, gone.reason, gone.etag) == ("disabled", GONE, '"e"')
        assert [s.name for s in await sources.due(conn, later(days=9), 9)] == ["By hand"]
        await polled(conn, a.id, now=later(days=1))  # a poll that was under way
        assert (await sources.get(conn, a.id)).reason == GONE
        await sources.sync(conn, [new_source("A"), new_source("by hand")], later(days=2))
        back = await sources.get(conn, a.id)
        assert (back.state, back.reason, back.baseline_at, back.next_poll_at) == ("active", None, NOW, later(days=2))
        assert (await sources.by_name(conn, "By hand")).owner == "config"


async def test_one_that_failed_for_good_stays_off_until_it_is_touched(database: Database) -> None:
    async with database.transaction() as conn:
        await sources.sync(conn, [new_source("A")], NOW)
        (a,) = await sources.everyone(conn)
        await sources.failed(conn, a.id, now=NOW, next_poll_at=NOW, reason="410 Gone", permanent=True)
        await sources.sync(conn, [new_source("A")], NOW)
        assert (await sources.get(conn, a.id)).reason == "410 Gone"
        await sources.sync(conn, [new_source("A", enabled=False)], NOW)
        assert await sources.due(conn, NOW, 9) == []
        await sources.sync(conn, [new_source("A")], NOW)
        assert [s.state for s in await sources.due(conn, NOW, 9)] == ["active"]


async def test_a_guilds_name_is_not_taken_over(database: Database) -> None:
    async with database.transaction() as conn:
        await sources.add(conn, new_source("A", owner="guild", guild_id=5), NOW)
        with pytest.raises(ValueError, match="name taken"):
            await sources.sync(conn, [new_source("A")], NOW)


async def test_thousands_of_keys_are_looked_up_at_once(database: Database) -> None:
    async with database.transaction() as conn:
        id, other = (await make.source(conn, "A")).id, (await make.source(conn, "B")).id
        item = await sources.remember(
            conn, id, keys=[key(n) for n in range(4000)], title="t", link="l", state="stored", now=NOW
        )
        again = await sources.remember(
            conn, id, keys=[key(0), key("new")], title="t", link="l", state="pending", now=NOW
        )
        found = await sources.known(conn, id, (key(n) for n in range(50_000)))
        assert found == dict.fromkeys(map(key, range(4000)), item)
        assert await sources.known(conn, id, [key("new")]) == {key("new"): again}
        assert await sources.known(conn, other, [key(0)]) == await sources.known(conn, id, []) == {}
        await sources.add_keys(conn, id, item, [key("new"), key("newer"), key("newer")], NOW)
        assert await sources.known(conn, id, [key("new"), key("newer")]) == {key("new"): again, key("newer"): item}
        await sources.add_keys(conn, id, item, [], NOW)


async def test_an_item_waits_is_tried_again_and_settles(database: Database) -> None:
    async with database.transaction() as conn:
        id = (await make.source(conn)).id
        remember = {"title": "t\0\ud800", "link": None, "now": NOW}
        first = await sources.remember(conn, id, keys=[key(1)], state="pending", **remember)
        second = await sources.remember(conn, id, keys=[key(2)], state="pending", **remember)
        await sources.remember(conn, id, keys=[key(3)], state="baseline", **remember)
        assert [item.id for item in await sources.pending(conn, id, NOW)] == [first, second]
        await sources.settle(conn, first, state="pending", reason="503", next_try_at=later(minutes=5), now=NOW)
        assert [item.id for item in await sources.pending(conn, id, later(minutes=4))] == [second]
        again = (await sources.pending(conn, id, later(minutes=5)))[0]
        assert (again.id, again.attempts, again.reason, again.title) == (first, 1, "503", "t\\ud800")
        brief_id = await make.brief(conn, 1)
        await sources.settle(conn, first, state="stored", brief_id=brief_id, now=later(minutes=6))
        await sources.settle(conn, second, state="set aside", reason="no brief: title, line 1", now=later(minutes=6))
        assert await sources.pending(conn, id, later(days=1)) == []
        done, aside = await sources.item(conn, first), await sources.item(conn, second)
        assert (done.state, done.brief_id, done.attempts, done.reason) == ("stored", brief_id, 2, None)
        assert (aside.state, aside.reason) == ("set aside", "no brief: title, line 1")
        await sources.listed(conn, id, [first, 10**6, *range(10**6, 10**6 + 2000)], later(days=2))
        assert (await sources.item(conn, first)).last_listed_at == later(days=2)
        assert (await sources.item(conn, second)).last_listed_at < later(days=2)


async def test_a_folder_with_a_name_that_is_no_text_is_one_place(database: Database) -> None:
    odd = os.fsdecode(b"/srv/caf\xe9")
    async with database.transaction() as conn:
        for _ in range(2):
            await sources.sync(conn, [new_source("A", kind="folder", location=odd)], NOW)
            (a,) = await sources.everyone(conn)
            await polled(conn, a.id)
        assert (await sources.get(conn, a.id)).baseline_at == NOW
        await sources.sync(conn, [new_source("A", kind="folder", location=odd)], later(days=1))
        assert (await sources.get(conn, a.id)).etag == '"e"'
