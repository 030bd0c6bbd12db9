"""Polite, guarded, bounded GET: the only way in which anything is fetched from a source.

Polite: an honest User-Agent, conditional requests, Retry-After held for the whole host, two connections a host; no
cookies, no Referer, nothing added to the address. Guarded: the address of every hop is checked, and the IP address of every
connection just before it is made. Bounded: time for the whole fetch, size packed and unpacked, redirects, connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import re
import socket
import ssl
import time
import weakref
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self
from urllib.parse import quote, urljoin

import aiohttp
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from bot.errors import FetchError, UnsafeURL
from bot.sources import answers, freshness
from bot.sources.address import Place, check_public, check_url, is_blocked, is_private, place
from bot.sources.response import Response, Validators
from bot.sources.unpack import ACCEPT_ENCODING, Unpacker, UnpackError

__all__ = ["Http", "Response", "Validators", "check_url", "is_private"]

_REDIRECTS = {301, 302, 303, 307, 308}
_PERMANENT = {301, 308}
_LONGEST_FIELD = 16_384  # a whole header line; some sites' Content-Security-Policy has over 8 kB
_MOST_FIELDS = 128
_MOST_HELD = 10_000
_NOT_PUBLIC = "Only addresses on the public internet are fetched"


@dataclass(frozen=True, slots=True)
class _Wish:
    """What one ``get`` wants, the same at every hop; ``url`` is the address as it was given."""

    url: str
    accept: str
    validators: Validators
    max_bytes: int
    delta: bool


@dataclass(frozen=True, slots=True)
class _Moved:
    status: int
    location: str


class Http:
    """One session for everything that is fetched: ``async with Http(...) as http: await http.get(url, accept=...)``.

    ``timeout`` is seconds for a whole fetch, its redirects and its body, but not for waiting until the host has a
    connection free. ``resolver``, ``tls`` and ``clock`` (monotonic seconds) replace aiohttp's, Python's and the system's.
    """

    def __init__(
        self,
        *,
        user_agent: str,
        timeout: float = 20.0,
        max_bytes: int = 5_000_000,
        max_redirects: int = 5,
        connections: int = 50,
        connections_per_host: int = 2,
        resolver: AbstractResolver | None = None,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.user_agent = "".join(c for c in user_agent if c.isprintable())
        self.timeout, self.max_bytes, self.max_redirects = timeout, max_bytes, max_redirects
        self._per_host, self._resolver, self._tls, self._clock = connections_per_host, resolver, tls, clock
        self._turns = asyncio.Semaphore(connections)
        self._host_turns: weakref.WeakValueDictionary[str, asyncio.Semaphore] = weakref.WeakValueDictionary()
        self._guarded: aiohttp.ClientSession | None = None
        self._allowed: aiohttp.ClientSession | None = None
        self._held: dict[str, float] = {}  # host -> until when, by the clock, it asked for peace

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Open the sessions. What was allowed a private host never shares a connection with what was not."""
        self._guarded, self._allowed = self._session(_guarded_socket), self._session(None)

    async def close(self) -> None:
        """Close every connection."""
        for session in (self._guarded, self._allowed):
            if session is not None:
                await session.close()
        self._guarded = self._allowed = None

    def hold(self, url: str, seconds: float) -> None:
        """Ask nothing of an address's host for so long. Raises UnsafeURL where it is no address."""
        self._hold(place(url).netloc, seconds)

    async def get(
        self,
        url: str,
        *,
        accept: str,
        validators: Validators | None = None,
        allow_private: bool = False,
        max_bytes: int | None = None,
        delta: bool = False,
    ) -> Response:
        """Fetch an address: a whole page (200, 203), a 304 if ``validators`` were given, or a 226 if ``delta`` was.

        ``allow_private`` lets the address's own host and port lie in a private network; where it redirects to is guarded as
        ever. Raises UnsafeURL for what must not be fetched, before a byte is sent there, and FetchError for the rest.
        """
        at = place(url)
        allowed = at.origin if allow_private else None
        wish = _Wish(url, accept, validators or Validators(), max_bytes or self.max_bytes, delta)
        permanent, for_good, left, seen = None, True, self.timeout, {at.url}
        for _ in range(self.max_redirects + 1):
            free = at.origin == allowed
            if not free:
                _check(at, url)
            async with self._turn(at):
                began = self._clock()
                try:
                    async with asyncio.timeout(left):
                        answer = await self._ask(at, wish, free, permanent, for_good)
                except TimeoutError:
                    reason = f"{at.host} gave no whole answer within {self.timeout:g} s"
                    raise FetchError(url, reason, answers.AGAIN) from None
                left -= self._clock() - began
            if isinstance(answer, Response):
                return answer
            at = _next(at, answer.location)
            for_good = for_good and answer.status in _PERMANENT
            permanent = at.url if for_good else permanent
            if at.url in seen:
                raise FetchError(url, "it redirects in a circle", "Open the address in a browser and use where it ends")
            seen.add(at.url)
        raise FetchError(url, f"more than {self.max_redirects} redirects", "Use the address at the end of them")

    @contextlib.asynccontextmanager
    async def _turn(self, at: Place) -> AsyncIterator[None]:
        """Wait until the host, then the whole bot, has a connection free; then refuse if the host asked for peace."""
        turns = self._host_turns.get(at.host)
        if turns is None:
            turns = self._host_turns[at.host] = asyncio.Semaphore(self._per_host)
        async with turns, self._turns:
            wait = self._held.get(at.netloc, 0.0) - self._clock()
            if wait > 0:
                reason = f"{at.netloc} asked not to be asked again for {answers.span(wait)}"
                raise FetchError(at.url, reason, "It is tried again after that", retry_after=wait)
            yield

    def _hold(self, netloc: str, seconds: float) -> None:
        now = self._clock()
        if len(self._held) >= _MOST_HELD:
            self._held = {host: until for host, until in self._held.items() if until > now}
        self._held[netloc] = max(self._held.get(netloc, 0.0), now + seconds)

    async def _ask(
        self, at: Place, wish: _Wish, free: bool, permanent: str | None, for_good: bool
    ) -> Response | _Moved:
        """One request: the answer, or where it redirects to."""
        session = self._allowed if free else self._guarded
        assert session is not None, "Http is used inside `async with`"
        refused: list[str] = []
        _refused.set(refused)
        try:
            async with session.get(
                URL(at.url, encoded=True), headers=self._headers(wish), allow_redirects=False
            ) as answer:
                if answer.status in _REDIRECTS and (location := answer.headers.get("Location", "").strip()):
                    return _Moved(answer.status, location)
                self._refuse_bad_status(at, wish, answer, for_good)
                body = b"" if answer.status == 304 else await _read(wish, answer)
                return _response(at, permanent, answer, body, wish.validators)
        except UnpackError as error:
            raise FetchError(wish.url, str(error), answers.AGAIN) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if refused:
                reason = f"{at.host} leads to {refused[0]}, which is not a public address"
                raise UnsafeURL(at.url, reason, _NOT_PUBLIC) from error
            if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ClientError):
                raise
            raise FetchError(wish.url, *_explained(at.host, error)) from error

    def _headers(self, wish: _Wish) -> dict[str, str]:
        headers = {"User-Agent": self.user_agent, "Accept": wish.accept, "Accept-Encoding": ACCEPT_ENCODING}
        if etag := freshness.validator(wish.validators.etag):
            headers["If-None-Match"] = etag
            if wish.delta:
                headers["A-IM"] = "feed"
        if last_modified := freshness.validator(wish.validators.last_modified):
            headers["If-Modified-Since"] = last_modified
        return headers

    def _refuse_bad_status(self, at: Place, wish: _Wish, answer: aiohttp.ClientResponse, for_good: bool) -> None:
        status, asked = answer.status, wish.validators
        if status in (200, 203) or (status == 226 and wish.delta) or (status == 304 and asked != Validators()):
            return
        wait = freshness.retry_after(answer.headers, datetime.now(UTC)) if status in (429, 503) else None
        if wait:
            self._hold(at.netloc, wait)
        reason, remedy = answers.words(status, answer.headers)
        # Gone at the end of a temporary redirect says nothing about the address itself.
        raise FetchError(
            wish.url, reason, remedy, status=status, retry_after=wait, permanent=status == 410 and for_good
        )

    def _session(self, socket_factory: Any) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0,  # turns are waited for in _turn, outside the time for the fetch
            socket_factory=socket_factory,
            resolver=self._resolver,
            use_dns_cache=False,  # what is dialled is what was just looked up
            ssl=self._tls or True,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None),  # asyncio.timeout bounds the whole fetch, redirects and all
            max_line_size=_LONGEST_FIELD,
            max_field_size=_LONGEST_FIELD,
            max_headers=_MOST_FIELDS,
        )


