"""The tables: one schema for SQLite and PostgreSQL.

Times are aware UTC on the way in and out; the stored form sorts on both engines. Texts lose what no database can hold
(NUL, lone surrogates). ``migrations/`` builds exactly this; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import BriefbotError

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


class Unreadable(BriefbotError):
    """A stored value is not what was written; ``transaction()`` and ``read()`` turn it into DatabaseCorrupt."""


def storable(value: str) -> str:
    """The text as both engines can hold it: no NUL, lone surrogates written as ``\\udcxx``."""
    if "\0" in value:
        value = value.replace("\0", "")
    return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")


class Words(TypeDecorator[str]):
    """Text made storable on the way in."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else storable(value)


class Instant(TypeDecorator[datetime]):
    """A moment: aware in, aware UTC out. A naive datetime is refused with ValueError."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.utcoffset() is None:
            raise ValueError(f"{value!r} has no time zone")
        return value.astimezone(UTC)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        inner = self.impl_instance.dialect_impl(dialect).result_processor(dialect, coltype)

        def read(raw: Any) -> datetime | None:
            if raw is None:
                return None
            try:
                value = inner(raw) if inner else raw
            except (TypeError, ValueError):
                raise Unreadable(f"{raw!r} stands where a time should") from None
            if not isinstance(value, datetime):
                raise Unreadable(f"{raw!r} stands where a time should")
            return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)

        return read


class Span(TypeDecorator[timedelta]):
    """A length of time, kept in whole milliseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: timedelta | None, dialect: Dialect) -> int | None:
        return None if value is None else value // timedelta(milliseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> timedelta | None:
        return None if value is None else timedelta(milliseconds=value)


def insert_new(conn: AsyncConnection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT of the connection's engine, which knows ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    return postgresql.insert(table) if conn.dialect.name == "postgresql" else sqlite.insert(table)


def _id() -> Column[int]:
    # SQLite counts up only a column declared INTEGER; everywhere else ids have 64 bits.
    return Column("id", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True)


def _partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))


metadata = MetaData(naming_convention=NAMES)

meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Words, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    _id(),
    Column("name", Words, nullable=False),
    Column("name_key", Words, nullable=False),  # casefolded: what makes two names the same
    Column("kind", Text, nullable=False),
    Column("location", Words, nullable=False),
    Column("owner", Text, nullable=False),
    Column("guild_id", BigInteger),
    Column("interval", Span, nullable=False),
    Column("allow_private", Boolean, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("backfill", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("next_poll_at", Instant, nullable=False),
    Column("last_poll_at", Instant),
    Column("last_ok_at", Instant),
    Column("failures", Integer, nullable=False),
    Column("failing_since", Instant),
    Column("reason", Words),
    Column("etag", Words),
    Column("last_modified", Words),
    Column("body_hash", Words),
    Column("baseline_at", Instant),
    Index("ix_sources_name_key", "name_key", unique=True),
    Index("ix_sources_due", "state", "enabled", "next_poll_at"),
    sqlite_autoincrement=True,
)

briefs = Table(
    "briefs",
    metadata,
    _id(),
    Column("document", Text, nullable=False),  # the whole brief as JSON; the columns below only find and order it
    Column("title", Words, nullable=False),
    Column("permalink_key", Words),
    Column("topic", Words),
    Column("topic_name", Words),
    Column("topic_url", Words),
    Column("source_id", BigInteger, ForeignKey("sources.id"), nullable=False),
    Column("first_seen_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("ordered_at", Instant, nullable=False),  # published, never later than first seen
    Column("baseline", Boolean, nullable=False),
    Index("ix_briefs_permalink_key", "permalink_key", unique=True),
    Index("ix_briefs_latest", "ordered_at", "id"),
    Index("ix_briefs_latest_of_topic", "topic", "ordered_at", "id"),
    sqlite_autoincrement=True,
)

brief_sources = Table(
    "brief_sources",
    metadata,
    Column("brief_id", BigInteger, ForeignKey("briefs.id"), primary_key=True),
    Column("source_id", BigInteger, ForeignKey("sources.id"), primary_key=True),
    Column("seen_at", Instant, nullable=False),
)

brief_keys = Table(
    "brief_keys",
    metadata,
    Column("source_id", BigInteger, ForeignKey("sources.id"), primary_key=True),
    Column("key", LargeBinary, primary_key=True),
    Column("brief_id", BigInteger, ForeignKey("briefs.id"), nullable=False),
)

items = Table(
    "items",
    metadata,
    _id(),
    Column("source_id", BigInteger, ForeignKey("sources.id"), nullable=False),
    Column("title", Words, nullable=False),
    Column("link", Words),
    Column("state", Text, nullable=False),
    Column("reason", Words),
    Column("attempts", Integer, nullable=False),
    Column("next_try_at", Instant),
    Column("brief_id", BigInteger, ForeignKey("briefs.id")),
    Column("first_seen_at", Instant, nullable=False),
    Column("last_listed_at", Instant, nullable=False),
    _partial("ix_items_pending", "source_id", "id", where="state = 'pending'"),
    sqlite_autoincrement=True,
)

item_keys = Table(
    "item_keys",
    metadata,
    Column("source_id", BigInteger, ForeignKey("sources.id"), primary_key=True),
    Column("key", LargeBinary, primary_key=True),
    Column("item_id", BigInteger, ForeignKey("items.id"), nullable=False),
    Column("added_at", Instant, nullable=False),
    sqlite_with_rowid=False,
)

subscriptions = Table(
    "subscriptions",
    metadata,
    _id(),
    Column("owner", Text, nullable=False),
    Column("guild_id", BigInteger),
    Column("channel_id", BigInteger, nullable=False),
    Column("topic", Words),
    Column("source_id", BigInteger, ForeignKey("sources.id")),
    Column("everything", Boolean, nullable=False),
    Column("wish", Words, nullable=False),  # topic, source and everything as one text, so that it can be unique
    Column("format", Text, nullable=False),
    Column("role_id", BigInteger),
    Column("state", Text, nullable=False),
    Column("reason", Words),
    Column("paused_at", Instant),
    Column("created_at", Instant, nullable=False),
    Index("ix_subscriptions_wish", "owner", "channel_id", "wish", unique=True),
    sqlite_autoincrement=True,
)

digests = Table(  # the schedule of a subscription whose format is "digest"
    "digests",
    metadata,
    Column("subscription_id", BigInteger, ForeignKey("subscriptions.id"), primary_key=True, autoincrement=False),
    Column("name", Words, nullable=False),
    Column("at", Text, nullable=False),  # HH:MM, local
    Column("days", Text),  # "0,4": Monday and Friday; None: every day
    Column("monthday", Integer),
    Column("zone", Words, nullable=False),
    Column("most", Integer, nullable=False),
    Column("when_empty", Text, nullable=False),
    Column("silent", Text, nullable=False),
    Column("catch_up", Boolean, nullable=False),
    Column("counts_from", Instant, nullable=False),  # while it has no last_done, runs before this are none
    Column("last_done", Date),  # the local date that is done
    Column("next_at", Instant),  # None: to be worked out
    Column("after_id", BigInteger, nullable=False),  # briefs up to this id are not for it
    Index("ix_digests_next_at", "next_at"),
)

digest_runs = Table(
    "digest_runs",
    metadata,
    _id(),
    Column("subscription_id", BigInteger, ForeignKey("subscriptions.id"), nullable=False),
    Column("day", Date, nullable=False),
    Column("state", Text, nullable=False),
    Column("briefs", Integer, nullable=False),
    Column("pages", Integer, nullable=False),
    Column("upto_id", BigInteger, nullable=False),  # the newest brief at the time
    Column("due_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_digest_runs_once", "subscription_id", "day", unique=True),
    sqlite_autoincrement=True,
)

digest_items = Table(  # which briefs a digest has been given
    "digest_items",
    metadata,
    Column("subscription_id", BigInteger, ForeignKey("subscriptions.id"), primary_key=True),
    Column("brief_id", BigInteger, ForeignKey("briefs.id"), primary_key=True),
    Column("run_id", BigInteger, ForeignKey("digest_runs.id"), nullable=False),
    Column("place", Integer, nullable=False),  # 0: the first that it shows
    Index("ix_digest_items_run", "run_id", "place"),
    sqlite_with_rowid=False,
)

deliveries = Table(
    "deliveries",
    metadata,
    _id(),
    Column("subscription_id", BigInteger, ForeignKey("subscriptions.id"), nullable=False),
    Column("channel_id", BigInteger, nullable=False),
    Column("brief_id", BigInteger, ForeignKey("briefs.id")),  # None: a page of a digest
    Column("page", Integer, nullable=False),
    Column("format", Text, nullable=False),
    Column("role_id", BigInteger),
    Column("nonce", Text),  # made of the id, so it comes a statement later in the same transaction
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("sending_at", Instant),
    Column("finished_at", Instant),
    Column("message_id", BigInteger),
    Column("reason", Words),
    Column("created_at", Instant, nullable=False),
    Column("run_id", BigInteger, ForeignKey("digest_runs.id")),
    Column("content", Words),  # a digest page as JSON: which briefs, and what stands around them
    Index("ix_deliveries_once", "brief_id", "channel_id", "page", unique=True),
    _partial("ix_deliveries_page_once", "run_id", "page", where="run_id IS NOT NULL", unique=True),
    # Finished rows, the many, are in none of these.
    _partial("ix_deliveries_queued", "subscription_id", "id", where="state = 'queued'"),
    _partial("ix_deliveries_sending", "channel_id", where="state = 'sending'"),
    sqlite_autoincrement=True,
)

search_terms = (
    Table(  # every word that a misspelt one may be meant for; beside it, SQLite has the FTS5 table brief_words
        "search_terms",
        metadata,
        Column("term", Words, primary_key=True),
        sqlite_with_rowid=False,
    )
)

lists = Table(  # what an answer pages through: whose it is, and the entries in order as JSON
    "lists",
    metadata,
    _id(),
    Column("user_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("title", Words, nullable=False),
    Column("entries", Words, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("ix_lists_created_at", "created_at"),
    sqlite_autoincrement=True,
)
