"""A page of a digest becomes one message: what it is, what is in it, and its briefs by topic with a button each.

The first page of several begins with the table of contents; the last one has the way to what did not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import discord

from bot.briefs.text import escape, plain
from bot.chat import colours, digest_items, limits, wording
from bot.chat.cards import Rendered
from bot.chat.ids import Address
from bot.chat.items import button
from bot.chat.reading import Row
from bot.delivery.digests import FullPage, Page, topic_name
from bot.store.briefs import StoredBrief

ENTRY = 420  # characters of one brief where there is room, its link not counted
ENTRY_LEAST = 70
TITLE = 160  # characters of a brief's title, at most
SENTENCE_LEAST = 40  # under this a sentence says nothing
TOPICS = 10  # lines of the table of contents
LEAD = 90  # characters of the title in such a line

# English whatever the host's locale is.
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def render(full: FullPage, mark: str) -> Rendered:
    """The message of a page, which breaks no limit whatever its briefs hold. ``mark`` is the delivery's nonce."""
    room = ENTRY
    while True:
        view = _page_view(full, mark, room)
        if room == ENTRY_LEAST or not limits.problems(view):
            return Rendered(view)
        room = smaller(room)


def _page_view(full: FullPage, mark: str, room: int) -> discord.ui.LayoutView:
    page = full.page
    parts: list[discord.ui.Item[Any]] = [discord.ui.TextDisplay(head(page))]
    if page.number == 0 and page.of > 1 and (toc := contents(full)):
        parts.append(discord.ui.TextDisplay(toc))
    parts += boxes(full.briefs, mark, room)
    buttons: list[discord.ui.Item[Any]] = []
    if page.number + 1 == page.of and page.more:
        label = f"And {page.more:,} more"
        buttons.append(digest_items.button(page.run_id, mark, "more", label, page.shown, primary=True))
    if page.number + 1 == page.of or not full.briefs:
        buttons.append(digest_items.button(page.run_id, mark, "about", "About this digest"))
    view = discord.ui.LayoutView(timeout=None)
    for part in [*parts, *([Row(*buttons)] if buttons else [])]:
        view.add_item(part)
    return view


def head(page: Page) -> str:
    """Name and date of a digest and what it holds; on later pages a line that says which page it is."""
    name = wording.escaped(wording.one_line(page.name), wording.NAME) or "Digest"
    if page.number:
        return f"-# **{name}** · page {page.number + 1} of {page.of}"
    day = weekday(page.day)
    if not page.shown:
        return f"-# **{name}** · {day} · nothing new"
    facts = [day, plural(page.shown + page.more, "brief")]
    if len(page.contents) > 1:
        facts[1] += f" in {plural(len(page.contents), 'topic')}" if not page.more else ""
    if page.more:
        facts.append(f"the {page.shown:,} that matter most are here")
    return f"## {name}\n-# {' · '.join(facts)}"


def weekday(day: date) -> str:
    """``Tuesday 1 December 2026``."""
    return f"{WEEKDAYS[day.weekday()]} {wording.day(day)}"


def plural(count: int, word: str) -> str:
    """``1 brief``, ``12 briefs``."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def contents(full: FullPage) -> str:
    """The table of contents: each topic, how many briefs it has, and the title of the first one."""
    named = {stored.id: stored for stored in full.named}
    lines = []
    for entry in full.page.contents[:TOPICS]:
        name = wording.escaped(wording.words(entry.topic), wording.NAME) or "Other"
        line = f"- **{name}** {entry.briefs:,}"
        if stored := named.get(entry.first):
            line += f" · {wording.escaped(wording.title(stored.brief), LEAD)}"
        lines.append(line)
    rest = full.page.contents[TOPICS:]
    if rest:
        lines.append(f"- {plural(len(rest), 'more topic')} with {plural(sum(e.briefs for e in rest), 'brief')}")
    return "\n".join(lines)


def boxes(briefs: Sequence[StoredBrief], mark: str, room: int) -> list[discord.ui.Item[Any]]:
    """Briefs in the order given, a container in the topic's colour around those of one topic."""
    runs: list[list[StoredBrief]] = []
    for stored in briefs:
        if runs and topic_name(runs[-1][0]).casefold() == topic_name(stored).casefold():
            runs[-1].append(stored)
        else:
            runs.append([stored])
    found: list[discord.ui.Item[Any]] = []
    for of_one in runs:
        name = wording.escaped(wording.words(topic_name(of_one[0])), wording.NAME) or "Other"
        box: discord.ui.Container[Any] = discord.ui.Container(
            discord.ui.TextDisplay(f"### {name}"), accent_colour=colours.accent(of_one[0].brief.topic)
        )
        for stored in of_one:
            read = button(Address(stored.id, mark, "read"), "Read")
            box.add_item(discord.ui.Section(discord.ui.TextDisplay(entry(stored, room)), accessory=read))
        found.append(box)
    return found


def entry(stored: StoredBrief, room: int) -> str:
    """A brief in about ``room`` characters, its link not counted: title, the sentence that carries it, small print."""
    brief = stored.brief
    title = wording.title(brief, min(TITLE, max(SENTENCE_LEAST, room * 2 // 3)))
    address = brief.permalink if wording.button_url(brief.permalink) else brief.original
    # A long address goes first where there is little room: the button leads there too.
    linked = wording.short_link(title, address, TITLE, wording.LINKED_URL if room > ENTRY_LEAST * 3 else 120)
    if room <= ENTRY_LEAST:
        return f"**{wording.escaped(title, ENTRY_LEAST)}**"
    source = wording.escaped(wording.words(brief.source.name), wording.NAME // 2) if brief.source else ""
    small = " · ".join(filter(None, (source, wording.source_count(brief))))
    left = room - limits.characters(title) - limits.characters(small)
    said = sentence(stored, left) if left >= SENTENCE_LEAST else ""
    return "\n".join(filter(None, (f"**{linked}**", said, f"-# {small}" if small and room > ENTRY_LEAST * 2 else "")))


def sentence(stored: StoredBrief, limit: int) -> str:
    """What carries a brief, in at most ``limit`` characters: its dek, or else the first section that says something."""
    brief = stored.brief
    dek = wording.dek(brief, limit)
    if dek and limits.characters(dek) <= limit:
        return dek
    texts = [brief.dek] if dek else [s.summary or s.body[: 4 * limit + 100] for s in brief.sections[:5]]
    for text in texts:
        whole = wording.sentence(text)
        if whole and limits.characters(whole) <= limit:
            return whole
        if cut := wording.one_line(plain(text)):
            return escaped_line(cut, limit)
    return ""


def escaped_line(text: str, limit: int) -> str:
    """Plain text in at most ``limit`` characters, nothing of it Markdown."""
    room = limit
    while room > 0:
        shown = escape(wording.fit(text, room))
        over = limits.characters(shown) - limit
        if over <= 0:
            return shown
        room -= over
    return ""


def smaller(room: int) -> int:
    """The room for an entry to try next."""
    return max(ENTRY_LEAST, room * 4 // 5)
