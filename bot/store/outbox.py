"""A delivery is one message to one channel: committed with its nonce before it is sent, and finished exactly once.

queued -> sending -> sent | refused; back to queued when it must be tried again; dropped when its subscription goes.
Within a channel the order of ids is the order of messages: only the oldest unfinished row of a channel is ever due.
Rows of a paused subscription are held: they neither come due nor stand in the way of others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import Select, Subquery, and_, bindparam, case, func, literal_column, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.schema import deliveries as table
from bot.store.schema import insert_new, subscriptions
from bot.store.subscriptions import Format, Subscription

State = Literal["queued", "sending", "sent", "refused", "dropped"]

PATIENCE = timedelta(minutes=10)
NONCE_LIMIT = 25  # characters: https://discord.com/developers/docs/resources/message#create-message


@dataclass(frozen=True, slots=True)
class Delivery:
    """One outbox row. ``sending_at`` is the first attempt that may have posted under this nonce.

    It is a brief's (``brief_id``) or a page of a digest (``run_id`` and the page as JSON in ``content``).
    """

    id: int
    subscription_id: int
    channel_id: int
    brief_id: int | None
    page: int
    format: Format
    role_id: int | None
    nonce: str
    state: State
    attempts: int
    due_at: datetime
    sending_at: datetime | None
    message_id: int | None
    reason: str | None
    created_at: datetime
    run_id: int | None = None
    content: str | None = None


# Written out, not bound: only then do both engines see that the partial indices hold every such row.
_QUEUED = table.c.state == literal_column("'queued'")
_SENDING = table.c.state == literal_column("'sending'")
_COLUMNS = [column for column in table.c if column.name != "finished_at"]


async def queue(
    conn: AsyncConnection, *, subscription: Subscription, brief_id: int, now: datetime, page: int = 0, instance: str
) -> int | None:
    """Queue one message; its id, or None where the channel has a row for this brief and page already."""
    new = await queue_all(conn, subscriptions=[subscription], brief_id=brief_id, now=now, page=page, instance=instance)
    return new[0] if new else None


async def queue_all(
    conn: AsyncConnection,
    *,
    subscriptions: Sequence[Subscription],
    brief_id: int,
    now: datetime,
    page: int = 0,
    instance: str,
) -> list[int]:
    """Queue one message for each subscription, in their order; the ids of the rows that are new."""
    rows = [_row(subscription, now, brief_id=brief_id, page=page) for subscription in subscriptions]
    return await _insert(conn, rows, instance)


async def queue_pages(
    conn: AsyncConnection,
    *,
    subscription: Subscription,
    run_id: int,
    contents: Sequence[str],
    now: datetime,
    instance: str,
) -> list[int]:
    """Queue the pages of one run of a digest, in their order; the ids of the rows that are new."""
    rows = [_row(subscription, now, page=page, run_id=run_id, content=content) for page, content in enumerate(contents)]
    return await _insert(conn, rows, instance)


def _row(subscription: Subscription, now: datetime, **values: object) -> dict[str, object]:
    return {
        "subscription_id": subscription.id,
        "channel_id": subscription.channel_id,
        "format": subscription.format,
        "role_id": subscription.role_id,
        "state": "queued",
        "attempts": 0,
        "due_at": now,
        "created_at": now,
    } | values


async def _insert(conn: AsyncConnection, rows: Sequence[dict[str, object]], instance: str) -> list[int]:
    new: list[int] = []
    for start in range(0, len(rows), _BATCH):
        insert = insert_new(conn, table).values(rows[start : start + _BATCH])
        new += (await conn.scalars(insert.on_conflict_do_nothing().returning(table.c.id))).all()
    if new:
        name = update(table).where(table.c.id == bindparam("row")).values(nonce=bindparam("made"))
        await conn.execute(name, [{"row": id, "made": nonce(instance, id)} for id in new])
    return new


_BATCH = 500  # rows in one INSERT of a dozen columns: far below SQLite's 32,766 variables


def nonce(instance: str, id: int) -> str:
    """What makes a delivery's message unique for Discord: the database's name and the row's id in hex."""
    made = f"{instance}.{id:x}"
    if len(made) > NONCE_LIMIT:
        raise ValueError(f"nonce {made!r} is longer than {NONCE_LIMIT} characters")
    return made


async def due(conn: AsyncConnection, now: datetime, limit: int, *, skip: Collection[int] = ()) -> list[Delivery]:
    """Up to ``limit`` rows that may be sent now, longest due first; at most one of each channel, none of ``skip``.

    A row is due if it is the oldest unfinished one of its channel, its time has come, its subscription is active and
    nothing is being sent to the channel. A channel whose rows are put off does not stand in the way of others. The
    pages of digests, of which thousands may be due in one minute, let briefs go first until they are ``PATIENCE`` old.
    """
    heads = _heads()
    patient = and_(table.c.run_id.is_not(None), table.c.created_at > now - PATIENCE)
    query = select(*_COLUMNS).join(heads, heads.c.id == table.c.id).where(table.c.due_at <= now)
    query = query.order_by(case((patient, 1), else_=0), table.c.due_at, table.c.id).limit(limit + len(skip))
    found = [row for row in await _list(conn, query) if row.channel_id not in skip]
    return found[:limit]


async def next_due(conn: AsyncConnection) -> datetime | None:
    """When ``due`` has something next, as far as is stored; None while nothing waits."""
    heads = _heads()
    query = select(func.min(table.c.due_at)).join(heads, heads.c.id == table.c.id)
    found: datetime | None = (await conn.execute(query)).scalar()
    return found


