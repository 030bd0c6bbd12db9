"""Markdown is runs of lines and fenced code in between; what Discord has no block for becomes one that it has."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.briefs import inline
from bot.briefs.tables import aligned

_FENCE = re.compile(
    r"(?P<quote>(?:[ \t]{0,3}+>[ \t]?+)*+)(?P<indent>[ \t]*+)(?P<fence>`{3,}|~{3,})[ \t]*+(?P<info>[^`\n]*)"
)
_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_RULE = re.compile(r"[ ]{0,3}(?:(?:-[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:=+|-{2,})[ \t]*")
_DELIMITER = re.compile(r"[ \t]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*")
_CELL_END = re.compile(r"(?<!\\)\|")
_DEFINITION = re.compile(
    r"[ ]{0,3}\[([^\[\]\n^]{1,200})\]:[ \t]*<?(\S{1,2000}?)>?(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*"
)
_TASK = re.compile(r"^([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[([ xX])\][ \t]+(?=\S)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_BLOCK_START = re.compile(r"[ \t]*(?:[>#|]|[-*+][ \t]|\d{1,9}[.)][ \t])")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines outside fenced code."""

    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A fenced code block; ``language`` may be empty, ``quoted`` says that it stood in a quote."""

    text: str
    language: str = ""
    quoted: bool = False


def scan(markdown: str) -> list[Lines | Code]:
    """The blocks of ``markdown`` in order. A fence that is never closed ends with the text."""
    blocks: list[Lines | Code] = []
    lines: list[str] = []

    def flush() -> None:
        if lines:
            blocks.append(Lines("\n".join(lines)))
            lines.clear()

    source = markdown.split("\n")
    at = 0
    while at < len(source):
        found = _FENCE.fullmatch(source[at])
        if found is None:
            lines.append(source[at])
            at += 1
            continue
        flush()
        fence, depth, indent = found["fence"], found["quote"].count(">"), len(found["indent"])
        code: list[str] = []
        at += 1
        while at < len(source):
            line, quotes = source[at], 0
            while quotes < depth and (quote := _QUOTE.match(line)):
                line, quotes = line[quote.end() :], quotes + 1
            if quotes < depth:
                break  # the quote ended, and its code with it
            at += 1
            mark = line.strip()
            if len(mark) >= len(fence) and set(mark) == {fence[0]}:
                break
            lead = len(line) - len(line.lstrip(" \t"))
            code.append(line[min(indent, lead) :])
        language = _LANGUAGE.match(found["info"].strip())
        blocks.append(Code("\n".join(code), language.group() if language else "", depth > 0))
    flush()
    return blocks


def references(markdown: str) -> dict[str, str]:
    """The link targets that ``[name]: url`` lines define, by lower-case name; the first of a name counts."""
    found: dict[str, str] = {}
    if "]:" in markdown:
        for line in markdown.split("\n"):
            definition = _DEFINITION.fullmatch(line)
            if definition and (definition[2][0] in "/#." or ":" in definition[2]):
                found.setdefault(" ".join(definition[1].split()).lower(), definition[2])
    return found


def discord_blocks(text: str) -> list[Lines | Code]:
    """``text`` (outside fences) with setext headings, rules, tables, task lists and definitions as Discord has them."""
    blocks: list[Lines | Code] = []
    out: list[str] = []
    source = text.split("\n")
    at = 0
    while at < len(source):
        line = source[at]
        following = source[at + 1] if at + 1 < len(source) else ""
        at += 1
        if "|" in line and "-" in following and _DELIMITER.fullmatch(following) and "|" in following:
            rows = [_cells(line)]
            at += 1
            while at < len(source) and "|" in source[at]:
                rows.append(_cells(source[at]))
                at += 1
            _flush(out, blocks)
            blocks.append(table(rows))
        elif _DEFINITION.fullmatch(line) and references(line):
            continue
        elif _UNDERLINE.fullmatch(line) and _is_paragraph(out):
            out[-1] = ("# " if "=" in line else "## ") + out[-1].strip()
        elif _RULE.fullmatch(line):
            out.append("")
        else:
            task = _TASK.match(line)
            if task:
                line = task[1] + ("☐ " if task[2] == " " else "☑ ") + line[task.end() :]
            out.append(line)
    _flush(out, blocks)
    return blocks


def table(rows: list[list[str]], *, heads: bool = True) -> Lines | Code:
    """Rows of Markdown cells as aligned code, or, too wide for that, as a line a row: **first**: second · third."""
    plain = [[" ".join(inline.words(inline.parse(cell)).split()) for cell in row] for row in rows]
    text = aligned(plain)
    if text is not None:
        return Code(text.replace("```", "ˋˋˋ"))
    body = rows[1:] if heads and len(rows) > 1 else rows
    lines = []
    for row in body:
        cells = [cell.strip() for cell in row if cell.strip()]
        if cells:
            lines.append("- " + " · ".join(cells))
    return Lines("\n".join(lines))


def _cells(line: str) -> list[str]:
    line = line.strip()
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line)]


def _flush(out: list[str], blocks: list[Lines | Code]) -> None:
    if out:
        blocks.append(Lines("\n".join(out)))
        out.clear()


def _is_paragraph(out: list[str]) -> bool:
    """The last line is a paragraph of one line, which an underline makes a heading."""
    if not out or not out[-1].strip() or _BLOCK_START.match(out[-1]):
        return False
    return len(out) == 1 or not out[-2].strip()
