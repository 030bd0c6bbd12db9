"""The slash commands: ``register`` puts all of them into a tree; each module has those of one word."""

from __future__ import annotations

from typing import Any

from discord import app_commands

from bot.chat.commands import brief, help, topics


def register(tree: app_commands.CommandTree[Any]) -> None:
    """Let the tree answer every command. What Discord is told is synced apart (``sync``)."""
    for command in (brief.group(), topics.command(), help.command()):
        tree.add_command(command)
