"""Rows with sensible contents, so that a test says only what it is about."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.briefs.model import Brief, Topic
from bot.store import briefs, sources, subscriptions
from bot.store.sources import NewSource, Source
from bot.store.subscriptions import NewSubscription, Subscription

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
