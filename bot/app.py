"""The composition root: builds every part from Settings, starts and stops them in order."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from pydantic import SecretStr

from bot import __version__
from bot.briefs.topics import slug
from bot.chat import digest_answers
from bot.chat.client import Client
from bot.chat.shelf import Shelf
from bot.config import TOKEN_VARIABLE, DigestSettings, Settings, SourceSettings, SubscriptionSettings
from bot.delivery import routing
from bot.delivery.digests import Digests
from bot.delivery.worker import Outlet, Worker, utc_now
from bot.errors import StartError
from bot.sources.http import Http
from bot.sources.poll import Poller
from bot.sources.sandbox import Sandbox
from bot.store import briefs, digests, outbox, sources, subscriptions
from bot.store.briefs import StoredBrief
from bot.store.database import Connection, Database

if os.name == "posix":
    import fcntl

log = structlog.get_logger("bot")

# How often the ticks look at the store; a tick is one indexed query when nothing is due.
TICK_SECONDS = 1
LAST_TICKS = 1.0  # seconds that shutdown waits for ticks that have begun


class App(Shelf):
    """Every part of the bot; ``async with App(settings) as app`` opens what needs no Discord.

    ``start(outlet)`` begins polling and delivering; leaving the block stops all parts in reverse order, within 10 s.
    Raises StoreError where the database cannot be used, StartError where another Briefbot has it.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database: Database
        self._watching = []
        self.http = new_http(settings)
        self.poller: Poller
        self.digests: Digests
        self.worker: Worker | None = None
        self._scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1}
        )
        self._ticks: dict[str, asyncio.Task[None]] = {}
        self._opened = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(only_one(self.settings.storage.database))
            self.database = await Database.open(self.settings.storage.database)
            stack.push_async_callback(self.database.close)
            await stack.enter_async_context(self.http)
            await self._sync()
            self.poller = Poller(
                self.database,
                self.http,
                await stack.enter_async_context(Sandbox()),
                on_stored=self._route,
                on_change=self._changed,
                clock=utc_now,
                concurrency=self.settings.polling.concurrency,
            )
            stack.push_async_callback(self.poller.stop)
            self.digests = Digests(self.database, clock=utc_now, on_queued=self._wake)
            self._opened = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
        if self._ticks:
            await asyncio.wait(self._ticks.values(), timeout=LAST_TICKS)
        if self.worker:
            await self.worker.stop()
        await self._opened.aclose()

    def start(self, outlet: Outlet) -> None:
        """Begin to poll and to deliver through ``outlet``; the ticks run until the block is left."""
        self.worker = Worker(self.database, outlet, clock=utc_now)
        self.worker.start()
        for name, tick in (("poll", self.poller.tick), ("digests", self.digests.tick), ("deliver", self._deliver)):
            self._scheduler.add_job(self._begin, "interval", (name, tick), seconds=TICK_SECONDS, id=name)
        self._scheduler.start()

    async def _begin(self, name: str, tick: Callable[[], Awaitable[None]]) -> None:
        """Begin a tick in a task of our own, unless the last one goes on: APScheduler cancels its jobs at shutdown."""
        last = self._ticks.get(name)
        if last is None or last.done():
            self._ticks[name] = asyncio.create_task(self._run(name, tick), name=name)

    @staticmethod
    async def _run(name: str, tick: Callable[[], Awaitable[None]]) -> None:
        try:
            await tick()
        except Exception:
            log.exception("a tick failed in a way nobody foresaw; the next one comes", tick=name)

    async def _deliver(self) -> None:
        self._wake()

    async def _route(self, conn: Connection, stored: StoredBrief) -> None:
        """A new brief's outbox rows, in the transaction that stores it."""
        await routing.enqueue(conn, stored, now=utc_now(), instance=self.database.instance)

    def _wake(self) -> None:
        if self.worker:
            self.worker.wake()

    def _changed(self) -> None:
        self._wake()
        self.tell()

    async def digest_briefs(self, run_id: int, start: int, limit: int) -> tuple[list[StoredBrief], int]:
        """The briefs of a digest's run from a place on, and how many it has in all."""
        async with self.database.read() as conn:
            return await digests.given(conn, run_id, start=start, limit=limit)

    async def digest_about(self, run_id: int) -> str | None:
        """When and what the digest of a run gathers, in words; None where it is not there."""
        async with self.database.read() as conn:
            digest = await digests.of_run(conn, run_id)
            names = {s.id: s.name for s in await sources.everyone(conn)}
        return digest_answers.about(digest, names) if digest else None

    async def _sync(self) -> None:
        """Make the store's sources, subscriptions and digests of the config those of the config file."""
        now = utc_now()
        async with self.database.transaction() as conn:
            await sources.sync(conn, [self.new_source(s) for s in self.settings.sources], now)
            by_name = {s.name.casefold(): s.id for s in await sources.everyone(conn)}
            wanted = [new_subscription(s, by_name) for s in self.settings.subscriptions]
            await subscriptions.sync(conn, wanted, now)
            # A restart is how an operator says that a channel was mended; one that was not pauses again, told once.
            for paused in await subscriptions.everyone(conn):
                if paused.owner == "config" and paused.state == "paused":
                    await subscriptions.resume(conn, paused.id, now)
            await digests.sync(conn, [new_digest(d, by_name) for d in self.settings.digests], now)

    def new_source(self, source: SourceSettings, owner: sources.Owner = "config") -> sources.NewSource:
        """A source of the config as the store takes it."""
        polling = self.settings.polling
        usual = polling.folder_interval if source.kind == "folder" else polling.interval
        return sources.NewSource(
            name=source.name,
            kind=source.kind,
            location=str(source.path) if source.path else source.url or "",
            interval=source.interval or usual,
            owner=owner,
            allow_private=source.allow_private,
            enabled=source.enabled,
            backfill=source.backfill,
        )


