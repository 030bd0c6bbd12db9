"""What the buttons under a digest answer: the briefs that did not fit, page by page, and what it gathers and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import discord

from bot.chat import limits, wording
from bot.chat.digest_cards import ENTRY, ENTRY_LEAST, WEEKDAYS, boxes, escaped_line, smaller
from bot.chat.digest_items import DigestLibrary, answers, button
from bot.chat.ids import Address
from bot.chat.items import UNREADABLE, Answer
from bot.chat.reading import Row
from bot.store.briefs import StoredBrief
from bot.store.digests import Digest, Schedule

REST = 6  # briefs on one page of what did not fit: 40 components hold no more where each has a topic of its own
GONE = "What this digest gathered is no longer stored here. The links in the message still work."


@answers("more")
async def more(library: DigestLibrary, address: Address) -> Answer:
    """The first briefs that did not fit."""
    if len(address.numbers) != 1:
        return UNREADABLE
    return await _from(library, address.brief_id, *address.numbers, *address.numbers)


@answers("turn")
async def turn(library: DigestLibrary, address: Address) -> Answer:
    """The page of them that Previous or Next leads to."""
    return await _from(library, address.brief_id, *address.numbers) if len(address.numbers) == 2 else UNREADABLE


@answers("about")
async def when_and_what(library: DigestLibrary, address: Address) -> Answer:
    """What the digest gathers, and when."""
    return await library.digest_about(address.brief_id) or GONE


async def _from(library: DigestLibrary, run_id: int, first: int, start: int) -> Answer:
    start = max(first, start)
    briefs, of = await library.digest_briefs(run_id, start, REST)
    return rest(briefs, run_id=run_id, start=start, of=of, first=first) if briefs else GONE


def rest(briefs: Sequence[StoredBrief], *, run_id: int, start: int, of: int, first: int) -> discord.ui.LayoutView:
    """An answer with briefs of a run from place ``start`` on, of ``of`` in all; ``first`` is where the rest begins."""
    stop, room = start + len(briefs), ENTRY // 2
    while True:
        view = discord.ui.LayoutView(timeout=None)
        view.add_item(discord.ui.TextDisplay(f"-# Briefs {start + 1:,} to {stop:,} of {of:,}"))
        for box in boxes(briefs, "", room):
            view.add_item(box)
        ways = [(max(first, start - REST), "Previous")] if start > first else []
        ways += [(stop, "Next")] if stop < of else []
        if ways:
            view.add_item(Row(*(button(run_id, "", "turn", label, first, to) for to, label in ways)))
        if room == ENTRY_LEAST or not limits.problems(view):
            return view
        room = smaller(room)


def when(schedule: Schedule) -> str:
    """``every day at 08:00 (Europe/Berlin)``: a schedule in words."""
    if schedule.days is None:
        days = "every day"
    elif schedule.days == frozenset(range(5)):
        days = "on weekdays"
    else:
        days = "every " + ", ".join(WEEKDAYS[day] for day in sorted(schedule.days))
    if schedule.monthday is not None:
        of_month = f"on day {schedule.monthday} of the month"
        if schedule.monthday > 28:
            of_month += " (its last day where it is shorter)"
        days = of_month if schedule.days is None else f"{of_month} if that is {days.split(' ', 1)[1]}"
    return f"{days} at {schedule.at:%H:%M} ({schedule.zone})"


def about(digest: Digest, sources: Mapping[int, str]) -> str:
    """What a digest gathers and when, in one or two sentences; ``sources`` are their names by id."""
    wish = digest.subscription
    parts = [f"the topic **{escaped_line(wording.one_line(wish.topic), wording.NAME)}**"] if wish.topic else []
    if wish.source_id is not None:
        name = escaped_line(wording.one_line(sources.get(wish.source_id, "")), wording.NAME)
        parts.append(f"the source **{name or 'that is gone'}**")
    what = "everything" if wish.everything else " and ".join(parts)
    text = f"This digest gathers {what}, {when(digest.schedule)}."
    if wish.state != "active":
        return text + (" It has been removed since." if wish.state == "removed" else " It is paused at present.")
    return text + (f" The next one is due <t:{int(digest.next_at.timestamp())}:R>." if digest.next_at else "")
