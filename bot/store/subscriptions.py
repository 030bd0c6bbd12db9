"""A subscription is a channel's wish, and a paused one keeps its place, its reason and its queued rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from sqlalchemy import RowMapping, Select, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.schema import deliveries, storable
from bot.store.schema import subscriptions as table

Format = Literal["card", "compact", "embed", "digest"]  # digest: gathered, by its row in ``digests``
Owner = Literal["config", "guild"]
State = Literal["active", "paused", "removed"]


@dataclass(frozen=True, slots=True)
class NewSubscription:
    """What a channel wants: a topic (slug), a source or everything; at least one of the three."""

    channel_id: int
    topic: str | None = None
    source_id: int | None = None
    everything: bool = False
    format: Format = "card"
    role_id: int | None = None
    owner: Owner = "config"
    guild_id: int | None = None

    @property
    def wish(self) -> str:
        """Topic, source and everything as one text. ValueError where the subscription wishes for nothing."""
        parts = [
            "everything" if self.everything else "",
            f"source:{self.source_id}" if self.source_id is not None else "",
            f"topic:{storable(self.topic)}" if self.topic is not None else "",
        ]
        if not any(parts):
            raise ValueError("a subscription wants a topic, a source or everything")
        return " ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Subscription:
    """A stored subscription. ``reason`` and ``paused_at`` say why and since when it is paused."""

    id: int
    owner: Owner
    guild_id: int | None
    channel_id: int
    topic: str | None
    source_id: int | None
    everything: bool
    format: Format
    role_id: int | None
    state: State
    reason: str | None
    paused_at: datetime | None
    created_at: datetime


async def sync(conn: AsyncConnection, wanted: Sequence[NewSubscription], now: datetime) -> None:
    """Make the config's subscriptions those that are wanted; those of guilds and digests are left alone.

    A subscription is the same if channel, topic, source and everything are. New ones are added active; known ones get
    their format and role and stay active or paused as they are; those gone are removed and their queued rows dropped.
    One that comes back after removal starts again as if new.
    """
    query = select(table).where(table.c.owner == "config", table.c.format != "digest")
    rows = (await conn.execute(query)).mappings().all()
    stored = {(row["channel_id"], row["wish"]): row for row in rows}
    asked: dict[tuple[int, str], NewSubscription] = {}
    for new in wanted:
        asked.setdefault((new.channel_id, new.wish), replace(new, owner="config"))
    for key, new in asked.items():
        row = stored.get(key)
        values: dict[str, object] = {"format": new.format, "role_id": new.role_id, "guild_id": new.guild_id}
        if row is None or row["state"] == "removed":
            await add(conn, new, now)
        elif any(row[name] != value for name, value in values.items()):
            await conn.execute(update(table).where(table.c.id == row["id"]).values(values))
    for key, row in stored.items():
        if key not in asked and row["state"] != "removed":
            await remove(conn, row["id"], reason="it is no longer in the config", now=now)


async def add(conn: AsyncConnection, new: NewSubscription, now: datetime) -> Subscription:
    """Store one subscription; one that was removed starts again as if new.

    ValueError where this owner has the same wish for the channel already.
    """
    same = (table.c.owner == new.owner) & (table.c.channel_id == new.channel_id) & (table.c.wish == new.wish)
    stored = (await conn.execute(select(table.c.id, table.c.state).where(same))).first()
    if stored and stored.state != "removed":
        raise ValueError("this channel has that subscription already")
    values = {
        "owner": new.owner,
        "guild_id": new.guild_id,
        "channel_id": new.channel_id,
        "topic": new.topic,
        "source_id": new.source_id,
        "everything": new.everything,
        "wish": new.wish,
        "format": new.format,
        "role_id": new.role_id,
        "state": "active",
        "reason": None,
        "paused_at": None,
        "created_at": now,
    }
    statement = update(table).where(table.c.id == stored.id) if stored else insert(table)
    return _subscription((await conn.execute(statement.values(values).returning(*_COLUMNS))).mappings().one())


async def remove(conn: AsyncConnection, id: int, *, reason: str, now: datetime) -> None:
    """Set a subscription to removed; its queued rows become dropped with the same reason."""
    values = {"state": "removed", "reason": reason, "paused_at": None}
    await conn.execute(update(table).where(table.c.id == id).values(values))
    queued = (deliveries.c.subscription_id == id) & (deliveries.c.state == "queued")
    dropped = {"state": "dropped", "reason": f"the subscription was removed: {reason}", "finished_at": now}
    await conn.execute(update(deliveries).where(queued).values(dropped))


async def active(conn: AsyncConnection) -> list[Subscription]:
    """Every active subscription, by id."""
    return await _list(conn, _SELECT.where(table.c.state == "active"))


async def everyone(conn: AsyncConnection) -> list[Subscription]:
    """Every subscription that was not removed, by id."""
    return await _list(conn, _SELECT.where(table.c.state != "removed"))


async def get(conn: AsyncConnection, id: int) -> Subscription | None:
    """One subscription in whatever state, or None."""
    return next(iter(await _list(conn, _SELECT.where(table.c.id == id))), None)


async def pause(conn: AsyncConnection, id: int, *, reason: str, now: datetime) -> bool:
    """Pause an active subscription; True if it was active, so that the reason is told once. Queued rows are held."""
    condition = (table.c.id == id) & (table.c.state == "active")
    values = {"state": "paused", "reason": reason, "paused_at": now}
    return (await conn.execute(update(table).where(condition).values(values))).rowcount > 0


async def resume(conn: AsyncConnection, id: int, now: datetime) -> bool:
    """Make a paused subscription active; True if it was paused. Its held rows come due again, oldest first."""
    condition = (table.c.id == id) & (table.c.state == "paused")
    values = {"state": "active", "reason": None, "paused_at": None}
    if not (await conn.execute(update(table).where(condition).values(values))).rowcount:
        return False
    held = (deliveries.c.subscription_id == id) & (deliveries.c.state == "queued") & (deliveries.c.due_at > now)
    await conn.execute(update(deliveries).where(held).values(due_at=now))
    return True


_COLUMNS = [column for column in table.c if column.name != "wish"]
_SELECT = select(*_COLUMNS).order_by(table.c.id)


async def _list(conn: AsyncConnection, query: Select[*tuple[object, ...]]) -> list[Subscription]:
    return [_subscription(row) for row in (await conn.execute(query)).mappings()]


def _subscription(row: RowMapping) -> Subscription:
    return Subscription(**row)
