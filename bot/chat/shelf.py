"""What readers look up: the store behind the slash commands and the lists that they answer with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable

from bot.briefs.model import Brief
from bot.store import briefs, lists, search, sources, subscriptions
from bot.store.briefs import StoredBrief, TopicCount
from bot.store.database import Database, get_meta, set_meta
from bot.store.lists import KeptList
from bot.store.search import Found
from bot.store.subscriptions import NewSubscription


@runtime_checkable
class Lookups(Protocol):
    """What the commands read from; the client's ``library`` is one where readers may look things up."""

    async def briefs(self, ids: Sequence[int]) -> list[StoredBrief]:
        """Those of the briefs that are there, in that order."""
        ...  # pragma: no cover

    async def brief_at(self, permalink: str) -> StoredBrief | None:
        """The brief with that address, or None."""
        ...  # pragma: no cover

    async def latest(self, topic: str | None, limit: int) -> list[StoredBrief]:
        """The newest briefs, of a topic (slug) or of all."""
        ...  # pragma: no cover

    async def find(
        self, words: str, *, topic: str | None, source_id: int | None, since: datetime | None, limit: int
    ) -> Found:
        """Briefs by their words: ``bot.store.search.find``."""
        ...  # pragma: no cover

    async def topics(self) -> list[TopicCount]:
        """Every topic that has briefs, most briefs first."""
        ...  # pragma: no cover

    async def public_sources(self) -> list[tuple[int, str]]:
        """(id, name) of the sources that everyone may know: none that a server added for itself."""
        ...  # pragma: no cover

    async def titles(self, after: int, limit: int) -> list[tuple[int, str]]:
        """(id, title) of the briefs with ids above ``after``, oldest first."""
        ...  # pragma: no cover

    async def keep_list(self, user_id: int, kind: str, title: str, entries: Sequence[int | str]) -> KeptList:
        """Keep what an answer pages through."""
        ...  # pragma: no cover

    async def kept_list(self, id: int) -> KeptList | None:
        """A list that was kept, or None."""
        ...  # pragma: no cover

    async def follow(self, guild_id: int, channel_id: int, topic: str) -> bool:
        """Subscribe a channel to a topic, or resume what was paused; False where it gets the topic already."""
        ...  # pragma: no cover

    async def unfollow(self, guild_id: int, channel_id: int, topic: str) -> bool:
        """End what ``follow`` began; False where there is nothing to end."""
        ...  # pragma: no cover

    async def note(self, key: str) -> str | None:
        """A small value kept under a key, or None."""
        ...  # pragma: no cover

    async def set_note(self, key: str, value: str | None) -> None:
        """Keep a small value; None forgets it."""
        ...  # pragma: no cover

    def watch(self, changed: Callable[[], object]) -> None:
        """Call ``changed`` after briefs were stored."""
        ...  # pragma: no cover


class Shelf:
    """``Lookups`` and ``items.Library`` on a database."""

    database: Database

    def __init__(self, database: Database) -> None:
        self.database = database
        self._watching: list[Callable[[], object]] = []

    def watch(self, changed: Callable[[], object]) -> None:
        self._watching.append(changed)

    def tell(self) -> None:
        """Briefs were stored: say so to whoever watches."""
        for changed in self._watching:
            changed()

    async def brief(self, brief_id: int) -> Brief | None:
        """A stored brief, for the buttons and menus under messages."""
        async with self.database.read() as conn:
            stored = await briefs.get(conn, brief_id)
        return stored.brief if stored else None

    async def briefs(self, ids: Sequence[int]) -> list[StoredBrief]:
        async with self.database.read() as conn:
            return await briefs.several(conn, ids)

    async def brief_at(self, permalink: str) -> StoredBrief | None:
        async with self.database.read() as conn:
            return await briefs.by_permalink(conn, permalink)

    async def latest(self, topic: str | None, limit: int) -> list[StoredBrief]:
        async with self.database.read() as conn:
            return await briefs.latest(conn, topic=topic, limit=limit)

    async def find(
        self, words: str, *, topic: str | None, source_id: int | None, since: datetime | None, limit: int
    ) -> Found:
        async with self.database.read() as conn:
            return await search.find(conn, words, topic=topic, source_id=source_id, since=since, limit=limit)

    async def topics(self) -> list[TopicCount]:
        async with self.database.read() as conn:
            return await briefs.topics(conn)

    async def public_sources(self) -> list[tuple[int, str]]:
        async with self.database.read() as conn:
            return [(s.id, s.name) for s in await sources.everyone(conn) if s.owner != "guild"]

    async def titles(self, after: int, limit: int) -> list[tuple[int, str]]:
        async with self.database.read() as conn:
            return await search.newest_titles(conn, after, limit)

    async def keep_list(self, user_id: int, kind: str, title: str, entries: Sequence[int | str]) -> KeptList:
        async with self.database.transaction() as conn:
            now = datetime.now(UTC)
            return await lists.keep(conn, user_id=user_id, kind=kind, title=title, entries=entries, now=now)

    async def kept_list(self, id: int) -> KeptList | None:
        async with self.database.read() as conn:
            return await lists.get(conn, id)

    async def follow(self, guild_id: int, channel_id: int, topic: str) -> bool:
        async with self.database.transaction() as conn:
            for known in await subscriptions.active(conn):
                here = known.channel_id == channel_id and known.format != "digest"
                if here and (known.everything or known.topic == topic):
                    return False
            now = datetime.now(UTC)
            for known in await subscriptions.everyone(conn):
                here = (known.owner, known.channel_id, known.topic) == ("guild", channel_id, topic)
                if here and known.format != "digest":  # paused, or it would have been found above
                    return await subscriptions.resume(conn, known.id, now)
            new = NewSubscription(channel_id, topic=topic, owner="guild", guild_id=guild_id)
            await subscriptions.add(conn, new, now)
            return True

    async def unfollow(self, guild_id: int, channel_id: int, topic: str) -> bool:
        async with self.database.transaction() as conn:
            for known in await subscriptions.everyone(conn):
                here = (known.owner, known.guild_id, known.channel_id) == ("guild", guild_id, channel_id)
                if here and known.topic == topic and known.format != "digest":
                    now = datetime.now(UTC)
                    await subscriptions.remove(conn, known.id, reason="an admin ended it", now=now)
                    return True
            return False

    async def note(self, key: str) -> str | None:
        async with self.database.read() as conn:
            return await get_meta(conn, key)

    async def set_note(self, key: str, value: str | None) -> None:
        async with self.database.transaction() as conn:
            await set_meta(conn, key, value)
