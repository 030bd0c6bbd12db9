"""A source remembers when it is polled next, how it fares, and every item it ever listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Literal, TypeVar

from sqlalchemy import Column, ColumnElement, Select, bindparam, func, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.schema import insert_new, item_keys, items, storable
from bot.store.schema import sources as table

Owner = Literal["config", "operator", "guild"]
State = Literal["active", "disabled"]
ItemState = Literal["baseline", "pending", "stored", "set aside"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NewSource:
    """A place to poll. ``location`` is a URL or an absolute path; ``backfill`` counts briefs posted at first sight."""

    name: str
    kind: str
    location: str
    interval: timedelta
    owner: Owner = "operator"
    guild_id: int | None = None
    allow_private: bool = False
    enabled: bool = True
    backfill: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """A stored source. ``baseline_at`` is None until the first good poll; ``reason`` says why it fails or is off."""

    id: int
    name: str
    kind: str
    location: str
    owner: Owner
    guild_id: int | None
    interval: timedelta
    allow_private: bool
    enabled: bool
    backfill: int
    state: State
    next_poll_at: datetime
    last_poll_at: datetime | None
    last_ok_at: datetime | None
    failures: int
    failing_since: datetime | None
    reason: str | None
    etag: str | None
    last_modified: str | None
    body_hash: str | None
    baseline_at: datetime | None


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a source. ``attempts`` counts readings, ``next_try_at`` is when a pending one is read again."""

    id: int
    source_id: int
    title: str
    link: str | None
    state: ItemState
    reason: str | None
    attempts: int
    next_try_at: datetime | None
    brief_id: int | None
    first_seen_at: datetime
    last_listed_at: datetime


async def sync(conn: AsyncConnection, wanted: Sequence[NewSource], now: datetime) -> None:
    """Make the config's sources those that are wanted, by name (case aside); nothing is deleted.

    New ones are due at once; one that an operator added under the same name becomes the config's. Where kind or
    location changed, validators, failures and baseline are forgotten: the new place is seen for the first time, and
    its items stay known. Those gone are disabled, and active again when they come back. ValueError("name taken")
    where a guild's source has the name.
    """
    stored = {row["name_key"]: dict(row) for row in (await conn.execute(select(table))).mappings()}
    asked = {_name_key(new.name): new for new in reversed(wanted)}
    for key, new in reversed(asked.items()):
        row = stored.get(key)
        if row is None:
            await conn.execute(table.insert().values(_values(new, now) | {"owner": "config"}))
        elif row["owner"] == "guild":
            raise ValueError("name taken")
        elif changed := _changes(row, new, now):
            await conn.execute(update(table).where(table.c.id == row["id"]).values(changed))
    for key, row in stored.items():
        if key not in asked and row["owner"] == "config" and row["reason"] != GONE:
            values = {"state": "disabled", "reason": GONE}
            await conn.execute(update(table).where(table.c.id == row["id"]).values(values))


GONE = "it is no longer in the config"


def _name_key(name: str) -> str:
    return storable(name.strip().casefold())


def _values(new: NewSource, now: datetime) -> dict[str, Any]:
    return {
        "name": new.name,
        "name_key": _name_key(new.name),
        "kind": new.kind,
        "location": new.location,
        "owner": new.owner,
        "guild_id": new.guild_id,
        "interval": new.interval,
        "allow_private": new.allow_private,
        "enabled": new.enabled,
        "backfill": new.backfill,
        "state": "active",
        "next_poll_at": now,
        "failures": 0,
    }


_FIRST_SIGHT: dict[str, Any] = {
    "last_ok_at": None,
    "failing_since": None,
    "reason": None,
    "etag": None,
    "last_modified": None,
    "body_hash": None,
    "baseline_at": None,
    "state": "active",
    "failures": 0,
}


def _changes(row: dict[str, Any], new: NewSource, now: datetime) -> dict[str, Any]:
    """What of a stored source has to become different for it to be the wanted one."""
    values = _values(new, now) | {"name": storable(new.name), "location": storable(new.location), "owner": "config"}
    for fresh_only in ("state", "failures", "next_poll_at"):
        del values[fresh_only]
    if row["kind"] != new.kind or row["location"] != values["location"]:
        values |= _FIRST_SIGHT | {"next_poll_at": now}
    elif row["reason"] == GONE or (new.enabled and not row["enabled"]):
        values |= {"state": "active", "reason": None, "failures": 0, "failing_since": None, "next_poll_at": now}
    elif new.interval < row["interval"]:
        values["next_poll_at"] = min(row["next_poll_at"], now + new.interval)
    return {name: value for name, value in values.items() if row[name] != value}


