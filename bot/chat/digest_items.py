"""The buttons of a digest, which belong to one run of it; what they answer is seen by the asker alone.

As in ``items``, the verb in the custom_id picks the function that answers, before and after a restart alike.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, Self, runtime_checkable

import aiohttp
import discord
import structlog

from bot.chat import ids
from bot.chat.ids import Address
from bot.chat.items import TROUBLE, UNREADABLE, Answer
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


Answering = Callable[[DigestLibrary, Address], Awaitable[Answer]]
_VERBS: dict[str, Answering] = {}
_IN_PLACE = "turn"  # the one verb whose answer takes the place of the message clicked on, itself such an answer


def answers(verb: str) -> Callable[[Answering], Answering]:
    """Register a function as what answers ``verb``."""

    def register(answering: Answering) -> Answering:
        _VERBS[verb] = answering
        return answering

    return register


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
        private = interaction.message is not None and interaction.message.flags.ephemeral
        in_place = private and address is not None and address.verb == _IN_PLACE
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


def button(run_id: int, mark: str, verb: str, label: str, *numbers: int, primary: bool = False) -> DigestItem:
    """A button that asks for something of a digest's run."""
    style = discord.ButtonStyle.primary if primary else discord.ButtonStyle.secondary
    custom_id = str(Address(run_id, mark, verb, numbers, "digest"))
    return DigestItem(discord.ui.Button(style=style, label=label, custom_id=custom_id))


async def _answer(library: object, address: Address | None) -> Answer:
    answering = _VERBS.get(address.verb) if address else None
    if address is None or answering is None or not isinstance(library, DigestLibrary):
        return UNREADABLE
    try:
        return await answering(library, address)
    except Exception:
        # The last stop: whoever clicked must not be left with a spinner, and the log must have the cause.
        log.exception("interaction failed", custom_id=str(address))
        return TROUBLE
