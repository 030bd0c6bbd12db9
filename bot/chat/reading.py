"""A brief's own words, in answers that only the asker sees: a whole section page by page, its menus, its sources."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import discord

from bot.briefs.masked import safe_url
from bot.briefs.model import Brief, Coverage, Section
from bot.briefs.text import escape, link, neutralise, plain, split
from bot.chat import colours, limits, wording
from bot.chat.ids import Address
from bot.chat.items import Answer, BriefItem, Question, answers, button

PAGE = 3000  # characters of a section on one page; heading, foot and links take the rest of TEXT_TOTAL
PAGE_BYTES = limits.BYTES_TOTAL - 1500
MENUS = 2  # menus under a card: up to so many times 25 sections can be picked from at once
SOURCES = 25  # of a story's coverage, shown at most
ADDRESS = 600  # characters of an address that is shown or linked in an answer, at most
LAST_PAGE = 999_999_999

Row = discord.ui.ActionRow[Any]

NO_SECTION = "That section is not in the brief any more: it was edited at its source. Please pick another one."


def pages(section: Section) -> list[str]:
    """A section's whole body as pages that each fit one answer and each are valid Markdown; at least one."""
    body = neutralise(section.body) or wording.sentence(section.summary or "")
    if not body:
        return ["-# This section has no text of its own."]
    limit = PAGE
    while True:
        found = [piece for piece in split(body, limit) if piece.strip()]
        fits = all(limits.characters(p) <= PAGE and len(p.encode()) <= PAGE_BYTES for p in found)
        if fits or limit <= PAGE // 8:
            return found or ["-# This section has no text of its own."]
        limit = limit * 2 // 3


def menus(brief: Brief, address: Address) -> list[BriefItem]:
    """The menus under a card: all sections up to ``MENUS`` times 25 of them, groups beyond that."""
    n = len(brief.sections)
    if not n:
        return []
    step = limits.SELECT_OPTIONS
    if n <= MENUS * step:
        return [menu(brief, address, start, min(start + step, n)) for start in range(0, n, step)]
    return [menu(brief, address, 0, n)]


def menu(brief: Brief, address: Address, start: int, stop: int) -> BriefItem:
    """A menu of the sections from ``start`` up to ``stop``; of groups of them where they are more than 25."""
    n = stop - start
    step = 1
    while n > step * limits.SELECT_OPTIONS:
        step *= limits.SELECT_OPTIONS
    whole = n == len(brief.sections)
    placeholder = "Read a section in full" + ("" if whole else f": {span(start, stop).lower()}")
    options = []
    for first in range(start, stop, step):
        last = min(first + step, stop)
        label = span(first, last) if step > 1 else _option(brief, first)
        value = str(first) if step == 1 else f"{first}-{last}"
        about = wording.label(f"from {_label(brief.sections[first], first)}", limits.OPTION_DESCRIPTION)
        options.append(discord.SelectOption(label=label, value=value, description=about if step > 1 else None))
    select: discord.ui.Select[Any] = discord.ui.Select(
        custom_id=str(replace(address, verb="sections", numbers=(start, stop))),
        placeholder=placeholder,
        options=options,
    )
    return BriefItem(select)


def span(start: int, stop: int) -> str:
    """``Sections 26–50``, counted as a reader does."""
    return f"Sections {start + 1}–{stop}" if stop - start > 1 else f"Section {stop}"


def _label(section: Section, at: int) -> str:
    words = wording.words(section.heading or "")
    return words or wording.one_line(plain(section.summary or section.body[:400])) or f"Section {at + 1}"


def _option(brief: Brief, at: int) -> str:
    number = f"{at + 1}. " if len(brief.sections) > limits.SELECT_OPTIONS else ""
    return wording.label(number + _label(brief.sections[at], at), limits.OPTION_LABEL) or f"Section {at + 1}"


@answers("sections")
async def choose(question: Question) -> Answer:
    """What was picked in a menu: a section to read, or a group to pick from."""
    value = question.values[0] if len(question.values) == 1 else ""
    n = len(question.brief.sections)
    if re.fullmatch(r"[0-9]{1,9}", value) and int(value) < n:
        return await page_view(question, int(value), 0)
    if re.fullmatch(r"[0-9]{1,9}-[0-9]{1,9}", value):
        start, stop = map(int, value.split("-"))
        stop = min(stop, n)
        if start < stop:
            return menu_view(question, start, stop)
    return NO_SECTION


@answers("page", in_place=True)
async def turn(question: Question) -> Answer:
    """The page that Back or Next leads to."""
    numbers = question.address.numbers
    if len(numbers) != 2 or numbers[0] >= len(question.brief.sections):
        return NO_SECTION
    return await page_view(question, *numbers)