async def add(conn: AsyncConnection, new: NewSource, now: datetime) -> Source:
    """Store one source, due at once. ValueError("name taken") where another has the name (case aside)."""
    if await by_name(conn, new.name):
        raise ValueError("name taken")
    row = (await conn.execute(table.insert().values(_values(new, now)).returning(*_COLUMNS))).mappings().one()
    return Source(**row)


async def due(conn: AsyncConnection, now: datetime, limit: int) -> list[Source]:
    """Up to ``limit`` sources whose next poll has come, longest due first."""
    query = _SELECT.where(_POLLED, table.c.next_poll_at <= now)
    return await _list(conn, query.order_by(table.c.next_poll_at, table.c.id).limit(limit))


async def next_due(conn: AsyncConnection) -> datetime | None:
    """When the next source is due, or None."""
    found: datetime | None = (await conn.execute(select(func.min(table.c.next_poll_at)).where(_POLLED))).scalar()
    return found


async def everyone(conn: AsyncConnection) -> list[Source]:
    """Every source, by name."""
    return await _list(conn, _SELECT.order_by(table.c.name_key))


async def by_name(conn: AsyncConnection, name: str) -> Source | None:
    """The source of that name (case aside), or None."""
    return next(iter(await _list(conn, _SELECT.where(table.c.name_key == _name_key(name)))), None)


async def get(conn: AsyncConnection, id: int) -> Source | None:
    """One source, or None."""
    return next(iter(await _list(conn, _SELECT.where(table.c.id == id))), None)


async def succeeded(
    conn: AsyncConnection,
    id: int,
    *,
    now: datetime,
    next_poll_at: datetime,
    validators: tuple[str | None, str | None],
    body_hash: str | None,
    baseline: bool,
) -> None:
    """A good poll; runs in the transaction that stores its items.

    ``validators`` (etag, last-modified) and ``body_hash`` replace what is stored, so after a 304 hand back those that
    were sent. ``baseline`` marks the first sight as done.
    """
    etag, last_modified = validators
    values: dict[str, Any] = {
        "last_poll_at": now,
        "last_ok_at": now,
        "next_poll_at": next_poll_at,
        "failures": 0,
        "failing_since": None,
        "reason": None,
        "etag": etag,
        "last_modified": last_modified,
        "body_hash": body_hash,
    }
    if baseline:
        values["baseline_at"] = _or_now(table.c.baseline_at, now)
    # A source that was taken out of the config during the poll stays disabled, with that reason.
    await conn.execute(update(table).where(table.c.id == id, table.c.state == "active").values(values))


async def failed(
    conn: AsyncConnection, id: int, *, now: datetime, next_poll_at: datetime, reason: str, permanent: bool = False
) -> None:
    """A bad poll: one more failure in a row; ``permanent`` disables the source."""
    values: dict[str, Any] = {
        "last_poll_at": now,
        "next_poll_at": next_poll_at,
        "failures": table.c.failures + 1,
        "failing_since": _or_now(table.c.failing_since, now),
        "reason": reason,
    }
    if permanent:
        values["state"] = "disabled"
    await conn.execute(update(table).where(table.c.id == id, table.c.state == "active").values(values))


async def known(conn: AsyncConnection, source_id: int, keys: Iterable[bytes]) -> dict[bytes, int]:
    """Which keys the source had before, with the item each belongs to. Any number of keys."""
    found: dict[bytes, int] = {}
    for some in _batches(keys):
        query = select(item_keys.c.key, item_keys.c.item_id)
        query = query.where(item_keys.c.source_id == source_id, item_keys.c.key.in_(some))
        found |= dict((await conn.execute(query)).all())
    return found


async def remember(
    conn: AsyncConnection,
    source_id: int,
    *,
    keys: Sequence[bytes],
    title: str,
    link: str | None,
    state: ItemState,
    reason: str | None = None,
    brief_id: int | None = None,
    now: datetime,
) -> int:
    """Store a new item with its keys; its id. A key that another item has stays with that item."""
    values = {
        "source_id": source_id,
        "title": title,
        "link": link,
        "state": state,
        "reason": reason,
        "attempts": 0,
        "brief_id": brief_id,
        "first_seen_at": now,
        "last_listed_at": now,
    }
    item_id: int = (await conn.execute(items.insert().values(values).returning(items.c.id))).scalar_one()
    await add_keys(conn, source_id, item_id, keys, now)
    return item_id


