"""A digest is a subscription with a schedule; what it has been given is acknowledged brief by brief.

So a brief that is dated late, undated, or becomes wanted only when a second source brings it, is neither lost nor given
twice. ``after_id`` only keeps the search short: it trails the newest acknowledged run by ``SLACK``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, RowMapping, and_, bindparam, exists, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import subscriptions as wishes
from bot.store.briefs import StoredBrief, several
from bot.store.schema import Unreadable, brief_sources, briefs, digest_items, digest_runs, insert_new, storable
from bot.store.schema import digests as table
from bot.store.schema import subscriptions as wished
from bot.store.subscriptions import Owner, Subscription

WhenEmpty = Literal["nothing", "line"]
Silent = Literal["night", "always", "never"]
RunState = Literal["queued", "nothing new", "skipped"]

SLACK = timedelta(days=30)  # for so long after its first sight a brief may still become wanted by a digest
READ_AT_ONCE = 1000  # briefs that one run reads; more are acknowledged and counted unread


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a digest is due and how it is given: ``days`` from 0 (Monday), None for all; ``most`` briefs are shown."""

    at: time
    days: frozenset[int] | None = None
    monthday: int | None = None
    zone: str = "UTC"
    most: int = 24
    when_empty: WhenEmpty = "nothing"
    silent: Silent = "night"
    catch_up: bool = True


@dataclass(frozen=True, slots=True)
class NewDigest:
    """What a channel wants gathered (a topic, a source or everything), under a name that is its own in the channel."""

    channel_id: int
    schedule: Schedule
    name: str = "Digest"
    topic: str | None = None
    source_id: int | None = None
    everything: bool = False
    owner: Owner = "config"
    guild_id: int | None = None

    @property
    def wish(self) -> str:
        """What makes two digests of a channel the same: the name. What and when can be changed."""
        return f"digest:{storable(self.name).casefold()}"


@dataclass(frozen=True, slots=True)
class Digest:
    """A stored digest. ``next_at`` None: to be worked out; ``last_done`` is the local date that is done."""

    subscription: Subscription
    name: str
    schedule: Schedule
    counts_from: datetime
    last_done: date | None
    next_at: datetime | None
    after_id: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A brief that a digest has not been given, and how many of our sources brought it."""

    stored: StoredBrief
    sources: int


@dataclass(frozen=True, slots=True)
class Run:
    """One local date of a digest: what became of it."""

    id: int
    subscription_id: int
    day: date
    state: RunState
    briefs: int
    pages: int
    upto_id: int
    due_at: datetime
    created_at: datetime


async def sync(conn: AsyncConnection, wanted: Sequence[NewDigest], now: datetime) -> None:
    """Make the config's digests those that are wanted; those of guilds are left alone.

    A digest is the same if channel and name are: a changed one keeps what it was given. Those gone are removed.
    """
    query = select(wished.c.id, wished.c.channel_id, wished.c.wish, wished.c.state)
    query = query.where(wished.c.owner == "config", wished.c.format == "digest")
    stored = {(row.channel_id, row.wish): row for row in await conn.execute(query)}
    asked: dict[tuple[int, str], NewDigest] = {}
    for new in wanted:
        asked.setdefault((new.channel_id, new.wish), new)
    for key, new in asked.items():
        row = stored.get(key)
        if row is None or row.state == "removed":
            await add(conn, new, now)
        else:
            await change(conn, row.id, new, now)
    for key, row in stored.items():
        if key not in asked and row.state != "removed":
            await wishes.remove(conn, row.id, reason="it is no longer in the config", now=now)


async def add(conn: AsyncConnection, new: NewDigest, now: datetime) -> Digest:
    """Store one digest; it gathers what is first seen from now on. One that was removed starts again as if new.

    ValueError where this owner has a digest of that name in the channel already.
    """
    same = (wished.c.owner == new.owner) & (wished.c.channel_id == new.channel_id) & (wished.c.wish == new.wish)
    stored = (await conn.execute(select(wished.c.id, wished.c.state).where(same))).first()
    if stored and stored.state != "removed":
        raise ValueError(f"this channel has a digest named {new.name!r} already")
    values = _wish(new) | {"state": "active", "reason": None, "paused_at": None, "created_at": now}
    statement = update(wished).where(wished.c.id == stored.id) if stored else insert(wished)
    id = (await conn.execute(statement.values(values).returning(wished.c.id))).scalar_one()
    newest = (await conn.execute(select(func.max(briefs.c.id)))).scalar() or 0
    fresh = _schedule_values(new) | {"counts_from": now, "last_done": None, "next_at": None, "after_id": newest}
    row = insert_new(conn, table).values(subscription_id=id, **fresh)
    await conn.execute(row.on_conflict_do_update(index_elements=["subscription_id"], set_=fresh))
    found = await get(conn, id)
    assert found is not None
    return found


async def change(conn: AsyncConnection, id: int, new: NewDigest, now: datetime) -> None:
    """Give a digest another wish or schedule; what it was given and which dates are done stays."""
    row = (await conn.execute(select(table).where(table.c.subscription_id == id))).mappings().one()
    await conn.execute(update(wished).where(wished.c.id == id).values(_wish(new)))
    values = _schedule_values(new)
    if any(row[name] != values[name] for name in ("at", "days", "monthday", "zone")):
        values |= {"next_at": None, "counts_from": now}
    await conn.execute(update(table).where(table.c.subscription_id == id).values(values))


def _wish(new: NewDigest) -> dict[str, Any]:
    if new.topic is None and new.source_id is None and not new.everything:
        raise ValueError("a digest wants a topic, a source or everything")
    return {
        "owner": new.owner,
        "guild_id": new.guild_id,
        "channel_id": new.channel_id,
        "topic": new.topic,
        "source_id": new.source_id,
        "everything": new.everything,
        "wish": new.wish,
        "format": "digest",
        "role_id": None,
    }


def _schedule_values(new: NewDigest) -> dict[str, Any]:
    schedule = new.schedule
    return {
        "name": new.name,
        "at": f"{schedule.at:%H:%M}",
        "days": None if schedule.days is None else ",".join(map(str, sorted(schedule.days))),
        "monthday": schedule.monthday,
        "zone": schedule.zone,
        "most": schedule.most,
        "when_empty": schedule.when_empty,
        "silent": schedule.silent,
        "catch_up": schedule.catch_up,
    }


async def get(conn: AsyncConnection, id: int) -> Digest | None:
    """One digest by its subscription's id, in whatever state, or None."""
    row = (await conn.execute(select(table).where(table.c.subscription_id == id))).mappings().first()
    subscription = await wishes.get(conn, id) if row else None
    return _digest(row, subscription) if row and subscription else None


