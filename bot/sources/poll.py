"""Due sources become stored briefs: each poll in a task of its own, each stored with its items in one transaction.

A source's validators are saved in the transaction that stores the items they cover; an item that could not be read is
stored as pending and tried again whatever the source answers, so a 304 hides nothing. One slow or failing source delays
no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from bot.briefs import topics
from bot.briefs.condense import condensed
from bot.briefs.model import Brief
from bot.errors import DocumentError, FetchError, SourceError, StoreError
from bot.sources import answers, freshness, identity
from bot.sources.feeds import Feeds
from bot.sources.folder import AT_ONCE, Folder
from bot.sources.http import Http
from bot.sources.identity import Decision, Item, Seen, Verdict
from bot.sources.kinds import Kind, Listing
from bot.sources.sandbox import Sandbox
from bot.sources.site import Document, Site
from bot.store import briefs, sources
from bot.store.briefs import StoredBrief
from bot.store.database import Connection, Database, get_meta, set_meta
from bot.store.sources import Source

log = structlog.get_logger(__name__)

MOST_READ = 50  # items read at one poll; the rest wait as pending, and the source is polled again soon
READ_AT_ONCE = 2
SOON = timedelta(seconds=30)
ATTEMPTS = 6  # readings of one item, over about two days, before it is set aside
ATTEMPT_AFTER = timedelta(minutes=15)
DEADLINE = 600.0  # seconds for a whole poll, all its stories included
UNSETTLED_LOOKS = 9  # at one `poll_once`, with a second between them
FOLDER_BACKOFF = timedelta(minutes=1)

OnStored = Callable[[Connection, StoredBrief], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Read:
    """What became of reading one item: its brief, or why there is none and whether trying again may help."""

    decision: Decision
    brief: Brief | None = None
    reason: str = ""
    again: bool = False
    attempts: int = 0


class Poller:
    """Polls what is due. ``tick`` begins polls and returns; ``poll_once`` waits for all that is due."""

    def __init__(
        self,
        database: Database,
        http: Http,
        sandbox: Sandbox,
        *,
        on_stored: OnStored,
        on_change: Callable[[], object] = lambda: None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        concurrency: int = 20,
        deadline: float = DEADLINE,
    ) -> None:
        """``on_stored`` runs for each brief that is news, in the transaction that stores it; ``on_change`` after it."""
        self._database, self._clock, self._deadline = database, clock, deadline
        self._on_stored, self._on_change, self._concurrency = on_stored, on_change, concurrency
        self._kinds: dict[str, Kind] = {
            "folder": Folder(),
            "site": Site(http),
            "brief": Document(http),
            "feed": Feeds(http, sandbox),
        }
        self._polls: dict[int, asyncio.Task[Listing | None]] = {}
        self._storing: set[asyncio.Task[Any] | None] = set()
        self._troubled = self._stopping = False

    async def tick(self) -> None:
        """Begin a poll of each source that is due and not being polled."""
        free = self._concurrency - len(self._polls)
        if free <= 0 or self._stopping:
            return
        try:
            async with self._database.read() as conn:
                due = await sources.due(conn, self._clock(), free + len(self._polls))
        except StoreError as error:
            self._tell_trouble(error)
            return
        for source in [s for s in due if s.id not in self._polls][:free]:
            task = asyncio.create_task(self._poll(source), name=f"poll {source.name}")
            self._polls[source.id] = task
            task.add_done_callback(functools.partial(self._ended, source.id))

    def _ended(self, source_id: int, _: object) -> None:
        self._polls.pop(source_id, None)

    async def poll_once(self) -> None:
        """Poll everything that is due now and wait for it; a folder with files still being written is looked at again."""
        started, polled = self._clock(), set[int]()
        while True:
            async with self._database.read() as conn:
                due = [s for s in await sources.due(conn, started, 10_000) if s.id not in polled]
            if not due:
                return
            for at in range(0, len(due), self._concurrency):
                some = due[at : at + self._concurrency]
                await asyncio.gather(*map(self._poll_whole, some))
                polled |= {source.id for source in some}

    async def _poll_whole(self, source: Source) -> None:
        """Poll one source until it lists nothing more; files still being written are waited for a few seconds."""
        waited = 0
        while (listing := await self._poll(source)) is not None and (listing.more or listing.unsettled):
            if not listing.more:
                if waited == UNSETTLED_LOOKS:
                    return
                waited += 1
                await asyncio.sleep(1.2)
            async with self._database.read() as conn:
                found = await sources.get(conn, source.id)
            if found is None:
                return
            source = found

    async def stop(self) -> None:
        """End the polls in flight, though not in the middle of storing; what is not stored the next start polls again."""
        self._stopping = True
        while tasks := set(self._polls.values()):
            for task in tasks - self._storing:
                task.cancel()
            await asyncio.wait(tasks, timeout=0.05)

    async def _poll(self, source: Source) -> Listing | None:
        """Poll one source, whatever happens; what it listed, or None where that failed."""
        try:
            async with asyncio.timeout(self._deadline):
                listing = await self._kinds[source.kind].list(source)
                await self._take(source, listing)
                listing.taken()
        except StoreError as error:
            self._tell_trouble(error)
            return None
        except TimeoutError:
            await self._failed(source, SourceError(f"polling it took longer than {self._deadline:.0f} s"))
            return None
        except SourceError as error:
            await self._failed(source, error)
            return None
        except Exception as error:
            log.exception("polling failed in a way nobody foresaw", source=source.name)
            await self._failed(source, SourceError(f"polling it failed ({type(error).__name__}: {error})"))
            return None
        self._troubled = False
        return listing

    @contextlib.contextmanager
    def _in_store(self) -> Iterator[None]:
        """What runs inside is not cancelled by ``stop``: a statement that is cut off costs its connection."""
        task = asyncio.current_task()
        self._storing.add(task)
        try:
            yield
        finally:
            self._storing.discard(task)

    async def _take(self, source: Source, listing: Listing) -> None:
        """Decide what is new, read it, and store the outcome."""
        now = self._clock()
        first_sight = source.baseline_at is None
        with self._in_store():
            known, stored, pending, oldest, listed_before = await self._stored(source, listing, now)
        decisions = identity.decide(
            listing.items,
            known,
            {item.id: Seen(item.first_seen_at, item.last_listed_at) for item in stored.values()},
            first_sight=first_sight,
            oldest=oldest,
            last_ok_at=source.last_ok_at,
            now=now,
            listed_before=listed_before,
            # Where the first sight takes several polls, the newest were in the first of them.
            backfill=source.backfill if source.last_ok_at is None else 0,
        )
        unread = [d for d in decisions if d.verdict not in (Verdict.KNOWN, Verdict.REPEATED)]
        most = MOST_READ if source.kind in ("site", "brief") else AT_ONCE
        if first_sight:  # news first: what is posted must not wait for what is only stored
            unread.sort(key=lambda d: d.verdict is not Verdict.NEW)
        to_read, later = unread[:most], unread[most:]
        if first_sight:
            to_read.sort(key=decisions.index)
        listed = {d.item_id: d for d in decisions if d.item_id is not None}
        retry = [listed.get(p.id) or _pending(p) for p in pending][: most - len(to_read)]
        attempts = {p.id: p.attempts for p in pending}
        reading = await self._read_all(
            source, [*to_read, *(d for d in retry if d not in to_read)], listing.held, attempts
        )
        with self._in_store():
            await self._store(source, listing, decisions, reading, later, first_sight, now)

    async def _stored(
        self, source: Source, listing: Listing, now: datetime
    ) -> tuple[dict[bytes, int], dict[int, sources.Item], list[sources.Item], datetime | None, int]:
        """What is stored of a listing: known keys and their items, items to be tried again, the oldest date, the count."""
        async with self._database.read() as conn:
            known = await sources.known(conn, source.id, identity.lookup(listing.items))
            stored = await sources.items_by_id(conn, set(known.values()))
            oldest = await get_meta(conn, _oldest_key(source))
            pending = await sources.pending(conn, source.id, now)
            before = await sources.count_listed(conn, source.id, source.last_ok_at) if source.last_ok_at else 0
        return known, stored, pending, datetime.fromisoformat(oldest) if oldest else None, before

    async def _read_all(
        self, source: Source, decisions: Sequence[Decision], held: Mapping[Item, Any], attempts: Mapping[int, int]
    ) -> list[Read]:
        kind, turn = self._kinds[source.kind], asyncio.Semaphore(READ_AT_ONCE)

        async def read(decision: Decision) -> Read:
            tried = attempts.get(decision.item_id or 0, 0) + 1
            async with turn:
                try:
                    brief = await kind.read(source, decision.item, held.get(decision.item))
                    return Read(decision, await asyncio.to_thread(_prepared, brief))
                except DocumentError as error:
                    return Read(decision, reason=f"not a brief document: {error}")
                except FetchError as error:
                    return Read(
                        decision, reason=str(error), again=not error.permanent and tried < ATTEMPTS, attempts=tried
                    )
                except SourceError as error:
                    return Read(decision, reason=str(error), again=tried < ATTEMPTS, attempts=tried)
                except Exception as error:
                    log.exception("an item could not be read", source=source.name, item=decision.item.title)
                    return Read(decision, reason=f"it could not be read ({type(error).__name__})")

        return list(await asyncio.gather(*map(read, decisions)))

    async def _store(
        self,
        source: Source,
        listing: Listing,
        decisions: Sequence[Decision],
        reading: Sequence[Read],
        later: Sequence[Decision],
        first_sight: bool,
        now: datetime,
    ) -> None:
        news = 0
        soonest: datetime | None = now + SOON if later else None
        async with self._database.transaction() as conn:
            if await sources.get(conn, source.id) is None:
                return
            for read in reading:
                if read.again:
                    try_at = now + ATTEMPT_AFTER * 2.0 ** (read.attempts - 1) if source.kind != "folder" else now
                    soonest = min(soonest or try_at, try_at)
                    await self._put(conn, source, read.decision, "pending", read.reason, None, try_at, now)
                elif read.brief is None:
                    await self._put(conn, source, read.decision, "set aside", read.reason, None, None, now)
                else:
                    news += await self._put_brief(conn, source, read, now)
            for decision in later:
                await self._put(conn, source, decision, "pending", None, None, None, now)
            for decision in decisions:
                if decision.verdict is Verdict.KNOWN and decision.item_id is not None:
                    await sources.add_keys(conn, source.id, decision.item_id, decision.keys, now)
            await sources.listed(conn, source.id, {d.item_id for d in decisions if d.item_id is not None}, now)
            if first_sight:
                await self._note_oldest(conn, source, listing.items)
            wait = self._wait(source, listing)
            next_poll_at = now + wait if soonest is None else min(now + wait, max(soonest, now + source.interval / 2))
            if later:
                next_poll_at = min(next_poll_at, now + SOON)
            if listing.more:
                next_poll_at = now
            kept = listing.validators if listing.whole else None
            await sources.succeeded(
                conn,
                source.id,
                now=now,
                next_poll_at=next_poll_at,
                validators=(kept.etag, kept.last_modified) if kept else (None, None),
                body_hash=source.body_hash if listing.not_modified else listing.body_hash if listing.whole else None,
                baseline=not listing.not_modified and not listing.more,
            )
        self._tell(source, decisions, reading, news, first_sight)
        if news:
            self._on_change()

    async def _put_brief(self, conn: Connection, source: Source, read: Read, now: datetime) -> bool:
        """Store a brief and its item; True if it is news, which it is then told as."""
        assert read.brief is not None
        decision = read.decision
        baseline = self._is_baseline(source, decision, read.brief)
        if decision.item_id is not None:
            item = await sources.item(conn, decision.item_id)
            baseline = item is not None and (source.baseline_at is None or item.first_seen_at <= source.baseline_at)
        before = await briefs.by_permalink(conn, read.brief.permalink) if read.brief.permalink else None
        from_here = before is not None and source.id in await briefs.sources_of(conn, before.id)
        brief_id, created = await briefs.add(
            conn,
            read.brief,
            source_id=source.id,
            now=now,
            baseline=baseline,
            key=decision.keys[0] if decision.keys else None,
            other_keys=[_content(read.brief)],
        )
        await self._put(conn, source, decision, "baseline" if baseline else "stored", None, brief_id, None, now)
        # A brief that another source brought before is news to those who follow this one.
        if baseline or not (created or (before is not None and not from_here)):
            return False
        stored = await briefs.get(conn, brief_id)
        assert stored is not None
        await self._on_stored(conn, stored)
        return True

    @staticmethod
    def _is_baseline(source: Source, decision: Decision, brief: Brief) -> bool:
        if decision.verdict is Verdict.FLOOD and decision.item.published is None and source.last_ok_at is not None:
            return not identity.is_news(brief.published, source.last_ok_at)
        return decision.verdict in (Verdict.BASELINE, Verdict.OLD, Verdict.FLOOD)

    async def _put(
        self,
        conn: Connection,
        source: Source,
        decision: Decision,
        state: sources.ItemState,
        reason: str | None,
        brief_id: int | None,
        next_try_at: datetime | None,
        now: datetime,
    ) -> None:
        """Write down what an item is now."""
        item_id = decision.item_id
        if item_id is None:
            # At first sight, what is news must not count as there from the start.
            seen_at = now + timedelta(microseconds=1) if decision.verdict is Verdict.NEW else now
            if state == "pending" and decision.verdict in (Verdict.OLD, Verdict.FLOOD) and source.baseline_at:
                seen_at = source.baseline_at  # when it is read at last, it still is no news
            item_id = await sources.remember(
                conn,
                source.id,
                keys=decision.keys,
                title=decision.item.title,
                link=decision.item.link,
                state=state,
                reason=reason,
                brief_id=brief_id,
                now=seen_at,
            )
            if state != "pending" or next_try_at is None:
                return
        else:
            await sources.add_keys(conn, source.id, item_id, decision.keys, now)
        await sources.settle(
            conn, item_id, state=state, reason=reason, brief_id=brief_id, next_try_at=next_try_at, now=now
        )

    @staticmethod
    async def _note_oldest(conn: Connection, source: Source, items: Sequence[Item]) -> None:
        dates = [identity.moment(item.published) for item in items if item.published]
        await set_meta(conn, _oldest_key(source), min(dates).isoformat() if dates else None)

    @staticmethod
    def _wait(source: Source, listing: Listing) -> timedelta:
        if source.kind == "folder":
            return source.interval
        asked = freshness.next_interval(
            source.interval,
            fresh_for=listing.fresh_for,
            ttl=listing.ttl,
            validators=bool(listing.validators.etag or listing.validators.last_modified),
            floor=timedelta(0) if source.allow_private else freshness.FLOOR,
        )
        return freshness.jittered(asked, f"{source.id} {source.location}")

    async def _failed(self, source: Source, error: SourceError) -> None:
        """Note a bad poll; it is told at the first failure of a row, with what to do."""
        with self._in_store():
            await self._note_failure(source, error)

    async def _note_failure(self, source: Source, error: SourceError) -> None:
        now = self._clock()
        permanent = isinstance(error, FetchError) and error.permanent
        asked = error.retry_after if isinstance(error, FetchError) else None
        if source.kind == "folder":
            wait = min(FOLDER_BACKOFF, source.interval * 2.0 ** min(source.failures, 10))
        else:
            first = min(freshness.FIRST_BACKOFF, source.interval)
            wait = freshness.backoff(source.failures + 1, asked=asked, first=first)
        held = isinstance(error, FetchError) and error.status is None and asked is not None
        try:
            async with self._database.transaction() as conn:
                if held:
                    await sources.postpone(conn, source.id, now + timedelta(seconds=asked or 0.0))
                    return
                await sources.failed(
                    conn, source.id, now=now, next_poll_at=now + wait, reason=str(error), permanent=permanent
                )
        except StoreError as failure:
            self._tell_trouble(failure)
        tell = log.debug if source.failures and source.reason == str(error) else log.warning
        after = "not polled any more" if permanent else f"tried again in {answers.span(wait.total_seconds())}"
        tell("source failed", source=source.name, reason=error.reason, do=error.remedy or "nothing", next=after)

    def _tell(
        self, source: Source, decisions: Sequence[Decision], reading: Sequence[Read], news: int, first_sight: bool
    ) -> None:
        """One line for each thing that a person should know of a poll."""
        aside = [read for read in reading if read.brief is None and not read.again]
        if source.failures:
            log.info("source works again", source=source.name)
        for read in reading:
            if read.brief and read.brief.warnings:
                said = "; ".join(read.brief.warnings)
                log.warning(
                    "puzzling document, read as far as it goes",
                    source=source.name,
                    item=read.decision.item.title,
                    why=said,
                )
        for read in aside:
            do = (
                "mend the document and save it"
                if source.kind == "folder"
                else "tell the site's owner, if it should be one"
            )
            log.warning("set aside", source=source.name, item=read.decision.item.title, reason=read.reason, do=do)
        flood = sum(d.verdict is Verdict.FLOOD for d in decisions)
        if flood:
            log.warning(
                "the source lists many items it never listed before, none of them dated as new: stored, not posted",
                source=source.name,
                items=flood,
                do="look at it; if they are news, remove the source and add it again with backfill",
            )
        if first_sight and source.last_ok_at is None:
            log.info("first look", source=source.name, items=len(decisions), posted=news)
        elif news:
            log.info("new briefs", source=source.name, briefs=news)

    def _tell_trouble(self, error: StoreError) -> None:
        if not self._troubled:
            self._troubled = True
            log.error("the store fails; polling waits", reason=str(error))


def _prepared(brief: Brief) -> Brief:
    """A brief ready to be stored: with a topic, if title, dek or text tell one, and every section condensed."""
    if brief.topic is None:
        text = "\n".join(section.body for section in brief.sections[:10])
        if ranked := topics.assign(brief.title, brief.dek, (), text):
            brief = replace(brief, topic=topics.TOPICS[ranked[0][0]])
    return condensed(brief)


def _content(brief: Brief) -> bytes:
    """A key of all that a brief says, so that a document under another name is the same brief."""
    said = repr((brief.title, brief.dek, brief.published, [(s.heading, s.body) for s in brief.sections]))
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=16).digest()


def _pending(item: sources.Item) -> Decision:
    """A stored item that is to be read again, as its source would list it."""
    return Decision(Item(guid=None, link=item.link, title=item.title), Verdict.NEW, (), item.id)


def _oldest_key(source: Source) -> str:
    return f"oldest of source {source.id}"
