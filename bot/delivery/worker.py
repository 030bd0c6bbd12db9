"""The worker turns outbox rows into messages, each exactly once, in order within a channel.

A row is committed as ``sending``, with its nonce, before anything is posted. Where the outcome of a post is unknown
(cut off, killed, 5xx) the row keeps the time of that attempt, and the next attempt begins by looking: inside Discord's
nonce window the same nonce makes Discord answer with the message that exists, past it the channel's own history is
searched for the row's mark. Sends run in tasks that ``stop`` awaits and never cancels; what hangs stays ``sending``.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

import structlog

from bot.delivery import digests
from bot.delivery.digests import FullPage
from bot.delivery.pacing import Pacing
from bot.errors import DatabaseCorrupt, DeliveryError, DeliveryLater, DeliveryRefused, DeliveryUnknown, StoreError
from bot.store import briefs, outbox, subscriptions
from bot.store.briefs import StoredBrief
from bot.store.database import Connection, Database
from bot.store.outbox import Delivery

log = structlog.get_logger(__name__)

# "Unique in the past few minutes" is all that Discord says of a nonce
# (https://discord.com/developers/docs/resources/message#create-message-jsonform-params); past this we look instead.
NONCE_WINDOW = timedelta(minutes=2)
MARGIN = timedelta(minutes=15)  # how far our clock may be off Discord's when history is searched
STOP_SECONDS = 8.0  # shutdown as a whole ends inside 10 s
IN_FLIGHT = 500  # messages being sent at once: 40 a second, each for as long as a request may hang
AT_ONCE = 80  # sends begun before the outbox is looked at again: what comes meanwhile and goes first waits 2 s at most
STORE_SECONDS = 5.0  # before a row that the store failed is taken up again
LOOK_SECONDS = 1.0  # longest sleep: rows may also come from another process

# https://discord.com/developers/docs/topics/opcodes-and-status-codes#json-json-error-codes
ABOUT_CHANNEL = {
    10003,  # unknown channel
    10004,  # unknown server
    40067,  # a forum that demands a tag
    50001,  # missing access
    50008,  # cannot send messages in a non-text channel
    50013,  # missing permissions
    50024,  # not in this type of channel
    50083,  # the thread is archived
    160005,  # the thread is locked
}
PASSES = {
    0,  # we could not lay it out ourselves
    10008,  # the message was posted and then deleted by somebody
    200000,  # blocked by the server's AutoMod
    200001,
}


class Outlet(Protocol):
    """Where messages go. ``bot.chat`` has the one for Discord."""

    def is_ready(self) -> bool:
        """Whether it makes sense to send at all; while not, rows wait untouched."""

    async def send(self, delivery: Delivery, content: StoredBrief | FullPage) -> int:
        """Post the message under the delivery's nonce; its id. Raises DeliveryLater, -Refused or -Unknown."""

    async def find(self, delivery: Delivery, since: datetime) -> int | None:
        """The id of the message that bears the delivery's mark, posted since then; None: surely there is none.

        Raises DeliveryLater where that cannot be told now, DeliveryRefused where the bot may not look.
        """


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds before the next attempt: doubled each time up to ``most``, of which a random half is taken off."""

    first: float = 2.0
    most: float = 900.0

    def after(self, attempts: int) -> float:
        """The wait after so many attempts."""
        return min(self.most, self.first * 2.0 ** min(attempts - 1, 20)) * random.uniform(0.5, 1.0)


def utc_now() -> datetime:
    """The time of day, in UTC."""
    return datetime.now(UTC)


async def _content(conn: Connection, row: Delivery) -> StoredBrief | FullPage | None:
    """What a row's message shows: its brief, None where that is gone, or its page of a digest."""
    return await digests.full(conn, row) if row.brief_id is None else await briefs.get(conn, row.brief_id)


