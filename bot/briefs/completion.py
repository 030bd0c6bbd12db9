"""Titles are completed while they are typed, from memory: words in any order, the last unfinished, misspelt ones mended.

Bounded: 100,000 titles take about 40 MB and an answer a few milliseconds (tests/briefs/test_completion.py measures).
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import islice

from bot.briefs import spelling, words

MOST_WORDS = 5  # typed words that are looked up
_CANDIDATES = 150  # known words that are compared letter by letter with a misspelt one
_MENDED = 3


class Titles:
    """Ids with their titles. Ids are added in rising order; the newest come first in an answer."""

    def __init__(self, known: Iterable[tuple[int, str]] = ()) -> None:
        self._titles: dict[int, str] = {}
        self._ids_of: dict[str, array[int]] = {}
        self._words: list[str] = []
        self._sorted = True
        self._by_pair: defaultdict[str, list[str]] = defaultdict(list)
        for id, title in known:
            self.add(id, title)

    def __len__(self) -> int:
        return len(self._titles)

    def add(self, id: int, title: str) -> None:
        """Let a title be found. One that is there already is left as it is."""
        if id in self._titles:
            return
        self._titles[id] = title
        for word in dict.fromkeys(map(words.bare, words.words(title[:500]))):
            ids = self._ids_of.get(word)
            if ids is None:
                ids = self._ids_of[word] = array("q")
                self._words.append(word)
                self._sorted = False
                if spelling.slips(word):
                    for pair in spelling.pairs(word):
                        self._by_pair[pair].append(word)
            ids.append(id)

    def complete(self, typed: str, count: int) -> list[tuple[int, str]]:
        """At most ``count`` (id, title) that fit what was typed so far; the newest of all where nothing was."""
        asked = [words.bare(word) for word in words.words(typed[: words.MAX_CHARACTERS])][:MOST_WORDS]
        if not asked:
            return [(id, self._titles[id]) for id in islice(reversed(self._titles), count)]
        if not self._sorted:
            self._words.sort()
            self._sorted = True
        found: set[int] | None = None
        for at, word in enumerate(asked):
            ids = self._ids(word, last=at == len(asked) - 1)
            found = ids if found is None else found & ids
            if not found:
                return []
        return [(id, self._titles[id]) for id in heapq.nlargest(count, found or ())]

    def _ids(self, word: str, *, last: bool) -> set[int]:
        exact = self._ids_of.get(word)
        if exact is not None and not last:
            return set(exact)
        begun = self._begun(word)
        known = begun or self._near(word)
        return set().union(*(self._ids_of[other] for other in known))

    def _begun(self, word: str) -> list[str]:
        start = bisect_left(self._words, word)
        return self._words[start : bisect_left(self._words, word + "\U0010ffff", start)]

    def _near(self, word: str) -> list[str]:
        """Words that the typed one is a misspelling of, or of their beginning."""
        most = spelling.slips(word)
        if not most:
            return []
        shared: Counter[str] = Counter()
        for pair in spelling.pairs(word):
            shared.update(self._by_pair.get(pair, ()))
        ranked = []
        for other, _ in shared.most_common(_CANDIDATES):
            whole = spelling.distance(word, other, most)
            begun = min(spelling.distance(word, other[:n], most) for n in (len(word), len(word) + 1))
            gap = min((whole, 0), (begun, 1))
            if gap[0] <= most:
                ranked.append((gap, other[:1] != word[:1], -len(self._ids_of[other]), other))
        return [other for *_, other in sorted(ranked)[:_MENDED]]
