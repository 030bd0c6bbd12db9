"""The stand-in behaves to discord.py as Discord does: without this proof the other flow tests would prove nothing.

What is checked against the library's own behaviour is a fact; what rests on unpublished behaviour of Discord is listed
in the stand-in's docstring.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import discord
import pytest
from discord import app_commands, ui

from bot.chat.client import Client
from tests.standin import FORUM, NEWS, StandIn, too_many, walk


class Follow(ui.DynamicItem[ui.Button[Any]], template=r"follow:(?P<topic>[a-z]+)"):
    def __init__(self, topic: str) -> None:
        super().__init__(ui.Button(label=f"Follow {topic}", custom_id=f"follow:{topic}"))
        self.topic = topic

    @classmethod
    async def from_custom_id(cls, interaction: Any, item: Any, match: Any, /) -> Follow:
        return cls(match["topic"])

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        await interaction.response.send_message(f"following {self.topic}", ephemeral=True)


class Edit(ui.Modal, title="Edit topic"):
    keywords: ui.Label[Any] = ui.Label(text="Keywords", component=ui.TextInput(max_length=200))

    async def on_submit(self, interaction: discord.Interaction[Any]) -> None:
        assert isinstance(self.keywords.component, ui.TextInput)
        await interaction.response.send_message(f"saved {self.keywords.component.value}", ephemeral=True)


def layout(sections: int = 12, characters: int = 290) -> ui.LayoutView:
    view = ui.LayoutView(timeout=None)
    box: ui.Container[Any] = ui.Container(ui.TextDisplay("# Tech brief"), accent_colour=0x5865F2)
    for n in range(sections):
        box.add_item(ui.Separator())
        box.add_item(ui.TextDisplay(f"### {n + 1}. Section\n" + "x" * characters))
    view.add_item(box)
    row: ui.ActionRow[Any] = ui.ActionRow()
    row.add_item(Follow("ai"))
    row.add_item(ui.Button(label="Archive", url="https://example.org"))
    view.add_item(row)
    return view


class Probe(Client):
    """The bot's client with commands of each shape."""

    async def setup_hook(self) -> None:
        await super().setup_hook()
        self.add_dynamic_items(Follow)

        @self.tree.command(description="Latest brief on a topic")
        async def topic(interaction: discord.Interaction[Any], topic: str) -> None:
            await interaction.response.defer(thinking=True)
            await interaction.followup.send(view=layout(3))

        @topic.autocomplete("topic")
        async def complete(interaction: Any, current: str) -> list[app_commands.Choice[str]]:
            return [app_commands.Choice(name=t, value=t) for t in ("ai", "apple", "linux") if t.startswith(current)]

        group = app_commands.Group(name="briefs", description="manage", guild_only=True)

        @group.command(description="edit")
        async def edit(interaction: discord.Interaction[Any]) -> None:
            await interaction.response.send_modal(Edit())

        @group.command(description="breaks")
        async def broken(interaction: discord.Interaction[Any]) -> None:
            raise ZeroDivisionError

        self.tree.add_command(group)
        await self.tree.sync()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """The library waits 5 s before a second IDENTIFY."""


@pytest.fixture
async def side() -> AsyncIterator[StandIn]:
    async with StandIn(window=0.5) as made:
        yield made


@pytest.fixture
def guild(side: StandIn) -> int:
    return side.add_guild()


@pytest.fixture
def text(side: StandIn, guild: int) -> int:
    return side.add_channel(guild, "news")


@pytest.fixture
async def client(side: StandIn, guild: int, text: int) -> AsyncIterator[Client]:
    with side.patched():
        made = Probe(library=None, guild_ready_timeout=0)
        running = asyncio.create_task(made.run_until_closed(side.token))
        await asyncio.wait_for(side.ready.wait(), 10)
        await made.wait_until_ready()
        yield made
        await made.close()
        await running


def place(client: Client, channel_id: int) -> Any:
    return client.get_channel(channel_id)


def statuses(side: StandIn, channel_id: int) -> list[int]:
    return [seen.status for seen in side.sent(rf"/channels/{channel_id}/messages$")]


# -- messages --


