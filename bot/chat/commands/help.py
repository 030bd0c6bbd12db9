"""/help: what one can ask for, short, for readers and for admins."""

from __future__ import annotations

from typing import Any

from discord import app_commands

from bot.chat.commands import common
from bot.chat.list_items import NOBODY, Interaction

READERS = """**Everyone**
`/brief latest topic:Data & AI` the newest briefs of a topic
`/brief search words:"rewritten backend" pytorch -azure since:last monday` words, quoted phrases, -without; a date
`/brief show brief:PyTorch` one brief; titles appear while you type, misspelt ones too
`/topics` what there is, and how much of it

What you look up only you see, until you choose **Share in channel**. Menus and buttons under a brief open its sections \
in full and the sources that cover the story."""

ADMINS = """**Admins (Manage Server)**
`/topics`, then **Follow** under a topic: this channel gets its new briefs. **Follow** again offers to stop."""


def command() -> app_commands.Command[Any, ..., None]:
    """``/help``."""
    made: app_commands.Command[Any, ..., None] = app_commands.Command(
        name="help", description="How to look up and follow tech briefs", callback=show, **common.EVERYWHERE
    )
    return made


async def show(interaction: Interaction) -> None:
    """The text for who asks: admins are told more."""
    admin = interaction.guild_id is not None and interaction.permissions.manage_guild
    text = f"{READERS}\n\n{ADMINS}" if admin else READERS
    await interaction.response.send_message(text, ephemeral=True, allowed_mentions=NOBODY)
