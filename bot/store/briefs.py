"""A stored brief is its JSON document; the columns beside it only find and order it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import RowMapping, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.briefs.model import Brief, Coverage, Section, SourceLink, Topic
from bot.store import search_index
from bot.store.schema import Unreadable, brief_keys, brief_sources, insert_new, storable
from bot.store.schema import briefs as table


@dataclass(frozen=True, slots=True)
class StoredBrief:
    """A brief with its id, the source that brought it first, when, and whether it belongs to a baseline."""

    id: int
    brief: Brief
    source_id: int
    first_seen_at: datetime
    baseline: bool


@dataclass(frozen=True, slots=True)
class TopicCount:
    """A topic as its newest brief names it, how many briefs it has, and when the newest is from."""

    topic: Topic
    briefs: int
    last_at: datetime


async def add(
    conn: AsyncConnection,
    brief: Brief,
    *,
    source_id: int,
    now: datetime,
    baseline: bool,
    key: bytes | None = None,
    other_keys: Sequence[bytes] = (),
) -> tuple[int, bool]:
    """Store a brief: (id, True if it is new).

    The same permalink, or else the same key of the same source (``key`` first), is the same brief: it is updated in
    place and keeps its id, its first source, when it was first seen and its baseline mark.
    """
    keys = [*([key] if key is not None else []), *other_keys]
    permalink_key = canonical(brief.permalink)
    row = None
    if permalink_key is not None:
        query = select(table.c.id, table.c.first_seen_at).where(table.c.permalink_key == permalink_key)
        row = (await conn.execute(query)).first()
    for one in keys if row is None else ():
        query = select(table.c.id, table.c.first_seen_at).join(brief_keys, brief_keys.c.brief_id == table.c.id)
        query = query.where(brief_keys.c.source_id == source_id, brief_keys.c.key == one)
        row = (await conn.execute(query)).first()
        if row is not None:
            break
    topic = brief.topic or Topic("", "")
    values: dict[str, Any] = {
        "document": _write(brief),
        "title": brief.title,
        "topic": topic.slug or None,
        "topic_name": topic.name or None,
        "topic_url": topic.url,
        "updated_at": now,
        "ordered_at": _ordered_at(brief.published, now if row is None else row.first_seen_at),
    }
    if permalink_key is not None:
        values["permalink_key"] = permalink_key
    if row is not None:
        brief_id: int = row.id
        await conn.execute(update(table).where(table.c.id == brief_id).values(values))
    else:
        values |= {"source_id": source_id, "first_seen_at": now, "baseline": baseline}
        brief_id = (await conn.execute(table.insert().values(values).returning(table.c.id))).scalar_one()
    await search_index.write(conn, brief_id, brief)
    seen = insert_new(conn, brief_sources).values(brief_id=brief_id, source_id=source_id, seen_at=now)
    await conn.execute(seen.on_conflict_do_nothing())
    for one in keys:
        owned = insert_new(conn, brief_keys).values(source_id=source_id, key=one, brief_id=brief_id)
        await conn.execute(
            owned.on_conflict_do_update(index_elements=["source_id", "key"], set_={"brief_id": brief_id})
        )
    return brief_id, row is None


async def get(conn: AsyncConnection, id: int) -> StoredBrief | None:
    """One brief, or None."""
    row = (await conn.execute(_SELECT.where(table.c.id == id))).mappings().first()
    return _stored(row) if row else None


async def several(conn: AsyncConnection, ids: Sequence[int]) -> list[StoredBrief]:
    """The briefs with these ids, in that order; those that are not there are left out."""
    found: dict[int, StoredBrief] = {}
    for start in range(0, len(ids), 500):
        query = _SELECT.where(table.c.id.in_(ids[start : start + 500]))
        found |= {row["id"]: _stored(row) for row in (await conn.execute(query)).mappings()}
    return [found[id] for id in ids if id in found]


async def by_permalink(conn: AsyncConnection, permalink: str) -> StoredBrief | None:
    """The brief whose permalink is the same address, or None."""
    row = (await conn.execute(_SELECT.where(table.c.permalink_key == canonical(permalink)))).mappings().first()
    return _stored(row) if row else None


async def latest(conn: AsyncConnection, *, topic: str | None = None, limit: int) -> list[StoredBrief]:
    """The newest briefs, of one topic (slug) or of all: by when they were published, never later than first seen."""
    query = _SELECT if topic is None else _SELECT.where(table.c.topic == topic)
    query = query.order_by(table.c.ordered_at.desc(), table.c.id.desc()).limit(limit)
    return [_stored(row) for row in (await conn.execute(query)).mappings()]


async def topics(conn: AsyncConnection) -> list[TopicCount]:
    """Every topic that has briefs, most briefs first."""
    counted = (
        select(
            table.c.topic.label("slug"),
            func.count().label("briefs"),
            func.max(table.c.ordered_at).label("last_at"),
            func.max(table.c.id).label("newest"),
        )
        .where(table.c.topic.is_not(None))
        .group_by(table.c.topic)
        .subquery()
    )
    query = (
        select(counted.c.slug, counted.c.briefs, counted.c.last_at, table.c.topic_name, table.c.topic_url)
        .join(table, table.c.id == counted.c.newest)
        .order_by(counted.c.briefs.desc(), counted.c.slug)
    )
    return [
        TopicCount(Topic(row.topic_name or row.slug, row.slug, row.topic_url), row.briefs, row.last_at)
        for row in await conn.execute(query)
    ]


async def count(conn: AsyncConnection) -> int:
    """How many briefs are stored."""
    return (await conn.execute(select(func.count()).select_from(table))).scalar_one()


async def sources_of(conn: AsyncConnection, brief_id: int) -> list[int]:
    """The sources that brought a brief, first one first."""
    query = select(brief_sources.c.source_id).where(brief_sources.c.brief_id == brief_id)
    return list(await conn.scalars(query.order_by(brief_sources.c.seen_at, brief_sources.c.source_id)))


_TRACKING = re.compile(r"(utm_\w+|fbclid|gclid|mc_cid|mc_eid|igshid)(=|$)", re.IGNORECASE)


def canonical(permalink: str | None) -> str | None:
    """The address as far as it says which page is meant; None where there is none.

    Scheme, host case, default port, fragment, a slash at the end and tracking parameters say nothing.
    """
    if not permalink or not permalink.strip():
        return None
    try:
        parts = urlsplit(permalink.strip())
        port = parts.port
    except ValueError:
        return storable(permalink.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return storable(permalink.strip())
    host = parts.hostname + (f":{port}" if port not in (None, 80, 443) else "")
    path = parts.path.rstrip("/")
    query = "&".join(field for field in parts.query.split("&") if not _TRACKING.match(field))
    return storable(f"{host}{path}{'?' if query else ''}{query}")


def _ordered_at(published: date | datetime | None, first_seen_at: datetime) -> datetime:
    if published is None:
        return first_seen_at
    if not isinstance(published, datetime):
        published = datetime.combine(published, time(), UTC)
    elif published.tzinfo is None:
        published = published.replace(tzinfo=UTC)
    return max(_EPOCH, min(published, first_seen_at))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SELECT = select(table.c.id, table.c.document, table.c.source_id, table.c.first_seen_at, table.c.baseline)


def _stored(row: RowMapping) -> StoredBrief:
    try:
        data = json.loads(row["document"])
    except ValueError:
        raise Unreadable(f"brief {row['id']} in it is damaged") from None
    return StoredBrief(row["id"], from_dict(data), row["source_id"], row["first_seen_at"], row["baseline"])


def _write(brief: Brief) -> str:
    data = to_dict(brief)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate has no UTF-8; written as \udcxx it survives.
    return text if storable(text) == text else json.dumps(data, separators=(",", ":"))


def to_dict(brief: Brief) -> dict[str, Any]:
    """A brief as JSON types, what is empty left out. A date is ten characters, a datetime more."""
    source, topic = brief.source, brief.topic
    data = {
        "title": brief.title,
        "dek": brief.dek,
        "source": [source.name, source.url] if source else None,
        "published": brief.published.isoformat() if brief.published else None,
        "topic": [topic.name, topic.slug, topic.url] if topic else None,
        "permalink": brief.permalink,
        "original": brief.original,
        "sections": [[s.heading, s.body, s.summary] for s in brief.sections],
        "coverage": [[c.url, c.title] for c in brief.coverage],
        "notice": brief.notice,
        "extra": [list(pair) for pair in brief.extra],
        "warnings": list(brief.warnings),
    }
    return {name: value for name, value in data.items() if value not in (None, [])}


def from_dict(data: Any) -> Brief:
    """The brief of such a dict; schema.Unreadable where it is none."""
    try:
        published = data.get("published")
        if published is not None:
            published = date.fromisoformat(published) if len(published) == 10 else datetime.fromisoformat(published)
        return Brief(
            title=data["title"],
            dek=data.get("dek", ""),
            source=SourceLink(*data["source"]) if "source" in data else None,
            published=published,
            topic=Topic(*data["topic"]) if "topic" in data else None,
            permalink=data.get("permalink"),
            original=data.get("original"),
            sections=tuple(Section(*section) for section in data.get("sections", ())),
            coverage=tuple(Coverage(*entry) for entry in data.get("coverage", ())),
            notice=data.get("notice"),
            extra=tuple((name, value) for name, value in data.get("extra", ())),
            warnings=tuple(data.get("warnings", ())),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"a brief in it is damaged ({error!r})") from None
