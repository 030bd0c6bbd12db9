"""What a Markdown body says, as lines of reading: what a reader would read aloud, with inline code in its backticks.

Links are read as their labels, emphasis marks are dropped, images are not read; everything else stands as in the
source, so that a part of a reading is Markdown again (:func:`written`). A paragraph, a list item, a heading or a row of
a table is one reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from bot.briefs import blocks, inline
from bot.briefs.inline import Kind, Token
from bot.briefs.invisible import clean


class Part(IntEnum):
    """What a reading was in the body; the smaller, the likelier it carries the section."""

    PARAGRAPH = 0
    ITEM = 1
    QUOTE = 2
    ROW = 3
    HEADING = 4
    CODE = 5
    IMAGE = 6


PROSE = frozenset({Part.PARAGRAPH, Part.ITEM, Part.QUOTE})


@dataclass(frozen=True, slots=True)
class Reading:
    """One line of text; ``part`` says where it stood."""

    text: str
    part: Part


# Where none of these is, Markdown reads as it is written.
_MARKUP = re.compile(r"[\\*~|<&`\[\]]|(?<![^\W_])_|_(?![^\W_])|://")
_LINE_START = re.compile(r"\s*(?:(?:[-+*]|#{1,6}|\d{1,9}[.)])(?=\s|\Z)|>)")
_CODE = re.compile(r"(?<![`\\])(`+)(?!`)[^`](?:.{0,400}?[^`])??\1(?!`)")
_ESCAPED = re.compile(
    r"[\\\[\]`]|\*(?!\s)|(?<!\s)\*|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~|\|(?=\|)|(?<=\|)\||<(?=[a-z/!])|&(?=#?\w+;)",
    re.IGNORECASE,
)
_PUNCTUATION = re.compile(r"[\\*_~|\[\]<&`]")
_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪·–]|\(?\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?P<text>.*?)[ \t]*#*[ \t]*")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-{2,})[ \t]*")
_RULE = re.compile(r"[ ]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*+\|?[ \t]*")
_DEFINITION = re.compile(r"[ ]{0,3}\[[^\[\]\n]{1,200}\]:[ \t]*\S+.*")
_FOOTNOTE = re.compile(r"\[\^[\w-]{1,30}\]")
_POWER = re.compile(r"(?<=[\w)])<sup>(?=[-+\d])", re.IGNORECASE)
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uff00-\uff60\u3000-\u303f]")
_HARD_BREAK = re.compile(r" {2,}$|(?<!\\)(?:\\\\)*\\$")
_ENDED = re.compile(r"[.!?…:;,。！？、，][\"'”’»)\]*_`]*\s*$")
# A line this much shorter than the longest of its paragraph, that ends without a mark, was not wrapped but ended.
_ENDED_SHORT = 0.5


def readings(markdown: str) -> Iterator[Reading]:
    """The readings of ``markdown`` in order, none of them blank."""
    text = clean(markdown).replace("\t", " ")
    known = blocks.references(text)
    for block in blocks.scan(text):
        if isinstance(block, blocks.Code):
            yield from (Reading(_code(line), Part.CODE) for line in block.text.split("\n") if line.strip())
        else:
            for source, part in _parts(block.text):
                yield from (Reading(line, part) for line in _read(source, known))
                if "![" in source or "<img" in source:
                    yield from (Reading(alt, Part.IMAGE) for alt in _images(inline.parse(source, known)))


def written(reading: str) -> str:
    """A part of a reading as Markdown that reads as it: as it stands, escaped where it would be read as something else."""
    if not _MARKUP.search(reading) and not _LINE_START.match(reading):
        return reading
    parts: list[str] = []
    position = 0
    for code in _CODE.finditer(reading):
        parts += _ESCAPED.sub(r"\\\g<0>", reading[position : code.start()]), code.group()
        position = code.end()
    parts.append(_ESCAPED.sub(r"\\\g<0>", reading[position:]))
    everything = _PUNCTUATION.sub(r"\\\g<0>", reading)
    for source in map(_unlike_a_block, (reading, "".join(parts), everything)):
        if [line.text for line in readings(source)] == [reading]:
            return source
    return _unlike_a_block(everything)


def _unlike_a_block(source: str) -> str:
    """``source`` with the mark at its start escaped, if there is one of a list, a heading or a quote."""
    start = _LINE_START.match(source)
    return f"{source[: start.end() - 1]}\\{source[start.end() - 1 :]}" if start else source


def _parts(text: str) -> Iterator[tuple[str, Part]]:
    """The Markdown of each paragraph, item, heading and row; line breaks in it are soft."""
    lines: list[str] = []
    part = Part.PARAGRAPH
    table = False
    source = text.split("\n")
    for at, whole in enumerate(source):
        line = whole
        while quote := _QUOTE.match(line):
            line = line[quote.end() :]
        quoted = line is not whole
        following = source[at + 1] if at + 1 < len(source) else ""
        if "|" in line and (table or ("-" in following and "|" in following and _DELIMITER.fullmatch(following))):
            yield from _paragraph(lines, part)
            if not _DELIMITER.fullmatch(line):
                yield line.strip().strip("|").strip(), Part.ROW if table else Part.HEADING
            table = True
            continue
        table = False
        if lines and part is not Part.ITEM and _UNDERLINE.fullmatch(line):
            yield " ".join(lines), Part.HEADING
            lines.clear()
            continue
        item, heading = _ITEM.match(line), _HEADING.fullmatch(line)
        broken = not line.strip() or item or heading or _RULE.fullmatch(line) or _DEFINITION.fullmatch(line)
        if broken or quoted != (part is Part.QUOTE):
            yield from _paragraph(lines, part)
        if heading:
            yield heading["text"], Part.HEADING
        elif item:
            part = Part.QUOTE if quoted else Part.ITEM
            lines.append(line[item.end() :])
        elif not broken:
            if not lines:
                part = Part.QUOTE if quoted else Part.PARAGRAPH
            lines.append(line)
    yield from _paragraph(lines, part)


def _paragraph(lines: list[str], part: Part) -> Iterator[tuple[str, Part]]:
    """The lines joined where they were wrapped, apart where each ended by itself; ``lines`` is empty afterwards."""
    longest = max(map(len, lines), default=0)
    start = 0
    for at, line in enumerate(lines):
        last = at + 1 == len(lines)
        following = "" if last else lines[at + 1].lstrip()
        short = len(line) < _ENDED_SHORT * longest or longest < 50
        wrapped = _ENDED.search(line) or following[:1].islower() or _WIDE.match(following)
        hard = _HARD_BREAK.search(line) is not None
        if last or hard or (short and not wrapped):
            kept = [*lines[start:at], line.removesuffix("\\") if hard and not last else line]
            yield "\n".join(map(str.strip, kept)), part
            start = at + 1
    lines.clear()


def _read(source: str, known: Mapping[str, str]) -> list[str]:
    """The readings of one piece of Markdown: several where HTML breaks it."""
    if not _MARKUP.search(source) and not _LINE_START.match(source):
        return [line] if (line := _one_line(source)) else []
    spoken = _spoken(inline.parse(_POWER.sub("^", _FOOTNOTE.sub("", source)), known))
    return [line for piece in spoken.split("\x00") if (line := _one_line(piece))]


def _spoken(tokens: Sequence[Token]) -> str:
    """The words of ``tokens``; NUL where HTML ends a line."""
    out: list[str] = []
    for token in tokens:
        if token.kind is Kind.CODE:
            out.append(token.raw or f"`{token.text}`")
        elif token.kind is Kind.BREAK:
            out.append("\n" if token.raw else "\x00")
        elif token.kind in (Kind.TEXT, Kind.URL):
            out.append(token.text)
        elif token.kind is Kind.LINK:
            out.append(_spoken(token.inner))
    return "".join(out)


def _one_line(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.split("\n")]
    joined = ""
    for line in filter(None, lines):
        apart = joined and not (_WIDE.match(line) and _WIDE.match(joined[-1]))
        joined += (" " if apart else "") + line
    return joined


def _code(line: str) -> str:
    """A line of a code block as inline code."""
    code = _one_line(line)
    return code if "`" in code else f"`{code}`"


def _images(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.kind is Kind.IMAGE and (alt := _one_line(inline.words(token.inner))):
            yield alt
        yield from _images(token.inner)
