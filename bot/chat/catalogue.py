"""What autocomplete offers is held in memory: titles, topics and sources, read again when briefs were stored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import structlog

from bot.briefs import spelling, words
from bot.briefs.completion import Titles
from bot.briefs.model import Topic
from bot.briefs.topics import slug
from bot.chat.shelf import Lookups
from bot.errors import BriefbotError

BATCH = 200  # titles taken in between two turns of the event loop
PAUSE = 1.0  # seconds between two readings while briefs pour in
OLD = 10.0  # seconds after which somebody's typing has the names read again: a baseline is stored without a word
FIRST = 1.0  # seconds that the first answers after a start wait for what is read

log = structlog.get_logger("bot.chat")


class Catalogue:
    """Titles, topics and sources by what was typed so far. ``stale()`` reads on, in the background."""

    def __init__(self, library: Lookups) -> None:
        self.titles = Titles()
        self.topics: tuple[Topic, ...] = ()
        self.sources: tuple[tuple[int, str], ...] = ()
        self._library = library
        self._last = 0
        self._stale = False
        self._read_at = time.monotonic()
        self._loaded = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    def stale(self) -> None:
        """Something was stored. Call from the event loop."""
        self._stale = True
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_on(), name="catalogue")

    async def ready(self) -> None:
        """Wait a moment for the first reading; later on, read on behind the answer where that is long ago."""
        if time.monotonic() - self._read_at > OLD:
            self.stale()
        if not self._loaded.is_set():
            try:
                await asyncio.wait_for(self._loaded.wait(), FIRST)
            except TimeoutError:
                return

    async def close(self) -> None:
        """Stop reading."""
        if self._reading:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read_on(self) -> None:
        while self._stale:
            self._stale = False
            try:
                await self._read()
            except BriefbotError as error:
                log.warning("autocomplete is not up to date", reason=str(error))
            self._read_at = time.monotonic()
            self._loaded.set()
            await asyncio.sleep(PAUSE)

    async def _read(self) -> None:
        self.topics = tuple(count.topic for count in await self._library.topics())
        self.sources = tuple(await self._library.public_sources())
        while rows := await self._library.titles(self._last, 10 * BATCH):
            for start in range(0, len(rows), BATCH):
                for id, title in rows[start : start + BATCH]:
                    self.titles.add(id, title)
                await asyncio.sleep(0)
            self._last = rows[-1][0]

    def topic(self, typed: str) -> Topic | None:
        """The topic that somebody wrote or chose, by name or slug."""
        wanted = slug(typed)
        return next((topic for topic in self.topics if wanted and wanted in (topic.slug, slug(topic.name))), None)

    def topics_like(self, typed: str) -> list[Topic]:
        """Topics that fit what was typed, most briefs first."""
        return [self.topics[at] for at in fitting(typed, [topic.name for topic in self.topics])]

    def source(self, typed: str) -> tuple[int, str] | None:
        """The source that somebody wrote or chose, by name or id."""
        wanted = typed.strip().casefold()
        return next((one for one in self.sources if wanted in (str(one[0]), one[1].casefold())), None)

    def sources_like(self, typed: str) -> list[tuple[int, str]]:
        """Sources that fit what was typed."""
        return [self.sources[at] for at in fitting(typed, [name for _, name in self.sources])]


def fitting(typed: str, names: Sequence[str]) -> list[int]:
    """The places of the names that fit: by the beginnings of their words, else anywhere, else nearly."""
    asked = [words.bare(word) for word in words.words(typed[:100])]
    if not asked:
        return list(range(len(names)))
    parts = [[words.bare(word) for word in words.words(name)] for name in names]
    for fits in (_begins, _holds, _nearly):
        found = [at for at, have in enumerate(parts) if all(fits(word, have) for word in asked)]
        if found:
            return found
    return []


def _begins(word: str, have: Sequence[str]) -> bool:
    return any(one.startswith(word) for one in have)


def _holds(word: str, have: Sequence[str]) -> bool:
    return word in " ".join(have)


def _nearly(word: str, have: Sequence[str]) -> bool:
    return bool(spelling.nearest(word, have, 1))