def _response(
    at: Place, permanent: str | None, answer: aiohttp.ClientResponse, body: bytes, asked: Validators
) -> Response:
    got = answer.headers
    given = Validators(freshness.validator(got.get("ETag")), freshness.validator(got.get("Last-Modified")))
    not_modified = answer.status == 304
    if not_modified:  # RFC 9111, 3.2: what a 304 brings replaces what was stored, the rest stays
        given = Validators(given.etag or asked.etag, given.last_modified or asked.last_modified)
    return Response(
        url=at.url,
        permanent_url=permanent,
        status=answer.status,
        headers=CIMultiDictProxy(CIMultiDict(got)),
        body=body,
        validators=given,
        not_modified=not_modified,
        max_age=freshness.max_age(got, datetime.now(UTC)),
    )


async def _read(wish: _Wish, answer: aiohttp.ClientResponse) -> bytes:
    """The body, unpacked as it arrives; stops at the bound, however small the bytes on the wire are."""
    most = wish.max_bytes
    too_large = FetchError(
        wish.url, f"it is larger than {most / 1e6:g} MB", "Use a smaller page, or raise http.max_bytes"
    )
    if (answer.content_length or 0) > most:
        raise too_large
    unpacker = Unpacker(", ".join(answer.headers.getall("Content-Encoding", [])))
    body, packed = bytearray(), 0
    async for chunk in answer.content.iter_any():
        packed += len(chunk)
        for piece in unpacker.feed(chunk):
            body += piece
            if len(body) > most:
                raise too_large
        if packed > most:  # packed so that nothing comes out
            raise too_large
    unpacker.close()
    return bytes(body)


