"""A brief becomes one message, in the format of its subscription, inside every limit of Discord.

``card``: linked title, dek, one line a section, foot line, menu and buttons. ``compact``: title, dek, link.
``embed``: the card as an ordinary embed, for channels where a ping must show a preview or messages are published.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import discord

from bot.briefs.model import Brief
from bot.chat import colours, limits, packing, reading, wording
from bot.chat.ids import Address
from bot.chat.items import BriefItem, button

COMPACT_DEK = 600
COMPACT_URL = 1500  # a compact card has room for a longer address, where no button takes it
GAP = "\n\n"  # between the parts of an embed's description

LINK_BUTTON = discord.ButtonStyle.link


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message that is ready to be sent: ``await channel.send(**rendered.arguments(), nonce=…)``."""

    view: discord.ui.LayoutView | discord.ui.View
    embed: discord.Embed | None = None
    content: str | None = None
    role_id: int | None = None

    @property
    def allowed_mentions(self) -> discord.AllowedMentions:
        """Nobody is mentioned, but for the role that an admin chose."""
        roles: list[Any] | bool = [discord.Object(self.role_id)] if self.role_id else False
        return discord.AllowedMentions(everyone=False, users=False, roles=roles, replied_user=False)

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of ``Messageable.send``."""
        given = {"view": self.view, "embed": self.embed, "content": self.content}
        return {k: v for k, v in given.items() if v is not None} | {"allowed_mentions": self.allowed_mentions}

    def payload(self) -> dict[str, Any]:
        """What goes over the wire, but for nonce, tts and the null that discord.py sends for no content."""
        out: dict[str, Any] = {"components": self.view.to_components()}
        if isinstance(self.view, discord.ui.LayoutView):
            out["flags"] = limits.COMPONENTS_V2
        if self.embed:
            out["embeds"] = [self.embed.to_dict()]
        if self.content:
            out["content"] = self.content
        return out | {"allowed_mentions": self.allowed_mentions.to_dict()}


def render(brief: Brief, *, brief_id: int, format: str, mark: str, role_id: int | None = None) -> Rendered:
    """The message of a brief, which breaks no limit whatever the brief holds.

    ``mark`` is the delivery's nonce, ``""`` in answers and previews; it stands in a custom_id of every format.
    Raises ValueError for a format that is not there, and for a mark or id that no custom_id can hold.
    """
    address = Address(brief_id, mark, "sources")
    str(address)
    if format == "embed":
        return embed(brief, address, role_id)
    if format not in LAYOUTS:
        raise ValueError(f"there is no format {format!r}")
    return Rendered(LAYOUTS[format](brief, address, role_id), role_id=role_id)


def card(brief: Brief, address: Address, role_id: int | None) -> discord.ui.LayoutView:
    """The whole brief: see the module's docstring."""
    head = f"## {wording.linked_title(brief)}"
    if dek := wording.dek(brief):
        head += f"\n{dek}"
    foot = wording.foot(brief)
    empty = _card_view(brief, address, role_id, head, packing.Packed(()), foot)
    fixed = limits.count(empty)
    room = limits.TEXT_TOTAL - fixed.text
    while room > 0:
        packed = packing.pack(brief, room)
        view = _card_view(brief, address, role_id, head, packed, foot)
        if not limits.problems(view):
            return view
        size = limits.count(view)
        texts = max(1, size.bytes - fixed.bytes)
        # Scripts of three and four bytes a character meet the byte limit first.
        room = min(room - 50, room * (limits.BYTES_TOTAL - fixed.bytes) // texts)
    return empty


def _card_view(
    brief: Brief, address: Address, role_id: int | None, head: str, packed: packing.Packed, foot: str
) -> discord.ui.LayoutView:
    texts = [text for text in (packed.text(), packed.also) if text]
    body: list[discord.ui.Item[Any]] = [discord.ui.TextDisplay(head)]
    if texts:
        body += [discord.ui.Separator(), *map(discord.ui.TextDisplay, texts)]
    if foot:
        body += [*([discord.ui.Separator()] if texts else []), discord.ui.TextDisplay(foot)]
    rows = [reading.Row(menu) for menu in reading.menus(brief, address)]
    rows.append(reading.Row(_sources_button(brief, address), *_links(brief)))
    return _layout(brief, role_id, *body, *rows)


def compact(brief: Brief, address: Address, role_id: int | None) -> discord.ui.LayoutView:
    """Title, dek, link, and a button that opens the card."""
    links = _links(brief)
    longest = wording.LINKED_URL if links else COMPACT_URL
    text = f"### {wording.linked_title(brief, longest)}"
    parts = [text, wording.dek(brief, COMPACT_DEK), wording.foot(brief)]
    row = reading.Row(_read_button(address), *links)
    return _layout(brief, role_id, discord.ui.TextDisplay("\n".join(filter(None, parts))), row)


def embed(brief: Brief, address: Address, role_id: int | None) -> Rendered:
    """The card as an embed, with menus and buttons below it."""
    title = wording.escaped(wording.title(brief), limits.EMBED_TITLE)
    found = discord.Embed(title=title, url=wording.button_url(brief.permalink) or wording.button_url(brief.original))
    found.colour = discord.Colour(colours.accent(brief.topic))
    if brief.source and (name := wording.label(brief.source.name, wording.NAME)):
        found.set_author(name=name, url=wording.button_url(brief.source.url))
    topic = wording.label(brief.topic.name, wording.NAME) if brief.topic else ""
    day = wording.day(brief.published)
    if isinstance(brief.published, datetime) and brief.published.tzinfo and 1 < brief.published.year < 9999:
        found.timestamp, day = brief.published, ""  # a footer has no Markdown; this is shown in the reader's zone
    if foot := " · ".join(filter(None, (topic, day, wording.source_count(brief)))):
        found.set_footer(text=foot)
    dek = wording.dek(brief)
    packed = packing.pack(brief, limits.EMBED_DESCRIPTION - limits.characters(dek) - 2 * len(GAP))
    found.description = GAP.join(filter(None, (dek, packed.text(), packed.also))) or None
    view = discord.ui.View(timeout=None)
    for menu in reading.menus(brief, address):
        view.add_item(menu)
    for item in (_sources_button(brief, address), *_links(brief)):
        view.add_item(item)
    return Rendered(view, found, f"<@&{role_id}>" if role_id else None, role_id)


LAYOUTS = {"card": card, "compact": compact}


def _layout(brief: Brief, role_id: int | None, *children: discord.ui.Item[Any]) -> discord.ui.LayoutView:
    view = reading.answer_view(brief, *children)
    if role_id:
        mention = discord.ui.LayoutView(timeout=None)
        mention.add_item(discord.ui.TextDisplay(f"<@&{role_id}>"))
        for child in view.children:
            mention.add_item(child)
        return mention
    return view


def _read_button(address: Address) -> BriefItem:
    return button(Address(address.brief_id, address.mark, "read"), "Read here", primary=True)


def _sources_button(brief: Brief, address: Address) -> BriefItem:
    return button(Address(address.brief_id, address.mark, "sources"), "Sources" if brief.coverage else "About")


def _links(brief: Brief) -> list[discord.ui.Button[Any]]:
    """Link buttons for the original and the permalink, as far as Discord takes their addresses."""
    original, permalink = wording.button_url(brief.original), wording.button_url(brief.permalink)
    found = []
    if original and original != permalink:
        found.append(discord.ui.Button[Any](style=LINK_BUTTON, label="Original article", url=original))
    if permalink:
        site = wording.site(permalink)
        label = f"Read on {site}" if site else "Read the brief"
        found.append(discord.ui.Button[Any](style=LINK_BUTTON, label=label, url=permalink))
    return found
