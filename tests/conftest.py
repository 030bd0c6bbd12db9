"""What several parts of the tests need: a database of their own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.database import Database


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """A new, empty database in the test's own folder."""
    opened = await Database.open(tmp_path / "briefbot.db")
    yield opened
    await opened.close()
