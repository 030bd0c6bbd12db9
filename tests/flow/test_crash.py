"""Killed at any instant, again and again, the bot posts every message exactly once and in order."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.store import outbox
from bot.store.database import Database
from tests.flow.crash_bot import BRIEFS
from tests.flow.rig import brief_ids, subscribe
from tests.standin import StandIn, walk

ROOT = Path(__file__).parent.parent.parent
CHANNELS = 5

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the bot to be killed is forked")


class Killer:
    """Ends each life of the bot at an instant drawn at random: of the clock, or around the making of a message.

    A life is spared for so few messages that enough are left for all the kills.
    """

    def __init__(self, side: StandIn, wanted: int, seed: int, total: int = BRIEFS * CHANNELS) -> None:
        self.random = random.Random(seed)
        self.side, self.wanted, self.total = side, wanted, total
        self.kills = {"clock": 0, "before the message": 0, "after the message": 0, "after the answer": 0}
        self.pid: int | None = None
        self.plan, self.spared = "", 0
        side.on_post, side.on_created = self.post, self.created

    def born(self, pid: int) -> float | None:
        """A new life; the seconds after which it is to be killed if it is to die by the clock, else None."""
        self.pid = pid
        left = self.wanted - sum(self.kills.values())
        if left <= 0:
            self.plan = "spare"
            return None
        self.plan = self.random.choice(list(self.kills))
        messages = self.total - len(self.side.messages)
        self.spared = self.random.randint(0, max(0, 2 * (messages - 2 * CHANNELS) // left - 1))
        return self.random.uniform(0.0, 0.4) if self.plan == "clock" else None

    def kill(self, pid: int | None) -> None:
        if pid is not None and pid == self.pid:
            self.pid = None
            os.kill(pid, signal.SIGKILL)
            self.kills[self.plan] += 1

    async def post(self, channel_id: int) -> None:
        if self.plan == "before the message" and self.spared == 0:
            self.kill(self.pid)

    async def created(self, message: dict[str, Any]) -> None:
        self.spared -= 1
        if self.spared >= 0 or self.plan in ("spare", "before the message"):
            return
        if self.plan == "after the message":
            self.kill(self.pid)  # nobody is there to be answered any more
        else:
            wait = self.random.uniform(0, 0.012)
            asyncio.get_running_loop().call_later(wait, self.kill, self.pid)


@pytest.mark.parametrize(
    ("nonce_seconds", "kills_wanted", "seed"),
    [(120, 60, 1), (0, 40, 2)],
    ids=["inside the nonce's window", "past the nonce's window"],
)
async def test_killed_at_any_instant_every_message_is_posted_once(
    tmp_path: Path, nonce_seconds: int, kills_wanted: int, seed: int
) -> None:
    path = tmp_path / "briefbot.db"
    async with StandIn(window=0.04) as side:
        side.nonce_window = float(nonce_seconds)
        guild = side.add_guild()
        channels = [side.add_channel(guild, f"c{n}") for n in range(CHANNELS)]
        database = await Database.open(path)
        for channel in channels:
            await subscribe(database, channel)
        await database.close()
        killer = Killer(side, kills_wanted, seed)
        lives = await lived(side, path, nonce_seconds, killer)
        assert sum(killer.kills.values()) >= kills_wanted, (killer.kills, lives)

        posted = {channel: brief_ids(side, channel) for channel in channels}
        assert list(posted.values()) == [list(range(1, BRIEFS + 1))] * CHANNELS, (killer.kills, lives)
        marks = [mark(m) for m in side.messages.values()]
        assert len(set(marks)) == len(marks) == BRIEFS * CHANNELS
        await assert_recorded(path, side)
        print(f"{lives} lives, kills: {killer.kills}")


async def lived(side: StandIn, path: Path, nonce_seconds: int, killer: Killer, what: str = "briefs") -> int:
    """Let the bot live and be killed until it has been so often enough, then let it finish; how many lives it took."""
    arguments = [str(side.port), str(path), side.token, str(nonce_seconds), what]
    nursery = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.flow.crash_bot", *arguments, cwd=ROOT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env={name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
    )  # fmt: skip
    assert nursery.stdin
    assert nursery.stdout
    lives = 0
    try:
        while True:
            lives += 1
            nursery.stdin.write(b"\n")
            pid = int(await nursery.stdout.readline())
            moment = killer.born(pid)
            timer = asyncio.get_running_loop().call_later(moment or 0, killer.kill, None if moment is None else pid)
            async with asyncio.timeout(30):
                code = int(await nursery.stdout.readline())
            timer.cancel()
            killer.pid = None
            assert code in (0, -signal.SIGKILL)
            if code == 0:
                return lives
    finally:
        nursery.stdin.close()
        await nursery.wait()


def mark(message: dict[str, Any]) -> str:
    ids = [c["custom_id"] for c in walk(message["components"]) if c.get("custom_id", "").startswith("brief:")]
    return str(ids[0].split(":")[2])


async def assert_recorded(path: Path, side: StandIn) -> None:
    """The outbox says of each message what Discord has."""
    database = await Database.open(path)
    async with database.read() as conn:
        assert (await outbox.counts(conn))["sent"] == BRIEFS * CHANNELS
        rows = [row for n in range(1, BRIEFS + 1) for row in await outbox.for_brief(conn, n)]
    await database.close()
    assert {row.message_id: row.nonce for row in rows} == {id: mark(m) for id, m in side.messages.items()}
