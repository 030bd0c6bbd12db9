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
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from bot.briefs import fields, flattened, links
from bot.briefs.fields import DASHES, Reading, clean, line
from bot.briefs.model import Brief, Coverage, Section
from bot.errors import DocumentError

COVERAGE = "Sources covering this story"

_RULES = r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$"
_RULE = re.compile(" {0,3}" + _RULES)
_ATX = re.compile(r" {0,3}(##?)(?:[ \t]+(.*))?$")
_CLOSING = re.compile(r"(?:^| )#+$")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|[0-9]{1,4}[.)])(?:[ \t]+(.*))?$")
_COVERAGE = re.compile(r"sources(?: covering (?:this|the) story)?|coverage|covered by", re.IGNORECASE)
_FRONT = re.compile(r"([\w -]{1,40}):(?:[ \t]+(.*))?$")
# A line that could be taken for the document's own mark, and the backslashes that keep it from that.
_MARKED = re.compile(rf"([ \t]*)(\\*)(?=##(?:[ \t]|$)|`{{3}}|~{{3}}|{_RULES}|\[[^\[\]^\\][^\[\]]{{0,200}}\]:)")
# A first line that is no paragraph, or that may be a field, and its backslashes.
_BLOCK = re.compile(
    rf"( {{0,3}})(\\*)(?=#{{1,6}}(?:[ \t]|$)|[-*+](?:[ \t]|$)|[0-9]{{1,9}}[.)](?:[ \t]|$)|`{{3}}|~{{3}}|\||{_RULES}"
    r"|\*\*|__|\[[^\[\]^\\][^\[\]]{0,200}\]:)"
)


