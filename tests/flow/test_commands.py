"""The readers' commands as a person uses them: the real client on the wire stand-in, the real store behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.briefs.model import Brief, Section, SourceLink, Topic
from bot.chat import limits, list_items
from bot.chat.shelf import Shelf
from bot.store import briefs, sources, subscriptions
from bot.store.database import Database
from bot.store.sources import NewSource
from tests.flow import rig
from tests.standin import EPHEMERAL, StandIn, walk

AI, SECURITY = Topic("Data & AI", "data-ai"), Topic("Security", "security")
NO_PERMISSIONS = "0"


def brief(number: int, title: str, topic: Topic = AI, **changes: Any) -> Brief:
    made = Brief(
        title=title,
        dek=f"What happened in number {number}.",
        source=SourceLink("Wire", "https://wire.example/"),
        published=datetime(2026, 10, 1, tzinfo=UTC) + timedelta(days=number),
        topic=topic,
        permalink=f"https://wire.example/s/{number}",
        sections=(Section("What is new", f"Number {number} has a rewritten backend.", f"Sentence {number}."),),
    )
    return replace(made, **changes)


async def store(database: Database, *many: Brief) -> list[int]:
    async with database.transaction() as conn:
        now = datetime(2026, 12, 1, tzinfo=UTC)
        source = await sources.by_name(conn, "Wire")
        if source is None:
            new = NewSource(name="Wire", kind="site", location="https://wire.example/", interval=timedelta(hours=1))
            source = await sources.add(conn, new, now)
        return [(await briefs.add(conn, b, source_id=source.id, now=now, baseline=False))[0] for b in many]


@asynccontextmanager
async def bot(side: StandIn, database: Database, **options: Any) -> AsyncIterator[rig.Bot]:
    async with rig.running(side, database, library=Shelf(database), client_options=options) as made:
        await rig.until(lambda: side.commands)
        yield made


@pytest.fixture
def channel(side: StandIn) -> int:
    return side.add_channel(side.add_guild(), "general")


def text(message: dict[str, Any]) -> str:
    shown = [c.get("content", "") for c in walk(message.get("components") or [])]
    return "\n".join([message.get("content") or "", *shown])


def labels(message: dict[str, Any]) -> list[str]:
    return [c["label"] for c in walk(message.get("components") or []) if c.get("type") == 2]


def press(message: dict[str, Any], label: str) -> str:
    found = [c for c in walk(message["components"]) if c.get("label") == label]
    return str(found[0]["custom_id"])


def menu(message: dict[str, Any]) -> dict[str, Any]:
    return next(c for c in walk(message["components"]) if c.get("type") == 3)


async def answered(invocation: Any) -> dict[str, Any]:
    """The answer, once it is no longer thinking."""
    await rig.until(lambda: invocation.followups or (invocation.message and not invocation.message["flags"] & 1 << 7))
    found: dict[str, Any] = invocation.followups[-1] if invocation.followups else invocation.message
    assert not limits.problems({"flags": limits.COMPONENTS_V2, **found}) or not found.get("components")
    return found


async def shown_to(side: StandIn, path: str, channel: int, options: Any = None, **kw: Any) -> dict[str, Any]:
    invocation = await side.command(path, channel, options, **kw)
    callback = invocation.callback
    assert callback["data"]["flags"] & EPHEMERAL, "a lookup is seen by who asked alone"
    if callback["type"] == 4:
        return dict(callback["data"])
    return await answered(invocation)


async def test_latest_is_a_paged_list_that_only_the_asker_sees(side: StandIn, database: Database, channel: int) -> None:
    await store(database, *(brief(n, f"Brief {n}") for n in range(12)))
    async with bot(side, database):
        first = await shown_to(side, "brief latest", channel, {"count": 12})
        assert "Latest briefs" in text(first)
        assert "1–5 of 12 briefs · page 1 of 3" in text(first)
        assert "[Brief 11](" in text(first)
        assert labels(first) == ["Next page", "Share in channel"]
        assert not side.posted(channel) or all(m["flags"] & EPHEMERAL for m in side.posted(channel))


async def test_latest_of_a_topic_by_name_or_slug(side: StandIn, database: Database, channel: int) -> None:
    await store(database, brief(1, "About models"), brief(2, "About locks", SECURITY))
    async with bot(side, database):
        for typed in ("data-ai", "Data & AI", "data & ai"):
            shown = await shown_to(side, "brief latest", channel, {"topic": typed})
            assert "About models" in text(shown)
            assert "About locks" not in text(shown)
        wrong = await shown_to(side, "brief latest", channel, {"topic": "secrity"})
        assert "There is no topic `secrity`. Did you mean Security?" in text(wrong)


async def test_pages_turn_for_the_asker_alone_also_after_a_restart(
    side: StandIn, database: Database, channel: int
) -> None:
    await store(database, *(brief(n, f"Brief {n}") for n in range(12)))
    asker, other = side.person("asker"), side.person("other")
    async with bot(side, database):
        first = await shown_to(side, "brief latest", channel, {"count": 12}, user=asker)
    async with bot(side, database):
        refused = await side.click(first, press(first, "Next page"), user=other)
        await rig.until(lambda: refused.followups)
        assert list_items.NOT_YOURS in text(refused.followups[0])
        assert refused.followups[0]["flags"] & EPHEMERAL
        assert "page 1 of 3" in text(side.messages[int(first["id"])])

        await side.click(first, press(first, "Next page"), user=asker)
        await rig.until(lambda: "page 2 of 3" in text(side.messages[int(first["id"])]))
        second = side.messages[int(first["id"])]
        assert labels(second) == ["Previous page", "Next page", "Share in channel"]


async def test_a_list_is_shared_once_and_its_pages_stay_the_askers(
    side: StandIn, database: Database, channel: int
) -> None:
    await store(database, *(brief(n, f"Brief {n}") for n in range(7)))
    asker, other = side.person("asker"), side.person("other")
    async with bot(side, database):
        mine = await shown_to(side, "brief latest", channel, user=asker)
        button = press(mine, "Share in channel")
        clicks = await asyncio.gather(side.click(mine, button, user=asker), side.click(mine, button, user=asker))
        await rig.until(lambda: sum(len(click.followups) for click in clicks) == 2)
        said = [message for click in clicks for message in click.followups]
        public = [message for message in said if not (message.get("flags") or 0) & EPHEMERAL]
        assert len(public) == 1
        assert "page 1 of 2" in text(public[0])
        assert labels(public[0]) == ["Next page"]
        await rig.until(lambda: labels(side.messages[int(mine["id"])]) == ["Next page"])

        refused = await side.click(public[0], press(public[0], "Next page"), user=other)
        await rig.until(lambda: refused.followups)
        assert list_items.NOT_YOURS in text(refused.followups[0])
        opened = await side.click(public[0], menu(public[0])["custom_id"], ["7"], user=other)
        assert "Brief 6" in text(await answered(opened)), "what is public anybody may read"


async def test_nobody_shares_where_they_may_not_write(side: StandIn, database: Database, channel: int) -> None:
    await store(database, brief(1, "Quiet"))
    asker = side.person("asker")
    async with bot(side, database):
        mine = await shown_to(side, "brief latest", channel, user=asker)
        click = await side.click(mine, press(mine, "Share in channel"), user=asker, permissions=NO_PERMISSIONS)
        await rig.until(lambda: click.followups)
        assert list_items.MAY_NOT_WRITE in text(click.followups[0])


async def test_a_forged_id_is_refused(side: StandIn, database: Database, channel: int) -> None:
    await store(database, *(brief(n, f"Brief {n}") for n in range(7)))
    asker, other = side.person("asker"), side.person("other")
    async with bot(side, database):
        mine = await shown_to(side, "brief latest", channel, user=asker)
        number = int(press(mine, "Next page").split(":")[1])
        for forged in (f"list:{number}::share.0", f"list:{number}::open.0", f"list:{number}::follow.0"):
            found = dict(menu(mine), custom_id=forged)
            message = dict(mine, components=[{"type": 1, "id": 1, "components": [found]}])
            click = await side.click(message, forged, ["1"], user=other)
            if "share" in forged:
                await rig.until(lambda click=click: click.followups)
            said = text(await answered(click))
            assert list_items.NOT_YOURS in said or list_items.UNREADABLE in said
        for forged in ("list:", "list:x::page.0", "list:99999::page.0", f"list:{number}::page", "list:1::nothing.0"):
            message = dict(mine, components=[{"type": 1, "id": 1, "components": [dict(menu(mine), custom_id=forged)]}])
            click = await side.click(message, forged, ["1"], user=asker)
            await rig.until(lambda click=click: click.followups or text(click.message or {}).strip())
            said = text(click.followups[0] if click.followups else click.message)
            assert list_items.UNREADABLE in said or list_items.OLD in said


async def test_search_finds_says_what_it_searched_and_takes_dates(
    side: StandIn, database: Database, channel: int
) -> None:
    await store(
        database,
        brief(1, "PyTorch 2.15 Released"),
        brief(40, "PyTorch 2.16 Released"),
        brief(2, "Chrome fixes a zero-day", SECURITY),
    )
    async with bot(side, database):
        found = await shown_to(side, "brief search", channel, {"words": "pytorch -2.15"})
        assert "2.16" in text(found)
        assert "PyTorch 2.15 Released" not in text(found)
        mended = await shown_to(side, "brief search", channel, {"words": "pytorhc"})
        assert "Searched **pytorch** for pytorhc" in text(mended)
        assert "PyTorch 2.15" in text(mended)
        some = await shown_to(side, "brief search", channel, {"words": "chrome quantum"})
        assert "these have some of them" in text(some)
        late = await shown_to(side, "brief search", channel, {"words": "pytorch", "since": "2026-11-01"})
        assert "2.16" in text(late)
        assert "PyTorch 2.15 Released" not in text(late)
        none = await shown_to(side, "brief search", channel, {"words": "pytorch", "topic": "security"})
        assert "Nothing found for pytorch (Security)" in text(none)
        hint = await shown_to(side, "brief search", channel, {"words": "pytorch", "since": "whenever"})
        assert "I cannot read `whenever` as a date. Write a day such as yesterday" in text(hint)
        wrong = await shown_to(side, "brief search", channel, {"words": "pytorch", "source": "Wired"})
        assert "There is no source `Wired`. Did you mean Wire?" in text(wrong)


@pytest.mark.parametrize(
    "words", ['"', "AND", "NEAR(", "a* OR", "@everyone", "\\", "😀", "**x**", "-", "[x](https://e.example)"]
)
async def test_whatever_is_typed_is_answered_and_mentions_nobody(
    side: StandIn, database: Database, channel: int, words: str
) -> None:
    await store(database, brief(1, "Something else"))
    async with bot(side, database):
        shown = await shown_to(side, "brief search", channel, {"words": words})
        said = text(shown)
        assert "Nothing found" in said or "Write at least one word" in said
        assert "@everyone" not in said
        assert "\n[x](https" not in said


async def test_show_takes_a_choice_an_address_or_words(side: StandIn, database: Database, channel: int) -> None:
    (first,) = await store(database, brief(1, "PyTorch 2.15 Released"))
    async with bot(side, database):
        for typed in (str(first), "https://wire.example/s/1", "pytorch released", "pytorhc"):
            shown = await shown_to(side, "brief show", channel, {"brief": typed})
            assert "PyTorch 2.15 Released" in text(shown)
            assert "Share in channel" in labels(shown)
        missing = await shown_to(side, "brief show", channel, {"brief": "quantum"})
        assert "There is no brief like `quantum`" in text(missing)
        shared = await side.command("brief show", channel, {"brief": str(first)}, user=(me := side.person("me")))
        card = await answered(shared)
        click = await side.click(card, press(card, "Share in channel"), user=me)
        await rig.until(lambda: click.followups)
        assert "PyTorch 2.15 Released" in text(click.followups[0])
        assert not (click.followups[0].get("flags") or 0) & EPHEMERAL


async def test_autocomplete_is_quick_forgives_typos_and_knows_new_briefs(
    side: StandIn, database: Database, channel: int
) -> None:
    await store(database, brief(1, "PyTorch 2.15 Released"), brief(2, "Chrome zero-day", SECURITY))
    async with bot(side, database) as made:
        choices = await side.autocomplete("brief show", channel, "brief", "pytorhc")
        assert [choice["name"] for choice in choices] == ["PyTorch 2.15 Released"]
        topics = await side.autocomplete("brief search", channel, "topic", "secur")
        assert topics == [{"name": "Security", "value": "security", "type": 3}] or topics[0]["value"] == "security"
        named = await side.autocomplete("brief search", channel, "source", "wi")
        assert named[0]["name"] == "Wire"
        await store(database, *(brief(n, f"Kubernetes 1.{n}") for n in range(30, 60)))
        library = made.client.library
        assert isinstance(library, Shelf)
        library.tell()
        await rig.until(lambda: made.client.catalogue and len(made.client.catalogue.titles) == 32)
        choices = await side.autocomplete("brief show", channel, "brief", "kuber")
        assert len(choices) == limits.CHOICES
        assert choices[0]["name"] == "Kubernetes 1.59"


async def test_topics_with_counts_and_their_newest(side: StandIn, database: Database, channel: int) -> None:
    await store(database, brief(1, "Older"), brief(2, "Newer"), brief(3, "Locks", SECURITY))
    async with bot(side, database):
        shown = await shown_to(side, "topics", channel)
        assert "**Data & AI** · 2 briefs" in text(shown)
        assert "Newer" in text(shown)
        assert "**Security** · 1 brief" in text(shown)
        assert labels(shown) == ["Follow Data & AI", "Follow Security"]
        opened = await side.click(shown, menu(shown)["custom_id"], ["1"])
        assert "Latest in Security" in text(await answered(opened))


async def test_an_admin_makes_a_channel_follow_a_topic_and_ends_it(
    side: StandIn, database: Database, channel: int
) -> None:
    await store(database, brief(1, "Newer"))
    async with bot(side, database):
        shown = await shown_to(side, "topics", channel)
        button = press(shown, "Follow Data & AI")
        refused = await answered(await side.click(shown, button, permissions=NO_PERMISSIONS))
        assert list_items.ONLY_ADMINS in text(refused)
        both = await asyncio.gather(side.click(shown, button), side.click(shown, button))
        said = sorted([text(await answered(click)) for click in both])
        assert "follows" in said[0] or "follows" in said[1]
        assert any("already" in one for one in said)
        async with database.read() as conn:
            (made,) = await subscriptions.active(conn)
        assert (made.channel_id, made.topic, made.owner) == (channel, "data-ai", "guild")
        assert made.state == "active"
        async with database.transaction() as conn:
            await subscriptions.pause(conn, made.id, reason="the bot lacked Send Messages", now=made.created_at)
        assert "from now on" in text(await answered(await side.click(shown, button))), "what paused goes on"
        again = await answered(await side.click(shown, button))
        ended = await answered(await side.click(again, press(again, "Stop following")))
        assert "no longer follows **Data & AI**" in text(ended)
        async with database.read() as conn:
            assert await subscriptions.active(conn) == []


async def test_a_channel_the_bot_may_not_write_in_cannot_follow(
    side: StandIn, database: Database, channel: int
) -> None:
    await store(database, brief(1, "Newer"))
    await side.deny(channel, 1 << 11)
    async with bot(side, database):
        shown = await shown_to(side, "topics", channel)
        said = text(await answered(await side.click(shown, press(shown, "Follow Data & AI"))))
        assert "Send Messages" in said
        async with database.read() as conn:
            assert await subscriptions.active(conn) == []


async def test_an_empty_store_says_so(side: StandIn, database: Database, channel: int) -> None:
    async with bot(side, database):
        for path in ("topics", "brief latest"):
            assert "No briefs are stored yet" in text(await shown_to(side, path, channel))
        assert "/brief search" in text(await shown_to(side, "help", channel))


async def test_help_tells_admins_more(side: StandIn, database: Database, channel: int) -> None:
    async with bot(side, database):
        assert "Admins" in text(await shown_to(side, "help", channel))
        assert "Admins" not in text(await shown_to(side, "help", channel, permissions=NO_PERMISSIONS))


async def test_commands_are_published_only_when_they_changed(side: StandIn, database: Database, channel: int) -> None:
    published = r"/applications/\d+/commands"
    async with bot(side, database):
        await rig.until(lambda: side.sent(published, "PUT"))
        assert {c["name"] for c in side.commands["global"]} == {"brief", "topics", "help"}
        for command in side.commands["global"]:
            assert command["integration_types"] == [0, 1]
            assert command["contexts"] == [0, 1, 2]
        await until_noted(database, side)
    async with bot(side, database) as made:
        assert made.client._publishing is not None
        assert await made.client._publishing is False
        assert len(side.sent(published, "PUT")) == 1


async def test_a_development_guild_alone_gets_the_commands_and_loses_them_again(
    side: StandIn, database: Database, channel: int
) -> None:
    guild = int(side.channels[channel]["guild_id"])
    async with bot(side, database, development_guild=guild) as made:
        assert made.client._publishing is not None
        assert await made.client._publishing is True
        assert set(side.commands) == {str(guild)}
    async with bot(side, database) as made:
        assert made.client._publishing is not None
        assert await made.client._publishing is True
        assert side.commands[str(guild)] == []
        assert len(side.commands["global"]) == 3


async def until_noted(database: Database, side: StandIn) -> None:
    shelf = Shelf(database)
    async with asyncio.timeout(10):
        while not await shelf.note(f"commands:{side.app_id}"):  # noqa: ASYNC110  it has no event of its own
            await asyncio.sleep(0.01)


async def test_asking_too_often_is_answered_with_when_to_ask_again(
    side: StandIn, database: Database, channel: int
) -> None:
    eager = side.person("eager")
    async with bot(side, database):
        said = [text(await shown_to(side, "topics", channel, user=eager)) for _ in range(10)]
        assert not any("ask again in" in one for one in said)
        invocation = await side.command("topics", channel, user=eager)
        assert "ask again in" in text(invocation.callback["data"])


async def test_a_store_that_fails_is_told_and_nothing_hangs(side: StandIn, database: Database, channel: int) -> None:
    await store(database, brief(1, "Newer"))
    async with bot(side, database):
        shown = await shown_to(side, "topics", channel)
        await database.close()
        said = text(await shown_to(side, "brief latest", channel))
        assert "is closed" in said
        click = await side.click(shown, menu(shown)["custom_id"], ["0"])
        assert list_items.TROUBLE in text(await answered(click))


async def test_the_first_answer_comes_at_once_while_the_store_is_busy(
    side: StandIn, database: Database, channel: int
) -> None:
    await store(database, brief(1, "Newer"))
    async with bot(side, database):
        async with database.transaction():
            begun = time.perf_counter()
            invocation = await side.command("brief latest", channel)
            assert time.perf_counter() - begun < 1.0
            assert invocation.callback["type"] == 5
        assert "Newer" in text(await answered(invocation))


@pytest.mark.parametrize("context", [1, 2])
async def test_lookups_work_outside_servers(side: StandIn, database: Database, channel: int, context: int) -> None:
    await store(database, *(brief(n, f"Brief {n}") for n in range(7)))
    private, me = side.add_private(context), side.person("me")
    async with bot(side, database):
        shown = await shown_to(side, "brief latest", private, user=me)
        assert "page 1 of 2" in text(shown)
        await side.click(shown, press(shown, "Next page"), user=me)
        await rig.until(lambda: "page 2 of 2" in text(side.messages[int(shown["id"])]))
        click = await side.click(shown, press(shown, "Share in channel"), user=me)
        await rig.until(lambda: click.followups)
        assert "Brief 0" in text(click.followups[0])
        assert not (click.followups[0].get("flags") or 0) & EPHEMERAL
        topics = await shown_to(side, "topics", private, user=me)
        assert not any(label.startswith("Follow") for label in labels(topics))
        assert "Admins" not in text(await shown_to(side, "help", private, user=me))
        names = await side.autocomplete("brief show", private, "brief", "brief 3")
        assert [choice["name"] for choice in names] == ["Brief 3"]


async def test_a_channel_that_vanished_cannot_follow(side: StandIn, database: Database, channel: int) -> None:
    await store(database, brief(1, "Newer"))
    async with bot(side, database) as made:
        shown = await shown_to(side, "topics", channel)
        await side.dispatch("CHANNEL_DELETE", side.channels[channel])
        await rig.until(lambda: made.client.get_channel(channel) is None)
        said = text(await answered(await side.click(shown, press(shown, "Follow Data & AI"))))
        assert list_items.NOT_HERE in said
