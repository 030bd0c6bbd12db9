"""The bot that test_crash kills: it stores 20 briefs, or runs digests, while it delivers, and ends when all is delivered.

Run as ``python -m tests.flow.crash_bot PORT DATABASE TOKEN NONCE_SECONDS briefs|digests``. Everything is imported once;
each line on standard input forks one bot, whose process id is printed at once and whose exit code when it has ended.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
import warnings
from datetime import timedelta
from pathlib import Path

warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)

import yarl  # noqa: E402  after the filter above
from discord.gateway import DiscordWebSocket  # noqa: E402
from discord.http import Route  # noqa: E402

from bot import log  # noqa: E402
from bot.chat.client import Client  # noqa: E402
from bot.delivery.digests import Digests  # noqa: E402
from bot.delivery.pacing import Pacing  # noqa: E402
from bot.delivery.worker import utc_now  # noqa: E402
from bot.store import outbox  # noqa: E402
from bot.store.database import Database  # noqa: E402
from tests.flow.rig import Shelf, make_worker, publish  # noqa: E402

BRIEFS = 20


async def left(database: Database) -> int:
    """How many messages are not posted yet."""
    async with database.read() as conn:
        counts = await outbox.counts(conn)
    return counts["queued"] + counts["sending"]


async def live(database_path: Path, token: str, nonce_window: timedelta, what: str) -> None:
    """One life: store what is not stored yet or run the digests that are due, deliver everything, stop in order."""
    database = await Database.open(database_path)
    client = Client(library=Shelf(database), guild_ready_timeout=0)
    connection = asyncio.create_task(client.run_until_closed(token))
    worker = make_worker(database, client, nonce_window=nonce_window, pacing=Pacing(rate=80, burst=1, window=0.05))
    worker.start()
    if what == "digests":
        await Digests(database, clock=utc_now, on_queued=worker.wake).tick()
    for number in range(BRIEFS if what == "briefs" else 0):
        await publish(database, number)
        worker.wake()
        await asyncio.sleep(0.002)
    while not client.is_ready():  # noqa: ASYNC110  the library sets no event that outlives a login
        await asyncio.sleep(0.005)
    await worker.drain()
    while await left(database):  # what was put off on a slow machine is due again in a moment
        await asyncio.sleep(0.05)
        await worker.drain()
    await worker.stop()
    await client.close()
    await connection
    await database.close()


def main() -> None:
    port, database_path, token, nonce_seconds, what = sys.argv[1:6]
    log.configure("warning", "console")
    Route.BASE = f"http://127.0.0.1:{port}/api/v10"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"ws://127.0.0.1:{port}/gateway")
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                asyncio.run(live(Path(database_path), token, timedelta(seconds=float(nonce_seconds)), what))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
