"""What a client needs so that buttons and menus work after a restart: ``client.add_dynamic_items(*components.ITEMS)``.

The client has a ``library`` (see ``Library``), which the answers are read from.
"""

from __future__ import annotations

from bot.chat import cards, digest_answers
from bot.chat.digest_items import DigestItem
from bot.chat.ids import Address
from bot.chat.items import Answer, BriefItem, Library, Question, answers
from bot.chat.list_items import ListItem

__all__ = ["ITEMS", "BriefItem", "Library", "digest_answers"]  # the last one registers what digests' buttons answer

ITEMS = (BriefItem, DigestItem, ListItem)


@answers("read")
async def read(question: Question) -> Answer:
    """The card of a brief that was posted in a shorter format."""
    return cards.card(question.brief, Address(question.address.brief_id, "", "read"), None)
