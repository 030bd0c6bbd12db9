"""What most tests of sources need: a site on loopback, and the one way to fetch from it."""

from collections.abc import AsyncIterator

import pytest

from bot.sources.http import Http
from bot.sources.sandbox import Sandbox
from bot.store.database import Database
from tests.sources.loopback import Loopback
from tests.sources.rig import Rig


@pytest.fixture
async def site() -> AsyncIterator[Loopback]:
    async with Loopback() as loopback:
        yield loopback


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    async with Http(user_agent="Briefbot/1 (+mailto:a@example.org)", timeout=2, max_bytes=100_000) as client:
        yield client


@pytest.fixture
async def rig(database: Database) -> AsyncIterator[Rig]:
    async with Http(user_agent="test", timeout=1) as http, Sandbox() as sandbox:
        rig = Rig(database, http, sandbox)
        yield rig
        await rig.poller.stop()
