"""docs/commands.md has every command with its options, and each fits what Discord takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import discord
import pytest
from discord import app_commands

from bot.chat.client import Client
from bot.chat.commands import sync

PAGE = (Path(__file__).parent.parent.parent / "docs" / "commands.md").read_text("utf-8")
COMMAND_CHARACTERS = 8000  # docs interactions/application-commands: names, descriptions and values of one command


def every(commands: list[app_commands.Command | app_commands.Group]) -> Iterator[app_commands.Command]:  # type: ignore[type-arg]
    for command in commands:
        if isinstance(command, app_commands.Group):
            yield from every(command.commands)
        else:
            yield command


async def test_the_page_has_every_command_with_its_options() -> None:
    tree = Client(library=None).tree
    rows = dict(re.findall(r"^\| `/([a-z ]+)` \|([^|]*)\|", PAGE, re.M))
    found = {command.qualified_name: [p.name for p in command.parameters] for command in every(tree.get_commands())}
    assert {name: re.findall(r"`(\w+)`", options) for name, options in rows.items()} == found


async def test_every_command_is_described_and_usable_everywhere() -> None:
    tree = Client(library=None).tree
    for command in tree.get_commands():
        payload = command.to_dict(tree)
        assert len(str(payload)) < COMMAND_CHARACTERS
        assert payload["integration_types"] == [0, 1]
        assert payload["contexts"] == [0, 1, 2]
        for one in discord_options(payload):
            assert 0 < len(one["description"]) <= 100
            assert one["description"] != "…"


def discord_options(payload: dict[str, object]) -> Iterator[dict[str, str]]:
    for option in payload.get("options") or ():  # type: ignore[attr-defined]
        yield option
        yield from discord_options(option)


async def test_the_mark_changes_with_the_commands_and_with_nothing_else() -> None:
    one, other = Client(library=None).tree, Client(library=None).tree
    assert sync.mark(one) == sync.mark(other)

    async def more(interaction: discord.Interaction) -> None: ...

    other.add_command(app_commands.Command(name="more", description="More", callback=more))
    assert sync.mark(one) != sync.mark(other)


@pytest.mark.parametrize("image", re.findall(r"\]\((images/[^)]+)\)", PAGE))
def test_the_pictures_are_there(image: str) -> None:
    assert (Path(__file__).parent.parent.parent / "docs" / image).exists()
