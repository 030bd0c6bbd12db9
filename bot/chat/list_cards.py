"""A list that somebody asked for, one page of it: briefs with a menu to open them, or topics to follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import discord

from bot.briefs.model import Brief, Topic
from bot.briefs.text import escape
from bot.chat import cards, colours, limits, wording
from bot.chat.ids import LIST_PREFIX, Address
from bot.chat.reading import Row
from bot.store.briefs import StoredBrief, TopicCount
from bot.store.lists import KeptList

BRIEFS_PER_PAGE = 5
TOPICS_PER_PAGE = 10
DEK = 160

# How much of each entry is shown, until all of them fit: characters of the title, of its address, of the dek.
_LEVELS = ((160, 300, DEK), (160, 200, 0), (100, 100, 0), (60, 0, 0))


def pages(kept: KeptList) -> int:
    """How many pages a list has; at least one."""
    per_page = TOPICS_PER_PAGE if kept.kind == "topics" else BRIEFS_PER_PAGE
    return max(1, -(-len(kept.entries) // per_page))


def on_page(kept: KeptList, page: int) -> tuple[int, tuple[int | str, ...]]:
    """(place of the first one, entries) of a page."""
    per_page = TOPICS_PER_PAGE if kept.kind == "topics" else BRIEFS_PER_PAGE
    return page * per_page, kept.entries[page * per_page : (page + 1) * per_page]


def address(kept: KeptList, verb: str, *numbers: int) -> str:
    """The custom_id of a list's button or menu."""
    return str(Address(kept.id, "", verb, numbers, LIST_PREFIX.rstrip(":")))


def button(kept: KeptList, verb: str, number: int, label: str, *, primary: bool = False) -> discord.ui.Button[Any]:
    """A button of a list."""
    style = discord.ButtonStyle.primary if primary else discord.ButtonStyle.secondary
    return discord.ui.Button(style=style, label=label, custom_id=address(kept, verb, number))


def briefs(kept: KeptList, found: Sequence[StoredBrief], page: int, *, share: bool) -> discord.ui.LayoutView:
    """A page of briefs; ``found`` are those of the page that are still there."""
    for level in _LEVELS:
        view = _briefs(kept, found, page, level, share=share)
        if not limits.problems(view):
            break
    return view


def _briefs(
    kept: KeptList, found: Sequence[StoredBrief], page: int, level: tuple[int, int, int], *, share: bool
) -> discord.ui.LayoutView:
    first, entries = on_page(kept, page)
    places = {id: first + at + 1 for at, id in enumerate(entries)}
    children: list[discord.ui.Item[Any]] = [discord.ui.TextDisplay(kept.title)]
    for one in found:
        children.append(discord.ui.Separator(visible=False))
        children.append(discord.ui.TextDisplay(_entry(places[one.id], one.brief, level)))
    children.append(discord.ui.Separator(visible=False))
    if len(found) < len(entries):
        children.append(discord.ui.TextDisplay("-# Some briefs of this page are no longer stored."))
    children.append(discord.ui.TextDisplay(_where(kept, first, len(entries), page, "briefs")))
    if found:
        options = [
            discord.SelectOption(
                label=wording.label(f"{places[one.id]}. {wording.title(one.brief)}", limits.OPTION_LABEL),
                value=str(one.id),
            )
            for one in found
        ]
        menu = discord.ui.Select[Any](
            custom_id=address(kept, "open", page), placeholder="Read a brief here", options=options
        )
        children.append(Row(menu))
    if row := _row(kept, page, share=share):
        children.append(row)
    return _view(children, found[0].brief if found and len({_slug(one.brief) for one in found}) == 1 else None)


def _slug(brief: Brief) -> str:
    return brief.topic.slug if brief.topic else ""


