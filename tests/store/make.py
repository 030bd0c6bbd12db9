"""Rows with sensible contents and other processes, so that a test says only what it is about."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.briefs.model import Brief, Topic
from bot.store import briefs, sources, subscriptions
from bot.store.database import Database, get_meta, set_meta
from bot.store.sources import NewSource, Source
from bot.store.subscriptions import NewSubscription, Subscription

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def later(**span: float) -> datetime:
    return NOW + timedelta(**span)


def new_source(name: str = "Wire", **values: Any) -> NewSource:
    return NewSource(
        **{"name": name, "kind": "site", "location": f"https://{name.lower()}.example/", "interval": timedelta(hours=1)}
        | values
    )


async def source(conn: AsyncConnection, name: str = "Wire", **values: Any) -> Source:
    return await sources.by_name(conn, name) or await sources.add(conn, new_source(name, **values), NOW)


async def brief(conn: AsyncConnection, number: int, *, topic: str = "ai", **values: Any) -> int:
    made = Brief(
        **{
            "title": f"Brief {number}",
            "permalink": f"https://wire.example/s/{number}",
            "topic": Topic(topic.upper(), topic),
        }
        | values
    )
    id, _ = await briefs.add(conn, made, source_id=(await source(conn)).id, now=NOW, baseline=False)
    return id


async def subscription(conn: AsyncConnection, channel_id: int, *, topic: str = "ai", **values: Any) -> Subscription:
    return await subscriptions.add(conn, NewSubscription(channel_id, topic, **values), NOW)


async def value(database: Database, key: str) -> str | None:
    """What is committed under ``key``."""
    async with database.read() as conn:
        return await get_meta(conn, key)


async def keep(database: Database, key: str, text: str) -> None:
    """Commit one small value."""
    async with database.transaction() as conn:
        await set_meta(conn, key, text)


def start(code: str, *args: object) -> subprocess.Popen[bytes]:
    """Run ``code`` in another process, in the project's folder."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, args)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
