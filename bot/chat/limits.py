"""Every number that Discord sets for a message, with its source, and the counting that is done before sending.

Sources: *docs* is discord/discord-api-docs under ``developers/`` (read in August 2026), *spec* is
discord/discord-api-spec ``specs/openapi.json`` (July 2026), *issue* is a thread of discord/discord-api-docs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

# --- messages ---
CONTENT = 2000  # docs resources/message: content
EMBEDS = 10  # docs resources/message: embeds
NONCE = 25  # docs resources/message: nonce
COMPONENTS_V2 = 1 << 15  # docs resources/message: message flags; forbids content and embeds beside components

# --- embeds: docs resources/message "Embed limits" ---
EMBED_TOTAL = 6000  # over all embeds of one message: title, description, field names and values, footer, author name
EMBED_TITLE = 256
EMBED_DESCRIPTION = 4096
EMBED_FIELDS = 25
EMBED_FIELD_NAME = 256
EMBED_FIELD_VALUE = 1024
EMBED_FOOTER = 2048
EMBED_AUTHOR = 256
EMBED_URL = 2048  # spec: URLs of an embed; they do not count towards EMBED_TOTAL

# --- components ---
COMPONENTS = 40  # docs components/reference: one message with Components V2, everything nested included
TEXT_TOTAL = 4000  # spec: TextDisplay content; docs pull request 8562: over all TextDisplays of one message
BYTES_TOTAL = 10_170  # issue 8554 (open): past it Discord answers 500. Sum of UTF-8 bytes + BYTES_PER_TEXT each
BYTES_PER_TEXT = 12  # issue 8554
ROWS = 5  # docs components/reference: action rows of a message without Components V2
BUTTONS_PER_ROW = 5  # docs components/reference: action row
BUTTON_LABEL = 80  # docs components/reference: button
BUTTON_URL = 512  # docs components/reference: button
CUSTOM_ID = 100  # docs components/reference: 1-100 characters, unique in its message
SELECT_OPTIONS = 25  # docs components/reference: string select
SELECT_PLACEHOLDER = 150  # docs components/reference: string select
OPTION_LABEL = 100  # docs components/reference: select option
OPTION_VALUE = 100  # docs components/reference: select option
OPTION_DESCRIPTION = 100  # docs components/reference: select option

# --- application commands: docs interactions/application-commands ---
CHOICES = 25  # of autocomplete
CHOICE_NAME = 100
CHOICE_VALUE = 100

# --- component types: docs components/reference "Component types" ---
ACTION_ROW, BUTTON, STRING_SELECT, TEXT_DISPLAY = 1, 2, 3, 10
LINK_STYLE = 5  # docs components/reference: button styles


@dataclass(frozen=True, slots=True)
class Size:
    """What a message takes of its limits.

    ``characters`` are UTF-16 code units: Discord does not say what it counts, and no other count is larger.
    ``text`` is that of all TextDisplays, ``bytes`` their UTF-8 bytes with ``BYTES_PER_TEXT`` each, ``embeds`` the
    characters of all embeds, ``components`` everything in the tree.
    """

    components: int
    text: int
    bytes: int
    embeds: int


class HasComponents(Protocol):
    """A view of discord.py."""

    def to_components(self) -> list[dict[str, Any]]:
        """The components as they are sent."""
        ...  # pragma: no cover


Payload = Mapping[str, Any]


def characters(text: str) -> int:
    """The length of ``text`` as the strictest reader counts it: UTF-16 code units."""
    return len(text) + sum(ord(char) > 0xFFFF for char in text)


def walk(components: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Every component of a tree, accessories included, parents first."""
    for component in components:
        yield component
        yield from walk(component.get("components") or ())
        accessory = component.get("accessory")
        if accessory:
            yield from walk((accessory,))


def count(message: Payload | HasComponents) -> Size:
    """What a payload, or a view, takes."""
    payload = _payload(message)
    components = list(walk(payload.get("components") or ()))
    texts = [c.get("content") or "" for c in components if c.get("type") == TEXT_DISPLAY]
    return Size(
        components=len(components),
        text=sum(map(characters, texts)),
        bytes=sum(len(text.encode("utf-8", "surrogatepass")) + BYTES_PER_TEXT for text in texts),
        embeds=sum(characters(text) for embed in payload.get("embeds") or () for _, text, _ in _embed_texts(embed)),
    )


