"""The outbox keeps order, loses nothing and lets no channel stand in the way of another."""

from collections import defaultdict
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store import outbox, subscriptions
from bot.store.database import Database
from bot.store.outbox import Delivery
from bot.store.subscriptions import NewSubscription
from tests.store import make
from tests.store.make import NOW, later


async def filled(conn: AsyncConnection, channels: int, briefs: int) -> dict[int, list[int]]:
    """Every brief queued for every channel; the delivery ids by channel (1, 2, ...)."""
    wishes = [await make.subscription(conn, channel) for channel in range(1, channels + 1)]
    ids = defaultdict(list)
    for number in range(briefs):
        brief_id = await make.brief(conn, number)
        for wish in wishes:
            id = await outbox.queue(
                conn, subscription=wish, brief_id=brief_id, now=later(seconds=number), instance="0a1b2c3d"
            )
            assert id is not None
            ids[wish.channel_id].append(id)
    return ids


def ids(rows: list[Delivery]) -> list[int]:
    return [row.id for row in rows]


async def test_a_row_bears_its_wish_and_a_nonce_of_the_database_and_its_id(database: Database) -> None:
    async with database.transaction() as conn:
        wish = await make.subscription(conn, 7, format="embed", role_id=9)
        brief_id = await make.brief(conn, 1)
        id = await outbox.queue(conn, subscription=wish, brief_id=brief_id, now=NOW, instance=database.instance)
        assert id is not None
    async with database.read() as conn:
        (row,) = await outbox.for_brief(conn, brief_id)
    assert row == Delivery(
        id=id, subscription_id=wish.id, channel_id=7, brief_id=brief_id, page=0, format="embed", role_id=9,
        nonce=f"{database.instance}.{id:x}", state="queued", attempts=0, due_at=NOW, sending_at=None, message_id=None,
        reason=None, created_at=NOW,
    )  # fmt: skip
    assert len(outbox.nonce(database.instance, 2**63 - 1)) <= outbox.NONCE_LIMIT


async def test_a_channel_gets_a_brief_and_page_once_whoever_asks(database: Database) -> None:
    async with database.transaction() as conn:
        by_topic, all_of_it = (
            await make.subscription(conn, 7),
            await make.subscription(conn, 7, topic="x", everything=True),
        )
        other = await make.subscription(conn, 8)
        brief_id = await make.brief(conn, 1)
        queue = {"brief_id": brief_id, "now": NOW, "instance": "i"}
        first = await outbox.queue(conn, subscription=by_topic, **queue)
        assert first
        assert await outbox.queue(conn, subscription=all_of_it, **queue) is None
        assert await outbox.queue(conn, subscription=all_of_it, page=1, **queue)
        await outbox.sent(conn, first, message_id=5, now=NOW)
        assert await outbox.queue(conn, subscription=by_topic, **queue) is None
        new = await outbox.queue_all(conn, subscriptions=[by_topic, all_of_it, other, other], **queue)
        assert [(await outbox.get(conn, id)).channel_id for id in new] == [8]


async def test_many_subscriptions_are_queued_at_once_in_their_order(database: Database) -> None:
    async with database.transaction() as conn:
        wishes = [await make.subscription(conn, channel) for channel in range(600, 0, -1)]
        brief_id = await make.brief(conn, 1)
        new = await outbox.queue_all(conn, subscriptions=wishes, brief_id=brief_id, now=NOW, instance="i")
        rows = await outbox.for_brief(conn, brief_id)
    assert new == sorted(new) == ids(rows)
    assert [row.channel_id for row in rows] == list(range(600, 0, -1))
    assert len({row.nonce for row in rows}) == 600


async def test_only_the_oldest_unfinished_row_of_a_channel_is_due(database: Database) -> None:
    async with database.transaction() as conn:
        of = await filled(conn, channels=3, briefs=3)
        assert ids(await outbox.due(conn, NOW, 10)) == [of[1][0], of[2][0], of[3][0]]
        assert ids(await outbox.due(conn, NOW, 2)) == [of[1][0], of[2][0]]
        assert ids(await outbox.due(conn, NOW, 2, skip=[1])) == [of[2][0], of[3][0]]
        assert await outbox.due(conn, later(seconds=-1), 10) == []
        await outbox.sending(conn, of[1][0], NOW)
        assert ids(await outbox.due(conn, later(hours=1), 10)) == [of[2][0], of[3][0]]
        await outbox.sent(conn, of[1][0], message_id=1, now=NOW)
        assert ids(await outbox.due(conn, later(hours=1), 10)) == [of[2][0], of[3][0], of[1][1]]


