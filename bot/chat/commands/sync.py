"""Discord is told of the commands only when they changed: it allows 200 creations a day, and a start needs none."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import aiohttp
import discord
import structlog

from bot.chat import answers
from bot.chat.shelf import Lookups
from bot.errors import BriefbotError

log = structlog.get_logger("bot.chat")


def mark(tree: discord.app_commands.CommandTree[Any]) -> str:
    """A hash of what Discord would be told."""
    payload = [command.to_dict(tree) for command in tree.get_commands()]
    payload.sort(key=lambda command: str(command["name"]))
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()


async def sync(
    tree: discord.app_commands.CommandTree[Any], notes: Lookups, *, development_guild: int | None = None
) -> bool:
    """Tell Discord where the commands are not those it was told last; True if it was told. Never raises for Discord.

    With a development guild that server alone is told; one that is no longer it loses its copy.
    """
    client = tree.client
    key = f"commands:{client.application_id}"
    wanted = mark(tree)
    try:
        former = (await notes.note(f"{key}:guild") or "").partition(":")
        if former[0] and former[0] != str(development_guild or ""):
            await client.http.bulk_upsert_guild_commands(client.application_id or 0, int(former[0]), [])
            await notes.set_note(f"{key}:guild", None)
            former = ("", "", "")
        if development_guild is None:
            if await notes.note(key) == wanted:
                return False
            await tree.sync()
            await notes.set_note(key, wanted)
        else:
            if former[2] == wanted:
                return False
            guild = discord.Object(development_guild)
            tree.clear_commands(guild=guild)
            tree.copy_global_to(guild=guild)
            await tree.sync(guild=guild)
            await notes.set_note(f"{key}:guild", f"{development_guild}:{wanted}")
    except discord.Forbidden:
        remedy = "invite the bot to discord.development_guild with the scope applications.commands"
        log.warning("slash commands could not be published", server=development_guild, remedy=remedy)
        return False
    except (discord.DiscordException, aiohttp.ClientError, OSError, BriefbotError) as error:
        log.warning("slash commands could not be published; the next start tries again", reason=answers.in_short(error))
        return False
    log.info("slash commands published", server=development_guild or "all")
    return True
