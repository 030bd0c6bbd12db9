"""Stored briefs are found by their words: all of them, the last one unfinished, misspelt ones mended, or any of them.

The stages and the weights are those measured in search.md, section 1. Each stage is one FTS5 expression made of quoted
phrases, so that nothing a person types is an operator; the next stage only fills what is left of the limit. SQL keeps
the FTS table outside (CROSS JOIN): left to the planner, a filtered search of 100,000 briefs takes seconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.briefs import spelling, words
from bot.briefs.words import Term, Wish
from bot.store.briefs import StoredBrief, several
from bot.store.schema import Instant, storable

Stage = Literal["all", "begun", "mended", "any"]
STAGES: tuple[Stage, ...] = ("all", "begun", "mended", "any")

_WEIGHTS = "8.0, 4.0, 3.0, 1.0, 2.0"  # title, dek, headings, body, source
_CANDIDATES = 150  # words that are compared letter by letter with a misspelt one
_NEAREST = 12  # of them, whose briefs are counted
_MENDED = 3  # words tried in place of one
_MANY = 1000  # briefs that are counted at most
_UMLAUT = re.compile("([aou])e")


@dataclass(frozen=True, slots=True)
class Hit:
    """A brief that was found, the stage that found it, and a score in 0..1 that falls along the list."""

    stored: StoredBrief
    stage: Stage
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, best first; ``instead`` says what was looked for in place of a word: ``{"pytorhc": "pytorch"}``."""

    hits: tuple[Hit, ...]
    instead: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Filters:
    topic: str | None
    source_id: int | None
    since: datetime | None
    limit: int


async def search(
    conn: AsyncConnection,
    asked: str,
    *,
    topic: str | None = None,
    source_id: int | None = None,
    since: datetime | None = None,
    limit: int,
) -> list[StoredBrief]:
    """The briefs that fit, best first: see ``find``."""
    found = await find(conn, asked, topic=topic, source_id=source_id, since=since, limit=limit)
    return [hit.stored for hit in found.hits]


async def find(
    conn: AsyncConnection,
    asked: str,
    *,
    topic: str | None = None,
    source_id: int | None = None,
    since: datetime | None = None,
    limit: int,
) -> Found:
    """At most ``limit`` briefs for what a person typed (``words.parse``), with the stage that found each.

    ``topic`` is a slug, ``source_id`` any source that brought the brief, ``since`` an aware moment. Whatever was typed
    is no error; what holds no word finds nothing.
    """
    wish = words.parse(storable(asked))
    filters = _Filters(topic, source_id, since, max(0, limit))
    ranked: dict[int, tuple[Stage, float]] = {}
    instead: dict[str, str] = {}
    if not wish.terms or not filters.limit:
        return Found((), instead)
    telling = [term for term in wish.terms if not term.says_nothing] or list(wish.terms)
    for stage in STAGES:
        if len(ranked) >= limit:
            break
        if stage == "mended":
            alternatives = {} if ranked else await _alternatives(conn, telling)
            instead = {term.words[0]: others[0] for term, others in alternatives.items()}
            expression = _every(telling, alternatives=alternatives) if alternatives else ""
        else:
            expression = _expression(stage, telling, wish)
        if not expression:
            continue
        for id, relevance in await _run(conn, expression + _without(wish.without), filters):
            if len(ranked) < limit:
                ranked.setdefault(id, (stage, relevance))
        if stage == "mended" and not ranked:
            instead = {}
    briefs = {stored.id: stored for stored in await several(conn, list(ranked))}
    return Found(
        tuple(Hit(briefs[id], stage, _score(stage, gained)) for id, (stage, gained) in ranked.items() if id in briefs),
        instead,
    )


def _expression(stage: Stage, telling: Sequence[Term], wish: Wish) -> str:
    unfinished = wish.open and telling[-1] == wish.terms[-1] and _may_go_on(telling[-1])
    if stage == "all":
        return _every(telling)
    if stage == "begun":
        return _every(telling, unfinished=True) if unfinished else ""
    if len(telling) < 2 or all(term.quoted or term.says_nothing for term in telling):
        return ""
    return "(" + " OR ".join([*map(_phrase, telling), *([_phrase(telling[-1]) + "*"] if unfinished else [])]) + ")"


def _may_go_on(term: Term) -> bool:
    last = term.words[-1]
    return not term.quoted and len(last) >= 2 and not last.isdigit()


def _every(
    telling: Sequence[Term], *, unfinished: bool = False, alternatives: dict[Term, list[str]] | None = None
) -> str:
    parts = []
    for at, term in enumerate(telling):
        choices = [_phrase(term)]
        if unfinished and at == len(telling) - 1:
            choices.append(_phrase(term) + "*")
        choices += [_phrase(Term((other,))) for other in (alternatives or {}).get(term, ())]
        parts.append(choices[0] if len(choices) == 1 else f"({' OR '.join(choices)})")
    return "(" + " AND ".join(parts) + ")"


