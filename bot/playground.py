"""The whole bot on a simulated Discord (SimCord), with a page in the browser: no token, no server, no network."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import simcord

from bot import log
from bot.app import App, stop_signal
from bot.chat.client import Client
from bot.config import PollingSettings, Settings, SourceSettings, StorageSettings, SubscriptionSettings
from bot.delivery.digests import FullPage
from bot.delivery.worker import Outlet
from bot.errors import StartError
from bot.store.briefs import StoredBrief
from bot.store.outbox import Delivery

SAMPLES = Path(__file__).parent.parent / "samples"
INBOX = Path("data/playground/inbox")
LOOK_EVERY = timedelta(seconds=1)
SUFFIXES = {".md", ".markdown", ".txt"}

# Channel -> what it takes and how: one channel for each format, so that each can be looked at.
CHANNELS: dict[str, dict[str, Any]] = {
    "briefs": {"everything": True, "format": "card"},
    "data-ai": {"topic": "data-ai", "format": "card"},
    "headlines": {"everything": True, "format": "compact"},
    "announcements": {"everything": True, "format": "embed"},
}


class Watched:
    """The client as the worker's outlet; notes when something was posted, so that the page can be made anew."""

    def __init__(self, client: Outlet) -> None:
        self.client = client
        self.posted = asyncio.Event()

    def is_ready(self) -> bool:
        return self.client.is_ready()

    async def send(self, delivery: Delivery, content: StoredBrief | FullPage) -> int:
        message_id = await self.client.send(delivery, content)
        self.posted.set()
        return message_id

    async def find(self, delivery: Delivery, since: datetime) -> int | None:
        return await self.client.find(delivery, since)


async def run(*, channel: str, port: int, inbox: Path | None, every: float, say: Callable[[str], object]) -> None:
    """Serve the playground until SIGINT or SIGTERM: samples arrive one after another, then what is dropped into ``inbox``.

    ``channel`` is the one the page shows, ``port`` the page's port (0: a free one), ``every`` the seconds between two
    samples. Raises StartError for a channel that is not there or a port that is taken.
    """
    if channel not in CHANNELS:
        raise StartError(f"the playground has no channel {channel!r}: use --channel {', '.join(CHANNELS)}")
    log.configure("warning", "console")
    inbox = (inbox or INBOX).resolve()
    inbox.mkdir(parents=True, exist_ok=True)
    stop = stop_signal()
    with tempfile.TemporaryDirectory(prefix="briefbot-") as scratch:
        arriving = Path(scratch) / "samples"
        arriving.mkdir()
        client = Client(library=None)
        async with simulation(client) as env:
            guild = env.create_guild("Briefbot playground")
            made = {
                name: guild.create_news_channel(name) if name == "announcements" else guild.create_text_channel(name)
                for name in CHANNELS
            }
            you = guild.add_member(env.create_user("you"), roles=[])
            settings = Settings(
                storage=StorageSettings(database=Path(scratch) / "briefbot.db"),
                polling=PollingSettings(folder_interval=LOOK_EVERY),
                sources=(
                    SourceSettings(name="Samples", kind="folder", path=arriving),
                    SourceSettings(name="Inbox", kind="folder", path=inbox),
                ),
                subscriptions=tuple(
                    SubscriptionSettings(channel=made[name].id, **wish) for name, wish in CHANNELS.items()
                ),
            )
            async with App(settings) as app:
                client.library = app
                outlet = Watched(client)
                try:
                    preview = env.preview(made[channel], viewers=[you], layout="channel", port=port or None)
                    page = await preview.__aenter__()
                except OSError as error:
                    raise StartError(f"port {port} cannot be used ({error.strerror}): choose another --port") from None
                try:
                    say(f"\n  Open   {page.url}")
                    say(
                        f"  Shown  #{channel} (others with --channel: {', '.join(c for c in CHANNELS if c != channel)})"
                    )
                    say(f"  Inbox  {inbox}")
                    say("         Drop a brief document there: it is posted within seconds.")
                    say("  Stop   Ctrl-C\n")
                    app.start(outlet)
                    feeder = asyncio.create_task(feed(arriving, every))
                    shower = asyncio.create_task(keep_fresh(page, outlet.posted))
                    ended = asyncio.create_task(stop.wait())
                    closed = asyncio.create_task(page.wait_closed())
                    await asyncio.wait({ended, closed}, return_when=asyncio.FIRST_COMPLETED)
                    for task in (feeder, shower, ended, closed):
                        task.cancel()
                finally:
                    await preview.__aexit__(None, None, None)
    say("The playground has ended.")


def simulation(client: Client) -> simcord.run:
    """A simulated Discord in which the bot has its name and it is today.

    SimCord 3.2.1 has no public way to say either, which is one reason why it is pinned exactly.
    """
    simulated = simcord.run(client, check_errors=False)
    backend = simulated._env.backend
    backend.bot_user.name = "Briefbot"
    backend.clock._epoch = datetime.now(UTC)
    return simulated


async def feed(folder: Path, every: float) -> None:
    """Put the sample documents into a watched folder, one after another."""
    await asyncio.sleep(2 * LOOK_EVERY.total_seconds())  # the first look is the baseline
    for sample in sorted(p for p in SAMPLES.glob("*") if p.suffix in SUFFIXES and p.name != "README.md"):
        partial = folder / f".{sample.name}"
        shutil.copyfile(sample, partial)
        partial.rename(folder / sample.name)
        await asyncio.sleep(every)


async def keep_fresh(page: Any, posted: asyncio.Event) -> None:
    """Make the page anew after each post; while somebody clicks on it, a moment later."""
    while True:
        await posted.wait()
        posted.clear()
        await asyncio.sleep(0.2)
        try:
            await page.refresh()
        except simcord.SetupError:
            posted.set()
            await asyncio.sleep(0.3)
