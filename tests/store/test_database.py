"""One writer, many readers, and a cancellation at any moment leaves the database as if nothing had begun."""

import asyncio
import os
import random
import signal
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from bot.errors import StoreError
from bot.store import outbox
from bot.store.database import Database, get_meta, set_meta
from bot.store.schema import meta
from tests.store import make
from tests.store.make import NOW, keep, start, value


async def test_meta_keeps_small_values(database: Database) -> None:
    assert await value(database, "commands") is None
    await keep(database, "commands", "a")
    await keep(database, "commands", "b")
    assert await value(database, "commands") == "b"
    async with database.transaction() as conn:
        await set_meta(conn, "commands", None)
    assert await value(database, "commands") is None


async def test_the_name_of_a_database_is_made_once(tmp_path: Path) -> None:
    names = []
    for path in ("a.db", "a.db", "b.db"):
        database = await Database.open(tmp_path / path)
        names.append(database.instance)
        await database.close()
    assert names[0] == names[1] != names[2]
    assert all(len(name) == 8 and int(name, 16) >= 0 for name in names)


async def test_every_connection_is_set_as_the_design_says(database: Database) -> None:
    for begun in (database.transaction, database.read):
        async with begun() as conn:
            for pragma, wanted in (
                ("foreign_keys", 1),
                ("synchronous", 2),
                ("journal_mode", "wal"),
                ("busy_timeout", 5000),
            ):
                assert (await conn.exec_driver_sql(f"PRAGMA {pragma}")).scalar() == wanted

    async def queue_what_is_not_there() -> None:
        async with database.transaction() as conn:
            wish = await make.subscription(conn, 1)
            await outbox.queue(conn, subscription=wish, brief_id=999, now=NOW, instance="i")

    with pytest.raises(StoreError, match="FOREIGN KEY"):
        await queue_what_is_not_there()


async def test_an_error_rolls_back(database: Database) -> None:
    await keep(database, "k", "before")

    async def fail() -> None:
        async with database.transaction() as conn:
            await set_meta(conn, "k", "during")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await value(database, "k") == "before"


async def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(StoreError):
        async with database.read() as conn:
            await set_meta(conn, "k", "x")
    await keep(database, "k", "y")


async def test_a_transaction_in_a_transaction_is_refused_at_once(database: Database) -> None:
    async with database.transaction() as conn:
        with pytest.raises(RuntimeError, match="already"):
            async with database.transaction():
                pass
        async with database.read() as other:
            assert await get_meta(other, "k") is None
        await set_meta(conn, "k", "x")
    assert await value(database, "k") == "x"


async def test_readers_see_what_is_committed_and_wait_for_nobody(database: Database) -> None:
    await keep(database, "k", "old")
    async with database.read() as early:
        assert await get_meta(early, "k") == "old"
        async with database.transaction() as conn:
            await set_meta(conn, "k", "new")
            async with asyncio.timeout(1):
                assert await value(database, "k") == "old"
        # A snapshot stays what it was.
        assert await get_meta(early, "k") == "old"
    assert await value(database, "k") == "new"


async def test_twenty_writers_lose_no_update(database: Database) -> None:
    await keep(database, "count", "0")
    slowest = 0.0
    done = asyncio.Event()

    async def count_up(worker: int) -> None:
        for _ in range(10):
            async with database.transaction() as conn:
                seen = int(await get_meta(conn, "count") or 0)
                await asyncio.sleep(0)
                await set_meta(conn, f"worker {worker}", "x")
                await set_meta(conn, "count", str(seen + 1))

    async def watch() -> None:
        nonlocal slowest
        last, loop = 0, asyncio.get_running_loop()
        while not done.is_set():
            start = loop.time()
            now = int(await value(database, "count") or 0)
            slowest = max(slowest, loop.time() - start)
            assert now >= last
            last = now

    watchers = [asyncio.create_task(watch()) for _ in range(3)]
    await asyncio.gather(*(count_up(n) for n in range(20)))
    done.set()
    await asyncio.gather(*watchers)
    assert await value(database, "count") == "200"
    assert slowest < 5