def _heads() -> Subquery:
    """The oldest queued row of each channel that has no row in state sending; held rows are not counted.

    Walks the distinct subscriptions of the queued rows, each step one look into ix_deliveries_queued, so its cost
    grows with the number of subscriptions that wait and not with the number of rows that do.
    """
    first = select(func.min(table.c.subscription_id).label("subscription_id")).where(_QUEUED)
    waiting = first.cte("waiting", recursive=True)
    following = select(func.min(table.c.subscription_id)).where(_QUEUED)
    following = following.where(table.c.subscription_id > waiting.c.subscription_id)
    step = select(following.scalar_subquery()).where(waiting.c.subscription_id.is_not(None))
    waiting = waiting.union_all(step)

    oldest = select(func.min(table.c.id)).where(_QUEUED, table.c.subscription_id == subscriptions.c.id)
    oldest_of_each = (
        select(subscriptions.c.channel_id, oldest.scalar_subquery().label("id"))
        .select_from(waiting)
        .join(subscriptions, subscriptions.c.id == waiting.c.subscription_id)
        .where(subscriptions.c.state == "active")
        .subquery()
    )
    busy = select(table.c.channel_id).where(_SENDING)
    return (
        select(func.min(oldest_of_each.c.id).label("id"))
        .where(oldest_of_each.c.channel_id.not_in(busy))
        .group_by(oldest_of_each.c.channel_id)
        .subquery()
    )


async def unfinished(conn: AsyncConnection) -> list[Delivery]:
    """The rows in state sending, oldest first: after a crash, those whose outcome nobody knows."""
    return await _list(conn, select(*_COLUMNS).where(_SENDING).order_by(table.c.id))


async def sending(conn: AsyncConnection, id: int, now: datetime) -> bool:
    """Mark a row as being sent and count the attempt.

    False, and nothing changed, where the row must not be sent: it is finished, or queued under a subscription that is
    no longer active. A row in state sending may be tried again whatever became of its subscription.
    """
    active = select(subscriptions.c.id).where(subscriptions.c.state == "active")
    may = _SENDING | (_QUEUED & table.c.subscription_id.in_(active))
    values = {
        "state": "sending",
        "sending_at": func.coalesce(table.c.sending_at, bindparam("now", now, table.c.sending_at.type)),
        "attempts": table.c.attempts + 1,
    }
    return (await conn.execute(update(table).where(table.c.id == id, may).values(values))).rowcount > 0


async def sent(conn: AsyncConnection, id: int, *, message_id: int, now: datetime) -> None:
    """The message exists."""
    await _finish(conn, id, state="sent", message_id=message_id, reason=None, finished_at=now)


async def later(conn: AsyncConnection, id: int, *, due_at: datetime, reason: str | None, keep_sending_at: bool) -> None:
    """Back to queued, or dropped where the subscription was removed meanwhile.

    ``keep_sending_at`` is False only where it is certain that nothing was posted.
    """
    values: dict[str, Any] = {"state": "queued", "due_at": due_at, "reason": reason}
    if not keep_sending_at:
        values["sending_at"] = None
    await _finish(conn, id, **values)
    removed = select(subscriptions.c.id).where(subscriptions.c.state == "removed")
    orphan = update(table).where(table.c.id == id, _QUEUED, table.c.subscription_id.in_(removed))
    await conn.execute(orphan.values(state="dropped", reason="the subscription was removed"))


async def refused(conn: AsyncConnection, id: int, *, reason: str, now: datetime) -> None:
    """Discord will not take the message; ``reason`` says why."""
    await _finish(conn, id, state="refused", reason=reason, finished_at=now)


async def hold(conn: AsyncConnection, subscription_id: int, reason: str, now: datetime) -> int:
    """Write on the queued rows of a paused subscription why they wait; how many there are. They stay queued."""
    rows = update(table).where(_QUEUED, table.c.subscription_id == subscription_id)
    return (await conn.execute(rows.values(reason=reason))).rowcount


async def counts(conn: AsyncConnection) -> dict[str, int]:
    """Rows by state; every state is present."""
    query = select(table.c.state, func.count()).group_by(table.c.state)
    return dict.fromkeys(get_args(State), 0) | dict((await conn.execute(query)).all())


async def for_brief(conn: AsyncConnection, brief_id: int) -> list[Delivery]:
    """Every delivery of a brief, by id."""
    return await _list(conn, select(*_COLUMNS).where(table.c.brief_id == brief_id).order_by(table.c.id))


async def for_run(conn: AsyncConnection, run_id: int) -> list[Delivery]:
    """The pages of one run of a digest, in their order."""
    return await _list(conn, select(*_COLUMNS).where(table.c.run_id == run_id).order_by(table.c.page))


async def get(conn: AsyncConnection, id: int) -> Delivery | None:
    """One delivery, or None."""
    return next(iter(await _list(conn, select(*_COLUMNS).where(table.c.id == id))), None)


async def _finish(conn: AsyncConnection, id: int, **values: Any) -> None:
    # What is sent stays sent, whatever comes late.
    await conn.execute(update(table).where(table.c.id == id, table.c.state != "sent").values(values))


async def _list(conn: AsyncConnection, query: Select[*tuple[Any, ...]]) -> list[Delivery]:
    return [Delivery(**row) for row in (await conn.execute(query)).mappings()]