async def everyone(conn: AsyncConnection) -> list[Digest]:
    """Every digest that was not removed, by id."""
    held = {s.id: s for s in await wishes.everyone(conn) if s.format == "digest"}
    rows = (await conn.execute(select(table).order_by(table.c.subscription_id))).mappings()
    return [_digest(row, held[row["subscription_id"]]) for row in rows if row["subscription_id"] in held]


async def due(conn: AsyncConnection, now: datetime) -> list[int]:
    """The ids of active digests whose time has come or has to be worked out, longest due first."""
    query = select(table.c.subscription_id).join(wished, wished.c.id == table.c.subscription_id)
    query = query.where(wished.c.state == "active", or_(table.c.next_at.is_(None), table.c.next_at <= now))
    return list(await conn.scalars(query.order_by(table.c.next_at, table.c.subscription_id)))


async def unplanned(conn: AsyncConnection) -> bool:
    """Whether the next due time of an active digest has to be worked out."""
    query = select(table.c.subscription_id).join(wished, wished.c.id == table.c.subscription_id)
    return (
        await conn.scalars(query.where(wished.c.state == "active", table.c.next_at.is_(None)).limit(1))
    ).first() is not None


async def set_next(conn: AsyncConnection, next_at: Mapping[int, datetime]) -> None:
    """Note when digests are due next, by their ids."""
    if next_at:
        statement = update(table).where(table.c.subscription_id == bindparam("digest")).values(next_at=bindparam("at_"))
        await conn.execute(statement, [{"digest": id, "at_": at} for id, at in next_at.items()])


async def plan(conn: AsyncConnection, id: int, *, last_done: date | None, next_at: datetime | None) -> None:
    """Note which local date is done and when the digest is due next."""
    values = {"last_done": last_done, "next_at": next_at}
    await conn.execute(update(table).where(table.c.subscription_id == id).values(values))


