"""What the readers' commands share: where they may be used, how they answer, and how often one may ask."""

from __future__ import annotations

from typing import Any

from discord import app_commands

from bot.briefs.model import Topic
from bot.chat import wording
from bot.chat.catalogue import Catalogue
from bot.chat.limits import CHOICE_NAME, CHOICE_VALUE, CHOICES, characters
from bot.chat.list_items import NOBODY, Answer, Interaction
from bot.chat.shelf import Lookups
from bot.errors import BriefbotError

# Anywhere the app is installed: servers, the bot's direct messages, and other private conversations.
EVERYWHERE: dict[str, Any] = {
    "allowed_contexts": app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=True),
    "allowed_installs": app_commands.AppInstallationType(guild=True, user=True),
}

LOOKUPS, PER_SECONDS = 10, 20.0  # costly lookups that one person may ask for in so many seconds
GUILD_LOOKUPS = 60  # and all the members of one server together


class Unanswerable(BriefbotError):
    """What was asked cannot be answered; the sentence says what to do instead."""


def per_person(interaction: Interaction) -> int:
    """The key of a person's allowance."""
    return interaction.user.id


def per_guild(interaction: Interaction) -> int | None:
    """The key of a server's allowance, which counts on none in direct messages."""
    return interaction.guild_id or interaction.user.id


def library(interaction: Interaction) -> Lookups:
    """Where things are looked up. Raises Unanswerable while there is nothing."""
    found = getattr(interaction.client, "library", None)
    if not isinstance(found, Lookups):
        raise Unanswerable("I am still starting. Please try again in a moment.")
    return found


async def catalogue(interaction: Interaction) -> Catalogue:
    """The names in memory; right after a start this waits a moment for them. Raises Unanswerable."""
    found: Catalogue | None = getattr(interaction.client, "catalogue", None)
    if found is None:
        raise Unanswerable("I am still starting. Please try again in a moment.")
    await found.ready()
    return found


async def defer(interaction: Interaction) -> None:
    """First of all: Discord waits 3 s for this, and then 15 minutes for what follows. Seen by the asker alone."""
    await interaction.response.defer(ephemeral=True, thinking=True)


async def answer(interaction: Interaction, found: Answer) -> None:
    """Put the answer where ``defer`` made room for it."""
    if isinstance(found, str):
        await interaction.edit_original_response(content=found, allowed_mentions=NOBODY)
    else:
        await interaction.edit_original_response(view=found, allowed_mentions=NOBODY)


def choices(pairs: list[tuple[str, str]]) -> list[app_commands.Choice[str]]:
    """(name, value) as Discord takes them: at most 25, each within its length."""
    made: list[app_commands.Choice[str]] = []
    for name, value in pairs:
        shown = wording.label(name, CHOICE_NAME)
        if shown and 0 < characters(value) <= CHOICE_VALUE and len(made) < CHOICES:
            made.append(app_commands.Choice(name=shown, value=value))
    return made


async def topic_choices(interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
    """Topics that fit what was typed."""
    try:
        known = await catalogue(interaction)
    except BriefbotError:
        return []
    return choices([(topic.name, topic.slug) for topic in known.topics_like(typed)])


async def source_choices(interaction: Interaction, typed: str) -> list[app_commands.Choice[str]]:
    """Sources that fit what was typed."""
    try:
        known = await catalogue(interaction)
    except BriefbotError:
        return []
    return choices([(name, str(id)) for id, name in known.sources_like(typed)])


async def topic_named(interaction: Interaction, typed: str | None) -> Topic | None:
    """The topic that was chosen or typed, or None for none. Raises Unanswerable with those that are near."""
    if typed is None:
        return None
    known = await catalogue(interaction)
    found = known.topic(typed)
    if found is None:
        raise Unanswerable(unknown("topic", typed, [topic.name for topic in known.topics_like(typed)[:3]]))
    return found


def unknown(what: str, typed: str, near: list[str]) -> str:
    """``There is no topic `x`. Did you mean …``"""
    shown = " ".join(typed.split())[:60].replace("`", "'")
    hint = f" Did you mean {' or '.join(near)}?" if near else " Choose one from the list that appears while you type."
    return f"There is no {what} `{shown}`.{hint}"
