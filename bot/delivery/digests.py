"""A digest that is due becomes outbox rows in one transaction: its run, what it was given, and its pages.

That transaction is what makes it one digest: a second tick, a second process or a clock that went back finds the local
date done. Importance of a brief, by which it is chosen and ordered:

    log2(1 + sources) + match + recency

``sources`` is the number of sources covering the story, or of our own sources that brought it, whichever is more;
``match`` is 1 for a brief of the topic or source that the digest names, 0 for one that only "everything" lets in;
``recency`` is 1 now and halves with each day since publication, or since first sight where no date is given.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

import structlog

from bot.delivery.calendar import Due, Rule, due, find_zone
from bot.errors import DatabaseCorrupt, StoreError
from bot.store import briefs, outbox, subscriptions
from bot.store import digests as store
from bot.store.briefs import StoredBrief
from bot.store.database import Connection, Database
from bot.store.digests import Candidate, Digest, Run, Schedule
from bot.store.outbox import Delivery
from bot.store.schema import Unreadable
from bot.store.subscriptions import Subscription

log = structlog.get_logger(__name__)

BRIEFS_PER_PAGE = 6
SKIP_AFTER = timedelta(minutes=15)  # a digest that does not catch up is skipped when it is later than this
NIGHT_FROM, NIGHT_UNTIL = time(22), time(7)  # local; a digest of that time makes no sound by default
DAY = timedelta(days=1)
CLOCK_STEP = timedelta(minutes=1)  # a clock that went back by more has been set anew
RETRY = timedelta(minutes=15)  # before a digest that failed by itself is tried again


@dataclass(frozen=True, slots=True)
class Contents:
    """A topic of a digest as its table of contents has it: how many briefs, and the id of the first."""

    topic: str
    briefs: int
    first: int


@dataclass(frozen=True, slots=True)
class Page:
    """One message of a digest. ``shown`` briefs stand on all of its pages, ``more`` were gathered besides."""

    name: str
    day: date
    run_id: int
    number: int
    of: int
    brief_ids: tuple[int, ...]
    contents: tuple[Contents, ...]
    shown: int
    more: int
    silent: bool


@dataclass(frozen=True, slots=True)
class FullPage:
    """A page with what it shows: its own briefs, and those that the table of contents names."""

    page: Page
    briefs: tuple[StoredBrief, ...]
    named: tuple[StoredBrief, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a run gives: the briefs shown, by topic, then the others; every one of them is acknowledged."""

    topics: tuple[tuple[StoredBrief, ...], ...]
    others: tuple[StoredBrief, ...]

    @property
    def shown(self) -> tuple[StoredBrief, ...]:
        """The briefs shown, in the order in which they are."""
        return tuple(brief for topic in self.topics for brief in topic)


def importance(candidate: Candidate, wish: Subscription, now: datetime) -> float:
    """How much a brief matters to a digest: the module's docstring has the formula."""
    stored = candidate.stored
    sources = max(len(stored.brief.coverage), candidate.sources)
    topic = stored.brief.topic.slug.casefold() if stored.brief.topic else None
    named = wish.topic is not None and topic == wish.topic.casefold()
    match = named or not wish.everything  # without "everything", what is there came by its topic or its source
    age = max(timedelta(0), now - _moment(stored))
    return math.log2(1 + sources) + float(match) + math.pow(0.5, age / DAY)


def _moment(stored: StoredBrief) -> datetime:
    """When the brief was published, as far as it says, and never after it was first seen."""
    published = stored.brief.published
    if published is None:
        return stored.first_seen_at
    if not isinstance(published, datetime):
        published = datetime.combine(published, time(12), UTC)
    elif published.utcoffset() is None:
        published = published.replace(tzinfo=UTC)
    return min(published, stored.first_seen_at)


def choose(candidates: Sequence[Candidate], wish: Subscription, most: int, now: datetime) -> Chosen:
    """The ``most`` most important briefs by topic, the topic with the most important one first; and the others."""
    ranked = sorted(candidates, key=lambda c: (-importance(c, wish, now), -c.stored.id))
    topics: dict[str, list[StoredBrief]] = {}
    for candidate in ranked[:most]:
        topics.setdefault(topic_name(candidate.stored).casefold(), []).append(candidate.stored)
    return Chosen(tuple(map(tuple, topics.values())), tuple(c.stored for c in ranked[most:]))


