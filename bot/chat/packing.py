"""Sections share a room fairly: one line each, what a short one leaves goes to the longer ones.

Pure text: a room is a number of characters, a line is Markdown that is safe to send.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.briefs.condense import condense
from bot.briefs.model import Brief, Section
from bot.briefs.text import escape, plain
from bot.chat import wording
from bot.chat.limits import characters

SENTENCE = 240  # characters of a condensed sentence where there is room
SENTENCE_LEAST = 90  # under this a sentence says nothing: then fewer sections get one
SENTENCE_SHARED = 150  # what each of those few gets at least
ALSO = 700  # characters for the headings of the others
ALSO_HEADING = 60
BULLET = "- "
GAP = len(BULLET) + 1


@dataclass(frozen=True, slots=True)
class Packed:
    """The lines of the sections that are shown, and one that names the others (``""`` where all are shown)."""

    lines: tuple[str, ...]
    also: str = ""

    def text(self) -> str:
        """The lines as a list, which every client sets apart and indents; one line alone as the paragraph it is."""
        return "\n".join(f"{BULLET}{line}" for line in self.lines) if len(self.lines) > 1 else "".join(self.lines)


def pack(brief: Brief, room: int) -> Packed:
    """A brief's sections in at most ``room`` characters, list marks and line breaks included.

    All of them as long as each keeps ``SENTENCE_LEAST`` characters for its sentence; else the leading ones, and the
    headings of the rest as far as they go.
    """
    lines: list[_Line] = []
    needed = 0
    for at, section in enumerate(brief.sections):
        line = _Line(section, brief.title, at)
        if not line.longest:
            continue
        lines.append(line)
        needed += min(characters(line.longest), line.least) + GAP
        if needed > room:  # no more of a huge brief is even looked at
            return _lead(brief, lines, room)
    return Packed(_share(lines, room))


def _lead(brief: Brief, lines: Sequence[_Line], room: int) -> Packed:
    reserved = min(ALSO, room // 4)
    left, kept = room - reserved, 0
    for line in lines:
        left -= min(characters(line.longest), line.comfortable) + GAP
        if left < 0:
            break
        kept += 1
    rest = brief.sections[lines[kept].at if kept < len(lines) else lines[-1].at + 1 if lines else 0 :]
    also = _also(rest, reserved)
    return Packed(_share(lines[:kept], room - characters(also) - GAP), also)


def _also(sections: Sequence[Section], room: int) -> str:
    """``Also in this brief: A · B … and 12 more`` in at most ``room`` characters."""
    if not sections:
        return ""
    start, shown, named = "-# **Also in this brief:** ", "", 0
    for section in sections:
        name = wording.heading(section.heading, ALSO_HEADING)
        more = f" … and {len(sections):,} more"
        if not name or characters(start + shown + " · " + name + more) > room:
            break
        shown += (" · " if shown else "") + name
        named += 1
    rest = len(sections) - named
    if not named:
        only = f"-# … and {rest:,} more section{'' if rest == 1 else 's'}"
        return only if len(only) <= room else ""
    return start + shown + (f" … and {rest:,} more" if rest else "")


def _share(lines: Sequence[_Line], room: int) -> tuple[str, ...]:
    """The lines within the room: the shortest first, so that what it leaves is there for the others."""
    done: dict[int, str] = {}
    order = sorted(range(len(lines)), key=lambda at: characters(lines[at].longest))
    left = room - GAP * len(lines)
    for already, at in enumerate(order):
        done[at] = lines[at].within(max(0, left) // (len(lines) - already))
        left -= characters(done[at])
    return tuple(done[at] for at in range(len(lines)) if done[at])


class _Line:
    """A section's line, which can be had in any length."""

    def __init__(self, section: Section, title: str, at: int) -> None:
        self.section, self.title, self.at = section, title, at
        self.heading = wording.heading(section.heading)
        self.longest = self._written(section.summary if section.summary is not None else self._condensed(SENTENCE))

    @property
    def least(self) -> int:
        return len(self.heading) + 5 + SENTENCE_LEAST

    @property
    def comfortable(self) -> int:
        return len(self.heading) + 5 + SENTENCE_SHARED

    def _condensed(self, limit: int) -> str:
        if not self.section.body.strip():
            return ""
        return condense(self.section.body, heading=self.section.heading, title=self.title, limit=limit)

    def _written(self, summary: str) -> str:
        text = wording.sentence(summary)
        if self.heading and text:
            return f"**{self.heading}** {text}"
        return f"**{self.heading}**" if self.heading else text

    def within(self, room: int) -> str:
        """The line in at most ``room`` characters: condensed anew, cut between words if that is still too long."""
        if characters(self.longest) <= room:
            return self.longest
        fixed = characters(f"**{self.heading}** ") if self.heading else 0
        limit = room - fixed
        for _ in range(4):
            if limit < SENTENCE_LEAST // 3:
                break
            line = self._written(self._condensed(limit))
            over = characters(line) - room
            if over <= 0:
                return line
            limit -= over
        return self._cut(room, fixed)

    def _cut(self, room: int, fixed: int) -> str:
        text = wording.one_line(plain(self.section.summary or self.section.body[: 4 * room + 100]))
        limit = room - fixed
        while limit > 0:
            line = self._written(escape(wording.fit(text, limit))) if text else self._written("")
            over = characters(line) - room
            if over <= 0:
                return line
            limit -= over
        limit = room
        while limit > 4:
            line = f"**{wording.heading(self.section.heading, limit - 4)}**" if self.heading else ""
            if characters(line) <= room:
                return line
            limit -= characters(line) - room
        return ""
