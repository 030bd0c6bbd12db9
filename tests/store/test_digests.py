"""A digest's schedule survives a change, and what it was given is never given again."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import date, time, timedelta
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.briefs.model import Brief, Topic
from bot.errors import StoreError
from bot.store import briefs, digests, outbox, subscriptions, upgrade
from bot.store.database import Database
from bot.store.digests import Digest, NewDigest, Schedule
from bot.store.subscriptions import NewSubscription
from tests.store import make
from tests.store.make import NOW, later

SCHEDULE = Schedule(time(8, 5), frozenset({0, 4}), 13, "Europe/Ljubljana", 12, "line", "never", False)


async def wanted(conn: AsyncConnection, digest: Digest) -> list[int]:
    found, rest = await digests.candidates(conn, digest)
    return sorted(c.stored.id for c in found) + sorted(rest)


async def recorded(conn: AsyncConnection, digest: Digest, day: date, ids: list[int], **values: object) -> int | None:
    """Record a run; its id."""
    more = {"state": "queued", "pages": 1, "due_at": NOW, "now": NOW} | values
    made = await digests.record(conn, digest, day=day, brief_ids=ids, **more)  # type: ignore[arg-type]
    return made.id if made else None


async def test_a_digest_is_read_as_it_was_written(database: Database) -> None:
    async with database.transaction() as conn:
        made = await digests.add(conn, NewDigest(7, SCHEDULE, "Mörning", topic="ai"), NOW)
        plain = await digests.add(conn, NewDigest(7, Schedule(time(18)), everything=True), NOW)
    async with database.read() as conn:
        assert await digests.everyone(conn) == [made, plain]
        assert await digests.get(conn, 99) is None
    assert (made.schedule, made.name, made.last_done, made.next_at) == (SCHEDULE, "Mörning", None, None)
    assert (made.subscription.format, made.subscription.topic, made.subscription.state) == ("digest", "ai", "active")
    assert plain.schedule == Schedule(time(18))


async def test_a_name_is_had_once_in_a_channel(database: Database) -> None:
    async with database.transaction() as conn:
        first = await digests.add(conn, NewDigest(7, SCHEDULE, "Morning", everything=True), NOW)
        with pytest.raises(ValueError, match="named 'MORNING' already"):
            await digests.add(conn, NewDigest(7, SCHEDULE, "MORNING", topic="ai"), NOW)
        await digests.add(conn, NewDigest(8, SCHEDULE, "Morning", everything=True), NOW)
        with pytest.raises(ValueError, match="a digest wants"):
            await digests.add(conn, NewDigest(9, SCHEDULE), NOW)
        await subscriptions.remove(conn, first.subscription.id, reason="no", now=NOW)
        again = await digests.add(conn, NewDigest(7, SCHEDULE, "Morning", topic="ai"), later(days=1))
    assert again.subscription.id == first.subscription.id
    assert again.counts_from == later(days=1)


async def test_the_config_and_subscriptions_leave_each_other_alone(database: Database) -> None:
    async with database.transaction() as conn:
        at_once = [NewSubscription(7, everything=True)]
        for _ in range(2):
            await subscriptions.sync(conn, at_once, NOW)
            await digests.sync(conn, [NewDigest(7, SCHEDULE, everything=True)], NOW)
        guild = await digests.add(conn, NewDigest(7, SCHEDULE, "Ours", everything=True, owner="guild", guild_id=1), NOW)
        assert [s.format for s in await subscriptions.everyone(conn)] == ["card", "digest", "digest"]
        await digests.sync(conn, [], NOW)
        assert [s.format for s in await subscriptions.everyone(conn)] == ["card", "digest"]
        assert [d.subscription.id for d in await digests.everyone(conn)] == [guild.subscription.id]


async def test_a_changed_digest_keeps_what_it_was_given_and_works_its_time_out_anew(database: Database) -> None:
    async with database.transaction() as conn:
        await digests.sync(conn, [NewDigest(7, SCHEDULE, everything=True)], NOW)
        (digest,) = await digests.everyone(conn)
        id = digest.subscription.id
        given = await make.brief(conn, 1)
        await recorded(conn, digest, NOW.date(), [given])
        await digests.plan(conn, id, last_done=NOW.date(), next_at=later(days=1))
        await digests.sync(conn, [NewDigest(7, replace(SCHEDULE, most=5), everything=True)], later(hours=1))
        (same,) = await digests.everyone(conn)
        assert (same.next_at, same.last_done, same.schedule.most) == (later(days=1), NOW.date(), 5)
        await digests.sync(conn, [NewDigest(7, replace(SCHEDULE, zone="Asia/Tokyo"), topic="ai")], later(hours=1))
        (moved,) = await digests.everyone(conn)
        assert (moved.next_at, moved.last_done, moved.subscription.topic) == (None, NOW.date(), "ai")
        assert await wanted(conn, moved) == []


async def test_what_is_wanted_is_what_came_since_and_was_not_given(database: Database) -> None:
    async with database.transaction() as conn:
        await make.brief(conn, 1)  # was there before
        everything = await digests.add(conn, NewDigest(7, SCHEDULE, everything=True), NOW)
        topic = await digests.add(conn, NewDigest(8, SCHEDULE, topic="AI"), NOW)
        other = await make.source(conn, "Other")
        source = await digests.add(conn, NewDigest(9, SCHEDULE, source_id=other.id), NOW)
        ai, web = await make.brief(conn, 2), await make.brief(conn, 3, topic="web")
        base, _ = await briefs.add(
            conn, Brief(title="old", permalink="https://x.example/"), source_id=other.id, now=NOW, baseline=True
        )
        assert await wanted(conn, everything) == [ai, web]
        assert base not in await wanted(conn, everything)
        assert await wanted(conn, topic) == [ai]
        assert await wanted(conn, source) == []
        await recorded(conn, everything, NOW.date(), [ai])
        assert await wanted(conn, everything) == [web]
        # A second source brings it after the digest of that source has run; a topic is corrected.
        await recorded(conn, source, NOW.date(), [], state="nothing new")
        brief = (await briefs.get(conn, ai)).brief  # type: ignore[union-attr]
        await briefs.add(conn, brief, source_id=other.id, now=later(hours=1), baseline=False)
        corrected = (await briefs.get(conn, web)).brief  # type: ignore[union-attr]
        corrected = replace(corrected, topic=Topic("AI", "ai"))
        await briefs.add(conn, corrected, source_id=other.id, now=later(hours=1), baseline=False)
        assert await wanted(conn, source) == [ai, web]
        assert await wanted(conn, topic) == [ai, web]


async def test_a_date_is_recorded_once_and_a_brief_given_once(database: Database) -> None:
    async with database.transaction() as conn:
        digest = await digests.add(conn, NewDigest(7, SCHEDULE, everything=True), NOW)
        ids = [await make.brief(conn, n) for n in range(3)]
        run_id = await recorded(conn, digest, NOW.date(), ids[:2])
        assert run_id
        assert await recorded(conn, digest, NOW.date(), ids[2:]) is None
        assert await wanted(conn, digest) == ids[2:]
        found, of = await digests.given(conn, run_id, start=1, limit=5)
        assert ([b.id for b in found], of) == ([ids[1]], 2)
        assert (await digests.of_run(conn, run_id)) == digest
        assert await digests.of_run(conn, 99) is None
    with pytest.raises(StoreError):
        async with database.transaction() as conn:
            await recorded(conn, digest, date(2027, 1, 1), ids[:1])
    async with database.read() as conn:
        assert [run.day for run in await digests.runs(conn, digest.subscription.id)] == [NOW.date()]


async def test_the_search_trails_by_the_slack(database: Database) -> None:
    async with database.transaction() as conn:
        digest = await digests.add(conn, NewDigest(7, SCHEDULE, topic="ai"), NOW)
        id = digest.subscription.id
        missed = await make.brief(conn, 1, topic="web")
        for day in range(0, 70, 7):
            await make.brief(conn, 100 + day)
            digest = await digests.get(conn, id) or digest
            now = NOW + timedelta(days=day)
            await recorded(conn, digest, now.date(), await wanted(conn, digest), now=now)
            floor = (await digests.get(conn, id) or digest).after_id
            assert (floor >= missed) == (day > digests.SLACK.days)


async def test_only_active_digests_whose_time_has_come_are_due(database: Database) -> None:
    async with database.transaction() as conn:
        made = [
            (await digests.add(conn, NewDigest(channel, SCHEDULE, everything=True), NOW)).subscription.id
            for channel in range(1, 5)
        ]
        await digests.plan(conn, made[0], last_done=None, next_at=NOW)
        await digests.plan(conn, made[1], last_done=None, next_at=later(seconds=1))
        await subscriptions.pause(conn, made[2], reason="x", now=NOW)
        assert set(await digests.due(conn, NOW)) == {made[0], made[3]}
        assert await digests.unplanned(conn)
        await digests.set_next(conn, {made[0]: later(days=1), made[3]: later(days=1)})
        assert not await digests.unplanned(conn)
        assert await digests.due(conn, NOW) == []
        assert await digests.due(conn, later(days=1)) == [made[1], made[0], made[3]]


async def test_pages_are_outbox_rows_that_let_briefs_go_first_for_a_while(database: Database) -> None:
    async with database.transaction() as conn:
        digest = await digests.add(conn, NewDigest(7, SCHEDULE, everything=True), NOW)
        at_once = await make.subscription(conn, 8)
        brief_id = await make.brief(conn, 1)
        run_id = await recorded(conn, digest, NOW.date(), [brief_id])
        assert run_id
        queue = {"subscription": digest.subscription, "run_id": run_id, "now": NOW, "instance": "i"}
        new = await outbox.queue_pages(conn, contents=["a", "b"], **queue)
        assert await outbox.queue_pages(conn, contents=["a", "b"], **queue) == []
        assert await outbox.queue(conn, subscription=at_once, brief_id=brief_id, now=later(seconds=5), instance="i")
        rows = await outbox.for_run(conn, run_id)
        assert [(row.id, row.page, row.content, row.brief_id) for row in rows] == [
            (new[0], 0, "a", None), (new[1], 1, "b", None),
        ]  # fmt: skip
        soon, long_after = later(minutes=1), NOW + outbox.PATIENCE
        assert [row.channel_id for row in await outbox.due(conn, soon, 9)] == [8, 7]
        assert [row.channel_id for row in await outbox.due(conn, long_after, 9)] == [7, 8]


def test_the_step_keeps_every_delivery_and_never_uses_an_id_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    upgrade.prepare(path, migrate=True, busy_timeout=0.2, migrations=first_step(tmp_path))
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(
            "INSERT INTO sources VALUES (1,'A','a','site','x','config',NULL,1,0,1,0,'active','2026-01-01',NULL,NULL,0,"
            "NULL,NULL,NULL,NULL,NULL,NULL)"
        )
        raw.execute("INSERT INTO briefs VALUES (1,'{}','t',NULL,NULL,NULL,NULL,1,'2026','2026','2026',0)")
        raw.execute(
            "INSERT INTO subscriptions VALUES (1,'config',NULL,7,'ai',NULL,0,'topic:ai','card',NULL,'active',NULL,NULL,'x')"
        )
        row = "(1,7,1,?,'card',NULL,'n','sent',1,'2026',NULL,'2026',5,NULL,'2026')"
        for page in range(3):
            raw.execute(f"INSERT INTO deliveries VALUES ({40 + page},{row[1:]}", [page])
    upgrade.prepare(path, migrate=True, busy_timeout=0.2, migrations=upgrade.MIGRATIONS)
    with closing(sqlite3.connect(path)) as raw:
        kept = raw.execute("SELECT id, page, message_id, run_id, content FROM deliveries ORDER BY id").fetchall()
        assert kept == [(40 + page, page, 5, None, None) for page in range(3)]
        assert raw.execute("SELECT seq FROM sqlite_sequence WHERE name = 'deliveries'").fetchall() == [(42,)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        assert not raw.execute("SELECT name FROM sqlite_master WHERE name LIKE '%0001'").fetchall()


def first_step(folder: Path) -> Path:
    """The migrations as they were with the first step alone."""
    steps = folder / "steps"
    shutil.copytree(upgrade.MIGRATIONS, steps, ignore=shutil.ignore_patterns("__pycache__"))
    for step in (steps / "versions").glob("0*.py"):
        if not step.name.startswith("0001"):
            step.unlink()
    return steps