async def test_a_layout_is_taken_as_sent(side: StandIn, client: Client, text: int) -> None:
    view = layout()
    message = await place(client, text).send(view=view)
    raw = side.messages[message.id]
    assert raw["flags"] == 1 << 15
    assert len(list(walk(raw["components"]))) == view.total_children_count
    assert side.sent("/messages$")[0].json["enforce_nonce"] is True


async def test_the_limits_are_the_servers(client: Client, text: int) -> None:
    with pytest.raises(discord.HTTPException, match="DISPLAYABLE_TEXT_SIZE") as refused:
        await place(client, text).send(view=layout(12, 400))
    assert (refused.value.status, refused.value.code) == (400, 50035)


async def test_history_goes_from_old_to_new_in_pages(side: StandIn, client: Client, text: int) -> None:
    made = [int(side._make_message(text, {"content": str(n)}, [])["id"]) for n in range(230)]
    channel = place(client, text)
    after = discord.Object(made[9])
    assert [m.id async for m in channel.history(after=after, limit=None)] == made[10:]
    assert [m.id async for m in channel.history(limit=5)] == made[:-6:-1]
    assert len([seen for seen in side.requests if seen.method == "GET" and seen.path.endswith("/messages")]) == 4


# -- rate limits --


async def test_the_call_that_empties_a_bucket_sleeps_after_its_message_exists(
    side: StandIn, client: Client, text: int
) -> None:
    """Trap 1 of the notes, and the reason why the bot stays one under the bucket."""
    times = []
    for n in range(5):
        began = time.monotonic()
        await place(client, text).send(str(n))
        times.append(time.monotonic() - began)
    assert sum(times[:4]) < 0.45 < sum(times)
    assert statuses(side, text) == [200] * 5


async def test_concurrent_sends_learn_the_bucket(side: StandIn, client: Client, text: int) -> None:
    await asyncio.gather(*[place(client, text).send(str(n)) for n in range(8)])
    assert statuses(side, text) == [200] * 8


@pytest.mark.parametrize("scope", ["user", "global"])
async def test_a_429_is_waited_out_by_the_library(side: StandIn, client: Client, text: int, scope: str) -> None:
    side.fail("POST", "/messages$", lambda: too_many(0.2, scope=scope))
    began = time.monotonic()
    await place(client, text).send("x")
    assert time.monotonic() - began > 0.19
    assert statuses(side, text) == [429, 200]


async def test_a_429_without_via_and_one_too_long_are_raised(side: StandIn, client: Client, text: int) -> None:
    side.fail("POST", "/messages$", lambda: too_many(0.1, via=False))
    with pytest.raises(discord.HTTPException) as wall:
        await place(client, text).send("x")
    assert wall.value.status == 429
    side.fail("POST", "/messages$", lambda: too_many(45.0))
    with pytest.raises(discord.RateLimited):
        await place(client, text).send("x")


# -- nonces and cuts --


async def test_a_nonce_gives_the_first_message_until_its_window_ends(side: StandIn, client: Client, text: int) -> None:
    channel = place(client, text)
    first = await channel.send("x", nonce="d.1")
    assert (await channel.send("x", nonce="d.1")).id == first.id
    side.nonce_window = 0.0
    assert (await channel.send("x", nonce="d.1")).id != first.id


async def test_the_nonce_of_a_deleted_message_is_an_unknown_message(client: Client, text: int) -> None:
    channel = place(client, text)
    await (await channel.send("x", nonce="d.1")).delete()
    with pytest.raises(discord.NotFound) as gone:
        await channel.send("x", nonce="d.1")
    assert gone.value.code == 10008


@pytest.mark.parametrize(("fault", "made"), [("drop-before", 0), ("drop-after", 1)])
async def test_a_cut_connection_is_raised_and_not_retried(
    side: StandIn, client: Client, text: int, fault: str, made: int
) -> None:
    side.fail("POST", "/messages$", fault)
    with pytest.raises((OSError, aiohttp.ClientError)):
        await place(client, text).send("x", nonce="d.1")
    assert len(side.posted(text)) == made
    assert len(side.sent("/messages$")) == 1


async def test_a_500_is_retried_by_the_library_with_the_same_nonce(side: StandIn, client: Client, text: int) -> None:
    side.fail("POST", "/messages$", "500-after")
    await place(client, text).send("x")
    nonces = [seen.json["nonce"] for seen in side.sent("/messages$")]
    assert len(nonces) == 2
    assert len(set(nonces)) == len(side.posted(text)) == 1