async def test_a_row_put_off_holds_its_channel_and_no_other(database: Database) -> None:
    async with database.transaction() as conn:
        of = await filled(conn, channels=2, briefs=2)
        await outbox.sending(conn, of[1][0], NOW)
        await outbox.later(conn, of[1][0], due_at=later(minutes=5), reason="503", keep_sending_at=True)
        assert ids(await outbox.due(conn, later(minutes=4), 1)) == [of[2][0]]
        assert await outbox.next_due(conn) == NOW
        for id in of[2]:
            await outbox.refused(conn, id, reason="50013", now=NOW)
        assert await outbox.next_due(conn) == later(minutes=5)
        assert await outbox.due(conn, later(minutes=4), 10) == []
        (row,) = await outbox.due(conn, later(minutes=5), 10)
        assert (row.id, row.reason, row.attempts, row.sending_at) == (of[1][0], "503", 1, NOW)


async def test_sending_at_is_the_first_attempt_that_may_have_posted(database: Database) -> None:
    async with database.transaction() as conn:
        ((id,),) = (await filled(conn, channels=1, briefs=1)).values()
        await outbox.sending(conn, id, NOW)
        await outbox.later(conn, id, due_at=NOW, reason="cut off", keep_sending_at=True)
        await outbox.sending(conn, id, later(seconds=9))
        (row,) = await outbox.unfinished(conn)
        assert (row.sending_at, row.attempts, row.state) == (NOW, 2, "sending")
        await outbox.later(conn, id, due_at=NOW, reason="429", keep_sending_at=False)
        assert (await outbox.get(conn, id)).sending_at is None
        await outbox.sending(conn, id, later(seconds=20))
        assert (await outbox.get(conn, id)).sending_at == later(seconds=20)


async def test_held_rows_stay_queued_block_nobody_and_come_due_in_order(database: Database) -> None:
    async with database.transaction() as conn:
        of = await filled(conn, channels=2, briefs=3)
        held = (await subscriptions.active(conn))[0]
        await outbox.later(conn, of[1][0], due_at=later(days=1), reason="503", keep_sending_at=False)
        assert await subscriptions.pause(conn, held.id, reason="403", now=NOW) is True
        assert await subscriptions.pause(conn, held.id, reason="again", now=NOW) is False
        assert await outbox.hold(conn, held.id, "403", NOW) == 3
        assert ids(await outbox.due(conn, later(days=2), 10)) == [of[2][0]]
        assert await outbox.sending(conn, of[1][0], NOW) is False
        assert (await outbox.counts(conn))["queued"] == 6
        # Another subscription of the same channel goes on meanwhile.
        other = await make.subscription(conn, 1, topic="other")
        newer = await outbox.queue(conn, subscription=other, brief_id=await make.brief(conn, 99), now=NOW, instance="i")
        assert newer in ids(await outbox.due(conn, later(days=2), 10))
        await outbox.sent(conn, newer, message_id=1, now=NOW)
        await subscriptions.resume(conn, held.id, later(minutes=1))
        got = []
        while due := [row for row in await outbox.due(conn, later(minutes=1), 10) if row.channel_id == 1]:
            got += ids(due)
            assert await outbox.sending(conn, due[0].id, NOW)
            await outbox.sent(conn, due[0].id, message_id=2, now=NOW)
        assert got == of[1]


async def test_what_a_removed_subscription_had_queued_says_why_it_is_dropped(database: Database) -> None:
    async with database.transaction() as conn:
        await subscriptions.sync(conn, [NewSubscription(1, "ai")], NOW)
        (wish,) = await subscriptions.active(conn)
        first, second = [
            await outbox.queue(conn, subscription=wish, brief_id=await make.brief(conn, n), now=NOW, instance="i")
            for n in (1, 2)
        ]
        await outbox.sending(conn, first, NOW)
        await subscriptions.sync(conn, [], NOW)
        assert await outbox.due(conn, NOW, 5) == []
        row = await outbox.get(conn, second)
        assert (row.state, row.reason) == ("dropped", "the subscription was removed: it is no longer in the config")
        # One that was under way is still reconciled, and goes the same way when it was not posted.
        assert ids(await outbox.unfinished(conn)) == [first]
        await outbox.later(conn, first, due_at=NOW, reason="503", keep_sending_at=False)
        assert (await outbox.get(conn, first)).state == "dropped"
        await subscriptions.sync(conn, [NewSubscription(1, "ai")], NOW)
        assert await outbox.due(conn, NOW, 5) == []
        assert await outbox.next_due(conn) is None


