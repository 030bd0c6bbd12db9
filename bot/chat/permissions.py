"""What the bot must be allowed in a channel, and in words what is missing and how to grant it."""

from __future__ import annotations

from dataclasses import dataclass

import discord

from bot.store.subscriptions import Format

Place = discord.abc.GuildChannel | discord.Thread


@dataclass(frozen=True, slots=True)
class Need:
    """A permission: discord.py's flag and the name an admin sees in Discord's settings."""

    flag: str
    name: str


VIEW = Need("view_channel", "View Channel")
SEND = Need("send_messages", "Send Messages")
SEND_IN_THREADS = Need("send_messages_in_threads", "Send Messages in Threads")
EMBED = Need("embed_links", "Embed Links")
LOOK_BACK = Need("read_message_history", "Read Message History")


def needs(*, thread: bool, format: Format) -> tuple[Need, ...]:
    """What posting takes. Embeds are silently left out of a message where Embed Links is missing."""
    return (VIEW, SEND_IN_THREADS if thread else SEND, *((EMBED,) if format == "embed" else ()))


def missing(granted: discord.Permissions, wanted: tuple[Need, ...]) -> tuple[Need, ...]:
    """Those of the wanted permissions that are not granted, in order."""
    return tuple(need for need in wanted if not getattr(granted, need.flag))


def granted_in(place: Place) -> discord.Permissions | None:
    """What the bot may do there, or None where the gateway has not told enough to say."""
    me = place.guild.me
    if me is None or place.guild.unavailable or (isinstance(place, discord.Thread) and place.parent is None):
        return None
    return place.permissions_for(me)


def cannot_post(place: Place, format: Format) -> str | None:
    """Why the bot may not post there and what to do about it, in one line; None where it may or nobody can say."""
    return _lacking(place, needs(thread=isinstance(place, discord.Thread), format=format))


def cannot_look_back(place: Place) -> str | None:
    """Why the bot may not read the channel's history; without the permission Discord answers with an empty one."""
    return _lacking(place, (VIEW, LOOK_BACK))


def _lacking(place: Place, wanted: tuple[Need, ...]) -> str | None:
    granted = granted_in(place)
    return None if granted is None else in_words(place, missing(granted, wanted))


def in_words(place: Place, lacking: tuple[Need, ...]) -> str | None:
    """``the bot lacks Send Messages in #news of Server: open …``; None where nothing is lacking."""
    if not lacking:
        return None
    names = " and ".join(need.name for need in lacking)
    setting = place.parent if isinstance(place, discord.Thread) and place.parent else place
    return (
        f"the bot lacks {names} in #{place.name} of {place.guild.name}: "
        f"open the settings of #{setting.name}, Permissions, add the bot and allow {names}"
    )