async def add_keys(conn: AsyncConnection, source_id: int, item_id: int, keys: Iterable[bytes], now: datetime) -> None:
    """Give an item more keys; a key that an item has already stays where it is."""
    rows = [{"source_id": source_id, "key": key, "item_id": item_id, "added_at": now} for key in dict.fromkeys(keys)]
    if rows:
        await conn.execute(insert_new(conn, item_keys).on_conflict_do_nothing(), rows)


async def settle(
    conn: AsyncConnection,
    item_id: int,
    *,
    state: ItemState,
    reason: str | None = None,
    brief_id: int | None = None,
    next_try_at: datetime | None = None,
    now: datetime,
) -> None:
    """What became of reading an item; counts the attempt. A brief it has stays its brief where none is given."""
    values: dict[str, Any] = {
        "state": state,
        "reason": reason,
        "next_try_at": next_try_at,
        "attempts": items.c.attempts + 1,
        "last_listed_at": now,
    }
    if brief_id is not None:
        values["brief_id"] = brief_id
    await conn.execute(update(items).where(items.c.id == item_id).values(values))


async def pending(conn: AsyncConnection, source_id: int, now: datetime) -> list[Item]:
    """The source's items that are to be read now, oldest first."""
    waits = items.c.state == literal_column("'pending'")  # written out, so that ix_items_pending is used
    ready = items.c.next_try_at.is_(None) | (items.c.next_try_at <= now)
    query = select(items).where(items.c.source_id == source_id, waits, ready).order_by(items.c.id)
    return [Item(**row) for row in (await conn.execute(query)).mappings()]


async def item(conn: AsyncConnection, item_id: int) -> Item | None:
    """One item, or None."""
    row = (await conn.execute(select(items).where(items.c.id == item_id))).mappings().first()
    return Item(**row) if row else None


async def listed(conn: AsyncConnection, source_id: int, item_ids: Iterable[int], now: datetime) -> None:
    """The source listed these items at ``now``."""
    for some in _batches(item_ids):
        rows = update(items).where(items.c.source_id == source_id, items.c.id.in_(some))
        await conn.execute(rows.values(last_listed_at=now))


_COLUMNS = [column for column in table.c if column.name != "name_key"]
_SELECT = select(*_COLUMNS)
_POLLED = (table.c.state == "active") & table.c.enabled
_BATCH = 500  # values in one IN (...): far below SQLite's 32,766 variables


def _or_now(column: Column[datetime | None], now: datetime) -> ColumnElement[datetime | None]:
    return func.coalesce(column, bindparam(None, now, column.type))


def _batches(values: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(dict.fromkeys(values))
    while some := list(islice(rest, _BATCH)):
        yield some


async def _list(conn: AsyncConnection, query: Select[*tuple[Any, ...]]) -> list[Source]:
    return [Source(**row) for row in (await conn.execute(query)).mappings()]


async def items_by_id(conn: AsyncConnection, item_ids: Iterable[int]) -> dict[int, Item]:
    """The items of these ids; any number of ids."""
    found: dict[int, Item] = {}
    for some in _batches(item_ids):
        rows = await conn.execute(select(items).where(items.c.id.in_(some)))
        found |= {row["id"]: Item(**row) for row in rows.mappings()}
    return found


async def count_listed(conn: AsyncConnection, source_id: int, since: datetime) -> int:
    """How many items the source has listed since that time."""
    query = select(func.count()).select_from(items)
    query = query.where(items.c.source_id == source_id, items.c.last_listed_at >= since)
    return (await conn.execute(query)).scalar_one()


async def make_near_due(conn: AsyncConnection, now: datetime) -> None:
    """Let folders and sources on the operator's own network be polled now: politeness is for other people's servers."""
    near = (table.c.kind == "folder") | table.c.allow_private
    await conn.execute(update(table).where(near, table.c.next_poll_at > now).values(next_poll_at=now))


async def postpone(conn: AsyncConnection, id: int, next_poll_at: datetime) -> None:
    """Poll later, which says nothing about how the source fares: its host asked for peace, and nothing was sent."""
    await conn.execute(update(table).where(table.c.id == id).values(next_poll_at=next_poll_at))


async def unread(conn: AsyncConnection, limit: int) -> list[Item]:
    """The newest items that could not be read: set aside, or waiting to be tried again after a failure."""
    failed = (items.c.state == "set aside") | ((items.c.state == "pending") & items.c.reason.is_not(None))
    query = select(items).where(failed).order_by(items.c.last_listed_at.desc(), items.c.id.desc()).limit(limit)
    return [Item(**row) for row in (await conn.execute(query)).mappings()]
