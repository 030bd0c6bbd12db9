"""The buttons and menus of a list work after a restart; only who asked for it turns its pages or shares it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Self

import aiohttp
import discord
import structlog

from bot.briefs.text import escape
from bot.chat import answers, ids, list_cards, permissions, wording
from bot.chat.items import GONE, TROUBLE, UNREADABLE
from bot.chat.shelf import Lookups
from bot.errors import BriefbotError
from bot.store.briefs import TopicCount
from bot.store.lists import KeptList

OLD = "That list is too old; I no longer have it. Please ask again."
NOT_YOURS = "Only the person who asked can do that. Ask yourself with `/brief latest`, `/brief search` or `/topics`."
MAY_NOT_WRITE = "You may not send messages in this channel, so I do not share one for you either."
ONLY_ADMINS = "Only members with the permission Manage Server can make a channel follow a topic."
NOT_HERE = "Topics are followed by channels of servers that I am a member of. Ask an admin to add me to this one."
SHARED = "That is shared already."

LATEST = 25  # briefs of a topic that are listed
NOBODY = discord.AllowedMentions.none()

Answer = discord.ui.LayoutView | str
Interaction = discord.Interaction[Any]

log = structlog.get_logger("bot.chat")


class ListItem(discord.ui.DynamicItem[discord.ui.Item[Any]], template=re.compile(rf"{ids.LIST_PREFIX}[\s\S]*")):
    """A button or menu whose custom_id is an ``ids.Address`` of a list."""

    @classmethod
    async def from_custom_id(
        cls, interaction: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Take whatever stands in the message: what it asks for is read when it is answered."""
        return cls(item)

    async def callback(self, interaction: Interaction) -> None:
        """Answer the click. Never raises for what a user or Discord does."""
        address = ids.parse(self.custom_id)
        in_place = address is not None and address.verb in ("page", "share")
        try:
            if in_place:
                await interaction.response.defer()
            else:
                await interaction.response.defer(ephemeral=True, thinking=True)
            found = await _answer(interaction, address)
            if isinstance(found, str) and in_place:
                await interaction.followup.send(found, ephemeral=True, allowed_mentions=NOBODY)
            elif isinstance(found, str):
                await interaction.edit_original_response(content=found, allowed_mentions=NOBODY)
            else:
                await interaction.edit_original_response(view=found, allowed_mentions=NOBODY)
        except (discord.HTTPException, discord.InteractionResponded, aiohttp.ClientError, OSError) as error:
            log.warning("interaction not answered", custom_id=self.custom_id[:100], reason=answers.in_short(error))
        except RuntimeError:
            if not interaction.client.is_closed():  # a click that came while the bot was stopping has nobody to answer
                raise


async def _answer(interaction: Interaction, address: ids.Address | None) -> Answer:
    library = getattr(interaction.client, "library", None)
    verb = _VERBS.get(address.verb) if address else None
    if address is None or verb is None or len(address.numbers) != 1 or not isinstance(library, Lookups):
        return UNREADABLE
    try:
        kept = await library.kept_list(address.brief_id)
        if kept is None:
            return OLD
        return await verb(interaction, library, kept, address.numbers[0])
    except BriefbotError as error:
        log.error("interaction failed", custom_id=str(address), reason=str(error))
        return TROUBLE
    except (discord.HTTPException, aiohttp.ClientError, OSError):
        raise
    except Exception:
        # The last stop: whoever clicked must not be left with a spinner, and the log must have the cause.
        log.exception("interaction failed", custom_id=str(address))
        return TROUBLE


def _public(interaction: Interaction) -> bool:
    return interaction.message is not None and not interaction.message.flags.ephemeral


def _asked(interaction: Interaction, kept: KeptList) -> bool:
    return interaction.user.id == kept.user_id


async def page_of(interaction: Interaction, library: Lookups, kept: KeptList, page: int, *, share: bool) -> Answer:
    """One page of a list as it is now."""
    page = min(page, list_cards.pages(kept) - 1)
    first, entries = list_cards.on_page(kept, page)
    if kept.kind == "topics":
        counts: dict[str, TopicCount] = {count.topic.slug: count for count in await library.topics()}
        shown = []
        for at, entry in enumerate(entries, first):
            if count := counts.get(str(entry)):
                newest = await library.latest(str(entry), 1)
                shown.append((at, count, newest[0].brief if newest else None))
        return list_cards.topics(kept, shown, page, follow=interaction.guild_id is not None)
    found = await library.briefs([entry for entry in entries if isinstance(entry, int)])
    if kept.kind == "card":
        return list_cards.card(kept, found[0], share=share) if found else GONE
    return list_cards.briefs(kept, found, page, share=share)


async def turn(interaction: Interaction, library: Lookups, kept: KeptList, page: int) -> Answer:
    """Another page in place of this one, for who asked."""
    if not _asked(interaction, kept):
        return NOT_YOURS
    return await page_of(interaction, library, kept, page, share=not _public(interaction))


_sharing: set[tuple[int, int]] = set()  # (message, page) that are on their way, so that two clicks share once


