"""One file holds everything: read by many at once, written by one at a time.

The writer holds an asyncio lock and SQLite's own write lock (BEGIN IMMEDIATE) for the whole span of a transaction.
aiosqlite runs each connection in a thread, where a statement goes on after the coroutine that awaits it was cancelled;
so a cancelled connection is closed, which rolls it back, and only then is the lock released. Getting a connection,
COMMIT and ROLLBACK are waited for even through a cancellation, which is raised when they are done.
"""

from __future__ import annotations

import asyncio
import sqlite3
import weakref
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy import URL, AsyncAdaptedQueuePool, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.errors import StoreError
from bot.store import faults, upgrade
from bot.store.schema import insert_new, meta

READERS = 4
_CLOSE_SECONDS = 5.0  # shutdown as a whole ends inside 10 s

T = TypeVar("T")

# What other packages call a connection: sqlalchemy itself stays in the store.
Connection = AsyncConnection


class Database:
    """An open database. ``instance`` is 8 hex digits made with the file; every nonce begins with it."""

    def __init__(self, path: Path, busy_timeout: float) -> None:
        """Use ``Database.open``, which also prepares the file."""
        self.path = path
        self.instance = ""
        self._busy_timeout = busy_timeout
        self._file: tuple[int, int] = _identity(path)
        self._threads: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._writer = self._engine(1, ())
        self._readers = self._engine(READERS, ("PRAGMA query_only=ON",))
        self._lock = asyncio.Lock()
        self._owner: asyncio.Task[Any] | None = None
        self._reading = 0
        self._idle = asyncio.Event()
        self._closed = False

    @classmethod
    async def open(cls, path: Path | str, *, migrate: bool = True, busy_timeout: float = 5.0) -> Database:
        """Make the folder and the file if missing, migrate (after a copy), and connect.

        ``migrate`` False neither makes nor changes anything, and refuses a file of another version. ``busy_timeout``
        is how many seconds another process may hold the lock. Raises StoreError.
        """
        place = await asyncio.to_thread(_place, path)
        await asyncio.to_thread(upgrade.prepare, place, migrate=migrate, busy_timeout=busy_timeout)
        with faults.translated(place):
            database = cls(place, busy_timeout)
        try:
            async with database.read() as conn:
                database.instance = await get_meta(conn, "instance") or ""
            if not database.instance:
                raise faults.corrupt(place, "has lost its name")
        except BaseException:
            await database.close()
            raise
        return database

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """The one writer: commits at the end of the block, rolls back on any error or cancellation.

        A cancellation that comes during the commit is raised after it. Raises StoreError; a transaction inside a
        transaction of the same task raises RuntimeError, as it would wait for itself.
        """
        if self._owner is not None and self._owner is asyncio.current_task():
            raise RuntimeError("this task is in a transaction already")
        async with self._lock:
            self._owner = asyncio.current_task()
            try:
                async with self._begun(self._writer, "BEGIN IMMEDIATE") as conn:
                    yield conn
            finally:
                self._owner = None

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A snapshot of what is committed; never waits for the writer. Raises StoreError."""
        self._reading += 1
        self._idle.clear()
        try:
            async with self._begun(self._readers, "BEGIN") as conn:
                yield conn
        finally:
            self._reading -= 1
            if not self._reading:
                self._idle.set()

    async def close(self) -> None:
        """Wait a few seconds for the writer and the readers, then close every connection; what is open rolls back."""
        self._closed = True
        await _through(self._close())

    @asynccontextmanager
    async def _begun(self, engine: AsyncEngine, begin: str) -> AsyncIterator[AsyncConnection]:
        with faults.translated(self.path):
            if self._closed:
                raise StoreError(str(self.path), "is closed", "Start the bot again")
            if _identity(self.path) != self._file:
                raise faults.moved(self.path)
            conn = engine.connect()
            try:
                await _through(_begin(conn, begin))
                yield conn
                await _through(self._commit(conn))
            finally:
                # Whatever is still open is rolled back here.
                await _through(_end(conn))

    async def _commit(self, conn: AsyncConnection) -> None:
        driver = (await conn.get_raw_connection()).driver_connection
        if driver is None or not driver.in_transaction:
            # SQLite itself rolls back on some errors. Whoever swallowed one must not believe that all is stored.
            reason = "a transaction was rolled back before its end"
            raise StoreError(str(self.path), reason, "Look for the error before this one")
        await conn.commit()

    async def _close(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS), self._lock:
                if self._reading:
                    await self._idle.wait()
        await self._readers.dispose()
        await self._writer.dispose()
        for connection in list(self._threads):
            await connection.close()

    def _engine(self, size: int, pragmas: tuple[str, ...]) -> AsyncEngine:
        async def connect() -> aiosqlite.Connection:
            connection = _Connection(self.path, self._busy_timeout, pragmas)
            self._threads.add(connection)
            return await connection

        return create_async_engine(
            URL.create("sqlite+aiosqlite", database=str(self.path)),
            async_creator=connect,
            poolclass=AsyncAdaptedQueuePool,
            pool_size=size,
            max_overflow=0,
            pool_reset_on_return=None,  # _end has rolled back
            hide_parameters=True,
        )


class _Connection(aiosqlite.Connection):
    """An aiosqlite connection whose thread never outlives it and which may be closed twice, at once or after."""

    def __init__(self, path: Path, busy_timeout: float, pragmas: tuple[str, ...]) -> None:
        def connector() -> Any:
            raw = upgrade.connect(path, "rw", busy_timeout)
            for pragma in pragmas:
                raw.execute(pragma)
            return raw

        super().__init__(connector, iter_chunk_size=64)
        self._thread.daemon = True  # as SQLAlchemy does it: a bot that dies with an open database still ends
        self._ending: asyncio.Future[Any] | None = None

    def stop(self) -> asyncio.Future[Any] | None:
        if self._ending is None:
            if (raw := self._connection) is not None:
                # A cancelled SELECT may leave its cursor open, and then sqlite3_close_v2 keeps connection, transaction
                # and lock alive until the cursor is collected: so end the statement and the transaction by name.
                with suppress(sqlite3.Error):
                    raw.interrupt()
                self._tx.put_nowait((None, raw.rollback))
                # The next statement takes the interruption back; else closing would leave out the checkpoint.
                self._tx.put_nowait((None, lambda: raw.execute("SELECT 1").fetchall()))
            self._ending = super().stop()
        return self._ending

    async def close(self) -> None:
        if ending := self.stop():
            await asyncio.shield(ending)


async def _begin(conn: AsyncConnection, begin: str) -> None:
    await conn.start()
    # The driver begins nothing by itself (isolation_level None), so this statement is the whole truth.
    await conn.exec_driver_sql(begin)


async def _end(conn: AsyncConnection) -> None:
    if conn.sync_connection is None:
        return
    try:
        await conn.rollback()
    except Exception:
        await conn.invalidate()  # closing the connection rolls back too; the error that led here is the one to tell
    await conn.close()


async def _through(work: Coroutine[Any, Any, T]) -> T:
    """Await ``work`` to its end even if this task is cancelled meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # seen, though the cancellation goes before it
    raise cancelled


def _place(path: Path | str) -> Path:
    place = Path(path).expanduser()
    try:
        return place.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreError(str(place), f"is no path that can be followed ({error})", "Correct storage.database") from None


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        raise faults.moved(path) from None
    return found.st_dev, found.st_ino


async def get_meta(conn: AsyncConnection, key: str) -> str | None:
    """A small value kept under ``key``, or None."""
    value: str | None = (await conn.execute(select(meta.c.value).where(meta.c.key == key))).scalar()
    return value


async def set_meta(conn: AsyncConnection, key: str, value: str | None) -> None:
    """Keep a small value under ``key``; None forgets it."""
    if value is None:
        await conn.execute(delete(meta).where(meta.c.key == key))
        return
    statement = insert_new(conn, meta).values(key=key, value=value)
    await conn.execute(statement.on_conflict_do_update(index_elements=["key"], set_={"value": value}))