def _phrase(term: Term) -> str:
    # Words hold letters, digits and marks alone, so a quote cannot end early.
    return '"' + " ".join(term.words) + '"'


def _without(unwanted: Sequence[Term]) -> str:
    return "".join(f" NOT {_phrase(term)}" for term in unwanted)


async def _run(conn: AsyncConnection, expression: str, filters: _Filters) -> list[tuple[int, float]]:
    """(id, relevance) of the briefs that match, best first, newest first among equals."""
    statement, values = _statement(expression, filters)
    return [(row.id, row.gained) for row in await conn.execute(statement, values)]


def _statement(expression: str, filters: _Filters) -> tuple[TextClause, dict[str, object]]:
    values: dict[str, object] = {"expression": expression, "most": filters.limit}
    conditions = ""
    if filters.topic is not None:
        conditions += " AND briefs.topic = :topic"
        values["topic"] = storable(filters.topic)
    if filters.source_id is not None:
        conditions += " AND EXISTS (SELECT 1 FROM brief_sources WHERE brief_id = briefs.id AND source_id = :source)"
        values["source"] = filters.source_id
    if filters.since is not None:
        conditions += " AND briefs.ordered_at >= :since"
        values["since"] = filters.since
    join = " CROSS JOIN briefs" if conditions else ""
    on = " AND briefs.id = brief_words.rowid" if conditions else ""
    statement = text(
        f"SELECT brief_words.rowid AS id, -bm25(brief_words, {_WEIGHTS}) AS gained FROM brief_words{join} "
        f"WHERE brief_words MATCH :expression{on}{conditions} ORDER BY gained DESC, brief_words.rowid DESC LIMIT :most"
    )
    if filters.since is not None:
        statement = statement.bindparams(bindparam("since", type_=Instant))
    return statement, values


def _score(stage: Stage, gained: float) -> float:
    """Relevance within its stage, and every stage below the one before it."""
    within = max(gained, 0.0) / (1 + max(gained, 0.0))
    return round((len(STAGES) - 1 - STAGES.index(stage) + within) / len(STAGES), 4)


async def _alternatives(conn: AsyncConnection, telling: Sequence[Term]) -> dict[Term, list[str]]:
    """For each single word that is in no brief, the nearest words that are; ``Duesseldorf`` is near ``dusseldorf``."""
    found: dict[Term, list[str]] = {}
    for term in telling:
        if term.quoted or len(term.words) != 1:
            continue
        word = words.bare(term.words[0])
        others = [plain] if (plain := _UMLAUT.sub(r"\1", word)) != word else []
        if not await _stands(conn, term):
            others += await _likeliest(conn, word, spelling.nearest(word, await _near(conn, word), _NEAREST))
        if others:
            found[term] = list(dict.fromkeys(others))
    return found


async def _stands(conn: AsyncConnection, term: Term) -> bool:
    statement = text("SELECT 1 FROM brief_words WHERE brief_words MATCH :expression LIMIT 1")
    return (await conn.execute(statement, {"expression": _phrase(term)})).first() is not None


async def _likeliest(conn: AsyncConnection, word: str, near: Sequence[str]) -> list[str]:
    """Of words about as near, those that more briefs have: a rare one is often a slip itself."""
    statement = text("SELECT count(*) FROM (SELECT 1 FROM brief_words WHERE brief_words MATCH :expression LIMIT :most)")
    ranked = []
    for other in near:
        values = {"expression": _phrase(Term((other,))), "most": _MANY}
        briefs = (await conn.execute(statement, values)).scalar_one()
        gap = spelling.distance(word, other, spelling.slips(word))
        ranked.append((gap, other[:1] != word[:1], -briefs, other))
    return [other for *_, other in sorted(ranked)[:_MENDED]]


async def _near(conn: AsyncConnection, word: str) -> list[str]:
    """The words of about its length that share enough pairs of letters with it, the most first."""
    most = spelling.slips(word)
    if not most:
        return []
    pairs = sorted(spelling.pairs(word))
    shared = " + ".join(f"(instr('^' || term || '$', :p{at}) > 0)" for at in range(len(pairs)))
    statement = text(
        f"SELECT term, {shared} AS shared FROM search_terms WHERE length(term) BETWEEN :least AND :longest "
        "ORDER BY shared DESC, term LIMIT :most"
    )
    values: dict[str, object] = {f"p{at}": pair for at, pair in enumerate(pairs)}
    values |= {"least": len(word) - most, "longest": len(word) + most, "most": _CANDIDATES}
    need = spelling.least_shared(word)
    return [row.term for row in await conn.execute(statement, values) if row.shared >= need]


async def newest_titles(conn: AsyncConnection, after: int, limit: int) -> list[tuple[int, str]]:
    """(id, title) of the briefs with ids above ``after``, oldest first."""
    statement = text("SELECT id, title FROM briefs WHERE id > :after ORDER BY id LIMIT :most")
    return [(row.id, row.title) for row in await conn.execute(statement, {"after": after, "most": limit})]
