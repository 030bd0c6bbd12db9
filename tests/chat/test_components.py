"""Buttons and menus answer whoever uses them, before and after a restart, whatever their ids say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import discord
import pytest
import simcord

from bot.briefs.model import Brief, Section
from bot.chat import cards, components, ids, items, limits, reading
from bot.errors import StoreError
from tests.chat.make import BODY, brief

MARK = "0badcafe.1f"


class Shelf:
    """A library that holds what it was given."""

    def __init__(self) -> None:
        self.briefs: dict[int, Brief] = {}
        self.fault: Exception | None = None

    async def brief(self, brief_id: int) -> Brief | None:
        if self.fault:
            raise self.fault
        return self.briefs.get(brief_id)


class Reader(discord.Client):
    """A client with nothing but what the module says it needs."""

    def __init__(self, library: Shelf | None) -> None:
        super().__init__(intents=discord.Intents(guilds=True))
        self.library = library

    async def setup_hook(self) -> None:
        self.add_dynamic_items(*components.ITEMS)


@dataclass
class World:
    env: Any
    channel: Any
    you: Any
    shelf: Shelf

    async def post(self, what: Brief, format: str = "card", brief_id: int = 7) -> discord.Message:
        self.shelf.briefs[brief_id] = what
        rendered = cards.render(what, brief_id=brief_id, format=format, mark=MARK)
        return await self.send(**rendered.arguments())

    async def send(self, **arguments: Any) -> discord.Message:
        return await self.env.bot.get_channel(self.channel.id).send(**arguments)  # type: ignore[no-any-return]

    async def send_forged(self, *custom_ids: str) -> discord.Message:
        """A message of ours with ids that we would not write."""
        view = discord.ui.LayoutView(timeout=None)
        row: discord.ui.ActionRow[Any] = discord.ui.ActionRow()
        for custom_id in custom_ids:
            row.add_item(items.BriefItem(discord.ui.Button(label="Go", custom_id=custom_id)))
        view.add_item(row)
        return await self.send(view=view)


@asynccontextmanager
async def a_world() -> AsyncIterator[World]:
    """A server with a reader. No fixture: SimCord's clock lives in the context of the test's own task."""
    shelf = Shelf()
    async with simcord.run(Reader(shelf)) as env:
        guild = env.create_guild("Readers")
        channel = guild.create_text_channel("briefs")
        yield World(env, channel, guild.add_member(env.create_user("ada")), shelf)
        # Every click was deferred first, in place or for its asker alone.
        answered = [request.json for request in env.http_requests if request.path.endswith("/callback")]
        assert all(body["type"] == 6 or (body["type"] == 5 and body["data"]["flags"] == 64) for body in answered)


def text(result: Any) -> str:
    """What an answer says, after a look at who can see it and at its size."""
    assert result.ephemeral
    found = {"components": result.response.components, "content": result.response.content}
    shown = [c["content"] for c in limits.walk(found["components"]) if c["type"] == limits.TEXT_DISPLAY]
    assert not limits.problems(found | {"flags": limits.COMPONENTS_V2 if shown else 0})
    return "\n".join(shown) or str(found["content"])


async def test_a_section_is_read_in_full() -> None:
    async with a_world() as world:
        message = await world.post(brief(3))
        assert f"### Rewritten backend 2\n{BODY}" in text(await world.you.select(message, ["1"]))


async def test_everything_works_after_a_restart() -> None:
    async with a_world() as world:
        card = await world.post(brief(3))
        compact = await world.post(brief(3), "compact")
        embed = await world.post(brief(3), "embed")
        await world.env.restart_bot(Reader(world.shelf))
        assert "### Rewritten backend 1" in text(await world.you.select(card, ["0"]))
        assert "Sources covering this story" in text(await world.you.click(card, label="Sources"))
        opened = await world.you.click(compact, label="Read here")
        assert text(opened).startswith("## [PyTorch 2.15")
        assert "### Rewritten backend 3" in text(await world.you.select(embed, ["2"]))
        assert "Sources covering this story" in text(await world.you.click(embed, label="Sources"))
        assert "### Rewritten backend 2" in text(await world.you.select(opened.response.message, ["1"]))


async def test_public_messages_never_change() -> None:
    async with a_world() as world:
        for format in ("card", "compact", "embed"):
            message = await world.post(brief(3), format)
            before = [c.to_dict() for c in message.components]
            await world.you.click(message, label="Read here" if format == "compact" else "Sources")
            after = world.channel.history()[-1]
            assert [c.to_dict() for c in after.components] == before
            assert after.edited_at is None
        forged = await world.send_forged("brief:7::page.0.0")
        assert "### Rewritten backend 1" in text(await world.you.click(forged, label="Go"))


async def test_a_long_section_is_turned_page_by_page() -> None:
    async with a_world() as world:
        message = await world.post(brief(sections=(Section("Long", BODY * 40),)))
        result = await world.you.select(message, ["0"])
        n = len(reading.pages(world.shelf.briefs[7].sections[0]))
        assert n > 2
        assert f"page 1 of {n}" in text(result)
        opened = result.response.message
        turned = await world.you.click(opened, label="Next page")
        assert turned.acknowledged
        assert not turned.followups
        shown = [c["content"] for c in limits.walk(turned.response.components) if c["type"] == limits.TEXT_DISPLAY]
        assert f"page 2 of {n}" in shown[-1]
        back = await world.you.click(turned.response.message, label="Previous page")
        shown = [c["content"] for c in limits.walk(back.response.components) if c["type"] == limits.TEXT_DISPLAY]
        assert f"page 1 of {n}" in shown[-1]


async def test_groups_lead_to_a_section() -> None:
    async with a_world() as world:
        message = await world.post(brief(200))
        group = await world.you.select(message, ["175-200"])
        assert text(group).startswith("Sections 176–200 of [PyTorch")
        assert "### Rewritten backend 200" in text(await world.you.select(group.response.message, ["199"]))


async def test_both_menus_of_a_long_brief_work() -> None:
    async with a_world() as world:
        message = await world.post(brief(40))
        second = str(ids.Address(7, MARK, "sections", (25, 40)))
        assert "### Rewritten backend 40" in text(await world.you.select(message, ["39"], custom_id=second))


async def test_a_brief_that_is_gone() -> None:
    async with a_world() as world:
        message = await world.post(brief(3))
        world.shelf.briefs.clear()
        assert text(await world.you.select(message, ["1"])) == items.GONE


async def test_a_section_that_is_gone() -> None:
    async with a_world() as world:
        message = await world.post(brief(3))
        opened = await world.you.select(message, ["1"])
        world.shelf.briefs[7] = brief(1)
        assert text(await world.you.select(message, ["2"])) == reading.NO_SECTION
        turned = await world.you.click(opened.response.message, label="Next section")
        assert [f.content for f in turned.followups] == [reading.NO_SECTION]
        assert all(f.ephemeral for f in turned.followups)


@pytest.mark.parametrize(
    "custom_id",
    [
        "brief:",
        "brief:x:y:z",
        "brief:7:a:",
        "brief:7:a:nothing",
        "brief:9223372036854775808:a:read",
        "brief:007:a:read",
        "brief:7:a:read.1.2.3.4.5",
        "brief:7:<@&1>:read",
        "brief:7:a:read\nx",
    ],
)
async def test_forged_ids_get_a_sentence(custom_id: str) -> None:
    async with a_world() as world:
        await world.post(brief(3))
        message = await world.send_forged(custom_id)
        assert text(await world.you.click(message, label="Go")) == items.UNREADABLE


@pytest.mark.parametrize(
    "custom_id", ["brief:7::sections", "brief:7::sections.0.99", "brief:7::page", "brief:7::page.9.9"]
)
async def test_forged_numbers_get_a_sentence(custom_id: str) -> None:
    async with a_world() as world:
        await world.post(brief(3))
        message = await world.send_forged(custom_id)
        assert text(await world.you.click(message, label="Go")) == reading.NO_SECTION


@pytest.mark.parametrize(
    "fault", [StoreError("briefbot.db", "the disk is full", "Make room"), RuntimeError("boom"), KeyError("x")]
)
async def test_trouble_is_said_and_not_raised(fault: Exception) -> None:
    async with a_world() as world:
        message = await world.post(brief(3))
        world.shelf.fault = fault
        assert text(await world.you.select(message, ["1"])) == items.TROUBLE
        assert not world.env.errors


async def test_without_a_library_nothing_is_found() -> None:
    async with simcord.run(Reader(None)) as env:
        guild = env.create_guild("Readers")
        channel, you = guild.create_text_channel("briefs"), guild.add_member(env.create_user("ada"))
        rendered = cards.render(brief(3), brief_id=7, format="card", mark=MARK)
        target = env.bot.get_channel(channel.id)
        assert isinstance(target, discord.TextChannel)
        assert text(await you.select(await target.send(**rendered.arguments()), ["0"])) == items.GONE


async def test_discord_that_does_not_listen_is_no_error() -> None:
    async with a_world() as world:
        message = await world.post(brief(3))
        world.env.inject_error("POST", "/interactions/*/callback", status=404)
        await world.you.select(message, ["1"])
        assert not world.env.errors


async def test_answers_ping_nobody() -> None:
    async with a_world() as world:
        hostile = brief(sections=(Section("@everyone", "@here <@123456789012345678> <@&123456789012345678>"),))
        message = await world.post(hostile)
        await world.you.select(message, ["0"])
        sent = [r.json for r in world.env.http_requests if "webhooks" in r.path or "interactions" in r.path]
        assert any("allowed_mentions" in body for body in sent)
        assert all(body.get("allowed_mentions", {"parse": []}) == {"parse": []} for body in sent)


async def test_nothing_is_kept_for_a_click_that_may_never_come() -> None:
    async with a_world() as world:
        for n in range(3):
            message = await world.post(brief(3), "card", n + 1)
            await world.you.select(message, ["0"])
        assert not world.env.bot._connection._view_store._views
        assert not world.env.bot._connection._view_store._synced_message_views


async def test_the_protocol_is_what_a_client_needs() -> None:
    assert isinstance(Shelf(), components.Library)
    assert not isinstance(SimpleNamespace(), components.Library)


async def test_a_brief_that_was_edited_is_read_as_it_is_now() -> None:
    async with a_world() as world:
        message = await world.post(brief(3))
        world.shelf.briefs[7] = replace(brief(3), sections=(Section("New", "Now it reads so."),) * 3)
        assert "Now it reads so." in text(await world.you.select(message, ["1"]))
