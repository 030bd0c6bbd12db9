"""Each section is condensed to the sentence that carries it: a sentence of the source, whole where one fits.

Which one is told by :mod:`bot.briefs.salience`. A sentence that opens with a reference to the one before it (``It``,
``These updates``) is taken only where no other stands alone; an opening ``Additionally,`` is left out. A sentence that
fits is never cut. One that does not fit loses what :mod:`bot.briefs.trimming` may take away, or gives way to one that
fits; only where nothing fits is it cut between words, with ``…``. A second sentence follows a short one if it fits whole
and adds numbers or names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from bot.briefs.model import Brief
from bot.briefs.prose import PROSE, Part, Reading, readings, written
from bot.briefs.salience import Section, concepts, facts
from bot.briefs.sentences import LOWER_NAME, language, split
from bot.briefs.shortening import shorten
from bot.briefs.text import plain
from bot.briefs.trimming import Trimmed, trimmed, without_connective

USUAL_LIMIT = 240  # characters of a summary
LOOKED_AT = 40_000  # characters of a body; what stands after them does not carry it
SENTENCES = 60  # of a body, likewise

# A carrying sentence shorter than this share of the limit leaves room for a second one.
SHORT = 0.6
_CLIPPED = 1.5  # what being cut between words costs, in the units of a score
_DANGLING = 0.25
_CUT = 0.383
_TRIED = 6  # best sentences that are tried as the carrying one, as its companion, and in shorter forms
_FACT, _FACTS_COUNTED = 0.1, 4.0
_SECOND = 0.1  # what a second sentence costs
# What a second sentence may be worth less than the first where it stands before it, and where it stands apart from it.
_BEFORE, _APART = 0.5, 1.3
_NEW = 0.34  # share of a second sentence's stems that the first has not
_CLAUSE = 0.6  # a sentence is clipped at a clause that leaves this share of the limit
_LEAST_SECOND = 28  # characters

_STOP = re.compile(r"[.!?…。！？][\"'”’»)\]」』]*$")
_STATEMENT = re.compile(r"[.!。！][\"'”’»)\]」』]*$")
_UNSPACED_END = re.compile(
    "[\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]$"
)  # Chinese and Japanese sentences have no space between
_WORD = re.compile(r"\w")
# Scripts with spaces between words are not cut inside one; Thai, Lao, Burmese, Khmer and CJK have none.
_PART = "[^\\s\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]"
_IN_WORD = re.compile(f"{_PART}{_PART}")
_LAST_WORD = re.compile(f"{_PART}+$")
_OPEN_END = re.compile(
    r"\s(?:a|an|the|of|to|in|on|at|by|for|with|from|and|or|but|as|that|which|who|whose|into|than|via|per|is|are|was|were|be|"
    r"been|has|have|had|their|its|our|not|no|including|such|between|both|either|more|less|most|very|also|can|will|may)$",
    re.IGNORECASE,
)


def condense(body: str, *, heading: str | None, title: str, limit: int) -> str:
    """The sentence that carries a section: one line of Markdown in at most ``limit`` characters.

    ``body`` is Markdown as the source wrote it. Links become their labels, emphasis marks are dropped, inline code stays
    whole between its backticks, and what was no markup in the body is none in the result, escaped only where it would
    become one. Tables, headings, code blocks and images are used, in this order, where there is nothing else. The
    result is ``""`` only for a body without words or a ``limit`` below 1. Looks at the first ``LOOKED_AT`` characters and ``SENTENCES``
    sentences.
    """
    if limit < 1:
        return ""
    found = list(readings(_beginning(body)))
    for parts in (PROSE, {Part.ROW}, {Part.HEADING}, {Part.CODE}, {Part.IMAGE}):
        lines = [reading for reading in found if reading.part in parts and _WORD.search(reading.text)]
        if lines:
            told = _fitting(partial(_condensed, lines, heading or "", title), limit)
            if told != "…" or Part.CODE not in parts:
                return told
    rest = " ".join(plain(_beginning(body)).split())
    return _fitting(lambda room: _clip(rest, room), limit) if _WORD.search(rest) else ""


def condensed(brief: Brief, limit: int = USUAL_LIMIT) -> Brief:
    """The brief with every section's summary in at most ``limit`` characters."""
    sections = (
        replace(part, summary=condense(part.body, heading=part.heading, title=brief.title, limit=limit))
        for part in brief.sections
    )
    return replace(brief, sections=tuple(sections))


@dataclass(frozen=True, slots=True)
class _Choice:
    """A sentence, or a part of one, that may be the result. ``at`` is the number of the sentence."""

    at: int
    text: str
    worth: float
    clipped: bool = False


def _beginning(body: str) -> str:
    if len(body) <= LOOKED_AT:
        return body
    head = body.lstrip()[:LOOKED_AT]
    return head[: max(head.rfind("\n"), head.rfind(" ")) + 1] or head