# -- threads and announcements --


async def test_threads_forums_and_crossposts(side: StandIn, client: Client, guild: int, text: int) -> None:
    root = await place(client, text).send("root")
    assert (await root.create_thread(name="discussion")).id == root.id
    forum, news = side.add_channel(guild, "forum", FORUM, available_tags=[]), side.add_channel(guild, "ann", NEWS)
    for channel_id in (forum, news):
        await side.dispatch("CHANNEL_CREATE", side.channels[channel_id])
    await asyncio.sleep(0.02)
    post = await place(client, forum).create_thread(name="Brief", view=layout(3))
    assert post.message.id in side.messages
    assert "nonce" not in side.sent(rf"/channels/{forum}/threads$")[0].json["message"]
    side.crosspost_limit = 1
    messages = [await place(client, news).send(str(n)) for n in range(2)]
    await messages[0].publish()
    with pytest.raises(discord.HTTPException) as again:
        await messages[0].publish()
    assert again.value.code == 40033
    with pytest.raises(discord.RateLimited):
        await messages[1].publish()


# -- interactions --


async def test_commands_autocomplete_and_modals(side: StandIn, client: Client, text: int) -> None:
    assert {c["name"] for c in side.commands["global"]} >= {"topic", "briefs"}
    asked = await side.command("topic", text, {"topic": "ai"})
    assert asked.callback["type"] == 5
    while not asked.followups:  # noqa: ASYNC110  the stand-in's own list
        await asyncio.sleep(0.005)
    assert [c["value"] for c in await side.autocomplete("topic", text, "topic", "a")] == ["ai", "apple"]
    opened = await side.command("briefs edit", text)
    assert opened.callback["type"] == 9
    done = await side.submit(opened, {"Keywords": "rust"})
    assert done.callback["data"]["content"] == "saved rust"


async def test_a_button_works_without_a_view_in_memory(side: StandIn, client: Client, text: int) -> None:
    message = await place(client, text).send(view=layout(1))
    pressed = await side.click(side.messages[message.id], "follow:ai")
    assert pressed.callback["data"]["content"] == "following ai"


async def test_a_command_that_breaks_is_answered_with_an_id_that_the_log_has(
    side: StandIn, client: Client, text: int, capsys: pytest.CaptureFixture[str]
) -> None:
    pressed = await side.command("briefs broken", text)
    answer = pressed.callback["data"]
    assert answer["flags"] == 64
    mark = answer["content"].split("`")[1]
    assert len(mark) == 6
    logged = capsys.readouterr().out
    assert mark in logged
    assert "ZeroDivisionError" in logged


# -- gateway --


@pytest.mark.parametrize("how", [4000, "reconnect", "abort", 1000])
async def test_a_cut_gateway_resumes_and_replays(side: StandIn, client: Client, text: int, how: int | str) -> None:
    message = await place(client, text).send(view=layout(1))
    await side.cut(how)
    missed = side.click(side.messages[message.id], "follow:ai") if how != "reconnect" else None
    if missed:
        assert (await missed).callback["data"]["content"] == "following ai"
    await asyncio.wait_for(side.resumed.wait(), 10)
    assert side.gateway_ops.count(2) == 1


async def test_an_invalid_session_identifies_anew(side: StandIn, client: Client, text: int) -> None:
    await side.cut("invalid")
    await asyncio.wait_for(side.ready.wait(), 10)
    await asyncio.sleep(0.05)
    assert side.gateway_ops.count(2) == 2
    assert (await place(client, text).send("still here")).id in side.messages


async def test_servers_and_channels_come_and_go(side: StandIn, client: Client, guild: int, text: int) -> None:
    await side.guild_unavailable(guild)
    await asyncio.sleep(0.05)
    known = client.get_guild(guild)
    assert known
    assert known.unavailable
    with pytest.raises(discord.NotFound):
        await client.get_partial_messageable(text).send("x")
    await side.guild_available(guild)
    await asyncio.sleep(0.05)
    assert place(client, text)
    await side.delete_channel(text)
    await asyncio.sleep(0.05)
    assert place(client, text) is None
