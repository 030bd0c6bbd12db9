"""A digest through the real tick, worker and client: once for each local date, whatever the clock and the host do."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.briefs.model import Brief
from bot.chat import digest_answers
from bot.delivery.digests import Digests
from bot.store import briefs, digests, outbox, sources, subscriptions
from bot.store.database import Database
from bot.store.digests import Digest, NewDigest, Run, Schedule
from bot.store.outbox import Delivery
from bot.store.sources import NewSource
from tests.flow.rig import Bot, Shelf, make_brief, publish, running, subscribe, until
from tests.standin import SEND, StandIn, error, walk

SUPPRESS_NOTIFICATIONS = 1 << 12
EIGHT = Schedule(time(8), zone="Europe/Ljubljana")  # 07:00 UTC in winter


class Clock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.now = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def at(self, text: str) -> None:
        self.now = datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def channel(side: StandIn) -> int:
    return side.add_channel(side.add_guild(), "briefs")


class DigestShelf(Shelf):
    """The library of the app, as far as digests ask it."""

    async def digest_briefs(self, run_id: int, start: int, limit: int) -> Any:
        async with self.database.read() as conn:
            return await digests.given(conn, run_id, start=start, limit=limit)

    async def digest_about(self, run_id: int) -> str | None:
        async with self.database.read() as conn:
            digest = await digests.of_run(conn, run_id)
        return digest_answers.about(digest, {}) if digest else None


async def scheduled(database: Database, channel: int, clock: Clock, schedule: Schedule = EIGHT, **wish: Any) -> Digest:
    async with database.transaction() as conn:
        new = NewDigest(channel, schedule, **({"everything": True} | wish))
        return await digests.add(conn, new, clock())


async def store(database: Database, clock: Clock, *numbers: int, **values: Any) -> list[int]:
    """Store briefs without routing them, first seen by the clock."""
    async with database.transaction() as conn:
        new = NewSource(name="Wire", kind="site", location="https://wire.example/", interval=timedelta(hours=1))
        source = await sources.by_name(conn, "Wire") or await sources.add(conn, new, clock())
        made = []
        for number in numbers:
            brief = make_brief(number)
            brief = Brief(**{name: getattr(brief, name) for name in brief.__slots__} | values)
            id, _ = await briefs.add(conn, brief, source_id=source.id, now=clock(), baseline=False)
            made.append(id)
        return made


async def runs(database: Database, digest: Digest) -> list[Run]:
    async with database.read() as conn:
        return await digests.runs(conn, digest.subscription.id)


async def pages(database: Database, digest: Digest) -> list[Delivery]:
    async with database.read() as conn:
        return [
            p for run in await digests.runs(conn, digest.subscription.id) for p in await outbox.for_run(conn, run.id)
        ]


async def until_sent(database: Database, digest: Digest, count: int) -> list[Delivery]:
    async with asyncio.timeout(4):
        while True:
            rows = await pages(database, digest)
            if [row.state for row in rows] == ["sent"] * count:
                return rows
            await asyncio.sleep(0.01)


def ticking(database: Database, clock: Clock, bot: Bot | None = None) -> Digests:
    return Digests(database, clock=clock, on_queued=bot.worker.wake if bot else lambda: None)


def shown(side: StandIn, channel: int) -> list[int]:
    """The ids of the briefs that stand on the pages of a channel."""
    return [
        int(c["custom_id"].split(":")[1])
        for message in side.posted(channel)
        for c in walk(message["components"])
        if c.get("custom_id", "").endswith(":read")
    ]


def texts(message: dict[str, Any]) -> str:
    return "\n".join(c["content"] for c in walk(message["components"]) if "content" in c)


# -- when --


async def test_a_digest_missed_by_a_bot_that_was_down_goes_out_once(
    side: StandIn, database: Database, channel: int, clock: Clock
) -> None:
    digest = await scheduled(database, channel, clock)
    first = await store(database, clock, 1, 2)
    clock.at("2026-12-02 06:59")  # 07:59 local
    assert await ticking(database, clock).tick() == 0
    clock.at("2026-12-02 07:20")  # started again at 08:20
    async with running(side, database, clock=clock) as bot:
        tick = ticking(database, clock, bot)
        assert await tick.tick() == 1
        await until_sent(database, digest, 1)
        assert await tick.tick() == 0
        clock.at("2026-12-02 22:59")
        assert await tick.tick() == 0
    assert sorted(shown(side, channel)) == first
    (run,) = await runs(database, digest)
    assert (run.day, run.state, run.due_at) == (date(2026, 12, 2), "queued", datetime(2026, 12, 2, 7, tzinfo=UTC))


async def test_three_days_down_are_one_digest(side: StandIn, database: Database, channel: int, clock: Clock) -> None:
    digest = await scheduled(database, channel, clock)
    given = []
    for day in (2, 3, 4):
        clock.at(f"2026-12-0{day} 10:00")
        given += await store(database, clock, day)
    clock.at("2026-12-05 12:00")
    async with running(side, database, clock=clock) as bot:
        tick = ticking(database, clock, bot)
        assert await tick.tick() == 1
        await until_sent(database, digest, 1)
        clock.at("2026-12-06 07:00")
        assert await tick.tick() == 1  # nothing new, and that is recorded
    assert sorted(shown(side, channel)) == given
    assert [(run.day.day, run.state) for run in await runs(database, digest)] == [(5, "queued"), (6, "nothing new")]
    assert len(side.posted(channel)) == 1


async def test_without_catching_up_a_late_digest_is_skipped_and_the_next_covers_it(
    side: StandIn, database: Database, channel: int, clock: Clock
) -> None:
    digest = await scheduled(database, channel, clock, Schedule(time(8), zone="Europe/Ljubljana", catch_up=False))
    early = await store(database, clock, 1)
    clock.at("2026-12-02 09:00")
    async with running(side, database, clock=clock) as bot:
        tick = ticking(database, clock, bot)
        await tick.tick()
        late = await store(database, clock, 2)
        clock.at("2026-12-03 07:10")
        await tick.tick()
        await until_sent(database, digest, 1)
    assert [run.state for run in await runs(database, digest)] == ["skipped", "queued"]
    assert sorted(shown(side, channel)) == early + late


async def test_a_clock_that_jumps_makes_no_second_digest(database: Database, clock: Clock) -> None:
    digest = await scheduled(database, 7, clock)
    tick = ticking(database, clock)
    for moment in ("2026-12-02 07:00", "2026-12-02 06:00", "2026-12-02 07:00", "2026-12-02 20:00", "2026-12-01 12:00",
                   "2026-12-02 07:30"):  # fmt: skip
        clock.at(moment)
        await store(database, clock, hash(moment) % 10**6)
        await tick.tick()
    assert [run.day.day for run in await runs(database, digest)] == [2]
    clock.at("2026-12-03 07:00")
    await tick.tick()
    assert [run.day.day for run in await runs(database, digest)] == [2, 3]


async def test_a_clock_that_was_years_ahead_silences_no_digest(database: Database, clock: Clock) -> None:
    digest = await scheduled(database, 7, clock)
    tick = ticking(database, clock)
    for moment in ("2026-12-02 07:00", "2031-05-05 12:00", "2026-12-02 09:00", "2026-12-02 09:01", "2026-12-03 07:00",
                   "2026-12-04 07:00"):  # fmt: skip
        clock.at(moment)
        await tick.tick()
    assert [str(run.day) for run in await runs(database, digest)] == [
        "2026-12-02", "2031-05-05", "2026-12-03", "2026-12-04",
    ]  # fmt: skip


async def test_two_ticks_and_two_processes_at_once_make_one_digest(
    side: StandIn, database: Database, channel: int, clock: Clock, tmp_path: Path
) -> None:
    digest = await scheduled(database, channel, clock)
    await store(database, clock, *range(8))
    clock.at("2026-12-02 07:00")
    other = await Database.open(tmp_path / "briefbot.db")
    try:
        ticks = [ticking(each, clock) for each in (database, other, database, other)]
        done = await asyncio.gather(*(tick.tick() for tick in ticks))
    finally:
        await other.close()
    assert len(await runs(database, digest)) == 1
    assert sum(done) == 1
    async with running(side, database, clock=clock):
        await until_sent(database, digest, 2)
    assert len(shown(side, channel)) == len(set(shown(side, channel))) == 8


async def test_a_changed_schedule_keeps_what_was_given(database: Database, clock: Clock) -> None:
    digest = await scheduled(database, 7, clock)
    tick = ticking(database, clock)
    await store(database, clock, 1)
    clock.at("2026-12-02 07:00")
    await tick.tick()
    async with database.transaction() as conn:
        await digests.sync(conn, [NewDigest(7, Schedule(time(18), zone="Asia/Tokyo"), everything=True)], clock())
    clock.at("2026-12-02 09:00")  # 18:00 in Tokyo, but the date is done
    await tick.tick()
    await store(database, clock, 2)
    clock.at("2026-12-03 09:00")
    await tick.tick()
    assert [(run.day.day, run.briefs) for run in await runs(database, digest)] == [(2, 1), (3, 1)]


# -- what --


async def test_late_dated_and_undated_briefs_are_neither_lost_nor_repeated(
    side: StandIn, database: Database, channel: int, clock: Clock
) -> None:
    digest = await scheduled(database, channel, clock)
    old = await store(database, clock, 1, published=date(2020, 1, 1))
    undated = await store(database, clock, 2, published=None)
    ahead = await store(database, clock, 3, published=datetime(2030, 1, 1, tzinfo=UTC))
    async with running(side, database, clock=clock) as bot:
        tick = ticking(database, clock, bot)
        for day in (2, 3, 4):
            clock.at(f"2026-12-0{day} 07:00")
            await tick.tick()
            await store(database, clock, 10 + day, published=date(2019, 5, day))
        await until_sent(database, digest, 3)
    posted = shown(side, channel)
    assert len(posted) == len(set(posted)) == 5
    assert set(posted) >= {*old, *undated, *ahead}


async def test_nothing_new_is_a_line_where_that_is_wanted(
    side: StandIn, database: Database, channel: int, clock: Clock
) -> None:
    digest = await scheduled(database, channel, clock, Schedule(time(8), when_empty="line"))
    clock.at("2026-12-02 08:00")
    async with running(side, database, clock=clock) as bot:
        await ticking(database, clock, bot).tick()
        await until_sent(database, digest, 1)
    (message,) = side.posted(channel)
    assert texts(message) == "-# **Digest** · Wednesday 2 December 2026 · nothing new"
    assert [run.state for run in await runs(database, digest)] == ["nothing new"]


async def test_the_rest_the_card_and_the_schedule_are_behind_buttons(
    side: StandIn, database: Database, channel: int, clock: Clock
) -> None:
    digest = await scheduled(database, channel, clock, Schedule(time(8), most=7))
    await store(database, clock, *range(20))
    clock.at("2026-12-02 08:00")
    async with running(side, database, clock=clock) as bot:
        bot.client.library = DigestShelf(database)
        await ticking(database, clock, bot).tick()
        await until_sent(database, digest, 2)
        first, last = side.posted(channel)
        assert "20 briefs" in texts(first)
        user = side.person("reader")
        buttons = {c["label"]: c["custom_id"] for c in walk(last["components"]) if c.get("label")}
        assert set(buttons) == {"Read", "And 13 more", "About this digest"}
        more = await side.click(last, buttons["And 13 more"], user=user)
        await until(lambda: "Briefs 8 to 13 of 20" in texts(more.message))
        following = next(c["custom_id"] for c in walk(more.message["components"]) if c.get("label") == "Next")
        turned = await side.click(more.message, following, user=user)
        await until(lambda: "Briefs 14 to 19 of 20" in texts(turned.message))
        assert turned.message["id"] == more.message["id"]
        about = await side.click(last, buttons["About this digest"], user=user)
        await until(lambda: about.message["content"])
        assert about.message["content"].startswith("This digest gathers everything, every day at 08:00 (UTC).")
        card = await side.click(last, buttons["Read"], user=user)
        await until(lambda: "Sentence 1" in texts(card.message))
        forged = await side.click(
            {**last, "components": [{"type": 2, "id": 1, "custom_id": "digest:99:x:more.1", "style": 2, "label": "x"}]},
            "digest:99:x:more.1",
            user=user,
        )
        await until(lambda: forged.message["content"])
        assert "no longer stored" in forged.message["content"]


# -- how --


async def test_a_kill_after_page_2_of_4_leaves_3_and_4(
    side: StandIn, database: Database, channel: int, clock: Clock
) -> None:
    digest = await scheduled(database, channel, clock)
    await store(database, clock, *range(24))
    clock.at("2026-12-02 07:00")
    side.fail("POST", rf"/channels/{channel}/messages$", lambda: error(500, 0, "down"), times=0)
    async with running(side, database, clock=clock) as bot:

        async def stop_after_two(message: dict[str, Any]) -> None:
            if len(side.posted(channel)) == 2:
                bot.worker._halt.set()

        side.on_created = stop_after_two
        await ticking(database, clock, bot).tick()
        await until(lambda: len(side.posted(channel)) == 2)
    assert [row.state for row in await pages(database, digest)].count("queued") == 2
    side.on_created = None
    async with running(side, database, clock=clock) as bot:
        await ticking(database, clock, bot).tick()
        rows = await until_sent(database, digest, 4)
    assert [row.message_id for row in rows] == [int(m["id"]) for m in side.posted(channel)]
    assert len(shown(side, channel)) == len(set(shown(side, channel))) == 24
    assert [texts(m).count("page") for m in side.posted(channel)] == [0, 1, 1, 1]


async def test_pages_are_silent_at_night_and_after_the_first(
    side: StandIn, database: Database, channel: int, clock: Clock
) -> None:
    quiet = side.add_channel(next(iter(side.guilds)), "night")
    day = await scheduled(database, channel, clock, Schedule(time(9)))
    night = await scheduled(database, quiet, clock, Schedule(time(9), zone="America/Los_Angeles"))
    await store(database, clock, *range(7))
    async with running(side, database, clock=clock) as bot:
        tick = ticking(database, clock, bot)
        clock.at("2026-12-02 09:00")
        await tick.tick()
        clock.at("2026-12-03 09:00")  # 01:00 in Los Angeles, where the bot was down at 09:00
        await tick.tick()
        await until_sent(database, day, 2)
        await until_sent(database, night, 2)
    by_day, by_night = ([s.json["flags"] & SUPPRESS_NOTIFICATIONS for s in side.sent(rf"/channels/{c}/messages$")]
                        for c in (channel, quiet))  # fmt: skip
    assert list(map(bool, by_day)) == [False, True]
    assert list(map(bool, by_night)) == [True, True]


async def test_a_channel_that_refuses_pauses_its_digest_and_nothing_is_lost(
    side: StandIn, database: Database, channel: int, clock: Clock
) -> None:
    digest = await scheduled(database, channel, clock)
    await store(database, clock, 1)
    async with running(side, database, clock=clock) as bot:
        await side.deny(channel, SEND)
        tick = ticking(database, clock, bot)
        clock.at("2026-12-02 07:00")
        await tick.tick()
        async with asyncio.timeout(4):
            while (await stored(database, digest)).subscription.state != "paused":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert "the bot lacks Send Messages" in str((await stored(database, digest)).subscription.reason)
        for day in (3, 4):
            await store(database, clock, day)
            clock.at(f"2026-12-0{day} 07:00")
            assert await tick.tick() == 0
        await side.deny(channel, 0)
        async with database.transaction() as conn:
            await subscriptions.resume(conn, digest.subscription.id, clock())
        assert await tick.tick() == 1
        await until_sent(database, digest, 2)
    assert len(shown(side, channel)) == len(set(shown(side, channel))) == 3


async def stored(database: Database, digest: Digest) -> Digest:
    async with database.read() as conn:
        found = await digests.get(conn, digest.subscription.id)
    assert found is not None
    return found


async def test_a_digest_is_no_subscription_for_at_once(
    side: StandIn, database: Database, channel: int, clock: Clock
) -> None:
    other = side.add_channel(next(iter(side.guilds)), "at-once")
    await scheduled(database, channel, clock)
    await subscribe(database, other)
    async with running(side, database, clock=clock):
        await publish(database, 1)
        await until(lambda: side.posted(other))
    assert not side.posted(channel)
