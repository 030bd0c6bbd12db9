"""/brief latest, /brief search and /brief show: stored briefs, for whoever asks, seen by them alone until shared."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from discord import app_commands

from bot.briefs.text import escape
from bot.briefs.words import parse
from bot.chat import list_cards, list_items, since, wording
from bot.chat.commands import common
from bot.chat.list_items import Interaction
from bot.chat.shelf import Lookups
from bot.errors import BriefbotError
from bot.store.briefs import StoredBrief
from bot.store.search import Found

DEFAULT, MOST = 10, 50  # briefs that /brief latest lists
FOUND = 100  # briefs that a search lists at most

NO_WORDS = 'Write at least one word to look for, such as `pytorch`, `"rewritten backend"` or `kubernetes -azure`.'


def group() -> app_commands.Group:
    """``/brief`` with its subcommands."""
    made = app_commands.Group(name="brief", description="Look up stored tech briefs", **common.EVERYWHERE)
    made.add_command(latest)
    made.add_command(search)
    made.add_command(show)
    return made


@app_commands.command(description="The newest briefs, of one topic or of all")
@app_commands.describe(topic="Only this topic", count="How many, 10 by default")
@app_commands.autocomplete(topic=common.topic_choices)
@app_commands.checks.cooldown(common.LOOKUPS, common.PER_SECONDS, key=common.per_person)
async def latest(
    interaction: Interaction, topic: str | None = None, count: app_commands.Range[int, 1, MOST] = DEFAULT
) -> None:
    """A paged list of the newest briefs."""
    await common.defer(interaction)
    library = common.library(interaction)
    chosen = await common.topic_named(interaction, topic)
    slug, name = (chosen.slug, chosen.name) if chosen else (None, "")
    await common.answer(interaction, await list_items.latest(interaction, library, slug, name, count))


@app_commands.command(description="Find briefs by their words")
@app_commands.describe(
    words='Words, "quoted phrases", -without this',
    topic="Only this topic",
    source="Only from this source",
    since="Only since then: yesterday, 3d, last monday, 2026-10-01",
)
@app_commands.autocomplete(topic=common.topic_choices, source=common.source_choices)
@app_commands.checks.cooldown(common.LOOKUPS, common.PER_SECONDS, key=common.per_person)
@app_commands.checks.cooldown(common.GUILD_LOOKUPS, common.PER_SECONDS, key=common.per_guild)
async def search(
    interaction: Interaction,
    words: app_commands.Range[str, 1, 200],
    topic: str | None = None,
    source: str | None = None,
    since: str | None = None,
) -> None:
    """A paged list of what was found, best first."""
    await common.defer(interaction)
    library = common.library(interaction)
    chosen = await common.topic_named(interaction, topic)
    source_id, source_name = await _source(interaction, source)
    begin = _moment(since)
    found = await library.find(
        words, topic=chosen.slug if chosen else None, source_id=source_id, since=begin, limit=FOUND
    )
    limits = [chosen.name if chosen else "", source_name, f"since {begin:%Y-%m-%d}" if begin else ""]
    about = ", ".join(escape(wording.fit(wording.words(part), 60)) for part in limits if part)
    if not found.hits:
        await common.answer(interaction, _nothing(words, about))
        return
    title = _title(words, about, found)
    ids = [hit.stored.id for hit in found.hits]
    mine = await library.keep_list(interaction.user.id, "briefs", title, ids)
    await common.answer(interaction, await list_items.page_of(interaction, library, mine, 0, share=True))


@app_commands.command(description="Show one brief")
@app_commands.describe(brief="Its title: choose one while you type")
@app_commands.checks.cooldown(common.LOOKUPS, common.PER_SECONDS, key=common.per_person)
async def show(interaction: Interaction, brief: app_commands.Range[str, 1, 200]) -> None:
    """The card of one brief."""
    await common.defer(interaction)
    library = common.library(interaction)
    stored = await _brief(library, brief)
    if stored is None:
        shown = " ".join(brief.split())[:80].replace("`", "'")
        raise common.Unanswerable(
            f"There is no brief like `{shown}`. Choose one from the list, or try `/brief search`."
        )
    mine = await library.keep_list(interaction.user.id, "card", "", [stored.id])
    await common.answer(interaction, list_cards.card(mine, stored, share=True))


@show.autocomplete("brief")
async def titles(interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
    """Titles that fit what was typed, the newest first."""
    try:
        known = await common.catalogue(interaction)
    except BriefbotError:
        return []
    found = known.titles.complete(typed, 25)
    return common.choices([(wording.label(title, 100) or f"Brief {id}", str(id)) for id, title in found])


async def _brief(library: Lookups, typed: str) -> StoredBrief | None:
    """The brief that was chosen (its id), or that an address or words name."""
    typed = typed.strip()
    if re.fullmatch(r"[0-9]{1,18}", typed) and (found := await library.briefs([int(typed)])):
        return found[0]
    if re.match(r"https?://", typed):
        return await library.brief_at(typed)
    hits = (await library.find(typed, topic=None, source_id=None, since=None, limit=1)).hits
    return hits[0].stored if hits else None


async def _source(interaction: Interaction, typed: str | None) -> tuple[int | None, str]:
    if typed is None:
        return None, ""
    known = await common.catalogue(interaction)
    found = known.source(typed)
    if found is None:
        near = [name for _, name in known.sources_like(typed)[:3]]
        raise common.Unanswerable(common.unknown("source", typed, near))
    return found


def _moment(typed: str | None) -> datetime | None:
    if typed is None:
        return None
    try:
        return since.moment(typed, datetime.now(UTC))
    except ValueError as error:
        raise common.Unanswerable(str(error)) from None


def _title(words: str, about: str, found: Found) -> str:
    title = f"### Briefs on {_shown(words)}"
    if about:
        title += f"\n-# {about}"
    if found.instead:
        meant = ", ".join(f"**{escape(other)}** for {escape(word)}" for word, other in list(found.instead.items())[:5])
        title += f"\n-# Nothing has that spelling. Searched {meant}."
    elif all(hit.stage == "any" for hit in found.hits):
        title += "\n-# No brief has all of these words; these have some of them."
    return title


def _nothing(words: str, about: str) -> str:
    if not parse(words).terms:
        return NO_WORDS
    where = f" ({about})" if about else ""
    wider = " Leave out the filters, or try" if about else " Try"
    return f"Nothing found for {_shown(words)}{where}.{wider} fewer or other words; `/topics` shows what there is."


def _shown(words: str) -> str:
    return escape(wording.fit(wording.one_line(words), 100)) or "that"