def problems(message: Payload | HasComponents) -> list[str]:
    """Every limit that a payload, or a view, breaks, one line each; empty where Discord will take it."""
    payload = _payload(message)
    components = list(walk(payload.get("components") or ()))
    embeds = payload.get("embeds") or ()
    size, found = count(payload), _Found()
    v2 = bool(payload.get("flags", 0) & COMPONENTS_V2)
    found.over("content", characters(payload.get("content") or ""), CONTENT)
    found.over("embeds", len(embeds), EMBEDS)
    found.over("embeds, characters", size.embeds, EMBED_TOTAL)
    for embed in embeds:
        _embed_problems(embed, found)
    if v2:
        found.over("components", size.components, COMPONENTS)
        found.over("text, characters", size.text, TEXT_TOTAL)
        found.over("text, bytes", size.bytes, BYTES_TOTAL)
        if payload.get("content") or embeds:
            found.say("Components V2 forbid content and embeds")
        if not components:
            found.say("no components")
    else:
        found.over("action rows", len(payload.get("components") or ()), ROWS)
        if any(c.get("type") not in (ACTION_ROW, BUTTON, STRING_SELECT) for c in components):
            found.say("a component that needs Components V2")
        if not (payload.get("content") or embeds):
            found.say("nothing to show")
    for component in components:
        _component_problems(component, found)
    ids = [c["custom_id"] for c in components if c.get("custom_id")]
    if len(ids) != len(set(ids)):
        found.say("two components with one custom_id")
    return found.problems


class _Found:
    def __init__(self) -> None:
        self.problems: list[str] = []

    def say(self, problem: str) -> None:
        self.problems.append(problem)

    def over(self, what: str, value: int, limit: int) -> None:
        if value > limit:
            self.say(f"{what}: {value} of at most {limit}")

    def text(self, what: str, text: str, limit: int) -> None:
        if not text.strip():
            self.say(f"{what}: blank")
        self.over(what, characters(text), limit)


def _payload(message: Payload | HasComponents) -> Payload:
    if isinstance(message, Mapping):
        return message
    components = message.to_components()
    plain = all(c.get("type") in (ACTION_ROW, BUTTON, STRING_SELECT) for c in walk(components))
    return {"components": components, "flags": 0 if plain else COMPONENTS_V2}


def _embed_texts(embed: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """(part, text, limit) of everything in an embed that counts."""
    for part, limit in (("title", EMBED_TITLE), ("description", EMBED_DESCRIPTION)):
        if embed.get(part):
            yield part, embed[part], limit
    for part, key, limit in (("footer", "text", EMBED_FOOTER), ("author", "name", EMBED_AUTHOR)):
        if embed.get(part):
            yield part, embed[part].get(key) or "", limit
    for field in embed.get("fields") or ():
        yield "field name", field.get("name") or "", EMBED_FIELD_NAME
        yield "field value", field.get("value") or "", EMBED_FIELD_VALUE


def _embed_problems(embed: Mapping[str, Any], found: _Found) -> None:
    found.over("embed fields", len(embed.get("fields") or ()), EMBED_FIELDS)
    texts = list(_embed_texts(embed))
    for part, text, limit in texts:
        found.text(f"embed {part}", text, limit)
    if not texts:
        found.say("embed: nothing to show")
    for url in (embed.get("url"), (embed.get("author") or {}).get("url")):
        found.over("embed url", len(url or ""), EMBED_URL)


def _component_problems(component: Mapping[str, Any], found: _Found) -> None:
    kind = component.get("type")
    if kind == ACTION_ROW:
        inside = component.get("components") or ()
        if not inside:
            found.say("action row: empty")
        selects = sum(c.get("type") != BUTTON for c in inside)
        found.over("action row", len(inside) + selects * (BUTTONS_PER_ROW - 1), BUTTONS_PER_ROW)
    elif kind == BUTTON:
        found.text("button label", component.get("label") or "", BUTTON_LABEL)
        if component.get("style") == LINK_STYLE:
            found.text("button url", component.get("url") or "", BUTTON_URL)
        else:
            found.text("custom_id", component.get("custom_id") or "", CUSTOM_ID)
    elif kind == STRING_SELECT:
        options = component.get("options") or ()
        found.text("custom_id", component.get("custom_id") or "", CUSTOM_ID)
        found.over("select options", len(options), SELECT_OPTIONS)
        found.over("select placeholder", characters(component.get("placeholder") or ""), SELECT_PLACEHOLDER)
        if not options:
            found.say("select: no options")
        for option in options:
            found.text("option label", option.get("label") or "", OPTION_LABEL)
            found.text("option value", option.get("value") or "", OPTION_VALUE)
            found.over("option description", characters(option.get("description") or ""), OPTION_DESCRIPTION)
        if len({option.get("value") for option in options}) != len(options):
            found.say("two options with one value")
    elif kind == TEXT_DISPLAY:
        found.text("text", component.get("content") or "", TEXT_TOTAL)