def _check(at: Place, given: str) -> None:
    try:
        check_public(at)
    except UnsafeURL as error:
        if at == place(given):
            raise
        raise UnsafeURL(error.url, f"it redirects to where nothing is fetched: {error.reason}", error.remedy) from None


def _next(at: Place, location: str) -> Place:
    """Where a Location header leads; UnsafeURL where that is no address, or leads from https to http."""
    escaped = (
        quote(location, safe="%!#$&'()*+,/:;=?@[]~\\", errors="surrogateescape") if _RAW.search(location) else location
    )
    try:
        target = place(urljoin(at.url, escaped))
    except UnsafeURL as error:
        raise UnsafeURL(error.url, f"it redirects to where nothing is fetched: {error.reason}", error.remedy) from None
    except ValueError:
        raise UnsafeURL(location[:200], "it redirects to something that is no address", "Tell its owner") from None
    if at.scheme == "https" and target.scheme == "http":
        raise UnsafeURL(target.url, "it redirects from https to http", "Use the address it should have, with https")
    return target


_RAW = re.compile("[ \ud800-\udfff]")  # blanks, and bytes that are no UTF-8, as servers write them in a Location

# What the guard refused for the request that runs in this context; aiohttp's errors do not always name it.
_refused: ContextVar[list[str]] = ContextVar("refused")


def _guarded_socket(info: tuple[Any, ...]) -> socket.socket:
    """A socket for one connection attempt, if its address lies on the public internet.

    aiohttp calls this with the final address of every attempt, after DNS: a name that resolves differently the second
    time is judged by what is dialled. A resolver of our own would not do, as aiohttp asks none for IP addresses.
    """
    family, kind, protocol, _, address = info
    if is_blocked(str(address[0])):
        _refused.get().append(str(address[0]))
        raise OSError(errno.EACCES, "not a public address")
    return socket.socket(family=family, type=kind, proto=protocol)


def _explained(host: str, error: BaseException) -> tuple[str, str]:
    """What went wrong on the way, in words for the person who gave the address, and what to do."""
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError, ssl.SSLError)):
        problem = str(getattr(error, "certificate_error", None) or error)
        return f"no secure connection: {answers.certificate(problem)}", "Check the address, or tell the site's owner"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        if getattr(error.os_error, "errno", None) == socket.EAI_AGAIN:
            return f"the address of {host} could not be looked up: DNS does not answer", answers.AGAIN
        return f"there is no host {host}", "Check the spelling of the address"
    if isinstance(error, aiohttp.ClientConnectorError):
        if error.errno == errno.ECONNREFUSED:
            return f"{host} refuses connections", f"Check the address and its port; {answers.AGAIN.lower()}"
        return f"{host} cannot be reached", answers.AGAIN
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return f"{host} closed the connection without an answer", answers.AGAIN
    if isinstance(error, (aiohttp.ClientPayloadError, ConnectionError)):
        return "the answer was cut off in the middle", answers.AGAIN
    if isinstance(error, aiohttp.ClientResponseError):
        if "got more than" in error.message.casefold() or "too many headers" in error.message.casefold():
            return "the answer's headers are too large", "Tell the site's owner"
        return "the answer is not proper HTTP", "Check the address and its port"
    return f"the connection to {host} failed ({type(error).__name__})", answers.AGAIN