def topic_name(stored: StoredBrief) -> str:
    """What a brief's topic is called; ``""`` where it has none."""
    topic = stored.brief.topic
    return (topic.name.strip() or topic.slug) if topic else ""


def paged(ids: Sequence[int]) -> list[tuple[int, ...]]:
    """The briefs shown in pages of at most BRIEFS_PER_PAGE, all about as long; none for no briefs."""
    count = math.ceil(len(ids) / BRIEFS_PER_PAGE)
    cuts = [len(ids) * n // count for n in range(count + 1)] if count else []
    return [tuple(ids[start:stop]) for start, stop in pairwise(cuts)]


def is_silent(schedule: Schedule, now: datetime) -> bool:
    """Whether a digest that goes out now makes no sound: at night by its zone's clock, unless it is set otherwise."""
    if schedule.silent != "night":
        return schedule.silent == "always"
    local = now.astimezone(find_zone(schedule.zone)).time()
    return local >= NIGHT_FROM or local < NIGHT_UNTIL


def write(page: Page) -> str:
    """A page as the outbox keeps it."""
    return json.dumps(asdict(page) | {"day": page.day.isoformat()}, ensure_ascii=False, separators=(",", ":"))


def read(content: str | None) -> Page:
    """The page of such a text. Raises schema.Unreadable where it is none."""
    try:
        data: dict[str, Any] = json.loads(content or "")
        contents = tuple(Contents(**entry) for entry in data["contents"])
        changed = {"day": date.fromisoformat(data["day"]), "contents": contents, "brief_ids": tuple(data["brief_ids"])}
        return Page(**(data | changed))
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"a page of a digest in it is damaged ({error!r})") from None


async def full(conn: Connection, delivery: Delivery) -> FullPage:
    """What a delivery that is a page of a digest shows; briefs that are gone are left out."""
    page = read(delivery.content)
    named = [entry.first for entry in page.contents] if page.number == 0 else []
    shown = await briefs.several(conn, page.brief_ids)
    return FullPage(page, tuple(shown), tuple(await briefs.several(conn, named)))


def rule(schedule: Schedule) -> Rule:
    """The schedule as the calendar takes it. ValueError where it can never be due."""
    return Rule(schedule.at, schedule.days, schedule.monthday)


def next_run(digest: Digest, now: datetime) -> Due:
    """The run of a digest that is due, or will be next.

    A digest without a date that is done begins at ``counts_from``. A last date in the future is that of a clock that
    was wrong: it counts as today. Raises ValueError for a rule or a zone that is none.
    """
    schedule = digest.schedule
    wanted, zone, done = rule(schedule), schedule.zone, digest.last_done
    if done is None:
        first = due(wanted, zone, None, min(digest.counts_from, now))
        done = first.date - DAY
    today = now.astimezone(find_zone(zone)).date()
    return due(wanted, zone, min(done, today) if done > today + DAY else done, now)


async def plan(conn: Connection, now: datetime) -> None:
    """Work out when each digest is due next. One whose rule or zone is none is left to ``run``, which tells."""
    found: dict[int, datetime] = {}
    for digest in await store.everyone(conn):
        with contextlib.suppress(ValueError):
            at, done = next_run(digest, now).at, _mended(digest, now)
            if done != digest.last_done:
                await store.plan(conn, digest.subscription.id, last_done=done, next_at=at)
            elif at != digest.next_at:
                found[digest.subscription.id] = at
    await store.set_next(conn, found)


async def run(
    conn: Connection, id: int, *, now: datetime, instance: str, known: dict[int, Candidate] | None = None
) -> Run | None:
    """Run one digest if it is due, in the caller's transaction; None where it is not, or its date is done.

    ``known`` are briefs that were read for other digests of the same tick.
    """
    digest = await store.get(conn, id)
    if digest is None or digest.subscription.state != "active":
        return None
    try:
        found = next_run(digest, now)
        if found.at > now:
            await store.plan(conn, id, last_done=_mended(digest, now), next_at=found.at)
            return None
        given = await _give(conn, digest, found, now, instance, known)
        following = due(rule(digest.schedule), digest.schedule.zone, found.date, now)
    except ValueError as error:
        await subscriptions.pause(conn, id, reason=f"its schedule cannot be kept: {error}", now=now)
        log.error("digest paused", digest=digest.name, channel=digest.subscription.channel_id, reason=str(error))
        return None
    await store.plan(conn, id, last_done=found.date, next_at=following.at)
    return given