def parse(text: str) -> Brief:
    """The brief that a document holds; ``warnings`` says what was puzzling in it. Time grows with the text's length.

    Raises ``DocumentError`` (part, 1-based line, reason) for a text that is not a brief: empty, binary, HTML or JSON,
    without a title, or without a section.
    """
    _refuse_other_formats(text)
    text, reading = clean(text), Reading()
    if flattened.is_flattened(text):
        reading.warnings.append("the document lost its line breaks; where a heading ends was told by its wording")
        text = flattened.restore(text)
    lines = text.split("\n")
    front = _front_matter(lines, reading)
    code = _code(lines)
    _inline_references(lines, code)
    title, begin = _title(lines, code, front, reading)
    starts = [i for i in range(begin, len(lines)) if not code[i] and (mark := _ATX.match(lines[i])) and mark[1] == "##"]
    end = starts[0] if starts else len(lines)
    head = lines[begin:end]
    if not starts:
        head, reading.notice = _notice(head, code[begin:])
    dek, lead = _preamble(head, code[begin : begin + len(head)], reading)
    sections = [Section(None, lead)] if lead else []
    for start, end in pairwise([*starts, len(lines)]):
        heading, closed = _heading(lines[start])
        body, fenced = lines[start + 1 : end], code[start + 1 : end]
        last = end == len(lines)
        if not closed and _COVERAGE.fullmatch(heading) and _take_coverage(body, fenced, last, reading):
            continue
        if last:
            body, reading.notice = _notice(body, fenced)
        sections.append(Section(heading or None, _text(body, fenced[: len(body)])))
    if not sections:
        raise DocumentError("sections", len(lines), "there is no section ('## Heading' and its text)")
    return Brief(
        title=title,
        dek=dek or line(front.get("description", "")),
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
    blocks = [_atx("#", brief.title), _guarded(brief.dek, _is_block)]
    blocks.append("\n".join(f"- **{label}:** {value}".rstrip(" ") for label, value in fields.written(brief)))
    for number, section in enumerate(brief.sections):
        ends = number == len(brief.sections) - 1 and not brief.coverage and brief.notice is None
        body = _escaped(section.body, ends)
        if section.heading is None and number == 0 and body:
            blocks.append(_guarded(body, lambda text: fields.split(text) is not None))
        else:
            heading = section.heading or ""
            blocks += [_atx("##", heading) + (" #" if _COVERAGE.fullmatch(heading) else ""), body]
    if brief.coverage:
        blocks += [f"## {COVERAGE}", "\n".join(map(_written_item, brief.coverage))]
    if brief.notice is not None:
        around = "*" if brief.notice.startswith("_") else "_"
        blocks += ["---", f"{around}{brief.notice}{around}"]
    return "\n\n".join(filter(None, blocks)) + "\n"


def normalise(brief: Brief) -> Brief:
    """The brief as ``parse(write(brief))`` gives it back.

    All text is NFC, without control characters or lone surrogates. Title, dek, headings, names, coverage titles, extra
    fields and notice are one line with single spaces; a body has ``\\n`` line ends and no blank lines around it.
    Addresses are http(s), white space in them percent-encoded; others are dropped. A source without a name bears its
    host's; a topic's slug is the one in its address (``/c/<slug>``) if it has one; a naive time is UTC. What is empty is
    None, coverage without address and title is dropped, and so are summaries and warnings.
    """
    published = brief.published
    if isinstance(published, datetime) and published.tzinfo is None:
        published = published.replace(tzinfo=UTC)
    coverage = (_normal_item(item.url, item.title or "") for item in brief.coverage)
    return Brief(
        title=line(brief.title),
        dek=line(brief.dek),
        source=brief.source and fields.normal_source(brief.source),
        published=published,
        topic=brief.topic and fields.normal_topic(brief.topic),
        permalink=fields.address(brief.permalink),
        original=fields.address(brief.original),
        sections=tuple(Section(line(s.heading or "") or None, _stripped(clean(s.body))) for s in brief.sections),
        coverage=tuple(item for item in coverage if item),
        notice=line(brief.notice or "") or None,
        extra=tuple((fields.extra_label(label), line(value)) for label, value in brief.extra),
    )


def _refuse_other_formats(text: str) -> None:
    start = text[:4096].lstrip("\ufeff \t\r\n")
    if not text.strip("\ufeff \t\r\n"):
        raise DocumentError("document", 1, "it is empty")
    at = text.find("\0")
    if at >= 0:
        raise DocumentError("document", text.count("\n", 0, at) + 1, "it is binary data, not text")
    if sum(1 for c in start if c == "\ufffd" or (c < " " and c not in "\t\r\n")) > len(start) // 10:
        raise DocumentError("document", 1, "it is binary data or in another encoding than UTF-8")
    if re.match(r"<(?:!doctype|html|head|body|\?xml|rss|feed|svg|div|script|!--)", start, re.IGNORECASE):
        raise DocumentError("document", 1, "it is HTML or XML, not Markdown")
    if re.match(r"\{\s*[\"}]|\[\s*[\[{\"\]0-9]", start) and text.rstrip("\ufeff \t\r\n")[-1] in "}]":
        raise DocumentError("document", 1, "it is JSON, not Markdown")


def _front_matter(lines: list[str], reading: Reading) -> dict[str, str]:
    """Reads a ``---`` block of ``key: value`` at the very start; its lines are made blank."""
    if lines[0].rstrip(" \t") != "---":
        return {}
    end = next((i for i, text in enumerate(lines[1:200], 1) if text.rstrip(" \t") in ("---", "...")), 0)
    pairs = [(m[1].strip(" ").casefold(), m[2] or "") for text in lines[1:end] if (m := _FRONT.match(text))]
    if not pairs:
        return {}
    lines[: end + 1] = [""] * (end + 1)
    own = {}
    for key, value in pairs:
        value = value.strip(" \t")
        value = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
        if key in ("title", "description"):
            own[key] = value
        else:
            reading.add(key.capitalize(), value)
    return own


def _code(lines: Sequence[str]) -> list[bool]:
    """Which lines stand in a fenced block, fences included. A fence that nothing closes is none."""
    fences = [
        found if line.lstrip(" \t")[:3] in ("```", "~~~") and (found := _FENCE.match(line)) else None for line in lines
    ]
    closing = [{"`": 0, "~": 0}]  # from each line on, the longest fence that can close another
    for fence in reversed(fences):
        longest = closing[-1]
        if fence and not fence[2] and len(fence[1]) > longest[fence[1][0]]:
            longest = longest | {fence[1][0]: len(fence[1])}
        closing.append(longest)
    closing.reverse()
    code, opened = [], ""
    for number, fence in enumerate(fences):
        if opened:
            code.append(True)
            if fence and not fence[2] and fence[1].startswith(opened):
                opened = ""
        elif fence and closing[number + 1][fence[1][0]] >= len(fence[1]):
            opened = fence[1]
            code.append(True)
        else:
            code.append(False)
    return code


def _inline_references(lines: list[str], code: Sequence[bool]) -> None:
    """Makes reference links inline and their definitions blank lines."""
    defined = links.definitions(text for text, fenced in zip(lines, code, strict=True) if not fenced)
    if defined:
        for i, text in enumerate(lines):
            if not code[i]:
                lines[i] = "" if links.DEFINITION.match(text) else links.resolve(text, defined)


def _title(lines: Sequence[str], code: Sequence[bool], front: dict[str, str], reading: Reading) -> tuple[str, int]:
    """The title and the number of the line after it."""
    first = None
    for i, text in enumerate(lines):
        if code[i] or not text.strip(" \t"):
            continue
        mark = _ATX.match(text)
        under = i + 1 < len(lines) and re.fullmatch(r" {0,3}={1,}[ \t]*", lines[i + 1])
        if mark and mark[1] == "##":
            first = i if first is None else first
            break
        if mark or (under and first is None):
            title = _heading(text)[0] if mark else line(text)
            if not title:
                raise DocumentError("title", i + 1, "the title is empty")
            if first is not None:
                reading.warnings.append("text before the title was left out")
            return title, i + (1 if mark else 2)
        first = i if first is None else first
    if line(front.get("title", "")):
        return line(front["title"]), 0
    raise DocumentError("title", (first or 0) + 1, "there is no title ('# Title') before the first section")


def _heading(text: str) -> tuple[str, bool]:
    """The text of a heading line, and whether ``#`` signs closed it (which a literal coverage heading has)."""
    mark = _ATX.match(text)
    heading = line((mark and mark[2]) or "")
    closing = _CLOSING.search(heading)
    return (heading[: closing.start()], True) if closing else (heading, False)


def _atx(mark: str, text: str) -> str:
    return f"{mark} {text}".rstrip(" ") + (" #" if _CLOSING.search(text) else "")


def _preamble(lines: Sequence[str], code: Sequence[bool], reading: Reading) -> tuple[str, str]:
    """Dek and the text under no heading. Fields, wherever between the two, go into ``reading``."""
    paragraph: list[str] = []
    at = 0
    while at < len(lines) and not lines[at].strip(" \t"):
        at += 1
    while at < len(lines) and lines[at].strip(" \t") and not code[at] and not _is_block(lines[at]):
        paragraph.append(lines[at])
        at += 1
    dek = _unguarded(line(" ".join(paragraph)))
    start = next((i for i in range(at, len(lines)) if not code[i] and fields.split(lines[i])), len(lines))
    last: tuple[str, str] | None = None
    end = start
    for i in range(start, len(lines)):
        text = lines[i]
        found = None if code[i] else fields.split(text)
        if found or (last and text.startswith(("  ", "\t")) and lines[i - 1].strip(" \t")):
            if found and last:
                reading.add(*last)
            last = found or (last and (last[0], f"{last[1]} {text}"))
        elif text.strip(" \t"):
            break
        end = i + 1
    if last:
        reading.add(*last)
    before = [i for i in range(at, start) if code[i] or not _RULE.match(lines[i])]
    after = list(lines[end:])
    if after:
        after[0] = _unguarded(after[0])
    parts = _text([lines[i] for i in before], [code[i] for i in before]), _text(after, code[end:])
    return dek, "\n\n".join(filter(None, parts))


def _is_block(text: str) -> bool:
    """Whether a line starts something else than a paragraph: a list, a fence, a heading, a field."""
    found = _BLOCK.match(text)
    if not found or found[2]:
        return False
    bold = text.lstrip(" ").startswith(("**", "__")) and not _RULE.match(text)
    return not bold or fields.split(text) is not None


def _guarded(text: str, is_other: Callable[[str], bool]) -> str:
    """The text with a backslash before its first line if that would be read as something else."""
    first = text.partition("\n")[0]
    found = _BLOCK.match(first)
    return f"{found[1]}\\{text[found.end(1) :]}" if found and (found[2] or is_other(first)) else text


def _unguarded(text: str) -> str:
    found = _BLOCK.match(text.partition("\n")[0])
    return found[1] + text[found.end(1) + 1 :] if found and found[2] else text


def _stripped(text: str) -> str:
    """The text without blank lines before it and white space after it."""
    return re.sub(r"\A(?:[ \t]*\n)+", "", text.rstrip(" \t\n"))


def _text(lines: Sequence[str], code: Sequence[bool]) -> str:
    """The text that a document's lines hold, the backslashes of ``_escaped`` taken off."""
    return _stripped(
        "\n".join(
            found[1] + text[found.end(1) + 1 :] if not fenced and (found := _MARKED.match(text)) and found[2] else text
            for text, fenced in zip(lines, code, strict=True)
        )
    )


def _escaped(text: str, ends_document: bool) -> str:
    """A body with backslashes before the lines that ``parse`` would take for the document's own marks."""
    lines = text.split("\n")
    code = _code(lines)
    rules = ends_document and _notice(lines, code)[1] is not None
    for i, one in enumerate(lines):
        found = None if code[i] else _MARKED.match(one)
        if found and (
            found[2]
            or ((mark := _ATX.match(one)) and mark[1] == "##")
            or _FENCE.match(one)
            or links.DEFINITION.match(one)
            or (rules and _RULE.match(one))
        ):
            lines[i] = f"{found[1]}\\{one[found.end(1) :]}"
    return "\n".join(lines)


def _notice(lines: list[str], code: Sequence[bool], any_text: bool = False) -> tuple[list[str], str | None]:
    """The lines before the closing notice, and the notice: after the last rule, one paragraph in italics (or any text)."""
    at = next((i for i in range(len(lines) - 1, -1, -1) if not code[i] and _RULE.match(lines[i])), None)
    after = [] if at is None else _stripped("\n".join(lines[at + 1 :])).split("\n")
    text = line(" ".join(after))
    if not text or any(code[len(lines) - len(after) :]):
        return lines, None
    around = text[0]
    if around in "*_" and text[-1] == around and (any_text or all(one.strip(" \t") for one in after)):
        runs = len(text) - len(text.lstrip(around)), len(text) - len(text.rstrip(around))
        inner = line(text[min(runs) : -min(runs)])
        return (lines[:at], inner) if inner else (lines, None)
    return (lines[:at], text) if any_text else (lines, None)


def _take_coverage(lines: list[str], code: Sequence[bool], last: bool, reading: Reading) -> bool:
    """Reads the list of sources covering the story; False, and nothing taken, if it is not a list."""
    notice = None
    if last:
        lines, notice = _notice(lines, code, any_text=True)
    found: list[str] = []
    for text in lines:
        item = _ITEM.match(text)
        if not text.strip(DASHES) or _RULE.match(text):
            continue
        if item or links.find(text):
            found.append(item[1] or "" if item else text)
        elif found and text.startswith(("  ", "\t")):
            found[-1] += " " + text
        else:
            reading.warnings.append(f"the section '{COVERAGE}' is not a list and is kept as a text")
            return False
    reading.coverage += [one for text in found if (one := _item(text))]
    reading.notice = notice
    return True


def _item(text: str) -> Coverage | None:
    text = line(text)
    link = None if text[:1] in ("—", "–") else links.leading(text) or links.find(text)
    if link is None or fields.address(link.target) is None:
        return _normal_item(None, link.label or text if link else text)
    around = link.after if not link.before.strip(" ") else link.before.strip(" (:")
    named = link.label if link.label and link.label != link.target else around
    return _normal_item(link.target, named)


def _normal_item(url: str | None, title: str) -> Coverage | None:
    item = Coverage(fields.address(url), line(title).strip(DASHES) or None)
    return item if item.url or item.title else None


def _written_item(item: Coverage) -> str:
    if item.url:
        return f"- {links.alone(item.url)}" + (f" — {item.title}" if item.title else "")
    return f"- {item.title}" if _item(item.title or "") == item else f"- — {item.title}"
