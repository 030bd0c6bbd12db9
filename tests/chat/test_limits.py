"""Discord's limits are counted before anything is sent."""

from typing import Any

import discord
import pytest

from bot.chat import limits
from bot.chat.limits import COMPONENTS_V2, Size, count, problems


def text(content: str) -> dict[str, Any]:
    return {"type": 10, "content": content}


def row(*inside: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(inside)}


def button(custom_id: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": 2, "style": 2, "label": "Go", "custom_id": custom_id} | more


def select(n: int = 1, **more: Any) -> dict[str, Any]:
    options = [{"label": "one", "value": str(i)} for i in range(n)]
    return {"type": 3, "custom_id": "s", "options": options} | more


def v2(*components: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"flags": COMPONENTS_V2, "components": list(components)} | more


def embed(**parts: Any) -> dict[str, Any]:
    return {"embeds": [parts]}


def test_everything_nested_counts() -> None:
    section = {"type": 9, "components": [text("a")], "accessory": button("x")}
    payload = v2({"type": 17, "components": [text("äb"), {"type": 14}, section, row(button("y"), button("z"))]})
    # container, text, separator, section, its text, its button, row, two buttons
    assert count(payload) == Size(components=9, text=3, bytes=(3 + 12) + (1 + 12), embeds=0)
    assert problems(payload) == []


def test_characters_are_counted_as_the_strictest_reader_does() -> None:
    assert limits.characters("a") == 1
    assert limits.characters("漢") == 1
    assert limits.characters("😀") == 2


def test_a_view_is_counted_as_its_payload_is() -> None:
    view = discord.ui.LayoutView(timeout=None)
    view.add_item(discord.ui.Container(discord.ui.TextDisplay("Hello")))
    assert count(view) == count({"components": view.to_components()}) == Size(2, 5, 17, 0)
    assert problems(view) == []


def test_embeds_count_all_their_texts() -> None:
    parts = {
        "title": "12",
        "description": "123",
        "footer": {"text": "1"},
        "author": {"name": "1234"},
        "fields": [{"name": "1", "value": "12"}],
        "url": "https://example.com",
    }
    assert count(embed(**parts)).embeds == 13


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (v2(*[text("a")] * 41), "components: 41 of at most 40"),
        (v2(text("a" * 4001)), "text, characters: 4001"),
        (v2(text("a" * 2000), text("a" * 2001)), "text, characters: 4001"),
        (v2(text("😀" * 2001)), "text, characters: 4002"),
        (v2(text("漢" * 3400)), "text, bytes: 10212 of at most 10170"),
        (v2(text("")), "text: blank"),
        (v2(text("a"), content="b"), "forbid content"),
        (v2(), "no components"),
        (v2(row(*[button(str(n)) for n in range(6)])), "action row: 6"),
        (v2(row(select(), button())), "action row: 6"),
        (v2(row()), "action row: empty"),
        (v2(row(button("a"), button("a"))), "one custom_id"),
        (v2(row(button("a" * 101))), "custom_id: 101"),
        (v2(row(button(label="a" * 81))), "button label: 81"),
        (v2(row(button(label=" "))), "button label: blank"),
        (v2(row({"type": 2, "style": 5, "label": "a", "url": "https://" + "a" * 505})), "button url: 513"),
        (v2(row(select(26))), "select options: 26"),
        (v2(row(select(0))), "no options"),
        (v2(row(select(placeholder="a" * 151))), "select placeholder: 151"),
        (v2(row(select(options=[{"label": "a" * 101, "value": "1"}]))), "option label: 101"),
        (v2(row(select(options=[{"label": "", "value": "1"}]))), "option label: blank"),
        (v2(row(select(options=[{"label": "a", "value": "1" * 101}]))), "option value: 101"),
        (v2(row(select(options=[{"label": "a", "value": "1"}] * 2))), "one value"),
        (v2(row(select(options=[{"label": "a", "value": "1", "description": "a" * 101}]))), "option description"),
        ({"content": "a" * 2001}, "content: 2001"),
        ({}, "nothing to show"),
        ({"content": "a", "components": [text("b")]}, "needs Components V2"),
        ({"content": "a", "components": [row(button(str(n))) for n in range(6)]}, "action rows: 6"),
        ({"embeds": [{"title": "a"}] * 11}, "embeds: 11"),
        (embed(), "embed: nothing"),
        (embed(title="a" * 257), "embed title: 257"),
        (embed(description="a" * 4097), "embed description: 4097"),
        (embed(title="a", footer={"text": "a" * 2049}), "embed footer: 2049"),
        (embed(title="a", author={"name": "a" * 257}), "embed author: 257"),
        (embed(title="a", url="https://" + "a" * 2041), "embed url: 2049"),
        (embed(fields=[{"name": "a", "value": "b"}] * 26), "embed fields: 26"),
        (embed(fields=[{"name": "a" * 257, "value": "b"}]), "field name: 257"),
        (embed(fields=[{"name": "a", "value": "b" * 1025}]), "field value: 1025"),
        (embed(description="a" * 4000, footer={"text": "a" * 2001}), "embeds, characters: 6001"),
    ],
)
def test_each_limit_is_found(payload: dict[str, Any], said: str) -> None:
    assert any(said in problem for problem in problems(payload)), problems(payload)


@pytest.mark.parametrize(
    "payload",
    [
        v2(*[text("a" * 100)] * 40),
        v2(text("漢" * 3386)),
        v2(row(*[button(str(n)) for n in range(5)]), row(select(25))),
        {"content": "a" * 2000},
        embed(description="a" * 4096, footer={"text": "b" * 1904}),
        {"embeds": [{"title": "a"}], "components": [row(button())]},
    ],
)
def test_what_just_fits_is_let_through(payload: dict[str, Any]) -> None:
    assert problems(payload) == []