def _entry(place: int, brief: Brief, level: tuple[int, int, int]) -> str:
    title, url, dek = level
    lines = [f"**{place}.** " + wording.short_link(wording.title(brief, title), brief.permalink, title, url)]
    if dek and (shown := wording.dek(brief, dek)):
        lines.append(shown)
    names = [brief.source.name if brief.source else "", brief.topic.name if brief.topic else ""]
    small = [escape(wording.fit(wording.words(name), 40)) for name in names if name]
    small.append(wording.moment(brief.published))
    if shown := " · ".join(filter(None, small)):
        lines.append(f"-# {shown}")
    return "\n".join(lines)


def topics(
    kept: KeptList, shown: Sequence[tuple[int, TopicCount, Brief | None]], page: int, *, follow: bool
) -> discord.ui.LayoutView:
    """A page of topics as (place in the list, count, newest brief); a button to follow each where ``follow``."""
    for level in _LEVELS:
        view = _topics(kept, shown, page, level, follow=follow)
        if not limits.problems(view):
            break
    return view


def _topics(
    kept: KeptList,
    shown: Sequence[tuple[int, TopicCount, Brief | None]],
    page: int,
    level: tuple[int, int, int],
    *,
    follow: bool,
) -> discord.ui.LayoutView:
    first, entries = on_page(kept, page)
    children: list[discord.ui.Item[Any]] = [discord.ui.TextDisplay(kept.title)]
    for at, count, newest in shown:
        name = _name(count.topic, at)
        text = f"**{escape(name)}** · {count.briefs:,} brief{'' if count.briefs == 1 else 's'}"
        if newest is not None:
            link = wording.short_link(wording.title(newest, level[0]), newest.permalink, level[0], level[1])
            text += f"\n{link}\n-# {wording.moment(newest.published) or wording.moment(count.last_at)}"
        if follow:
            label = wording.label(f"Follow {name}", limits.BUTTON_LABEL)
            item = button(kept, "follow", at, label)
            children.append(discord.ui.Section(discord.ui.TextDisplay(text), accessory=item))
        else:
            children.append(discord.ui.TextDisplay(text))
    children.append(discord.ui.TextDisplay(_where(kept, first, len(entries), page, "topics")))
    options = [
        discord.SelectOption(label=wording.label(_name(count.topic, at), limits.OPTION_LABEL), value=str(at))
        for at, count, _ in shown
    ]
    if options:
        placeholder = "Show the latest briefs of a topic"
        children.append(
            Row(
                discord.ui.Select[Any](custom_id=address(kept, "topic", page), placeholder=placeholder, options=options)
            )
        )
    if row := _row(kept, page, share=False):
        children.append(row)
    return _view(children, None)


def _name(topic: Topic, at: int) -> str:
    return wording.label(topic.name, 60) or wording.label(topic.slug, 60) or f"Topic {at + 1}"


def card(kept: KeptList, stored: StoredBrief, *, share: bool) -> discord.ui.LayoutView:
    """A brief's card, with a button to share it where there is room for one."""
    plain = Address(stored.id, "", "read")
    view = cards.card(stored.brief, plain, None)
    if share:
        view.add_item(Row(button(kept, "share", 0, "Share in channel")))
        if limits.problems(view):
            return cards.card(stored.brief, plain, None)
    return view


def _where(kept: KeptList, first: int, count: int, page: int, what: str) -> str:
    total = len(kept.entries)
    if pages(kept) == 1:
        return f"-# {total} {what if total != 1 else what.removesuffix('s')}"
    return f"-# {first + 1}–{first + count} of {total} {what} · page {page + 1} of {pages(kept)}"


def _row(kept: KeptList, page: int, *, share: bool) -> Row | None:
    items = []
    if page:
        items.append(button(kept, "page", page - 1, "Previous page"))
    if page + 1 < pages(kept):
        items.append(button(kept, "page", page + 1, "Next page", primary=True))
    if share:
        items.append(button(kept, "share", page, "Share in channel"))
    return Row(*items) if items else None


def _view(children: Sequence[discord.ui.Item[Any]], brief: Brief | None) -> discord.ui.LayoutView:
    view = discord.ui.LayoutView(timeout=None)
    accent = colours.accent(brief.topic) if brief else colours.NEUTRAL
    view.add_item(discord.ui.Container(*children, accent_colour=accent))
    return view
