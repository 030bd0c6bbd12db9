"""The real client, worker and store on the wire stand-in, with times short enough for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.briefs.model import Brief, Section, Topic
from bot.chat.client import Client
from bot.delivery import routing
from bot.delivery.pacing import Pacing
from bot.delivery.worker import Backoff, Worker
from bot.store import briefs, outbox, sources, subscriptions
from bot.store.database import Database
from bot.store.outbox import Delivery
from bot.store.sources import NewSource
from bot.store.subscriptions import NewSubscription, Subscription
from tests.standin import StandIn, walk


class Shelf:
    """The library that components read from."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def brief(self, brief_id: int) -> Brief | None:
        async with self.database.read() as conn:
            stored = await briefs.get(conn, brief_id)
        return stored.brief if stored else None


def make_brief(number: int) -> Brief:
    sections = tuple(Section(f"Part {n}", f"Sentence {n} of brief {number}.", f"Sentence {n}.") for n in range(3))
    return Brief(
        title=f"Brief {number}",
        dek="What happened.",
        topic=Topic("AI", "ai"),
        permalink=f"https://wire.example/s/{number}",
        sections=sections,
    )


async def subscribe(database: Database, channel_id: int, **values: Any) -> Subscription:
    async with database.transaction() as conn:
        new = NewSubscription(channel_id, **({"everything": True} | values))
        return await subscriptions.add(conn, new, datetime.now(UTC))


async def publish(database: Database, number: int) -> int:
    """Store a brief and its outbox rows in one transaction, once; the brief's id."""
    now = datetime.now(UTC)
    async with database.transaction() as conn:
        source = await sources.by_name(conn, "Wire")
        if source is None:
            new = NewSource(name="Wire", kind="site", location="https://wire.example/", interval=timedelta(hours=1))
            source = await sources.add(conn, new, now)
        brief_id, created = await briefs.add(conn, make_brief(number), source_id=source.id, now=now, baseline=False)
        if created:
            stored = await briefs.get(conn, brief_id)
            assert stored is not None
            await routing.enqueue(conn, stored, now=now, instance=database.instance)
    return brief_id


async def deliveries(database: Database, brief_id: int) -> list[Delivery]:
    async with database.read() as conn:
        return await outbox.for_brief(conn, brief_id)


async def subscription(database: Database, id: int) -> Subscription:
    async with database.read() as conn:
        found = await subscriptions.get(conn, id)
    assert found is not None
    return found


def brief_ids(side: StandIn, channel_id: int) -> list[int]:
    """The ids of the briefs that were posted to a channel, in order, as their components say."""
    found = []
    for message in side.posted(channel_id):
        ids = [c["custom_id"] for c in walk(message["components"]) if c.get("custom_id", "").startswith("brief:")]
        found.append(int(ids[0].split(":")[1]))
    return found


async def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait until something has come true."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  what is waited for happens in another process or library
            await asyncio.sleep(0.005)


async def until_state(database: Database, brief_id: int, *states: str, seconds: float = 10.0) -> list[Delivery]:
    """Wait until a brief's rows are in these states (each row's, in order of id)."""
    async with asyncio.timeout(seconds):
        while True:
            rows = await deliveries(database, brief_id)
            if tuple(row.state for row in rows) == states:
                return rows
            await asyncio.sleep(0.01)


@dataclass
class Bot:
    """A running bot: ``end`` stops it in order, as the app does."""

    client: Client
    worker: Worker
    connection: asyncio.Task[None]

    async def end(self) -> None:
        await self.worker.stop()
        await self.client.close()
        await self.connection


def make_worker(database: Database, client: Client, *, window: float = 0.05, **options: Any) -> Worker:
    quick: dict[str, Any] = {
        "pacing": Pacing(rate=400, burst=20, window=window),
        "backoff": Backoff(first=0.05, most=0.5),
        "look_seconds": 0.02,
    }
    return Worker(database, client, **(quick | options))


async def _at_once(shard_id: int | None, *, initial: bool = False) -> None:
    """In place of discord.py's pause before a second IDENTIFY."""


@asynccontextmanager
async def running(
    side: StandIn, database: Database, *, library: Any = None, client_options: Any = None, **options: Any
) -> AsyncIterator[Bot]:
    """The bot, logged in and ready; the stand-in is patched in for as long as the block lasts."""
    with side.patched():
        client = Client(library=library or Shelf(database), guild_ready_timeout=0, **(client_options or {}))
        client.before_identify_hook = _at_once  # type: ignore[method-assign]  # the library waits 5 s
        connection = asyncio.create_task(client.run_until_closed(side.token))
        worker = make_worker(database, client, **options)
        bot = Bot(client, worker, connection)
        try:
            await until(lambda: client.is_ready() or connection.done())
            if connection.done():
                await connection
            worker.start()
            yield bot
        finally:
            side.released.set()
            await bot.end()