class Worker:
    """Sends what is due until it is stopped. One channel's trouble delays no other channel."""

    def __init__(
        self,
        database: Database,
        outlet: Outlet,
        *,
        clock: Callable[[], datetime] = utc_now,
        pacing: Pacing | None = None,
        backoff: Backoff | None = None,
        nonce_window: timedelta = NONCE_WINDOW,
        stop_seconds: float = STOP_SECONDS,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._database, self._outlet, self._clock = database, outlet, clock
        self._pacing, self._backoff = pacing or Pacing(), backoff or Backoff()
        self._nonce_window, self._stop_seconds, self._look_seconds = nonce_window, stop_seconds, look_seconds
        self._awake = asyncio.Event()
        self._idle = asyncio.Event()
        self._halt = asyncio.Event()
        self._stopped = False
        self._loop: asyncio.Task[None] | None = None
        self._sends: dict[int, asyncio.Task[None]] = {}  # channel -> its one send
        self._troubled = False

    def start(self) -> None:
        """Begin to deliver in a task of the running loop."""
        if self._loop is None:
            self._loop = asyncio.create_task(self.run(), name="deliver")

    def wake(self) -> None:
        """Look at the outbox now."""
        self._awake.set()

    async def stop(self) -> None:
        """Begin nothing new and await the sends in flight, up to ``stop_seconds``; what hangs stays ``sending``."""
        self._halt.set()
        self.wake()
        deadline = asyncio.get_running_loop().time() + self._stop_seconds
        while not self._stopped:
            pending = {*self._sends.values(), *([self._loop] if self._loop and not self._loop.done() else [])}
            left = deadline - asyncio.get_running_loop().time()
            if pending and left > 0:
                await asyncio.wait(pending, timeout=left)
                continue
            if self._sends:
                log.warning("messages hang; the next start looks what became of them", messages=len(self._sends))
            self._stopped = True

    async def drain(self) -> None:
        """Deliver until nothing is due any more; rows that were put off stay for later."""
        self.start()
        assert self._loop is not None
        self._idle.clear()
        self.wake()
        idle = asyncio.create_task(self._idle.wait())
        await asyncio.wait({idle, self._loop}, return_when=asyncio.FIRST_COMPLETED)
        idle.cancel()

    async def run(self) -> None:
        """Deliver until ``stop``. A store that fails is told once and tried again."""
        requeued = False
        pause = 1.0
        while not self._halt.is_set():
            self._awake.clear()
            try:
                if not requeued:
                    await self._take_up()
                    requeued = True
                wait = await self._begin_due()
                if self._troubled:
                    log.info("the store works again")
                self._troubled, pause = False, 1.0
            except StoreError as error:
                self._tell_trouble(error)
                wait = pause = min(pause * 2, 60.0)
            await self._sleep(wait)

    async def _sleep(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._awake.wait()

    async def _take_up(self) -> None:
        """Rows that a crash left as ``sending`` go first in their channels; they keep the time of that attempt."""
        now = self._clock()
        async with self._database.transaction() as conn:
            for row in await outbox.unfinished(conn):
                reason = "the bot stopped while this was being sent"
                await outbox.later(conn, row.id, due_at=now, reason=reason, keep_sending_at=True)

    async def _begin_due(self) -> float:
        """Start a send for each row that may go now; seconds until there is more to do."""
        if not self._outlet.is_ready():
            return self._look_seconds
        free = min(IN_FLIGHT - len(self._sends), AT_ONCE)
        resting = self._pacing.resting()
        skip = self._sends.keys() | resting.keys()
        async with self._database.read() as conn:
            due = await outbox.due(conn, self._clock(), free, skip=skip) if free > 0 else []
        for row in due:
            await asyncio.sleep(self._pacing.delay())
            if self._halt.is_set() or not self._outlet.is_ready():
                return self._look_seconds
            self._pacing.take(row.channel_id)
            task = asyncio.create_task(self._deliver(row), name=f"send {row.nonce}")
            self._sends[row.channel_id] = task
            task.add_done_callback(functools.partial(self._ended, row.channel_id))
        if len(due) == AT_ONCE:
            return 0.0
        return min([self._look_seconds, *resting.values(), *(await self._until_next())])

    async def _until_next(self) -> list[float]:
        """The seconds until a row that was put off is due, as a list of none or one; tells ``drain`` of quiet."""
        quiet = not self._sends  # asked before the look: what ends meanwhile has rows behind it
        async with self._database.read() as conn:
            next_due = await outbox.next_due(conn)
        wait = (next_due - self._clock()).total_seconds() if next_due else None
        if quiet and (wait is None or wait > 0):
            self._idle.set()
        return [wait] if wait is not None and wait > 0 else []

    def _ended(self, channel_id: int, _: asyncio.Task[None]) -> None:
        del self._sends[channel_id]
        self.wake()

    async def _deliver(self, row: Delivery) -> None:
        try:
            await self._attempt(row)
        except StoreError as error:
            self._tell_trouble(error)
            await self._sleep_unless_stopping(STORE_SECONDS)
        except Exception:
            log.exception("a delivery failed in a way nobody foresaw", delivery=row.id, channel=row.channel_id)
            await self._sleep_unless_stopping(STORE_SECONDS)

    async def _attempt(self, row: Delivery) -> None:
        """One attempt at one row: look first where an earlier attempt may have posted it, then post, then record."""
        try:
            async with self._database.read() as conn:
                content = await _content(conn, row)
        except DatabaseCorrupt as error:
            # If only this brief is damaged, the rest goes on; if the whole file is, this cannot be written either.
            await self._refused(row, DeliveryRefused(f"its brief cannot be read: {error}", 0), certain=False)
            return
        looked = False
        if row.sending_at is not None and not timedelta(0) <= self._clock() - row.sending_at < self._nonce_window:
            try:
                found = await self._outlet.find(row, row.sending_at - MARGIN)
            except DeliveryError as error:
                await self._failed(row, error, certain=False)
                return
            if found is not None:
                log.info("found a message that a crash had hidden", delivery=row.id, channel=row.channel_id)
                await self._record(row, found)
                return
            looked = True
        async with self._database.transaction() as conn:
            if looked:
                # Nothing was posted until now, so this attempt is the first that may post: its time counts.
                reason = row.reason or "it was not in the channel's history"
                await outbox.later(conn, row.id, due_at=row.due_at, reason=reason, keep_sending_at=False)
            if not await outbox.sending(conn, row.id, self._clock()):
                return
        first = looked or row.sending_at is None
        try:
            if content is None:
                raise DeliveryRefused("its brief is gone from the store", 0)
            message_id = await self._outlet.send(row, content)
        except DeliveryError as error:
            await self._failed(row, error, certain=first and not isinstance(error, DeliveryUnknown))
        except Exception as error:
            log.exception("sending failed in a way nobody foresaw", delivery=row.id, channel=row.channel_id)
            await self._failed(row, DeliveryUnknown(f"{type(error).__name__}: {error}"), certain=False)
        else:
            await self._record(row, message_id)

    async def _record(self, row: Delivery, message_id: int) -> None:
        """Note that the message exists."""

        async def write(conn: Connection) -> None:
            await outbox.sent(conn, row.id, message_id=message_id, now=self._clock())

        if await self._settle(write):
            log.debug("delivered", delivery=row.id, channel=row.channel_id, message=message_id)

    async def _failed(self, row: Delivery, error: DeliveryError, *, certain: bool) -> None:
        """Write down what became of an attempt. ``certain``: no attempt so far can have posted anything."""
        if isinstance(error, DeliveryRefused):
            await self._refused(row, error, certain=certain)
            return
        attempts = row.attempts + 1
        wait = self._backoff.after(attempts)
        if isinstance(error, DeliveryLater) and error.retry_after is not None:
            wait = max(error.retry_after, min(wait, self._backoff.first))

        async def write(conn: Connection) -> None:
            due_at = self._clock() + timedelta(seconds=wait)
            await outbox.later(conn, row.id, due_at=due_at, reason=error.reason, keep_sending_at=not certain)

        await self._settle(write)
        tell = log.warning if attempts == 1 else log.debug
        tell("message put off", channel=row.channel_id, reason=error.reason, again_in=f"{wait:.0f} s")

    async def _refused(self, row: Delivery, error: DeliveryRefused, *, certain: bool) -> None:
        """What is wrong with the channel holds the row until it is resumed; what is wrong with the message ends it."""
        paused: list[int] = []

        async def write(conn: Connection) -> None:
            now = self._clock()
            paused.clear()
            if error.code in ABOUT_CHANNEL:
                await outbox.later(conn, row.id, due_at=now, reason=error.reason, keep_sending_at=not certain)
                concerned = [s.id for s in await subscriptions.active(conn) if s.channel_id == row.channel_id]
            else:
                await outbox.refused(conn, row.id, reason=error.reason, now=now)
                concerned = [] if error.code in PASSES else [row.subscription_id]
            for id in concerned:
                if await subscriptions.pause(conn, id, reason=error.reason, now=now):
                    await outbox.hold(conn, id, error.reason, now)
                    paused.append(id)

        if not await self._settle(write):
            return
        if paused:
            log.warning("subscription paused", channel=row.channel_id, subscriptions=paused, reason=error.reason)
        elif error.code in PASSES:
            log.warning("message refused", channel=row.channel_id, delivery=row.id, reason=error.reason)

    async def _settle(self, write: Callable[[Connection], Awaitable[None]]) -> bool:
        """Commit what became of a row, however often the store fails: only this task knows. False if stopped first."""
        pause = 0.5
        while True:
            try:
                async with self._database.transaction() as conn:
                    await write(conn)
            except StoreError as error:
                self._tell_trouble(error)
                await self._sleep_unless_stopping(pause)
                if self._halt.is_set():
                    return False
                pause = min(pause * 2, 30.0)
            else:
                return True

    async def _sleep_unless_stopping(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._halt.wait()

    def _tell_trouble(self, error: StoreError) -> None:
        if not self._troubled:
            self._troubled = True
            log.error("the store fails; deliveries wait", reason=str(error))