def _mended(digest: Digest, now: datetime) -> date | None:
    """The last date that is done, or today where that date lies in the future because a clock was wrong."""
    today = now.astimezone(find_zone(digest.schedule.zone)).date()
    if digest.last_done is None or digest.last_done <= today + DAY:
        return digest.last_done
    log.warning("a digest was done in the future; it goes on from today", digest=digest.name, done=digest.last_done)
    return today


async def _give(
    conn: Connection, digest: Digest, found: Due, now: datetime, instance: str, known: dict[int, Candidate] | None
) -> Run | None:
    schedule, wish = digest.schedule, digest.subscription
    if not schedule.catch_up and now - found.at > SKIP_AFTER:
        log.info("digest skipped: too late", digest=digest.name, channel=wish.channel_id, day=str(found.date))
        return await store.record(
            conn, digest, day=found.date, state="skipped", brief_ids=[], pages=0, due_at=found.at, now=now
        )
    candidates, unread = await store.candidates(conn, digest, known)
    chosen = choose(candidates, wish, schedule.most, now)
    shown = [brief.id for brief in chosen.shown]
    acknowledged = [*shown, *(brief.id for brief in chosen.others), *unread]
    pages = paged(shown) or ([()] if schedule.when_empty == "line" else [])
    made = await store.record(
        conn,
        digest,
        day=found.date,
        state="queued" if shown else "nothing new",
        brief_ids=acknowledged,
        pages=len(pages),
        due_at=found.at,
        now=now,
    )
    if made is None:
        return None
    silent = is_silent(schedule, now)
    contents = tuple(Contents(topic_name(topic[0]), len(topic), topic[0].id) for topic in chosen.topics)
    written = [
        write(
            Page(
                name=digest.name,
                day=found.date,
                run_id=made.id,
                number=number,
                of=len(pages),
                brief_ids=ids,
                contents=contents if number == 0 else (),
                shown=len(shown),
                more=len(acknowledged) - len(shown),
                silent=silent or number > 0,  # one sound is enough for one digest
            )
        )
        for number, ids in enumerate(pages)
    ]
    await outbox.queue_pages(conn, subscription=wish, run_id=made.id, contents=written, now=now, instance=instance)
    return made


class Digests:
    """Runs what is due, one digest after another, each in a transaction of its own. One's trouble stops no other."""

    def __init__(
        self, database: Database, *, clock: Callable[[], datetime], on_queued: Callable[[], object] = lambda: None
    ) -> None:
        self._database, self._clock, self._on_queued = database, clock, on_queued
        self._last: datetime | None = None
        self._planned = False
        self._retry_at: dict[int, datetime] = {}
        self._troubled = False

    async def tick(self) -> int:
        """Run every digest that is due; how many runs there were. A store that fails is told once and asked again."""
        now, runs = self._clock(), 0
        try:
            if self._last is None or now < self._last - CLOCK_STEP:
                # At start the zone data may be new; a clock that went back has made every due time a wrong one.
                self._retry_at.clear()
                self._planned = False
            async with self._database.read() as conn:
                planned = self._planned and not await store.unplanned(conn)
            if not planned:
                async with self._database.transaction() as conn:
                    await plan(conn, now)
            self._last, self._planned = now, True
            async with self._database.read() as conn:
                ids = await store.due(conn, now)
            known: dict[int, Candidate] = {}
            for id in ids:
                if now >= self._retry_at.get(id, now) and await self._run(id, now, known):
                    runs += 1
            self._troubled = False
        except StoreError as error:
            if not self._troubled:
                self._troubled = True
                log.error("digests wait: the store fails", reason=str(error))
        return runs

    async def _run(self, id: int, now: datetime, known: dict[int, Candidate]) -> bool:
        try:
            async with self._database.transaction() as conn:
                done = await run(conn, id, now=now, instance=self._database.instance, known=known)
        except DatabaseCorrupt as error:
            self._retry_at[id] = now + RETRY
            log.error("digest put off", digest=id, reason=str(error))
            return False
        except StoreError:
            raise
        except Exception:
            self._retry_at[id] = now + RETRY
            log.exception("a digest failed in a way nobody foresaw", digest=id)
            return False
        self._retry_at.pop(id, None)
        if done is not None and done.pages:
            self._on_queued()
        return done is not None
