"""What an answer pages through is kept, so that its buttons work after a restart and only for whoever asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.schema import Unreadable
from bot.store.schema import lists as table

KEPT = timedelta(days=30)
MOST = 100  # entries of one list


@dataclass(frozen=True, slots=True)
class KeptList:
    """Whose list it is, what it is of (``kind``), its title, and its entries in order: ids of briefs, or topic slugs."""

    id: int
    user_id: int
    kind: str
    title: str
    entries: tuple[int | str, ...]


async def keep(
    conn: AsyncConnection, *, user_id: int, kind: str, title: str, entries: Sequence[int | str], now: datetime
) -> KeptList:
    """Keep a list of at most ``MOST`` entries, and forget those older than ``KEPT``."""
    await conn.execute(delete(table).where(table.c.created_at < now - KEPT))
    kept = tuple(entries[:MOST])
    written = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    values = {"user_id": user_id, "kind": kind, "title": title, "entries": written, "created_at": now}
    id: int = (await conn.execute(insert(table).values(values).returning(table.c.id))).scalar_one()
    return KeptList(id, user_id, kind, title, kept)


async def get(conn: AsyncConnection, id: int) -> KeptList | None:
    """One list, or None where it never was or was forgotten."""
    query = select(table.c.id, table.c.user_id, table.c.kind, table.c.title, table.c.entries).where(table.c.id == id)
    row = (await conn.execute(query)).first()
    if row is None:
        return None
    try:
        entries = json.loads(row.entries)
    except ValueError:
        raise Unreadable(f"list {id} in it is damaged") from None
    return KeptList(row.id, row.user_id, row.kind, row.title, tuple(entries))
