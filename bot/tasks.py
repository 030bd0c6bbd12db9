"""What an operator asks of the bot's store without running the bot: add a source, search, see how everything stands."""

from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bot.app import new_http
from bot.briefs.topics import slug
from bot.config import Settings
from bot.delivery.worker import utc_now
from bot.errors import SourceError
from bot.sources import opml
from bot.sources.discover import discover
from bot.sources.http import is_private
from bot.sources.sandbox import Sandbox
from bot.store import briefs, outbox, search, sources, subscriptions
from bot.store.database import Database
from bot.store.search import Found

MOST_UNREAD = 50  # items that could not be read


async def add_source(settings: Settings, address: str, name: str | None) -> str:
    """Store one source of the operator's, given as an address or a folder; a line that says what was added.

    A private address is allowed where the operator types it here. Raises BriefbotError where it cannot be used.
    """
    new = await look_at(settings, address)
    new = dataclasses.replace(new, name=name or new.name)
    database = await Database.open(settings.storage.database)
    try:
        async with database.transaction() as conn:
            try:
                added = await sources.add(conn, new, utc_now())
            except ValueError:
                raise SourceError(
                    f"there is a source named {new.name!r} already", "Choose another with --name"
                ) from None
    finally:
        await database.close()
    what = {
        "folder": "a folder of documents",
        "site": "a brief site's topic page",
        "brief": "one brief",
        "feed": "a feed",
    }[added.kind]
    return (
        f"Added {added.name!r}: {what}, polled every {in_words(added.interval)}. What is there now is stored at the "
        "first poll and not posted; what comes later is."
    )


async def import_feeds(settings: Settings, text: str) -> list[str]:
    """Store the feeds of an OPML list as sources, unseen; lines that say what became of them. Raises SourceError."""
    listed = opml.read(text)
    added = there = 0
    database = await Database.open(settings.storage.database)
    try:
        async with database.transaction() as conn:
            stored = await sources.everyone(conn)
            names, locations = {s.name.casefold() for s in stored}, {s.location for s in stored}
            for feed in listed:
                if feed.refused:
                    continue
                if feed.url in locations:
                    there += 1
                    continue
                name = _free(feed.title or urlsplit(feed.url).hostname or feed.url, names)
                names.add(name.casefold())
                new = sources.NewSource(name=name, kind="feed", location=feed.url, interval=settings.polling.interval)
                await sources.add(conn, new, utc_now())
                added += 1
    finally:
        await database.close()
    lines = [f"{added} feeds added, {there} were there already."]
    return lines + [f"Left out: {feed.title or feed.url}: {feed.refused}" for feed in listed if feed.refused]


def _free(name: str, taken: set[str]) -> str:
    """The name, or the name with the first number that makes it new."""
    numbered = (f"{name[:94]} ({n})" for n in range(2, len(taken) + 3))
    return name if name.casefold() not in taken else next(n for n in numbered if n.casefold() not in taken)


async def export_feeds(settings: Settings) -> str:
    """Every feed that is a source, as an OPML document."""
    database = await Database.open(settings.storage.database, migrate=False)
    try:
        async with database.read() as conn:
            return opml.write((s.name, s.location) for s in await sources.everyone(conn) if s.kind == "feed")
    finally:
        await database.close()


async def look_at(settings: Settings, address: str) -> sources.NewSource:
    """The source that an address or a folder is, found by looking at it. Raises SourceError where it is none."""
    if "://" not in address:
        return folder_source(settings, Path(address))
    allow_private = is_private(address)
    async with new_http(settings) as http, Sandbox() as sandbox:
        found = await discover(http, sandbox, address, allow_private=allow_private)
    parts = urlsplit(found.url)
    name = found.title or f"{parts.hostname}: {parts.path.strip('/')}".rstrip(": ")
    return sources.NewSource(
        name=" ".join(name.split())[:100],
        kind=found.kind,
        location=found.url,
        interval=settings.polling.interval,
        allow_private=allow_private,
    )


def folder_source(settings: Settings, folder: Path) -> sources.NewSource:
    """A folder on this machine as a source."""
    folder = folder.expanduser().resolve()
    if not folder.is_dir():
        why = "is a file, not a folder" if folder.exists() else "is neither a folder nor an address"
        raise SourceError(f"{folder} {why}", "Give a folder of brief documents, or an address with https://")
    return sources.NewSource(
        name=folder.name, kind="folder", location=str(folder), interval=settings.polling.folder_interval
    )


async def search_briefs(settings: Settings, words: str, topic: str | None, limit: int) -> Found:
    """Stored briefs by their words, best first; ``topic`` is a name or a slug. Nothing is changed."""
    database = await Database.open(settings.storage.database, migrate=False)
    try:
        async with database.read() as conn:
            wanted = slug(topic) if topic is not None else None
            return await search.find(conn, words, topic=wanted, limit=limit)
    finally:
        await database.close()


async def status(settings: Settings) -> dict[str, Any]:
    """Sources, subscriptions and messages with the state of each, as JSON types; nothing is changed."""
    database = await Database.open(settings.storage.database, migrate=False)
    try:
        async with database.read() as conn:
            names = {s.id: s.name for s in await sources.everyone(conn)}
            return {
                "sources": [_source_row(s) for s in await sources.everyone(conn)],
                "subscriptions": [_subscription_row(s, names) for s in await subscriptions.everyone(conn)],
                "unread": [_item_row(i, names) for i in await sources.unread(conn, MOST_UNREAD)],
                "topics": {t.topic.name: t.briefs for t in await briefs.topics(conn)},
                "messages": await outbox.counts(conn),
            }
    finally:
        await database.close()


def _source_row(source: sources.Source) -> dict[str, str | None]:
    if not source.enabled:
        state = "switched off"
    elif source.state == "disabled":
        state = "given up"
    elif source.failures:
        state = f"failing since {_minute(source.failing_since)}"
    else:
        state = "fine" if source.last_ok_at else "not polled yet"
    return {
        "name": source.name,
        "kind": source.kind,
        "state": state,
        "last good poll": _minute(source.last_ok_at),
        "next poll": _minute(source.next_poll_at) if source.enabled and source.state == "active" else None,
        "reason": source.reason,
    }


def _item_row(item: sources.Item, names: dict[int, str]) -> dict[str, str | None]:
    return {
        "source": names.get(item.source_id),
        "item": item.title,
        "state": item.state if item.state == "set aside" else f"tried again {_minute(item.next_try_at) or 'soon'}",
        "reason": item.reason,
    }


def _subscription_row(subscription: subscriptions.Subscription, names: dict[int, str]) -> dict[str, str | None]:
    if subscription.source_id is not None:
        wish = f"source {names.get(subscription.source_id, subscription.source_id)}"
    else:
        wish = f"topic {subscription.topic}" if subscription.topic else "everything"
    return {
        "channel": str(subscription.channel_id),
        "wants": wish,
        "format": subscription.format,
        "state": subscription.state + (f" since {_minute(subscription.paused_at)}" if subscription.paused_at else ""),
        "reason": subscription.reason,
    }


def _minute(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else None


def in_words(span: timedelta) -> str:
    """``2 h``, ``30 min``, ``2 s``: a length of time in its largest whole unit."""
    seconds = span.total_seconds()
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