async def share(interaction: Interaction, library: Lookups, kept: KeptList, page: int) -> Answer:
    """Post the page where all can see it, and take the button away."""
    if not _asked(interaction, kept) or kept.kind == "topics":
        return NOT_YOURS
    if interaction.guild_id is not None and not _may_write(interaction):
        return MAY_NOT_WRITE
    key = (interaction.message.id if interaction.message else 0, page)
    if _public(interaction) or key in _sharing:
        return SHARED
    _sharing.add(key)
    try:
        view = await page_of(interaction, library, kept, page, share=False)
        if isinstance(view, str):
            return view
        await interaction.followup.send(view=view, allowed_mentions=NOBODY)
    except BaseException:
        _sharing.discard(key)
        raise
    if len(_sharing) > 1000:
        _sharing.clear()
    return await page_of(interaction, library, kept, page, share=False)


def _may_write(interaction: Interaction) -> bool:
    thread = isinstance(interaction.channel, discord.Thread)
    return not permissions.missing(interaction.permissions, permissions.needs(thread=thread, format="card")[1:])


async def open_brief(interaction: Interaction, library: Lookups, kept: KeptList, _: int) -> Answer:
    """The card of the brief that was chosen, for whoever chose it."""
    chosen = _chosen(interaction)
    if not (_asked(interaction, kept) or _public(interaction)):
        return NOT_YOURS
    if chosen not in kept.entries or kept.kind == "topics":
        return UNREADABLE
    found = await library.briefs([chosen])
    if not found:
        return GONE
    mine = await library.keep_list(interaction.user.id, "card", "", [chosen])
    return list_cards.card(mine, found[0], share=True)


async def open_topic(interaction: Interaction, library: Lookups, kept: KeptList, _: int) -> Answer:
    """The latest briefs of the topic that was chosen."""
    topic = _topic(kept, _chosen(interaction))
    if topic is None:
        return UNREADABLE
    name = await _name(library, topic)
    return await latest(interaction, library, topic, name, LATEST)


async def latest(interaction: Interaction, library: Lookups, topic: str | None, name: str, count: int) -> Answer:
    """A new list of the newest briefs, first page."""
    found = await library.latest(topic, count)
    if not found:
        return "No briefs are stored yet. They come with the next poll."
    title = f"### Latest in {escape(wording.fit(wording.words(name), 60))}" if topic else "### Latest briefs"
    mine = await library.keep_list(interaction.user.id, "briefs", title, [stored.id for stored in found])
    return await page_of(interaction, library, mine, 0, share=True)


async def follow(interaction: Interaction, library: Lookups, kept: KeptList, at: int) -> Answer:
    """Make this channel follow a topic; where it does already, offer to end it."""
    topic = _topic(kept, at)
    place = _followable(interaction)
    if topic is None or isinstance(place, str):
        return place if isinstance(place, str) else UNREADABLE
    guild_id, channel_id = place
    name = escape(await _name(library, topic))
    if await library.follow(guild_id, channel_id, topic):
        text = f"<#{channel_id}> follows **{name}** from now on: each new brief is posted here."
    else:
        text = f"<#{channel_id}> gets the briefs on **{name}** already."
    return _with_end(text, kept, at)


async def unfollow(interaction: Interaction, library: Lookups, kept: KeptList, at: int) -> Answer:
    """End what ``follow`` began."""
    topic = _topic(kept, at)
    place = _followable(interaction)
    if topic is None or isinstance(place, str):
        return place if isinstance(place, str) else UNREADABLE
    if await library.unfollow(*place, topic):
        return f"<#{place[1]}> no longer follows **{escape(await _name(library, topic))}**."
    return "Nothing that was followed from here brings that topic. The bot's config may: ask who runs it."


async def _name(library: Lookups, topic: str) -> str:
    return next((count.topic.name for count in await library.topics() if count.topic.slug == topic), topic)


def _with_end(text: str, kept: KeptList, at: int) -> discord.ui.LayoutView:
    view = discord.ui.LayoutView(timeout=None)
    view.add_item(discord.ui.TextDisplay(text))
    row: discord.ui.ActionRow[Any] = discord.ui.ActionRow(list_cards.button(kept, "unfollow", at, "Stop following"))
    view.add_item(row)
    return view


def _followable(interaction: Interaction) -> tuple[int, int] | str:
    """(guild, channel) where the asker may make the channel follow and the bot may post, or why not."""
    if interaction.guild_id is None or interaction.channel_id is None or not interaction.is_guild_integration():
        return NOT_HERE
    if not interaction.permissions.manage_guild:
        return ONLY_ADMINS
    channel = interaction.client.get_channel(interaction.channel_id)
    if not isinstance(channel, permissions.Place):
        return NOT_HERE
    if not isinstance(channel, discord.abc.Messageable):
        return "Briefs cannot be posted in this kind of channel. Choose a text channel or a thread."
    if reason := permissions.cannot_post(channel, "card"):
        return f"That cannot work yet: {escape(reason)}."
    return interaction.guild_id, interaction.channel_id


def _topic(kept: KeptList, at: int | None) -> str | None:
    if kept.kind != "topics" or at is None or not 0 <= at < len(kept.entries):
        return None
    return str(kept.entries[at])


def _chosen(interaction: Interaction) -> int | None:
    data: Mapping[str, Any] = interaction.data or {}
    values: Sequence[object] = data.get("values") or ()
    value = str(values[0]) if len(values) == 1 else ""
    return int(value) if re.fullmatch(r"[0-9]{1,18}", value) else None


Verb = Callable[[Interaction, Lookups, KeptList, int], Awaitable[Answer]]
_VERBS: dict[str, Verb] = {
    "page": turn,
    "share": share,
    "open": open_brief,
    "topic": open_topic,
    "follow": follow,
    "unfollow": unfollow,
}