def menu_view(question: Question, start: int, stop: int) -> discord.ui.LayoutView:
    """A menu of some of a brief's sections, as an answer."""
    brief, address = question.brief, replace(question.address, mark="")
    return answer_view(
        brief,
        discord.ui.TextDisplay(f"{span(start, stop)} of {wording.linked_title(brief)}"),
        Row(menu(brief, address, start, stop)),
    )


async def page_view(question: Question, at: int, page: int) -> discord.ui.LayoutView:
    """One page of one section, with the way to the next one; a page past the last is the last."""
    brief, section = question.brief, question.brief.sections[at]
    found = await asyncio.to_thread(pages, section)  # a body of megabytes takes longer than a heartbeat may wait
    page = min(page, len(found) - 1)
    n = len(brief.sections)
    heading = wording.heading(section.heading, wording.TITLE) or f"Section {at + 1}"
    where = [wording.short_link(wording.title(brief, wording.NAME), brief.permalink)]
    where += [f"section {at + 1} of {n}"] if n > 1 else []
    where += [f"page {page + 1} of {len(found)}"] if len(found) > 1 else []
    ways: list[tuple[tuple[int, int], str]] = []
    if page:
        ways.append(((at, page - 1), "Previous page"))
    elif at:
        ways.append(((at - 1, LAST_PAGE), "Previous section"))
    if page + 1 < len(found):
        ways.append(((at, page + 1), "Next page"))
    elif at + 1 < n:
        ways.append(((at + 1, 0), "Next section"))
    buttons = [button(Address(question.address.brief_id, "", "page", to), label) for to, label in ways]
    return answer_view(
        brief,
        discord.ui.TextDisplay(f"### {heading}"),
        discord.ui.TextDisplay(found[page]),
        discord.ui.Separator(),
        discord.ui.TextDisplay("-# " + " · ".join(where)),
        *([Row(*buttons)] if buttons else []),
    )


@answers("sources")
async def sources(question: Question) -> Answer:
    """Where a brief comes from: its dek in full, its original, every source covering the story, and its notice."""
    brief = question.brief
    parts = [f"### {wording.linked_title(brief)}"]
    if dek := wording.dek(brief, 1000):
        parts[0] += f"\n{dek}"
    facts = [("Original article", brief.original), ("Permalink", brief.permalink)]
    lines = [f"**{name}:** {shown}" for name, url in facts if (shown := address_link(url))]
    if lines:
        parts.append("\n".join(lines))
    if brief.coverage:
        parts.append(coverage(brief.coverage, limits.TEXT_TOTAL - 600 - sum(map(limits.characters, parts))))
    small = [wording.foot(brief, count=False)]
    if brief.notice and (notice := wording.inline(brief.notice.strip().strip("_*"), 300)):
        small.append(f"-# {notice}")
    parts += ["\n".join(filter(None, small))] if any(small) else []
    return fitted(brief, parts)


def coverage(found: tuple[Coverage, ...], room: int) -> str:
    """The sources covering a story as a list of links in at most ``room`` characters; how many more there are."""
    out, shown = "**Sources covering this story**", 0
    for one in found[:SOURCES]:
        title = wording.fit(wording.words(one.title or ""), wording.TITLE // 2)
        address = safe_url(one.url)
        short = address if address and len(address) <= ADDRESS else None
        line = (link(title, short) if title else address_link(one.url)) or escape(wording.fit(one.url or "", 100))
        if not line.strip() or limits.characters(out + line) + 40 > room:
            break
        out += f"\n- {line}"
        shown += 1
    rest = len(found) - shown
    return out + (f"\n-# … and {rest:,} more" if rest else "")


def address_link(url: str | None) -> str:
    """An address as a link that shows where it goes, short where it is long; ``""`` where it must not be linked."""
    address = safe_url(url)
    if address is None or len(address) > ADDRESS:
        return ""
    shown = re.sub(r"^https?://(?:www\.)?", "", address).rstrip("/")
    host = shown.partition("/")[0]
    return link(shown if len(shown) <= wording.NAME else f"{host}/…", address)


def fitted(brief: Brief, parts: list[str]) -> discord.ui.LayoutView:
    """An answer of text alone; the longest part is cut where all of them together are over a limit."""
    parts = list(parts)
    while True:
        children: list[discord.ui.Item[Any]] = []
        for part in parts:
            children += [*([discord.ui.Separator()] if children else []), discord.ui.TextDisplay(part)]
        view = answer_view(brief, *children)
        if not limits.problems(view):
            return view
        longest = max(range(len(parts)), key=lambda at: len(parts[at].encode()))
        parts[longest] = split(parts[longest], max(100, len(parts[longest]) * 3 // 4))[0]


def answer_view(brief: Brief, *children: discord.ui.Item[Any]) -> discord.ui.LayoutView:
    """A container in the brief's colour. Without a timeout, and with no items of its own that would wait for clicks."""
    view = discord.ui.LayoutView(timeout=None)
    view.add_item(discord.ui.Container(*children, accent_colour=colours.accent(brief.topic)))
    return view