async def test_what_is_sent_stays_sent(database: Database) -> None:
    async with database.transaction() as conn:
        ((id,),) = (await filled(conn, channels=1, briefs=1)).values()
        await outbox.sending(conn, id, NOW)
        await outbox.sent(conn, id, message_id=2**62, now=NOW)
        await outbox.later(conn, id, due_at=NOW, reason="late", keep_sending_at=True)
        await outbox.refused(conn, id, reason="late", now=NOW)
        assert await outbox.sending(conn, id, NOW) is False
        row = await outbox.get(conn, id)
        assert (row.state, row.message_id, row.attempts) == ("sent", 2**62, 1)
        assert await outbox.counts(conn) == {"queued": 0, "sending": 0, "sent": 1, "refused": 0, "dropped": 0}


async def test_finding_what_is_due_reads_no_finished_row(database: Database) -> None:
    async with database.read() as conn:
        query = select(outbox._heads()).compile(dialect=conn.dialect, compile_kwargs={"literal_binds": True})
        plan = (await conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}")).all()
    steps = [step.detail for step in plan]
    assert any("ix_deliveries_queued" in step for step in steps), steps
    assert any("ix_deliveries_sending" in step for step in steps), steps
    assert not any(step.startswith("SCAN deliveries") and "INDEX" not in step for step in steps), steps


Step = st.tuples(
    st.sampled_from(["queue", "send", "fail", "unknown", "refuse", "pause", "resume", "crash"]),
    st.integers(1, 3),
    st.integers(0, 9),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(Step, max_size=30))
async def test_whatever_happens_every_row_ends_once_and_in_order(
    database: Database, steps: list[tuple[str, int, int]]
) -> None:
    """A model of a worker: at the end each channel got its briefs in the order they were queued, each one once."""
    queued: dict[int, list[int]] = defaultdict(list)
    posted: dict[int, list[int]] = defaultdict(list)
    async with database.transaction() as conn:
        await conn.execute(text("DELETE FROM deliveries"))
        await conn.execute(text("DELETE FROM subscriptions"))
        wishes = {channel: (await make.subscription(conn, channel)).id for channel in (1, 2, 3)}
        clock = 0

        async def deliver(channel: int, now: datetime) -> None:
            for row in await outbox.due(conn, now, 10):
                if row.channel_id == channel and await outbox.sending(conn, row.id, now):
                    posted[channel].append(row.id)
                    await outbox.sent(conn, row.id, message_id=row.id, now=now)

        for step, channel, number in steps:
            clock += 1
            now = later(seconds=clock)
            heads = [row for row in await outbox.due(conn, now, 10) if row.channel_id == channel]
            assert len(heads) <= 1
            match step:
                case "queue":
                    wish = await subscriptions.get(conn, wishes[channel])
                    id = await outbox.queue(
                        conn, subscription=wish, brief_id=await make.brief(conn, number), now=now, instance="i"
                    )
                    queued[channel] += [id] if id else []
                case "send":
                    await deliver(channel, now)
                case "fail" | "unknown" if heads:
                    assert await outbox.sending(conn, heads[0].id, now)
                    await outbox.later(
                        conn,
                        heads[0].id,
                        due_at=later(seconds=clock + number),
                        reason="x",
                        keep_sending_at=step == "unknown",
                    )
                case "crash" if heads:
                    assert await outbox.sending(conn, heads[0].id, now)
                    assert not any(row.channel_id == channel for row in await outbox.due(conn, later(days=1), 10))
                    (left,) = await outbox.unfinished(conn)
                    await outbox.later(conn, left.id, due_at=now, reason="crash", keep_sending_at=True)
                case "refuse" if heads:
                    await outbox.refused(conn, heads[0].id, reason="50035", now=now)
                    queued[channel].remove(heads[0].id)
                case "pause":
                    await subscriptions.pause(conn, wishes[channel], reason="x", now=now)
                    assert not any(row.channel_id == channel for row in await outbox.due(conn, later(days=1), 10))
                case "resume":
                    await subscriptions.resume(conn, wishes[channel], now)
        for channel, wish_id in wishes.items():
            await subscriptions.resume(conn, wish_id, later(seconds=clock))
            for _ in range(12):
                await deliver(channel, later(days=2))
        assert {c: p for c, p in posted.items() if p} == {c: q for c, q in queued.items() if q}
        assert (await outbox.counts(conn))["queued"] == 0


def test_a_nonce_that_discord_would_refuse_is_refused_here() -> None:
    with pytest.raises(ValueError, match="longer than 25"):
        outbox.nonce("x" * 25, 1)
