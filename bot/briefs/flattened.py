"""A brief document whose newlines were lost is given them back.

Where a newline was stands only a space. Title, fields, sections, the list of coverage and the notice bear marks of their
own and are found by them; where a title or heading ends and its text begins is told by ``boundary``. Line breaks inside
a section are gone for good, but for lists and fenced code whose marks say where they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from bot.briefs import boundary, fields, links

_KNOWN = r"(?:source|published|topic|original(?: article)?|permalink|on \w[\w.-]{0,30})"
_BOLD = r"(?:\*\*[^*]{1,60}|__[^_]{1,60})"
_FIELD = re.compile(
    rf"(?:(?<=\s)|^)[-*+][ \t]+(?={_BOLD}[:：](?:\*\*|__)|{_BOLD}(?:\*\*|__)[ \t]?[:：]|{_KNOWN}:)", re.IGNORECASE
)
_LINE_FIELD = re.compile(r" {0,3}[-*+][ \t]+(?:\*\*|__)?(source|published|topic|original|permalink|on )", re.IGNORECASE)
_TITLE = re.compile(r"(?<!\S)#(?=\s)")
_MARK = re.compile(r"(?<!\S)(?:(?P<fence>`{3,8}|~{3,8})[^\s`]*|##)(?!\S)")
_RULE = re.compile(r"(?<!\S)(?:-{3,}|\*{3,}|_{3,})(?!\S)")
_COVERAGE = re.compile(r"sources covering (?:this|the) story(?!\S) ?", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.+Z-]+)?")


def is_flattened(text: str) -> bool:
    """Whether the marks that belong at the start of a line stand inside lines. A document of ``write`` never is."""
    known: set[str] = set()
    headings = inside_fields = inside_headings = 0
    for line in text.split("\n"):
        if field := _LINE_FIELD.match(line):
            known.add(field[1].casefold())
        if line.startswith("## "):
            headings += 1
        inside_fields += sum(1 for found in _FIELD.finditer(line) if found.start() > 3)
        inside_headings += sum(1 for found in _MARK.finditer(line) if found.start() > 3 and not found["fence"])
    return len(known) <= 2 and (inside_fields > len(known) or inside_headings > headings)


def restore(text: str) -> str:
    """The document with a line for each part again. Text without a title is left as it is."""
    text = re.sub(r"[ \t\n]+", " ", text).strip(" ")
    begin = _TITLE.search(text)
    if begin is None:
        return text
    head, *chunks = _sections(text[begin.end() :].strip(" "))
    found = [mark.start() for mark in _FIELD.finditer(head)]
    opening = head[: found[0]] if found else head
    lines = [head[a:b].strip(" ") for a, b in pairwise([*found, len(head)])]
    lead = ""
    if lines:
        lines[-1], lead = _field_and_rest(lines[-1])
    notice = coverage = ""
    if chunks:
        listed = _COVERAGE.match(chunks[-1])
        chunks[-1], notice = _notice(chunks[-1], any_text=listed is not None)
        if listed:
            coverage = chunks.pop()[listed.end() :]
    first, *others = boundary.split(opening.strip(" "), chunks)
    blocks = [f"# {first[0]}", first[1], "\n".join(lines), lead]
    for heading, body in others:
        blocks += [f"## {heading}", _lines_of(body)]
    if coverage:
        blocks += ["## Sources covering this story", _items(coverage)]
    if notice:
        blocks += ["---", notice]
    return "\n\n".join(filter(None, [text[: begin.start()], *blocks])) + "\n"


def _sections(text: str) -> Iterator[str]:
    """The text before the first ``##``, then each section's; ``##`` inside fenced code splits nothing."""
    start, closes = 0, 0
    for mark in _MARK.finditer(text):
        if mark.start() < closes:
            continue
        if fence := mark["fence"]:
            closes = text.find(f" {fence}", mark.end()) + len(fence) + 1
            continue
        yield text[start : mark.start()].strip(" ")
        start = mark.end()
    yield text[start:].strip(" ")


def _field_and_rest(text: str) -> tuple[str, str]:
    """The last field, and the text under no heading that ran into it: what follows a link, address or date."""
    named = fields.split(text)
    if named is None:
        return text, ""
    label, value = named
    if date := _DATE.match(value):
        after = value[date.end() :]
    elif link := links.leading(value):
        after = link.after
    else:
        after = "" if fields.kind(label) not in ("original", "permalink") else value
    if not after.strip(fields.DASHES) or after == text:
        return text, ""
    return text[: len(text) - len(after)], after.strip(" ")


def _notice(text: str, any_text: bool) -> tuple[str, str]:
    *_, last = [None, *_RULE.finditer(text)]
    after = text[last.end() :].strip(" ") if last else ""
    if last and after and (any_text or (after[0] in "*_" and after[-1] == after[0])):
        return text[: last.start()].rstrip(" "), after
    return text, ""


def _items(text: str) -> str:
    """One line an item: at each bullet before a link, or at every bullet where no item has a link."""
    text = re.sub(r"(?<!\S)[-*+] (?=https?://|\[|<|—)", "\n- ", text)
    return text if "\n" in text[1:] or "//" in text else re.sub(r"(?<!\S)[-*+] (?=\S)", "\n- ", text)


def _lines_of(body: str) -> str:
    """A section's text with the breaks that its lists and fenced code had."""
    if re.match(r"[-*+] \S", body):
        return re.sub(rf" (?=[{re.escape(body[0])}] \S)", "\n", body)
    if "```" not in body and "~~~" not in body:
        return body
    words = body.split(" ")
    last = {fence: len(words) - 1 - words[::-1].index(fence) for fence in ("```", "~~~") if fence in words}
    lines: list[list[str]] = [[]]
    opened = ""
    for number, word in enumerate(words):
        if opened:
            lines += [[word], [], []] if word == opened else []
            if word == opened:
                opened = ""
            else:
                lines[-1].append(word)
        elif (fence := word[:3]) in last and number < last[fence]:
            opened = fence
            lines += [[], [word], []]
        else:
            lines[-1].append(word)
    return "\n".join(" ".join(one) for one in lines).strip("\n")