async def candidates(
    conn: AsyncConnection, digest: Digest, known: dict[int, Candidate] | None = None
) -> tuple[list[Candidate], list[int]]:
    """What the digest wants and was not given: the newest READ_AT_ONCE as briefs, and the ids of the others.

    What is in ``known`` is not read again, what is read is put there: digests of one minute have most briefs in common.
    """
    given = exists().where(
        digest_items.c.subscription_id == digest.subscription.id, digest_items.c.brief_id == briefs.c.id
    )
    query = select(briefs.c.id).where(briefs.c.id > digest.after_id, ~briefs.c.baseline, _wants(digest), ~given)
    ids = list(await conn.scalars(query.order_by(briefs.c.id.desc())))
    read, rest = ids[:READ_AT_ONCE], ids[READ_AT_ONCE:]
    known = {} if known is None else known
    new = [id for id in read if id not in known]
    if new:
        counting = select(brief_sources.c.brief_id, func.count().label("sources"))
        counting = counting.where(brief_sources.c.brief_id.in_(new)).group_by(brief_sources.c.brief_id)
        counts = {row.brief_id: row.sources for row in await conn.execute(counting)}
        known.update({brief.id: Candidate(brief, counts.get(brief.id, 1)) for brief in await several(conn, new)})
    return [known[id] for id in read if id in known], rest


def _wants(digest: Digest) -> ColumnElement[bool]:
    wish = digest.subscription
    if wish.everything:
        return briefs.c.id.is_not(None)
    found: list[ColumnElement[bool]] = []
    if wish.topic is not None:
        found.append(func.lower(briefs.c.topic) == wish.topic.lower())
    if wish.source_id is not None:
        by = and_(brief_sources.c.source_id == wish.source_id, brief_sources.c.brief_id == briefs.c.id)
        found.append(exists().where(by))
    return or_(*found)


async def record(
    conn: AsyncConnection,
    digest: Digest,
    *,
    day: date,
    state: RunState,
    brief_ids: Sequence[int],
    pages: int,
    due_at: datetime,
    now: datetime,
) -> Run | None:
    """Write down a run and acknowledge its briefs, in the order shown; None, and nothing done, where that date has one."""
    id = digest.subscription.id
    newest = (await conn.execute(select(func.max(briefs.c.id)))).scalar() or 0
    new = insert_new(conn, digest_runs).values(
        subscription_id=id,
        day=day,
        state=state,
        briefs=len(brief_ids),
        pages=pages,
        upto_id=newest,
        due_at=due_at,
        created_at=now,
    )
    row = (await conn.execute(new.on_conflict_do_nothing().returning(*digest_runs.c))).mappings().first()
    if row is None:
        return None
    run = Run(**row)
    rows = [
        {"subscription_id": id, "brief_id": brief_id, "run_id": run.id, "place": place}
        for place, brief_id in enumerate(brief_ids)
    ]
    if rows:
        await conn.execute(insert(digest_items), rows)
    if state != "skipped":
        old = select(func.max(digest_runs.c.upto_id)).where(
            digest_runs.c.subscription_id == id,
            digest_runs.c.state != "skipped",
            digest_runs.c.created_at < now - SLACK,
        )
        floor = (await conn.execute(old)).scalar() or 0
        later = update(table).where(table.c.subscription_id == id, table.c.after_id < floor)
        await conn.execute(later.values(after_id=floor))
    return run


async def runs(conn: AsyncConnection, id: int) -> list[Run]:
    """Every run of a digest, oldest first."""
    query = select(digest_runs).where(digest_runs.c.subscription_id == id).order_by(digest_runs.c.id)
    return [Run(**row) for row in (await conn.execute(query)).mappings()]


async def of_run(conn: AsyncConnection, run_id: int) -> Digest | None:
    """The digest that a run was of, or None."""
    query = select(digest_runs.c.subscription_id).where(digest_runs.c.id == run_id)
    id = (await conn.scalars(query)).first()
    return await get(conn, id) if id is not None else None


async def given(conn: AsyncConnection, run_id: int, *, start: int, limit: int) -> tuple[list[StoredBrief], int]:
    """The briefs of a run from a place on, in the order shown, and how many it was given in all."""
    query = select(digest_items.c.brief_id).where(digest_items.c.run_id == run_id, digest_items.c.place >= start)
    ids = list(await conn.scalars(query.order_by(digest_items.c.place).limit(limit)))
    counting = select(func.count()).select_from(digest_items).where(digest_items.c.run_id == run_id)
    return await several(conn, ids), (await conn.execute(counting)).scalar_one()


def _digest(row: RowMapping, subscription: Subscription) -> Digest:
    try:
        schedule = Schedule(
            at=time.fromisoformat(row["at"]),
            days=None if row["days"] is None else frozenset(map(int, row["days"].split(","))),
            monthday=row["monthday"],
            zone=row["zone"],
            most=row["most"],
            when_empty=row["when_empty"],
            silent=row["silent"],
            catch_up=row["catch_up"],
        )
    except ValueError:
        raise Unreadable(f"the schedule of digest {row['subscription_id']} in it is damaged") from None
    return Digest(
        subscription,
        row["name"],
        schedule,
        row["counts_from"],
        row["last_done"],
        row["next_at"],
        row["after_id"],
    )
