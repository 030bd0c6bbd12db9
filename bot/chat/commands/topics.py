"""/topics: every topic with how many briefs it has and its newest, and a button for a channel to follow it."""

from __future__ import annotations

from typing import Any

from discord import app_commands

from bot.chat import list_items
from bot.chat.commands import common
from bot.chat.list_items import Interaction


def command() -> app_commands.Command[Any, ..., None]:
    """``/topics``."""
    made: app_commands.Command[Any, ..., None] = app_commands.Command(
        name="topics",
        description="The topics there are, with their newest briefs",
        callback=topics,
        **common.EVERYWHERE,
    )
    return made


@app_commands.checks.cooldown(common.LOOKUPS, common.PER_SECONDS, key=common.per_person)
async def topics(interaction: Interaction) -> None:
    """A paged list of topics, most briefs first."""
    await common.defer(interaction)
    library = common.library(interaction)
    found = await library.topics()
    if not found:
        await common.answer(interaction, "No briefs are stored yet. They come with the next poll.")
        return
    slugs = [count.topic.slug for count in found]
    mine = await library.keep_list(interaction.user.id, "topics", "### Topics", slugs)
    await common.answer(interaction, await list_items.page_of(interaction, library, mine, 0, share=False))