def _fitting(make: Callable[[int], str], limit: int) -> str:
    """What ``make`` gives in the room that leaves ``limit`` characters with the escapes that its text needs."""
    room = limit
    while room > 0:
        source = written(make(room))
        if len(source) <= limit:
            return source
        room = min(room - 1, room - (len(source) - limit) // 2)
    return "…"


def _condensed(lines: list[Reading], heading: str, title: str, limit: int) -> str:
    code = language(" ".join(islice((line.text for line in lines), 8)))
    sentences = list(islice(_sentences(lines, code), SENTENCES))
    section = Section(sentences, heading, title, code)
    choices: list[_Choice] = []
    for rank, at in enumerate(_ranking(section, limit)):
        whole = without_connective(sentences[at])
        if len(whole.text) <= limit:
            choices.append(_Choice(at, whole.text, section.score(at, whole.text, limit) - _CUT * whole.cost))
        elif rank < _TRIED:
            choices += _shorter(section, at, whole, limit, english=code == "en")
    if not choices:
        choices.append(_clipped(section, 0, sentences[0], limit))
    choices.sort(key=lambda choice: (-choice.worth, choice.at))
    return _told(section, choices, limit)


def _ranking(section: Section, limit: int) -> list[int]:
    """The numbers of the sentences, best first, whether they fit or not."""
    worth = [
        section.score(at, text, limit) - _DANGLING * section.dangles(at, text)
        for at, text in enumerate(section.sentences)
    ]
    return sorted(range(len(worth)), key=lambda at: (-worth[at], at))


def _sentences(lines: list[Reading], code: str) -> Iterator[str]:
    for line in lines:
        for sentence in split(line.text, code) if line.part in PROSE else [line.text]:
            if _WORD.search(sentence):
                yield sentence


def _shorter(section: Section, at: int, whole: Trimmed, limit: int, *, english: bool) -> Iterator[_Choice]:
    forms = [form for form in trimmed(whole.text) if len(form.text) <= limit] if english else []
    for form in forms:
        yield _Choice(at, form.text, section.score(at, form.text, limit) - _CUT * (form.cost + whole.cost))
    if not forms:
        yield _clipped(section, at, whole.text, limit)


def _clipped(section: Section, at: int, text: str, limit: int) -> _Choice:
    cut = _clip(text, limit)
    return _Choice(at, cut, section.score(at, cut, limit) - _CLIPPED, clipped=True)


def _clip(text: str, limit: int) -> str:
    """``text`` cut at a clause if that uses the limit well, else between words; not in code, brackets or quotes."""
    if len(text) <= limit:
        return text
    head = shorten(text, limit).removesuffix("…")
    if _IN_WORD.match(text, len(head) - 1):
        head = _LAST_WORD.sub("", head)
    clause = max(head.rfind(mark) for mark in (", ", "; ", " — ", "、", "，"))
    if clause > _CLAUSE * limit:
        head = head[:clause]
    while (end := _OPEN_END.search(head)) is not None:
        head = head[: end.start()]
    for mark in ("`", '"'):
        if head.count(mark) % 2 and text.count(mark) % 2 == 0:
            head = head[: head.rfind(mark)]
    for opening, closing in ("()", "[]", "“”", "（）", "「」"):
        if head.count(opening) > head.count(closing):
            head = head[: head.rfind(opening)]
    head = head.rstrip().rstrip(",;:–—-、，").rstrip()
    return f"{head}…"


def _told(section: Section, choices: list[_Choice], limit: int) -> str:
    """The best choice that stands alone, or the best pair that one begins; ``choices`` are sorted, best first."""
    alone = [choice for choice in choices if not choice.clipped and section.stands_alone(choice.at, choice.text)]
    gap = "" if _UNSPACED_END.search(choices[0].text) else " "
    best: tuple[_Choice, ...] = ()
    most = -math.inf
    for first in (alone or choices)[:_TRIED]:
        told = facts(first.text)
        worth = first.worth + _FACT * min(_FACTS_COUNTED, sum(told.values()))
        if worth > most:
            best, most = (first,), worth
        room = limit - len(first.text) - len(gap)
        if first.clipped or len(first.text) > SHORT * limit or room < _LEAST_SECOND or not _STOP.search(first.text):
            continue
        known = frozenset(concepts(first.text))
        for other in choices[:_TRIED]:
            if other.at == first.at or other.clipped or len(other.text) > room or not _is_statement(other.text):
                continue
            gain = _gain(section, first, other, known, told)
            if gain is not None and worth + gain > most:
                best, most = (first, other), worth + gain
    return gap.join(choice.text for choice in sorted(best, key=lambda choice: choice.at))


def _is_statement(text: str) -> bool:
    """``text`` begins and ends as a sentence that states something."""
    begun = not text[:1].islower() or LOWER_NAME.match(text) is not None
    return begun and _STATEMENT.search(text) is not None


def _gain(
    section: Section, first: _Choice, other: _Choice, known: frozenset[str], told: Mapping[str, float]
) -> float | None:
    """What ``other`` adds to ``first``; None where it is not understood there or adds too little."""
    distance = other.at - first.at
    if distance != 1 and other.worth < first.worth - (_BEFORE if distance < 0 else _APART):
        return None
    refers = distance == 1 and first.text == section.sentences[first.at]
    if not refers and not section.stands_alone(other.at, other.text):
        return None
    said = frozenset(concepts(other.text))
    new, added = said - known, {fact: weight for fact, weight in facts(other.text).items() if fact not in told}
    if len(new) < max(2, _NEW * len(said)) or (not added and section.wide == 1):
        return None
    extra = 1.6 * section.weight(new) + _FACT * min(_FACTS_COUNTED, sum(added.values())) + 0.12 * (other.worth - 2)
    return extra - _SECOND
