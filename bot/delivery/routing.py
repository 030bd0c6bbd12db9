"""A brief goes to every channel that wants it, once: the channel's most specific subscription decides how."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from bot.briefs.model import Brief
from bot.store import briefs, outbox, subscriptions
from bot.store.briefs import StoredBrief
from bot.store.database import Connection
from bot.store.subscriptions import Subscription

# A subscription that paused itself goes on collecting for so long: whoever mends the channel within that time misses
# nothing, and a channel that nobody mends does not pile up rows for ever.
COLLECTS_FOR = timedelta(days=7)


def wanted(brief: Brief, source_ids: Collection[int], subscriptions: Sequence[Subscription]) -> list[Subscription]:
    """The subscriptions that get the brief: at most one for each channel, ordered by id.

    ``source_ids`` are the sources that brought it. Among several of one channel an active one goes before a paused
    one, then source before topic before everything, then the lower id. Removed subscriptions want nothing, and digests
    nothing at once.
    """
    best: dict[int, tuple[tuple[bool, int, int], Subscription]] = {}
    for subscription in subscriptions:
        specificity = _specificity(brief, source_ids, subscription)
        if specificity is None or subscription.state == "removed" or subscription.format == "digest":
            continue
        rank = (subscription.state != "active", specificity, subscription.id)
        held = best.get(subscription.channel_id)
        if held is None or rank < held[0]:
            best[subscription.channel_id] = (rank, subscription)
    return sorted((chosen for _, chosen in best.values()), key=lambda s: s.id)


def _specificity(brief: Brief, source_ids: Collection[int], subscription: Subscription) -> int | None:
    """0 for a wish for this source, 1 for its topic, 2 for everything; None where the brief is not wanted."""
    if subscription.source_id is not None and subscription.source_id in source_ids:
        return 0
    if subscription.topic is not None and brief.topic and subscription.topic.casefold() == brief.topic.slug.casefold():
        return 1
    return 2 if subscription.everything else None


async def enqueue(conn: Connection, stored: StoredBrief, *, now: datetime, instance: str) -> int:
    """Write the brief's outbox rows in the transaction that stores it; how many are new.

    A brief of a baseline gets none. Running it again, as for a second source, adds only channels that lack the brief.
    Rows of a subscription that paused itself are held, with its reason on them.
    """
    if stored.baseline:
        return 0
    live = [s for s in await subscriptions.everyone(conn) if s.state == "active" or _collects(s, now)]
    chosen = wanted(stored.brief, await briefs.sources_of(conn, stored.id), live)
    new = await outbox.queue_all(conn, subscriptions=chosen, brief_id=stored.id, now=now, instance=instance)
    for subscription in chosen:
        if subscription.state == "paused" and new:
            await outbox.hold(conn, subscription.id, subscription.reason or "the subscription is paused", now)
    return len(new)


def _collects(subscription: Subscription, now: datetime) -> bool:
    paused_at = subscription.paused_at
    return subscription.state == "paused" and paused_at is not None and now - paused_at < COLLECTS_FOR
