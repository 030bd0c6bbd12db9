"""A poller over a real store, with a clock that the test moves."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.sources.http import Http
from bot.sources.poll import Poller
from bot.sources.sandbox import Sandbox
from bot.store import briefs, sources
from bot.store.briefs import StoredBrief
from bot.store.database import Connection, Database

HOUR = timedelta(hours=1)


class Rig:
    """A poller over a real store, with a clock that the test moves and a list of what became news."""

    def __init__(self, database: Database, http: Http, sandbox: Sandbox) -> None:
        self.database, self.http, self.sandbox = database, http, sandbox
        self.now = datetime.now(UTC)
        self.news: list[str] = []
        self.fail_once = False
        self.start()

    def start(self) -> None:
        self.poller = Poller(self.database, self.http, self.sandbox, on_stored=self.stored, clock=lambda: self.now)

    async def stored(self, conn: Connection, stored: StoredBrief) -> None:
        if self.fail_once:
            self.fail_once = False
            raise RuntimeError("killed inside the transaction")
        self.news.append(stored.brief.title)

    async def add(self, kind: str, location: object, *, name: str = "", backfill: int = 0) -> None:
        async with self.database.transaction() as conn:
            new = sources.NewSource(
                name or kind, kind, str(location), interval=HOUR, allow_private=True, backfill=backfill
            )
            await sources.add(conn, new, self.now)

    async def poll(self, after: timedelta = timedelta(hours=26)) -> list[str]:
        """Poll what is due some time later; the titles that became news."""
        self.now += after
        before = len(self.news)
        await self.poller.poll_once()
        return self.news[before:]

    async def source(self, name: str) -> sources.Source:
        async with self.database.read() as conn:
            found = await sources.by_name(conn, name)
        assert found
        return found

    async def titles(self) -> set[str]:
        async with self.database.read() as conn:
            return {s.brief.title for s in await briefs.latest(conn, limit=1000)}


def drop(folder: Path, name: str, text: str | bytes, age: float = 60) -> Path:
    """Write a file that looks settled."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    os.utime(path, (time.time() - age, time.time() - age))
    return path