def new_subscription(wish: SubscriptionSettings, sources_by_name: dict[str, int]) -> subscriptions.NewSubscription:
    """A subscription of the config as the store takes it; its source is named, its topic may be a name or a slug."""
    return subscriptions.NewSubscription(
        channel_id=wish.channel,
        topic=slug(wish.topic) if wish.topic else None,
        source_id=sources_by_name[wish.source.strip().casefold()] if wish.source else None,
        everything=wish.everything,
        format=wish.format,
        role_id=wish.role,
    )


def new_digest(wish: DigestSettings, sources_by_name: dict[str, int]) -> digests.NewDigest:
    """A digest of the config as the store takes it."""
    return digests.NewDigest(
        channel_id=wish.channel,
        name=wish.name,
        topic=slug(wish.topic) if wish.topic else None,
        source_id=sources_by_name[wish.source.strip().casefold()] if wish.source else None,
        everything=wish.everything,
        schedule=digests.Schedule(
            at=wish.at,
            days=wish.days,
            monthday=wish.monthday,
            zone=wish.zone,
            most=wish.most,
            when_empty=wish.when_empty,
            silent=wish.silent,
            catch_up=wish.catch_up,
        ),
    )


def new_http(settings: Settings) -> Http:
    """The one way to fetch, as the settings want it; not started yet."""
    return Http(
        user_agent=user_agent(settings.http.contact),
        timeout=settings.http.timeout.total_seconds(),
        max_bytes=settings.http.max_bytes,
        max_redirects=settings.http.max_redirects,
        connections=settings.http.connections,
        connections_per_host=settings.http.connections_per_host,
    )


def user_agent(contact: str) -> str:
    """An honest name for servers' logs: who we are, which version, where to write to."""
    return f"Briefbot/{__version__}" + (f" (+{contact})" if contact else "")


@contextlib.contextmanager
def only_one(database: Path) -> Iterator[None]:
    """Hold the lock that keeps a second bot from the same database: two would post everything twice."""
    if os.name != "posix":
        yield
        return
    lock = database.with_name(f"{database.name}.running")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = lock.open("a+")
    except OSError:
        yield  # the folder cannot be written: opening the database says so, with what to do
        return
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.seek(0)
            who = handle.read().strip() or "unknown"
            raise StartError(
                f"{database} is in use by another Briefbot (process {who}). Stop that one first, or set "
                "storage.database to another file"
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


async def run_on_discord(settings: Settings, token: SecretStr) -> None:
    """The whole bot on Discord until SIGINT or SIGTERM. Raises StartError where it cannot log in."""
    stop = stop_signal()
    async with App(settings) as app:
        client = Client(library=app, development_guild=settings.discord.development_guild)
        connected = asyncio.create_task(client.run_until_closed(token.get_secret_value()), name="discord")
        waiting = asyncio.create_task(stop.wait(), name="stop")
        app.start(client)
        try:
            await asyncio.wait({connected, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            if app.worker:
                await app.worker.stop()
            await client.close()
        await connected


async def once(settings: Settings, token: SecretStr | None) -> str:
    """Poll every source that is due, store what is new, deliver what is due if there is a token; a line that says so.

    Folders, and sources on private hosts that were allowed, are due whenever somebody asks.
    """
    async with App(settings) as app:
        async with app.database.transaction() as conn:
            await sources.make_near_due(conn, utc_now())
        await app.poller.poll_once()
        await app.digests.tick()
        if token is not None:
            client = Client(library=app, publish=False)
            connected = asyncio.create_task(client.run_until_closed(token.get_secret_value()), name="discord")
            app.worker = Worker(app.database, client, clock=utc_now)
            drained = asyncio.create_task(app.worker.drain(), name="drain")
            try:
                await asyncio.wait({connected, drained}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await app.worker.stop()
                drained.cancel()
                await client.close()
            await connected
        async with app.database.read() as conn:
            stored = await briefs.count(conn)
            waiting = await outbox.counts(conn)
            failing = [s.name for s in await sources.everyone(conn) if s.enabled and s.failures]
    said = f"{stored} briefs stored, {waiting['sent']} messages sent, {waiting['queued'] + waiting['sending']} waiting."
    if token is None and waiting["queued"]:
        said += f" They wait for a token: set {TOKEN_VARIABLE}."
    if failing:
        said += f" Failing: {', '.join(failing)} (briefbot status says why)."
    return said


def stop_signal() -> asyncio.Event:
    """An event that SIGINT and SIGTERM set; a second signal kills the process as usual."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        log.info("stopping", signal=number.name)
        stop.set()
        loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C arrives as KeyboardInterrupt
            loop.add_signal_handler(number, on_signal, number)
    return stop
