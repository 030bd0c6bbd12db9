"""What the network and Discord can do to a message: the real client, worker and store against the wire stand-in."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.briefs.model import Brief
from bot.chat import cards
from bot.delivery.worker import utc_now
from bot.errors import StartError
from bot.store import outbox, subscriptions
from bot.store.database import Database
from tests.flow.rig import (
    Bot,
    brief_ids,
    deliveries,
    make_worker,
    publish,
    running,
    subscribe,
    subscription,
    until,
    until_state,
)
from tests.standin import EMBED_LINKS, HISTORY, SEND, SEND_IN_THREADS, TEXT, VIEW, StandIn, error, reply, too_many

POST = r"/channels/{}/messages$"
CATEGORY, FORUM = 4, 15


@pytest.fixture
def channel(side: StandIn) -> int:
    return side.add_channel(side.add_guild(), "briefs")


# -- the plain way --


async def test_each_brief_reaches_each_channel_once_and_in_order(side: StandIn, database: Database) -> None:
    guild = side.add_guild()
    channels = [side.add_channel(guild, f"c{n}") for n in range(5)]
    for channel in channels:
        await subscribe(database, channel)
    async with running(side, database):
        ids = [await publish(database, n) for n in range(10)]
        for brief_id in ids:
            await until_state(database, brief_id, *["sent"] * 5)
    assert [brief_ids(side, channel) for channel in channels] == [ids] * 5
    posts = side.sent(r"/messages$")
    assert {seen.status for seen in posts} == {200}
    assert all(seen.json["enforce_nonce"] and len(seen.json["nonce"]) <= 25 for seen in posts)
    assert all(seen.json["allowed_mentions"] == {"parse": []} for seen in posts)


async def test_a_thread_takes_messages_by_its_own_permission(side: StandIn, database: Database, channel: int) -> None:
    thread = side.add_thread(channel, "talk")
    wanted = await subscribe(database, thread)
    async with running(side, database):
        first = await publish(database, 1)
        await until_state(database, first, "sent")
        await side.deny(channel, SEND)
        second = await publish(database, 2)
        await until_state(database, second, "sent")
        await side.deny(channel, SEND_IN_THREADS)
        await publish(database, 3)
        paused = await until_paused(database, wanted.id)
    assert paused.reason
    assert paused.reason.startswith(
        "the bot lacks Send Messages in Threads in #talk of guild: open the settings of #briefs"
    )
    assert brief_ids(side, thread) == [first, second]


async def test_a_role_is_mentioned_only_where_it_was_chosen(side: StandIn, database: Database, channel: int) -> None:
    other = side.add_channel(next(iter(side.guilds)), "quiet")
    await subscribe(database, channel, role_id=1234567890123456789)
    await subscribe(database, other)
    async with running(side, database):
        await until_state(database, await publish(database, 1), "sent", "sent")
    (loud,), (quiet,) = side.sent(POST.format(channel)), side.sent(POST.format(other))
    assert loud.json["allowed_mentions"] == {"parse": [], "roles": [1234567890123456789]}
    assert not quiet.json["allowed_mentions"].get("roles")


async def test_what_is_recorded_is_what_discord_has(side: StandIn, database: Database, channel: int) -> None:
    await subscribe(database, channel)
    async with running(side, database):
        (row,) = await until_state(database, await publish(database, 1), "sent")
    assert [int(message["id"]) for message in side.posted(channel)] == [row.message_id]
    assert row.attempts == 1


async def test_drain_ends_when_nothing_is_due(side: StandIn, database: Database) -> None:
    guild = side.add_guild()
    good, broken = side.add_channel(guild, "good"), side.add_channel(guild, "broken")
    for each in (good, broken):
        await subscribe(database, each)
    side.fail("POST", POST.format(broken), lambda: error(503, 0, "down"), times=1000)
    ids = [await publish(database, n) for n in range(6)]
    async with running(side, database) as bot:
        await bot.worker.stop()
        again = make_worker(database, bot.client)
        await asyncio.wait_for(again.drain(), 10)
        await again.stop()
    assert brief_ids(side, good) == ids
    assert not side.posted(broken)


# -- later --


@pytest.mark.parametrize("scope", ["user", "shared", "global"])
async def test_a_429_is_waited_out(side: StandIn, database: Database, channel: int, scope: str) -> None:
    await subscribe(database, channel)
    side.fail("POST", POST.format(channel), lambda: too_many(0.2, scope=scope))
    async with running(side, database) as bot:
        began = time.monotonic()
        await until_state(database, await publish(database, 1), "sent")
        assert time.monotonic() - began > 0.19
        # Only what counts towards Discord's ban is counted.
        assert len(bot.client.refusals) == (0 if scope == "shared" else 1)
    assert len(side.posted(channel)) == 1


async def test_a_long_429_frees_the_worker(side: StandIn, database: Database) -> None:
    guild = side.add_guild()
    slow, quick = side.add_channel(guild, "slow"), side.add_channel(guild, "quick")
    for each in (slow, quick):
        await subscribe(database, each)
    side.fail("POST", POST.format(slow), lambda: too_many(45.0))
    async with running(side, database):
        brief_id = await publish(database, 1)
        await until_state(database, brief_id, "queued", "sent")
        await until(lambda: len(side.sent(POST.format(slow))) == 1)
    (first, _) = await deliveries(database, brief_id)
    assert first.reason == "Discord asks to wait 45 s"
    assert timedelta(seconds=40) < first.due_at - utc_now() < timedelta(seconds=46)
    assert first.sending_at is None, "a 429 has posted nothing"


async def test_a_429_of_the_wall_before_discord_rests_everything(
    side: StandIn, database: Database, channel: int
) -> None:
    await subscribe(database, channel)
    side.fail("POST", POST.format(channel), lambda: too_many(45.0, via=False))
    async with running(side, database) as bot:
        brief_id = await publish(database, 1)
        await until(lambda: bot.client.refusals.wait() > 50)
        assert not bot.client.is_ready()
        (row,) = await until_state(database, brief_id, "queued")
    assert row.due_at - utc_now() > timedelta(seconds=50)


async def test_a_channel_that_is_limited_again_and_again_delays_no_other(side: StandIn, database: Database) -> None:
    guild = side.add_guild()
    limited, good = side.add_channel(guild, "limited"), side.add_channel(guild, "good")
    for each in (limited, good):
        await subscribe(database, each)
    side.fail("POST", POST.format(limited), lambda: too_many(0.01, scope="shared"), times=5)  # discord.py gives up then
    async with running(side, database) as bot:
        first = await publish(database, 1)
        await until_reason(database, first, "429")
        assert bot.client.is_ready()
        await until_state(database, await publish(database, 2), "queued", "sent")
        await at_once(database, first)
        await until(lambda: len(side.posted(limited)) == 2)


async def test_too_many_refused_requests_rest_everything(side: StandIn, database: Database, channel: int) -> None:
    await subscribe(database, channel)
    async with running(side, database) as bot:
        for _ in range(2_000):
            bot.client.refusals.note()
        await publish(database, 1)
        await asyncio.sleep(0.2)
        assert not side.sent("/messages$")
        assert 590 < bot.client.refusals.wait() <= 600


async def test_a_refused_connection_has_posted_nothing(side: StandIn, database: Database, channel: int) -> None:
    await subscribe(database, channel)
    async with running(side, database) as bot:
        await side.pause()
        brief_id = await publish(database, 1)
        (row,) = await until_attempts(database, brief_id, 2)
        assert row.sending_at is None or row.state == "sending"
        assert "cannot be reached" in str(row.reason)
        await side.unpause()
        await until_state(database, brief_id, "sent")
        assert bot.client.is_ready()
    assert len(side.posted(channel)) == 1


async def test_a_403_from_a_wall_is_no_refusal_of_the_channel(side: StandIn, database: Database, channel: int) -> None:
    wanted = await subscribe(database, channel)
    side.fail("POST", POST.format(channel), lambda: reply("error code: 1010", 403))
    async with running(side, database):
        brief_id = await publish(database, 1)
        await until(lambda: len(side.sent("/messages$")) == 1)
        (row,) = await until_state(database, brief_id, "queued")
    assert (await subscription(database, wanted.id)).state == "active"
    assert row.due_at - utc_now() > timedelta(seconds=50)


async def until_attempts(database: Database, brief_id: int, attempts: int) -> list[outbox.Delivery]:
    async with asyncio.timeout(10):
        while True:
            rows = await deliveries(database, brief_id)
            if rows[0].attempts >= attempts:
                return rows
            await asyncio.sleep(0.01)


# -- unknown --


@pytest.mark.parametrize(
    ("fault", "window"),
    [(fault, timedelta(minutes=2)) for fault in ("drop-after", "drop-before", "503-after", "500-after")]
    # Not 500 here: discord.py repeats it by itself, and Discord knows the nonce by then.
    + [(fault, timedelta(0)) for fault in ("drop-after", "drop-before", "503-after")],
)
async def test_an_unknown_outcome_is_looked_up(
    side: StandIn, database: Database, channel: int, fault: str, window: timedelta
) -> None:
    """Whether the message was made or not, there is one in the end; past the nonce's window history tells."""
    await subscribe(database, channel)
    if not window:
        side.nonce_window = 0.0
    ids = [await publish(database, 1), await publish(database, 2)]
    side.fail("POST", POST.format(channel), fault)
    async with running(side, database, nonce_window=window):
        for brief_id in ids:
            await until_state(database, brief_id, "sent")
    assert brief_ids(side, channel) == ids
    for brief_id, message in zip(ids, side.posted(channel), strict=True):
        assert (await deliveries(database, brief_id))[0].message_id == int(message["id"])


