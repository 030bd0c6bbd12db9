"""What became of a post, read off the exception that discord.py raised and what was seen on the wire.

``certain`` things first: a refused connection has posted nothing, a 4xx neither. Whatever was written and not answered,
or answered with a 5xx, may exist.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import aiohttp
import discord

from bot.delivery.pacing import Refusals
from bot.errors import DeliveryError, DeliveryLater, DeliveryRefused, DeliveryUnknown

# https://discord.com/developers/docs/topics/opcodes-and-status-codes#json-json-error-codes
TRY_LATER = {
    20022,  # write rate limits of a channel or a message
    20028,
    20029,
    30046,
    110000,  # an index is not ready
    130000,  # overloaded
    160006,  # the most active threads there may be
}
UNKNOWN_CHANNEL, UNKNOWN_MESSAGE = 10003, 10008
REST_SECONDS = 60.0  # after an answer that came from Discord's wall and not from Discord


@dataclass(slots=True)
class Attempt:
    """One call of ``send``: how many of its requests were written and may have been obeyed."""

    open_requests: int = 0


ATTEMPT: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


def watching(refusals: Refusals) -> aiohttp.TraceConfig:
    """A trace of the HTTP session: counts refused requests, and for the current Attempt those without a clear no."""

    async def written(session: aiohttp.ClientSession, context: SimpleNamespace, request: Any) -> None:
        if attempt := ATTEMPT.get():
            attempt.open_requests += 1

    async def answered(session: aiohttp.ClientSession, context: SimpleNamespace, end: Any) -> None:
        response: aiohttp.ClientResponse = end.response
        # A 2xx stays open: its body, with the message's id, may yet be cut off.
        if 400 <= response.status < 500 and (attempt := ATTEMPT.get()):
            attempt.open_requests -= 1
        if response.status in (401, 403, 429) and response.headers.get("X-RateLimit-Scope") != "shared":
            refusals.note()

    trace = aiohttp.TraceConfig()
    trace.on_request_headers_sent.append(written)
    trace.on_request_end.append(answered)
    return trace


def meaning(error: Exception, attempt: Attempt) -> DeliveryError:
    """The exception of a send as one of the three kinds of DeliveryError."""
    if isinstance(error, DeliveryError):
        return error
    if attempt.open_requests > 0 or (isinstance(error, discord.HTTPException) and error.status >= 500):
        return DeliveryUnknown(in_short(error))
    if isinstance(error, discord.RateLimited):
        return DeliveryLater(in_short(error), error.retry_after)
    if isinstance(error, discord.HTTPException):
        return _of_answer(error)
    return DeliveryLater(in_short(error))


def _of_answer(error: discord.HTTPException) -> DeliveryError:
    if error.status == 429:
        return DeliveryLater(in_short(error), max(REST_SECONDS, retry_after(error)))
    if error.status == 401 or error.code in TRY_LATER:
        return DeliveryLater(in_short(error), REST_SECONDS)
    if error.status in (403, 404) and error.code == 0:
        # Discord names its reasons; this came from a wall or a proxy before it, and says nothing of the channel.
        return DeliveryLater(in_short(error), REST_SECONDS)
    if error.code == UNKNOWN_MESSAGE:
        return DeliveryRefused("it was posted and then deleted in the channel", error.code)
    return DeliveryRefused(in_short(error), error.code or error.status)


def is_ban(error: discord.HTTPException) -> bool:
    """Whether a 429 comes from the wall before Discord and is meant for the whole bot: Discord's own have a Via."""
    return error.status == 429 and not error.response.headers.get("Via")


def retry_after(error: discord.HTTPException) -> float:
    """The seconds that the answer's Retry-After asks for, 0 where it asks for nothing that can be read."""
    try:
        return float(error.response.headers.get("Retry-After", ""))
    except ValueError:
        return 0.0


def in_short(error: BaseException) -> str:
    """One line of at most 300 characters that says what happened."""
    if isinstance(error, discord.RateLimited):
        return f"Discord asks to wait {error.retry_after:.0f} s"
    if isinstance(error, discord.HTTPException):
        if error.status >= 500:
            return f"Discord has trouble (HTTP {error.status})"
        text = " ".join(str(error.text).split()) if error.code else "no reason given"
        return f"Discord said no (HTTP {error.status}, code {error.code}: {text})"[:300]
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "Discord cannot be reached (its name is not found)"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"Discord cannot be reached ({error.os_error.strerror or error.os_error})"[:300]
    if isinstance(error, TimeoutError):
        return "Discord did not answer in time"
    if isinstance(error, (aiohttp.ClientError, OSError)):
        return f"the connection to Discord broke ({type(error).__name__})"
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
