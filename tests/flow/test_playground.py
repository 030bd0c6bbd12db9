"""The playground is the whole bot: real discord.py machinery on SimCord, real store, real folders."""

import asyncio
import re
import signal
import sys
from pathlib import Path

import aiohttp
import pytest
import simcord

from bot.app import App
from bot.chat.client import Client
from bot.config import PollingSettings, Settings, SourceSettings, StorageSettings, SubscriptionSettings

ROOT = Path(__file__).parent.parent.parent
REAL = ROOT / "tests" / "data" / "briefs" / "brifing-pytorch-2.15.md"


async def test_a_document_dropped_into_a_folder_is_in_its_channels_within_seconds(tmp_path: Path) -> None:
    inbox = tmp_path / "in"
    inbox.mkdir()
    client = Client(library=None)
    async with simcord.run(client) as env:
        guild = env.create_guild("g")
        card, compact, embed = (guild.create_text_channel(n) for n in ("card", "compact", "embed"))
        reader = guild.add_member(env.create_user("reader"))
        settings = Settings(
            storage=StorageSettings(database=tmp_path / "b.db"),
            polling=PollingSettings(folder_interval="1s"),
            sources=(SourceSettings(name="Inbox", kind="folder", path=inbox),),
            subscriptions=(
                SubscriptionSettings(channel=card.id, topic="Data & AI"),
                SubscriptionSettings(channel=compact.id, everything=True, format="compact"),
                SubscriptionSettings(channel=compact.id, topic="data-ai"),
                SubscriptionSettings(channel=embed.id, source="inbox", format="embed"),
            ),
        )
        async with App(settings) as app:
            client.library = app
            app.start(client)
            await asyncio.sleep(1.5)
            (inbox / "a.md").write_text(REAL.read_text("utf-8"), "utf-8")
            async with asyncio.timeout(10):
                while not (card.last_message and compact.last_message and embed.last_message):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            await asyncio.sleep(1.2)
            assert len(compact.history()) == 1, "one message, though two subscriptions match"
            assert "PyTorch 2.15 Released" in str(card.last_message.components[0].to_dict())
            assert embed.last_message.embeds[0].title.startswith("PyTorch 2.15 Released")
            answer = await reader.select(card.last_message, ["1"])
            assert answer.ephemeral


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_playground_prints_its_address_serves_it_and_ends_cleanly(
    tmp_path: Path, number: signal.Signals
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "ignore", "-m", "bot", "playground", "--every", "0.2", "--inbox", str(tmp_path / "inbox"),
        cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    assert process.stdout
    said = b""
    async with asyncio.timeout(20):
        while not (found := re.search(rb"(http://127\.0\.0\.1:\d+/)#\S+", said)):
            said += await process.stdout.readline()
    async with aiohttp.ClientSession() as session, session.get(found[1].decode()) as page:
        assert page.status == 200
    await asyncio.sleep(3)
    process.send_signal(number)
    async with asyncio.timeout(10):
        rest = await process.stdout.read()
        assert await process.wait() == 0
    assert b"The playground has ended." in rest
    assert b"Traceback" not in said + rest
