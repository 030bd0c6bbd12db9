"""A fresh Discord and a fresh database for each test; nothing of the machine's own proxies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.database import Database
from tests.standin import StandIn


@pytest.fixture
async def side() -> AsyncIterator[StandIn]:
    # The bot under test paces itself to 4 in 0.05 s; the server's window is shorter, as the real one is.
    async with StandIn(window=0.04) as made:
        yield made


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "briefbot.db")
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