async def test_a_cancellation_at_any_moment_rolls_back_or_commits_whole(database: Database) -> None:
    """Cancel a transaction of twenty statements after a random delay, again and again."""
    chance = random.Random(4)
    whole = 0

    async def write(attempt: int) -> None:
        async with database.transaction() as conn:
            for part in range(20):
                await set_meta(conn, f"{attempt} {part}", "x")

    for attempt in range(60):
        task = asyncio.create_task(write(attempt))
        for _ in range(chance.choice([1, 1, 1, 2])):  # sometimes twice: during the roll-back
            await asyncio.sleep(chance.random() * 0.012)
            task.cancel()
        await asyncio.wait({task})
        async with database.read() as conn:
            rows = (await conn.execute(select(func.count()).where(meta.c.key.like(f"{attempt} %")))).scalar()
        assert rows in (0, 20)
        assert rows == 20 or task.cancelled()
        whole += rows == 20
        await keep(database, "after", str(attempt))
    assert 0 < whole < 60


async def test_a_cancelled_reader_leaves_room_for_the_next(database: Database) -> None:
    chance = random.Random(5)
    for _ in range(40):
        tasks = [asyncio.create_task(value(database, "k")) for _ in range(6)]
        await asyncio.sleep(chance.random() * 0.004)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    async with asyncio.timeout(2):
        assert await value(database, "k") is None


async def test_waiting_for_the_lock_can_be_cancelled(database: Database) -> None:
    async with database.transaction():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await asyncio.create_task(keep(database, "k", "x"))
    await keep(database, "k", "y")


@pytest.mark.parametrize("rows", [200_000, 10**12])
async def test_a_timeout_around_a_statement_is_a_timeout(database: Database, rows: int) -> None:
    """One statement that leaves its cursor open, and one that would never end by itself."""
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {rows}) SELECT count(*) FROM n"
    endless = text(f"{numbers} UNION ALL SELECT 1")

    async def take_too_long() -> None:
        async with asyncio.timeout(0.01), database.transaction() as conn:
            await set_meta(conn, "k", "x")
            await conn.execute(endless)

    with pytest.raises(TimeoutError):
        await take_too_long()
    assert await value(database, "k") is None
    await keep(database, "k", "y")


async def test_a_roll_back_that_was_swallowed_is_not_taken_for_a_commit(database: Database) -> None:

    async def swallow() -> None:
        async with database.transaction() as conn:
            await set_meta(conn, "k", "x")
            await conn.exec_driver_sql("ROLLBACK")

    with pytest.raises(StoreError, match="rolled back before its end"):
        await swallow()
    assert await value(database, "k") is None


async def test_after_close_everything_is_told_so(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "a.db")
    await keep(database, "k", "x")
    await database.close()
    await database.close()
    for begun in (database.transaction, database.read):
        with pytest.raises(StoreError, match="is closed"):
            async with begun():
                pass
    assert sorted(os.listdir(tmp_path)) == ["a.db", "a.db.lock"]


async def test_close_waits_for_those_who_are_at_work(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "a.db")
    begun = asyncio.Event()

    async def write() -> None:
        async with database.transaction() as conn:
            begun.set()
            await asyncio.sleep(0.05)
            await set_meta(conn, "k", "x")

    task = asyncio.create_task(write())
    await begun.wait()
    await database.close()
    await task
    again = await Database.open(tmp_path / "a.db")
    assert await value(again, "k") == "x"
    await again.close()


WRITER = """
import asyncio, sys
from bot.store.database import Database, get_meta, set_meta

async def main(path, times):
    database = await Database.open(path)
    for number in range(times):
        async with database.transaction() as conn:
            await set_meta(conn, "count", str(int(await get_meta(conn, "count") or 0) + 1))
        print(number, flush=True)
    await database.close()

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


async def test_processes_that_start_at_once_share_a_new_database(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.db"
    writers = [start(WRITER, path, 25) for _ in range(3)]
    for writer in writers:
        _, said = await asyncio.to_thread(writer.communicate, timeout=60)
        assert writer.returncode == 0, said.decode()
    database = await Database.open(path)
    assert await value(database, "count") == "75"
    await database.close()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path, known = tmp_path / "a.db", 0
    for delay in (0.0, 0.01, 0.03):
        writer = start(WRITER, path, 100_000)
        assert writer.stdout is not None
        await asyncio.to_thread(writer.stdout.readline)
        await asyncio.sleep(delay)
        os.kill(writer.pid, signal.SIGKILL)
        said, _ = await asyncio.to_thread(writer.communicate)
        acknowledged = 1 + len(said.splitlines())
        database = await Database.open(path)
        stored = int(await value(database, "count") or 0)
        await database.close()
        assert known + acknowledged <= stored <= known + acknowledged + 1
        known = stored
