"""The buttons of a digest: what did not fit, page by page, and when and what it gathers; seen by the asker alone."""

from __future__ import annotations

import re
from typing import Any, Protocol, Self, runtime_checkable

import aiohttp
import discord
import structlog

from bot.chat import digest_cards, ids
from bot.chat.items import TROUBLE, UNREADABLE
from bot.store.briefs import StoredBrief

log = structlog.get_logger("bot.chat")


@runtime_checkable
class DigestLibrary(Protocol):
    """Where digests are looked up; the client's ``library`` is one."""

    async def digest_briefs(self, run_id: int, start: int, limit: int) -> tuple[list[StoredBrief], int]:
        """The briefs of a run from a place on, and how many it has in all."""
        ...  # pragma: no cover

    async def digest_about(self, run_id: int) -> str | None:
        """When and what the digest of a run gathers, in words; None where it is not there."""
        ...  # pragma: no cover


class DigestItem(discord.ui.DynamicItem[discord.ui.Item[Any]], template=re.compile(rf"{ids.DIGEST_PREFIX}[\s\S]*")):
    """A button whose custom_id is an ``ids.Address`` of a digest."""

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Take whatever stands in the message: what it asks for is read when it is answered."""
        return cls(item)

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Answer the click. Never raises for what a user or Discord does."""
        address = ids.parse(self.custom_id)
        in_place = address is not None and address.verb == "turn"
        none = discord.AllowedMentions.none()
        try:
            if in_place:
                await interaction.response.defer()
            else:
                await interaction.response.defer(ephemeral=True, thinking=True)
            found = await _answer(getattr(interaction.client, "library", None), address)
            if not isinstance(found, str):
                await interaction.edit_original_response(view=found, allowed_mentions=none)
            elif in_place:
                await interaction.followup.send(found, ephemeral=True, allowed_mentions=none)
            else:
                await interaction.edit_original_response(content=found, allowed_mentions=none)
        except (discord.HTTPException, discord.InteractionResponded, aiohttp.ClientError, OSError) as error:
            log.warning("interaction not answered", custom_id=self.custom_id[:100], reason=str(error))


async def _answer(library: object, address: ids.Address | None) -> discord.ui.LayoutView | str:
    if address is None or not isinstance(library, DigestLibrary):
        return UNREADABLE
    try:
        match address.verb, address.numbers:
            case "about", ():
                return await library.digest_about(address.brief_id) or digest_cards.GONE
            case "more", (first,):
                return await _rest(library, address.brief_id, first, first)
            case "turn", (first, start):
                return await _rest(library, address.brief_id, max(first, start), first)
    except Exception:
        # The last stop: whoever clicked must not be left with a spinner, and the log must have the cause.
        log.exception("interaction failed", custom_id=str(address))
        return TROUBLE
    return UNREADABLE


async def _rest(library: DigestLibrary, run_id: int, start: int, first: int) -> discord.ui.LayoutView | str:
    briefs, of = await library.digest_briefs(run_id, start, digest_cards.REST)
    if not briefs:
        return digest_cards.GONE
    return digest_cards.rest(briefs, run_id=run_id, start=start, of=of, first=first)
