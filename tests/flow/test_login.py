"""Whatever keeps the bot out ends in one clear line, and the token is never in it."""

from __future__ import annotations

import asyncio
import socket

import pytest

from bot.chat import login
from bot.chat.client import Client
from bot.errors import StartError
from tests.standin import StandIn, error


async def refusal(side: StandIn, token: str | None = None) -> str:
    """The one line that a start ends with."""
    with side.patched():
        client = Client(library=None, guild_ready_timeout=0)
        with pytest.raises(StartError) as raised:
            await asyncio.wait_for(client.run_until_closed(side.token if token is None else token), 20)
        assert client.is_closed()
    line = str(raised.value)
    assert "\n" not in line
    assert len(line) < 400
    if token and token.strip():
        assert token.strip() not in line
    return line


@pytest.mark.parametrize("token", ["wrong", "", "  ", "two words", "naïve", "a\nb", "Bot abc"])
async def test_a_wrong_token(side: StandIn, token: str) -> None:
    assert "Reset Token" in await refusal(side, token)


async def test_a_token_that_the_gateway_refuses(side: StandIn) -> None:
    side.gateway_refuses = 4004
    assert "does not accept the bot token" in await refusal(side)


async def test_intents_and_sharding(side: StandIn) -> None:
    side.gateway_refuses = 4014
    assert "intents" in await refusal(side)
    side.gateway_refuses = 4011
    assert "sharding" in await refusal(side)


async def test_nobody_listens(side: StandIn) -> None:
    await side.pause()
    assert "cannot be reached" in await refusal(side)


async def test_the_gateway_is_dead_though_the_api_lives(side: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: refused
        monkeypatch.setattr(StandIn, "gateway_url", f"ws://127.0.0.1:{taken.getsockname()[1]}/gateway")
        assert "check the network" in await refusal(side)


async def test_discord_answers_with_an_error(side: StandIn) -> None:
    side.fail("GET", "/users/@me$", lambda: error(503, 0, "down"))
    assert "Discord has trouble (HTTP 503)" in await refusal(side)
    side.fail("GET", "/users/@me$", "drop-before", times=9)
    assert "broke" in await refusal(side)


async def test_discord_does_not_answer(side: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.chat.client.REQUEST_SECONDS", 0.2)
    side.fail("GET", "/users/@me$", "hang-before")
    assert "did not answer in time" in await refusal(side)


async def test_a_dead_proxy_is_named_without_its_password(side: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        proxy = f"http://me:secret@127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setattr(login, "proxy_for", lambda url: proxy)
        line = await refusal(side)
    assert f"proxy 127.0.0.1:{proxy.rpartition(':')[2]}" in line
    assert "HTTPS_PROXY" in line
    assert "secret" not in line


def test_the_proxy_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "internal.example")
    assert login.proxy_for("https://discord.com/api/v10") == "http://proxy.example:3128"
    assert login.proxy_for("https://127.0.0.1:1/api") is None
    assert login.proxy_for("https://internal.example/") is None


async def test_close_during_login_is_no_error(side: StandIn) -> None:
    side.fail("GET", "/users/@me$", "hang-before")
    with side.patched():
        client = Client(library=None)
        running = asyncio.create_task(client.run_until_closed(side.token))
        while not side.requests:  # noqa: ASYNC110  the stand-in's own list
            await asyncio.sleep(0.01)
        await client.close()
        await asyncio.wait_for(running, 5)
