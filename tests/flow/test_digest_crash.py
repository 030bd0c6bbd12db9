"""Killed at any instant of its digests, the bot posts every page exactly once and in order."""

from __future__ import annotations

import os
from datetime import time, timedelta
from pathlib import Path

import pytest

from bot.delivery.worker import utc_now
from bot.store import briefs, digests, outbox, sources
from bot.store.database import Database
from bot.store.digests import NewDigest, Schedule
from bot.store.sources import NewSource
from tests.flow.rig import make_brief
from tests.flow.test_crash import Killer, lived, mark
from tests.standin import StandIn, walk

CHANNELS, PAGES = 8, 4

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the bot to be killed is forked")


@pytest.mark.parametrize(("nonce_seconds", "seed"), [(120, 1), (0, 2)], ids=["inside the nonce's window", "past it"])
async def test_killed_at_any_instant_every_page_is_posted_once(tmp_path: Path, nonce_seconds: int, seed: int) -> None:
    path = tmp_path / "briefbot.db"
    async with StandIn(window=0.04) as side:
        side.nonce_window = float(nonce_seconds)
        guild = side.add_guild()
        channels = [side.add_channel(guild, f"c{n}") for n in range(CHANNELS)]
        await prepare(path, channels)
        killer = Killer(side, 30, seed, CHANNELS * PAGES)
        lives = await lived(side, path, nonce_seconds, killer, "digests")
        assert sum(killer.kills.values()) >= 20, (killer.kills, lives)
        for channel in channels:
            messages = side.posted(channel)
            assert len({mark(m) for m in messages}) == len(messages) == PAGES, (killer.kills, lives)
            ids = [c["custom_id"] for m in messages for c in walk(m["components"]) if c.get("label") == "Read"]
            assert len({one.split(":")[1] for one in ids}) == len(ids) == 6 * PAGES
        database = await Database.open(path)
        async with database.read() as conn:
            for digest in await digests.everyone(conn):
                (run,) = await digests.runs(conn, digest.subscription.id)
                rows = await outbox.for_run(conn, run.id)
                posted = [int(m["id"]) for m in side.posted(digest.subscription.channel_id)]
                assert [row.message_id for row in rows] == posted
        await database.close()
        print(f"{lives} lives, kills: {killer.kills}")


async def prepare(path: Path, channels: list[int]) -> None:
    """Four pages of briefs, and in each channel a digest that is due since an hour."""
    now = utc_now()
    database = await Database.open(path)
    async with database.transaction() as conn:
        due = now - timedelta(hours=1)
        for channel in channels:
            schedule = Schedule(time(due.hour, due.minute), silent="never")
            await digests.add(conn, NewDigest(channel, schedule, everything=True), now - timedelta(hours=2))
        new = NewSource(name="Wire", kind="site", location="https://wire.example/", interval=timedelta(hours=1))
        source = await sources.add(conn, new, now)
        for number in range(6 * PAGES):
            await briefs.add(conn, make_brief(number), source_id=source.id, now=now, baseline=False)
    await database.close()
