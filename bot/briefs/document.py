"""A brief document is Markdown text that reads to a ``Brief``, and a ``Brief`` writes to such a document.

The form is a title (``# ``), a dek, a list of fields (``- **Source:** ...``), sections (``## ``), the list of sources
covering the story and, after a rule, a notice. Lines decide. Inside a section everything stays as it was written, fenced
code with ``## `` lines in it too. A document that lost its newlines is given them back first (``flattened``).

``parse(write(brief))`` is ``normalise(brief)``, which says what two documents that mean the same have in common, and
``parse`` gives nothing but normalised briefs. A line of a text that would read as a mark of the document's own (``## ``,
a fence that never closes, a link definition, the rule before a notice) is written with a backslash before it, and one
backslash is taken from such a line when it is read. Nothing else is escaped, so that a body stays what its author wrote.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from urllib.parse import quote, unquote

from bot.briefs import flattened, links
from bot.briefs.model import Brief, Coverage, Section, SourceLink, Topic
from bot.briefs.topics import slug
from bot.errors import DocumentError

COVERAGE = "Sources covering this story"

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile("[ \t\n]+")
_RULES = r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$"
_RULE = re.compile(r" {0,3}" + _RULES)
_ATX = re.compile(r" {0,3}(##?)(?:[ \t]+(.*))?$")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$")
_BULLET = re.compile(r" {0,3}[-*+][ \t]+(?=\S)")
_BOLD = re.compile(r"(\*\*|__)(.{1,200}?)\1[ \t]*([:：]?)[ \t]*(.*)$")
_PLAIN = re.compile(r"([^:：*_\[\]<>`]{1,40})[:：](?!//)[ \t]*(.*)$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|[0-9]{1,4}[.)])(?:[ \t]+(.*))?$")
_COVERAGE = re.compile(r"sources(?: covering (?:this|the) story)?|coverage|covered by", re.IGNORECASE)
_DASHES = " \t-–—―|"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?)"
    r" ?([Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?)?"
)
# A line that parse could take for the document's own mark, after the backslashes that keep it from that.
_MARKED = re.compile(rf"([ \t]*)(\\*)(?=##(?:[ \t]|$)|`{{3}}|~{{3}}|{_RULES}|\[[^\[\]^\\][^\[\]]{{0,200}}\]:)")
# A first line that is no paragraph: neither a dek nor, where it looks like a field, the start of a text.
_BLOCK = re.compile(rf" {{0,3}}(\\*)(?:#{{1,6}}(?:[ \t]|$)|[-*+](?:[ \t]|$)|[0-9]{{1,9}}[.)](?:[ \t]|$)|`{{3}}|~{{3}}|\||{_RULES}|\*\*|__)")
_KNOWN = {
    "source": "source",
    "published": "published",
    "date": "published",
    "topic": "topic",
    "original article": "original",
    "original": "original",
    "permalink": "permalink",
}


def parse(text: str) -> Brief:
    """The brief that a document holds; ``warnings`` says what was puzzling in it. Bounded by the text's length.

    Raises ``DocumentError`` (part, 1-based line, reason) for a text that is not a brief: empty, binary, HTML or JSON,
    without a title, or without a section.
    """
    _refuse_other_formats(text)
    text = _clean(text)
    reading = _Reading()
    if flattened.is_flattened(text):
        reading.warn("the document lost its line breaks; headings were found by their wording")
        text = flattened.restore(text)
    lines, offset = _front_matter(text.split("\n"), reading)
    code = _code(lines)
    _resolve_references(lines, code)
    title, at = _title(lines, code, offset, reading)
    starts = [i for i in range(at, len(lines)) if not code[i] and (mark := _ATX.match(lines[i])) and mark[1] == "##"]
    head_end = starts[0] if starts else len(lines)
    dek, lead = _preamble(lines[at:head_end], code[at:head_end], reading)
    sections = [Section(None, lead)] if lead else []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        mark = _ATX.match(lines[start])
        heading, closed = _heading((mark and mark[2]) or "")
        body = lines[start + 1 : end]
        last = end == len(lines)
        listed = not closed and _COVERAGE.fullmatch(heading) is not None
        if listed and (items := _coverage(body, code[start + 1 : end], last, reading)) is not None:
            reading.coverage += items
            continue
        if last:
            body, reading.notice = _notice(body, code[start + 1 : end], any_text=False)
        sections.append(Section(heading or None, _text(body, code[start + 1 : start + 1 + len(body)])))
    if not sections:
        raise DocumentError("sections", offset + len(lines), "there is no section ('## Heading' and a text)")
    return Brief(
        title=title,
        dek=dek or reading.dek,
        source=reading.source,
        published=reading.published,
        topic=reading.topic,
        permalink=reading.permalink,
        original=reading.original,
        sections=tuple(sections),
        coverage=tuple(reading.coverage),
        notice=reading.notice,
        extra=tuple(reading.extra),
        warnings=tuple(reading.warnings),
    )


def write(brief: Brief) -> str:
    """The document of a brief, in normal form; summaries and warnings are no part of it.

    Raises ``DocumentError`` for a brief without a title or a section: no document reads to one.
    """
    brief = normalise(brief)
    if not brief.title:
        raise DocumentError("title", 1, "the brief has no title")
    if not brief.sections:
        raise DocumentError("sections", 1, "the brief has no section")
    blocks = [_atx("#", brief.title)]
    if brief.dek:
        blocks.append(_guarded(brief.dek))
    blocks.append("\n".join(f"- **{label}:** {value}".rstrip(" ") for label, value in _fields(brief)))
    for number, section in enumerate(brief.sections):
        last = number == len(brief.sections) - 1 and not brief.coverage and brief.notice is None
        body = _marks_escaped(section.body, ends_document=last)
        if section.heading is None and number == 0 and body:
            blocks.append(_guarded(body))
            continue
        heading = _atx("##", section.heading or "")
        blocks.append(f"{heading} #" if _COVERAGE.fullmatch(section.heading or "") else heading)
        blocks.append(body)
    if brief.coverage:
        blocks += [f"## {COVERAGE}", "\n".join(map(_written_item, brief.coverage))]
    if brief.notice is not None:
        around = "*" if brief.notice.startswith("_") else "_"
        blocks += ["---", f"{around}{brief.notice}{around}"]
    return "\n\n".join(block for block in blocks if block) + "\n"


def normalise(brief: Brief) -> Brief:
    """The brief as ``parse(write(brief))`` gives it back.

    All text is NFC, without control characters or lone surrogates. Title, dek, headings, names, titles, extra fields and
    notice are one line with single spaces; a body has ``\\n`` line ends and neither blank lines nor spaces around it.
    Addresses are http(s), white space in them percent-encoded, others are dropped. A source without a name has its
    host's; a topic's slug is the one in its address (``/c/<slug>``); a naive time is UTC. Empty values are None.
    """
    topic = brief.topic and _normal_topic(brief.topic)
    published = brief.published
    if isinstance(published, datetime) and published.tzinfo is None:
        published = published.replace(tzinfo=UTC)
    return Brief(
        title=_line(brief.title),
        dek=_line(brief.dek),
        source=brief.source and _normal_source(brief.source),
        published=published,
        topic=topic,
        permalink=_address(brief.permalink),
        original=_address(brief.original),
        sections=tuple(Section(_line(s.heading or "") or None, _body(s.body)) for s in brief.sections),
        coverage=tuple(item for c in brief.coverage if (item := _normal_item(c)) is not None),
        notice=_line(brief.notice or "") or None,
        extra=tuple((_label(label), _line(value)) for label, value in brief.extra),
    )
