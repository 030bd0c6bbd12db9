"""Every button and menu under a message is answered by what its custom_id says, before and after a restart alike.

One DynamicItem takes all ids that begin with ``brief:``; the verb in the id picks the function that answers. Whoever
clicks gets an answer that only they see: what they asked for, or a sentence that says why not.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import aiohttp
import discord
import structlog

from bot.briefs.model import Brief
from bot.chat import ids
from bot.errors import BriefbotError

UNREADABLE = "That button or menu is none of mine, or is from an older version of me. Please use a newer message."
GONE = "That brief is no longer stored here, so I cannot open it. The links in the message still work."
TROUBLE = "I could not open that just now. Please try again in a minute."

log = structlog.get_logger("bot.chat")


@runtime_checkable
class Library(Protocol):
    """Where briefs are looked up; the client has one as its ``library``."""

    async def brief(self, brief_id: int) -> Brief | None:
        """The brief as it is stored now, or None."""
        ...  # pragma: no cover


@dataclass(frozen=True, slots=True)
class Question:
    """Who asks what: the address in the custom_id, the brief it names, and what was chosen in a menu."""

    address: ids.Address
    brief: Brief
    values: tuple[str, ...] = ()


Answer = discord.ui.LayoutView | str
Answering = Callable[[Question], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class _Verb:
    answering: Answering
    in_place: bool


_VERBS: dict[str, _Verb] = {}


def answers(verb: str, *, in_place: bool = False) -> Callable[[Answering], Answering]:
    """Register a function as what answers ``verb``.

    Its LayoutView, or its sentence, is shown to the asker alone; ``in_place``: instead of the message clicked on.
    """

    def register(answering: Answering) -> Answering:
        _VERBS[verb] = _Verb(answering, in_place)
        return answering

    return register


class BriefItem(discord.ui.DynamicItem[discord.ui.Item[Any]], template=re.compile(rf"{ids.PREFIX}[\s\S]*")):
    """A button or menu whose custom_id is an ``ids.Address``."""

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> Self:
        """Take whatever stands in the message: what it asks for is read when it is answered."""
        return cls(item)

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Answer the click."""
        await answer(interaction, self.custom_id)


def button(address: ids.Address, label: str, *, primary: bool = False) -> BriefItem:
    """A button that asks for ``address``."""
    style = discord.ButtonStyle.primary if primary else discord.ButtonStyle.secondary
    return BriefItem(discord.ui.Button(style=style, label=label, custom_id=str(address)))


async def answer(interaction: discord.Interaction[Any], custom_id: str) -> None:
    """Answer one click or choice, whatever its custom_id says. Never raises for what a user or Discord does."""
    address = ids.parse(custom_id)
    verb = _VERBS.get(address.verb) if address else None
    in_place = verb is not None and verb.in_place and _is_private(interaction)
    try:
        # First of all: Discord waits 3 s for this, and then 15 minutes for what follows.
        if in_place:
            await interaction.response.defer()
        else:
            await interaction.response.defer(ephemeral=True, thinking=True)
        found = await _answer(interaction, address, verb)
        if isinstance(found, str):
            await _say(interaction, found, in_place)
        else:
            await interaction.edit_original_response(view=found, allowed_mentions=discord.AllowedMentions.none())
    except (discord.HTTPException, discord.InteractionResponded, aiohttp.ClientError, OSError, TimeoutError) as error:
        log.warning("interaction not answered", custom_id=custom_id[:100], reason=str(error))


async def _answer(interaction: discord.Interaction[Any], address: ids.Address | None, verb: _Verb | None) -> Answer:
    if address is None or verb is None:
        return UNREADABLE
    library = getattr(interaction.client, "library", None)
    data: Mapping[str, Any] = interaction.data or {}
    values = data.get("values") or ()
    try:
        brief = await library.brief(address.brief_id) if isinstance(library, Library) else None
        if brief is None:
            return GONE
        return await verb.answering(Question(address, brief, tuple(map(str, values))))
    except BriefbotError as error:
        log.error("interaction failed", custom_id=str(address), reason=str(error))
        return TROUBLE
    except Exception:
        # The last stop: whoever clicked must not be left with a spinner, and the log must have the cause.
        log.exception("interaction failed", custom_id=str(address))
        return TROUBLE


async def _say(interaction: discord.Interaction[Any], text: str, in_place: bool) -> None:
    if in_place:
        await interaction.followup.send(text, ephemeral=True, allowed_mentions=discord.AllowedMentions.none())
    else:
        await interaction.edit_original_response(content=text, allowed_mentions=discord.AllowedMentions.none())


def _is_private(interaction: discord.Interaction[Any]) -> bool:
    """Only an answer that its reader alone sees is ever changed; a public message never is."""
    return interaction.message is not None and interaction.message.flags.ephemeral
