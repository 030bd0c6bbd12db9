"""The whole bot, from its config to Discord's wire: run, once, and what ends them."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot import app, tasks
from bot.config import Settings, load
from bot.errors import StartError
from tests.flow.rig import until
from tests.standin import StandIn

ROOT = Path(__file__).parent.parent.parent
REAL = (ROOT / "tests" / "data" / "briefs" / "brifing-pytorch-2.15.md").read_text("utf-8")


def settings(folder: Path, *channels: int, more: str = "") -> Settings:
    """A config with one watched folder and some channels that take everything."""
    (folder / "in").mkdir(exist_ok=True)
    lines = [
        '[storage]\ndatabase = "b.db"\n[polling]\nfolder_interval = "1s"\n[[sources]]\nname = "In"\nkind = "folder"\npath = "in"'
    ]
    lines += [f"[[subscriptions]]\nchannel = {channel}\neverything = true\n{more}" for channel in channels]
    (folder / "c.toml").write_text("\n".join(lines), "utf-8")
    return load(folder / "c.toml")


def drop(folder: Path, name: str, title: str = "") -> None:
    text = (
        REAL.replace("# PyTorch 2.15 Released", f"# {title}", 1).replace("65ec1f7b", name[:8].ljust(8, "0"))
        if title
        else REAL
    )
    (folder / "in" / f".{name}").write_text(text, "utf-8")
    os.utime(folder / "in" / f".{name}", (1, 1))
    (folder / "in" / f".{name}").rename(folder / "in" / f"{name}.md")


@pytest.mark.parametrize("number", [signal.SIGTERM])
async def test_run_delivers_a_dropped_document_and_ends_on_a_signal(
    side: StandIn, tmp_path: Path, number: signal.Signals
) -> None:
    channel = side.add_channel(side.add_guild(), "news")
    with side.patched():
        running = asyncio.create_task(app.run_on_discord(settings(tmp_path, channel), SecretStr(side.token)))
        await until(side.ready.is_set)
        await asyncio.sleep(1.5)  # the first look is the baseline
        drop(tmp_path, "a")
        await until(lambda: side.posted(channel))
        os.kill(os.getpid(), number)
        async with asyncio.timeout(10):
            await running
    (message,) = side.posted(channel)
    assert "PyTorch 2.15 Released" in json.dumps(message["components"])
    assert side.sent(rf"/channels/{channel}/messages$")[0].json["allowed_mentions"]["parse"] == []


async def test_once_polls_delivers_and_returns(side: StandIn, tmp_path: Path) -> None:
    guild = side.add_guild()
    channels = [side.add_channel(guild, f"c{n}") for n in range(3)]
    made = settings(tmp_path, *channels)
    with side.patched():
        drop(tmp_path, "a")
        assert "1 briefs stored, 0 messages sent" in await app.once(made, SecretStr(side.token))
        for n in range(4):
            drop(tmp_path, f"b{n}", f"Brief {n}")
        said = await app.once(made, SecretStr(side.token))
    assert "5 briefs stored, 12 messages sent, 0 waiting." in said
    assert [len(side.posted(channel)) for channel in channels] == [4, 4, 4]


async def test_a_second_run_posts_nothing_again(side: StandIn, tmp_path: Path) -> None:
    channel = side.add_channel(side.add_guild(), "news")
    made = settings(tmp_path, channel)
    with side.patched():
        await app.once(made, SecretStr(side.token))
        drop(tmp_path, "a")
        for _ in range(2):
            await app.once(made, SecretStr(side.token))
    assert len(side.posted(channel)) == 1


async def test_a_wrong_token_is_one_clear_line(side: StandIn, tmp_path: Path) -> None:
    with side.patched():
        for what in (app.run_on_discord, app.once):
            with pytest.raises(StartError, match="Discord does not accept the bot token") as caught:
                await what(settings(tmp_path), SecretStr("wrong.token.x"))
            assert "\n" not in str(caught.value)
            assert "wrong.token" not in str(caught.value)


async def test_a_channel_the_bot_cannot_see_is_named_and_resumes_when_it_can(side: StandIn, tmp_path: Path) -> None:
    guild = side.add_guild()
    good, bad = side.add_channel(guild, "good"), side.add_channel(guild, "bad")
    side.forbidden.add(bad)
    made = settings(tmp_path, good, bad)
    with side.patched():
        await app.once(made, SecretStr(side.token))
        drop(tmp_path, "a")
        await app.once(made, SecretStr(side.token))
        assert len(side.posted(good)) == 1
        row = next(r for r in (await tasks.status(made))["subscriptions"] if r["channel"] == str(bad))
        assert row["state"].startswith("paused since")
        assert str(bad) in row["reason"]
        side.forbidden.clear()
        await app.once(made, SecretStr(side.token))
    assert len(side.posted(bad)) == 1
    assert len(side.posted(good)) == 1