async def test_a_429_after_an_unanswered_500_is_still_unknown(side: StandIn, database: Database, channel: int) -> None:
    """discord.py repeats a 500; if that second request is told to wait for long, the first may have posted."""
    await subscribe(database, channel)
    side.fail("POST", POST.format(channel), "500-after")
    side.fail("POST", POST.format(channel), lambda: too_many(45.0))
    async with running(side, database):
        brief_id = await publish(database, 1)
        await until_state(database, brief_id, "sent", seconds=20)
    assert len(side.posted(channel)) == 1


async def test_a_hanging_send_outlives_stop_and_is_found_at_the_next_start(
    side: StandIn, database: Database, channel: int
) -> None:
    await subscribe(database, channel)
    side.fail("POST", POST.format(channel), "hang-after")
    async with running(side, database, stop_seconds=0.3) as bot:
        brief_id = await publish(database, 1)
        await until(lambda: side.posted(channel))
        began = time.monotonic()
        await bot.worker.stop()
        assert 0.25 < time.monotonic() - began < 3
        (row,) = await deliveries(database, brief_id)
        assert row.state == "sending"
    async with running(side, database):
        await until_state(database, brief_id, "sent")
    assert len(side.posted(channel)) == 1


async def test_a_request_without_answer_ends(
    side: StandIn, database: Database, channel: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.chat.client.REQUEST_SECONDS", 0.3)
    await subscribe(database, channel)
    side.fail("POST", POST.format(channel), "hang-before")
    side.fail("POST", POST.format(channel), "hang-after")
    async with running(side, database):
        (row,) = await until_state(database, await publish(database, 1), "sent")
    assert row.attempts == 3
    assert len(side.posted(channel)) == 1


async def test_stop_awaits_a_send_that_takes_long(side: StandIn, database: Database, channel: int) -> None:
    await subscribe(database, channel)

    async def slowly(message: object) -> None:
        await asyncio.sleep(0.5)

    side.on_created = slowly
    async with running(side, database) as bot:
        brief_id = await publish(database, 1)
        await until(lambda: side.posted(channel))
        await bot.worker.stop()
        (row,) = await deliveries(database, brief_id)
        assert row.state == "sent"


async def test_history_is_searched_past_other_messages(side: StandIn, database: Database, channel: int) -> None:
    """Our message lies under a few hundred of others and of our own."""
    await subscribe(database, channel)
    side.nonce_window = 0.0
    side.fail("POST", POST.format(channel), "drop-after")
    async with running(side, database) as bot:
        brief_id = await publish(database, 1)
        await until(lambda: side.posted(channel))
        await bot.worker.stop()
    somebody = side.person("somebody")
    for n in range(250):
        made = side._make_message(channel, {"content": f"chat {n}"}, [])
        made["author"] = somebody if n % 2 else side.user
    ours = int(side.posted(channel)[0]["id"])
    async with running(side, database, nonce_window=timedelta(0)):
        (row,) = await until_state(database, brief_id, "sent")
    assert row.message_id == ours
    assert len(side.posted(channel)) == 251


async def test_a_message_deleted_before_it_was_recorded_is_not_posted_again(
    side: StandIn, database: Database, channel: int
) -> None:
    wanted = await subscribe(database, channel)

    async def delete(message: dict[str, str]) -> None:
        side.on_created = None
        del side.messages[int(message["id"])]

    side.on_created = delete
    side.fail("POST", POST.format(channel), "drop-after")
    async with running(side, database):
        (row,) = await until_state(database, await publish(database, 1), "refused")
    assert row.reason == "it was posted and then deleted in the channel"
    assert (await subscription(database, wanted.id)).state == "active"


async def test_where_history_may_not_be_read_nothing_is_posted_twice(
    side: StandIn, database: Database, channel: int
) -> None:
    """Discord answers with an empty history then, which proves nothing."""
    wanted = await subscribe(database, channel)
    side.nonce_window = 0.0
    await side.deny(channel, HISTORY)
    side.fail("POST", POST.format(channel), "drop-after")
    async with running(side, database, nonce_window=timedelta(0)):
        brief_id = await publish(database, 1)
        await until_paused(database, wanted.id)
        (row,) = await deliveries(database, brief_id)
        assert row.state == "queued"
        assert row.sending_at is not None
        assert "Read Message History" in str(row.reason)
        await side.deny(channel, 0)
        await asyncio.sleep(0.05)
        await resume(database, wanted.id)
        await until_state(database, brief_id, "sent")
    assert len(side.posted(channel)) == 1


# -- refused --


async def until_paused(database: Database, id: int) -> subscriptions.Subscription:
    async with asyncio.timeout(10):
        while (found := await subscription(database, id)).state != "paused":  # noqa: ASYNC110  a database
            await asyncio.sleep(0.01)
    return found


async def resume(database: Database, id: int) -> None:
    async with database.transaction() as conn:
        await subscriptions.resume(conn, id, utc_now())


@pytest.mark.parametrize(
    ("lost", "named"),
    [(VIEW, "View Channel"), (SEND, "Send Messages"), (EMBED_LINKS, "Embed Links")],
)
async def test_a_missing_permission_pauses_and_resuming_loses_nothing(
    side: StandIn, database: Database, channel: int, lost: int, named: str
) -> None:
    wanted = await subscribe(database, channel, format="embed")
    await side.deny(channel, lost)
    async with running(side, database):
        ids = [await publish(database, n) for n in range(3)]
        paused = await until_paused(database, wanted.id)
        assert re.fullmatch(rf"the bot lacks .*{named}.* in #briefs of guild: open .*Permissions.*", str(paused.reason))
        ids += [await publish(database, 3)]  # one that comes while it is paused
        for brief_id in ids:
            (row,) = await deliveries(database, brief_id)
            assert (row.state, row.reason) == ("queued", paused.reason)
        assert not side.sent("/messages$"), "what is known to be refused is not asked"
        await side.deny(channel, 0)
        await asyncio.sleep(0.05)
        await resume(database, wanted.id)
        for brief_id in ids:
            await until_state(database, brief_id, "sent")
    assert brief_ids(side, channel) == ids


async def test_what_discord_refuses_unforeseen_pauses_once(
    side: StandIn, database: Database, channel: int, caplog: pytest.LogCaptureFixture
) -> None:
    """The cache says yes, Discord says 403/50001: one request, one line, both subscriptions of the channel."""
    first = await subscribe(database, channel)
    second = await subscribe(database, channel, everything=False, topic="other")
    other = side.add_channel(next(iter(side.guilds)), "other")
    await subscribe(database, other)
    side.forbidden.add(channel)
    async with running(side, database):
        ids = [await publish(database, n) for n in range(3)]
        await until_paused(database, first.id)
        for brief_id in ids:
            await until_state(database, brief_id, "queued", "sent")
    assert (await subscription(database, second.id)).state == "paused"
    assert len(side.sent(POST.format(channel))) == 1
    assert brief_ids(side, other) == ids


async def test_a_deleted_channel_pauses(side: StandIn, database: Database, channel: int) -> None:
    wanted = await subscribe(database, channel)
    async with running(side, database):
        await side.delete_channel(channel)
        await publish(database, 1)
        paused = await until_paused(database, wanted.id)
    assert paused.reason == f"channel {channel} does not exist (any more): choose another in the config"
    assert len(side.sent(POST.format(channel))) == 1


@pytest.mark.parametrize("told", [True, False])
async def test_a_404_of_an_unavailable_server_is_no_deletion(
    side: StandIn, database: Database, channel: int, told: bool
) -> None:
    """Told: the gateway said so before. Not told: it is cut at that moment, and comes back without the server."""
    guild = next(iter(side.guilds))
    other = side.add_channel(side.add_guild(), "elsewhere")
    wanted = await subscribe(database, channel)
    await subscribe(database, other)
    async with running(side, database) as bot:
        if told:
            await side.guild_unavailable(guild)
        else:
            await side.guild_unavailable(guild, tell=False)
            side.session = ""
            await side.cut("invalid")
            await asyncio.sleep(0.05)
        brief_id = await publish(database, 1)
        await until_state(database, brief_id, "queued", "sent")
        await until_reason(database, brief_id, "unavailable")
        assert (await subscription(database, wanted.id)).state == "active"
        await side.guild_available(guild)
        await until(lambda: not any(g.unavailable for g in bot.client.guilds))
        await at_once(database, brief_id)
        await until_state(database, brief_id, "sent", "sent")
    assert brief_ids(side, channel) == [brief_id]


async def until_reason(database: Database, brief_id: int, words: str) -> None:
    async with asyncio.timeout(10):
        while words not in ((await deliveries(database, brief_id))[0].reason or ""):  # noqa: ASYNC110  a database
            await asyncio.sleep(0.01)


async def at_once(database: Database, brief_id: int) -> None:
    """Let what was put off for half a minute be due now."""
    async with database.transaction() as conn:
        for row in await outbox.for_brief(conn, brief_id):
            if row.state == "queued":
                await outbox.later(conn, row.id, due_at=utc_now(), reason=row.reason, keep_sending_at=True)


@pytest.mark.parametrize("kind", [CATEGORY, FORUM])
async def test_a_channel_that_takes_no_messages_is_refused_unasked(
    side: StandIn, database: Database, kind: int
) -> None:
    channel = side.add_channel(side.add_guild(), "place", kind)
    wanted = await subscribe(database, channel)
    async with running(side, database):
        await publish(database, 1)
        paused = await until_paused(database, wanted.id)
    assert "choose a text channel" in str(paused.reason)
    assert not side.sent("/messages$")


async def test_a_message_discord_will_not_take_ends_its_row(side: StandIn, database: Database, channel: int) -> None:
    """50035 is about the message: its row is refused and says why, the rest waits and goes out when resumed."""
    wanted = await subscribe(database, channel)
    side.fail("POST", POST.format(channel), lambda: error(400, 50035, "Invalid Form Body"))
    async with running(side, database):
        ids = [await publish(database, n) for n in range(3)]
        (row,) = await until_state(database, ids[0], "refused")
        paused = await until_paused(database, wanted.id)
        assert row.reason == paused.reason
        assert "50035" in str(row.reason)
        await resume(database, wanted.id)
        await until_state(database, ids[2], "sent")
    assert brief_ids(side, channel) == ids[1:]


async def test_automod_takes_one_message_and_not_the_subscription(
    side: StandIn, database: Database, channel: int
) -> None:
    await subscribe(database, channel)
    side.fail("POST", POST.format(channel), lambda: error(400, 200000, "Message was blocked by automatic moderation"))
    async with running(side, database):
        ids = [await publish(database, n) for n in range(2)]
        await until_state(database, ids[1], "sent")
    assert (await deliveries(database, ids[0]))[0].state == "refused"


async def test_a_token_taken_away_ends_the_bot_and_loses_nothing(
    side: StandIn, database: Database, channel: int
) -> None:
    await subscribe(database, channel)
    async with running(side, database) as bot:
        side.token, real = "another", side.token
        brief_id = await publish(database, 1)
        with pytest.raises(StartError, match="does not accept the bot token"):
            await asyncio.wait_for(asyncio.shield(bot.connection), 10)
        assert not bot.client.is_ready()
        await bot.worker.stop()
        (row,) = await deliveries(database, brief_id)
        assert row.state == "queued"
        assert len(side.sent("/messages$")) == 1
        side.token = real
        bot.connection = asyncio.create_task(asyncio.sleep(0))
    async with running(side, database):
        await at_once(database, brief_id)
        await until_state(database, brief_id, "sent")


# -- the store --


async def test_a_locked_database_loses_and_doubles_nothing(side: StandIn, tmp_path: Path) -> None:
    """Somebody locks the file the moment a message is made: its id is kept until it can be written."""
    database = await Database.open(tmp_path / "briefbot.db", busy_timeout=0.05)
    channel = side.add_channel(side.add_guild(), "briefs")
    await subscribe(database, channel)
    ids = [await publish(database, n) for n in range(3)]
    other = sqlite3.connect(tmp_path / "briefbot.db", isolation_level=None)

    async def lock(message: object) -> None:
        side.on_created = None
        other.execute("BEGIN IMMEDIATE")

    side.on_created = lock
    async with running(side, database):
        await until(lambda: side.posted(channel))
        await asyncio.sleep(0.5)
        assert (await deliveries(database, ids[0]))[0].state == "sending"
        other.execute("ROLLBACK")
        await until_state(database, ids[-1], "sent")
    other.close()
    await database.close()
    assert brief_ids(side, channel) == ids
    assert len(side.sent("/messages$")) == 3


async def test_a_card_that_cannot_be_laid_out_harms_no_other(
    side: StandIn, database: Database, channel: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = await subscribe(database, channel)
    ids = [await publish(database, n) for n in range(3)]
    render = cards.render

    def broken(brief: Brief, **options: Any) -> Any:
        if options["brief_id"] == ids[1]:
            raise ValueError("too odd")
        return render(brief, **options)

    monkeypatch.setattr(cards, "render", broken)
    async with running(side, database):
        await until_state(database, ids[2], "sent")
    (row,) = await deliveries(database, ids[1])
    assert (row.state, row.reason) == ("refused", "its card could not be laid out (ValueError: too odd)")
    assert (await subscription(database, wanted.id)).state == "active"
    assert brief_ids(side, channel) == [ids[0], ids[2]]


async def test_a_subscription_removed_meanwhile_gets_nothing_more(
    side: StandIn, database: Database, channel: int
) -> None:
    wanted = await subscribe(database, channel)
    side.fail("POST", POST.format(channel), lambda: error(400, 160006, "too many"), times=1)
    async with running(side, database):
        ids = [await publish(database, n) for n in range(2)]
        await until_reason(database, ids[0], "160006")
        async with database.transaction() as conn:
            await subscriptions.remove(conn, wanted.id, reason="not wanted", now=utc_now())
        await at_once(database, ids[0])
        await until_state(database, ids[1], "dropped")
        await asyncio.sleep(0.2)
    assert [(await deliveries(database, id))[0].state for id in ids] == ["dropped", "dropped"]
    assert not side.posted(channel)


# -- one channel never delays another, and the gateway may come and go --


async def test_a_hanging_channel_delays_no_other(side: StandIn, database: Database) -> None:
    guild = side.add_guild()
    hanging = [side.add_channel(guild, f"h{n}") for n in range(3)]
    good = side.add_channel(guild, "good")
    for each in (*hanging, good):
        await subscribe(database, each)
    for each in hanging:
        side.fail("POST", POST.format(each), "hang-before")
    async with running(side, database):
        began = time.monotonic()
        ids = [await publish(database, n) for n in range(10)]
        await until(lambda: brief_ids(side, good) == ids)
        assert time.monotonic() - began < 5
        side.released.set()
        for each in hanging:
            await until(lambda each=each: brief_ids(side, each) == ids)


@pytest.mark.parametrize("how", [4000, "reconnect", "abort", 1000])
async def test_messages_go_out_while_the_gateway_resumes(
    side: StandIn, database: Database, channel: int, how: int | str
) -> None:
    await subscribe(database, channel)
    async with running(side, database) as bot:
        first = await publish(database, 1)
        await until_state(database, first, "sent")
        await side.cut(how)
        second = await publish(database, 2)
        await until_state(database, second, "sent")
        await asyncio.wait_for(side.resumed.wait(), 10)
        third = await publish(database, 3)
        await until_state(database, third, "sent")
        assert isinstance(bot, Bot)
    assert brief_ids(side, channel) == [first, second, third]
    assert 6 in side.gateway_ops


async def test_a_gateway_that_stays_away_costs_a_line_and_no_message(
    side: StandIn, database: Database, channel: int, caplog: pytest.LogCaptureFixture
) -> None:
    await subscribe(database, channel)
    async with running(side, database):
        await side.pause()
        await side.cut("abort")
        brief_id = await publish(database, 1)
        await until(lambda: any("Attempting a reconnect" in record.message for record in caplog.records))
        await side.unpause()
        await until_state(database, brief_id, "sent")
        await asyncio.wait_for(side.resumed.wait(), 20)
    line = next(record for record in caplog.records if "Attempting a reconnect" in record.message)
    assert "Discord cannot be reached" in line.message
    assert line.exc_info is None
    assert len(side.posted(channel)) == 1


async def test_a_damaged_brief_harms_no_other(side: StandIn, database: Database, channel: int, tmp_path: Path) -> None:
    wanted = await subscribe(database, channel)
    ids = [await publish(database, n) for n in range(3)]
    other = sqlite3.connect(tmp_path / "briefbot.db")
    with other:
        other.execute("UPDATE briefs SET document = '{' WHERE id = ?", (ids[0],))
    other.close()
    async with running(side, database):
        await until_state(database, ids[2], "sent")
    (row,) = await deliveries(database, ids[0])
    assert row.state == "refused"
    assert str(row.reason).startswith("its brief cannot be read")
    assert (await subscription(database, wanted.id)).state == "active"


async def test_the_pace_stays_under_the_bucket(database: Database) -> None:
    """20 briefs at once into one channel of 5 in 0.5 s: no 429, and discord.py never sleeps with an id in its hand."""
    async with StandIn(window=0.5) as side:
        channel = side.add_channel(side.add_guild(), "briefs", TEXT)
        await subscribe(database, channel)
        ids = [await publish(database, n) for n in range(20)]
        async with running(side, database, window=0.55):
            await until(lambda: len(side.posted(channel)) == 20, 15)
            await until_state(database, ids[-1], "sent")
        assert brief_ids(side, channel) == ids
        assert {seen.status for seen in side.sent("/messages$")} == {200}
