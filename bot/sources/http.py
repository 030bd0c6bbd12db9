"""Polite, guarded, bounded GET: the only way in which anything is fetched from a source.

Polite: an honest User-Agent, conditional requests, Retry-After held for the whole host, two connections a host.
Guarded: ``check_url`` before each hop, and the IP address of every connection just before it is made.
Bounded: time for the whole fetch, decoded size, redirects, connections.
"""

from __future__ import annotations

import asyncio
import errno
import importlib.util
import re
import socket
import ssl
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDict, CIMultiDictProxy

from bot.errors import FetchError, UnsafeURL
from bot.sources import freshness
from bot.sources.address import check_allowed, check_url, is_blocked, is_private, origin
from bot.sources.charset import decode

__all__ = ["Http", "Response", "Validators", "check_url", "is_private"]

_REDIRECTS = {301, 302, 303, 307, 308}
_PERMANENT = {301, 308}
_ZSTD = sys.version_info >= (3, 14) or importlib.util.find_spec("backports.zstd") is not None
ACCEPT_ENCODING = "gzip, deflate, br" + (", zstd" if _ZSTD else "")


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave to ask with next time; opaque, handed back byte for byte."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """A good answer. ``url`` is where it came from in the end, ``permanent_url`` where the source has moved for good.

    ``not_modified``: a 304, whose body is empty and whose validators are those to ask with next time. ``max_age`` is
    how many seconds the server calls it fresh, or None.
    """

    url: str
    permanent_url: str | None
    status: int
    headers: CIMultiDictProxy[str]
    body: bytes
    validators: Validators
    not_modified: bool = False
    max_age: float | None = None

    @property
    def content_type(self) -> str:
        """``text/html`` and the like, in lower case; empty if the server says nothing."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().casefold()

    @property
    def charset(self) -> str | None:
        """The charset that the Content-Type names, or None."""
        found = re.search(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", self.headers.get("Content-Type", ""), re.IGNORECASE)
        return found[1] if found else None

    def text(self) -> str:
        """The body as text; never raises. See ``charset.decode``."""
        return decode(self.body, self.charset)


class Http:
    """One session for everything that is fetched: ``async with Http(...) as http: await http.get(url, accept=...)``."""

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
    ) -> None:
        self.user_agent, self.timeout, self.max_bytes, self.max_redirects = (
            user_agent,
            timeout,
            max_bytes,
            max_redirects,
        )
        self._connections, self._per_host, self._resolver = connections, connections_per_host, resolver
        self._guarded: aiohttp.ClientSession | None = None
        self._allowed: aiohttp.ClientSession | None = None
        self._held: dict[str, float] = {}  # host -> monotonic time until which it asked for peace

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Open the sessions."""
        self._guarded, self._allowed = self._session(_guarded_socket), self._session(None)

    async def close(self) -> None:
        """Close every connection."""
        for session in (self._guarded, self._allowed):
            if session is not None:
                await session.close()
        self._guarded = self._allowed = None

    async def get(
        self,
        url: str,
        *,
        accept: str,
        validators: Validators | None = None,
        allow_private: bool = False,
        max_bytes: int | None = None,
    ) -> Response:
        """Fetch an address.

        ``validators`` make it a conditional request. ``allow_private`` lets the address's own host and port lie in a
        private network; where it redirects to is guarded as ever. Raises UnsafeURL before a byte is sent, FetchError
        for everything that is not a 2xx or 304.
        """
        try:
            async with asyncio.timeout(self.timeout):
                return await self._follow(url, accept, validators or Validators(), allow_private, max_bytes)
        except TimeoutError:
            raise FetchError(url, f"no whole answer within {self.timeout:g} s", "It is tried again later") from None

    async def _follow(
        self, url: str, accept: str, validators: Validators, allow_private: bool, max_bytes: int | None
    ) -> Response:
        allowed = origin(url) if allow_private else None
        at, permanent, only_permanent, seen = url, None, True, set[str]()
        for _ in range(self.max_redirects + 1):
            free = allowed is not None and origin(at)[1:] == allowed[1:]
            (check_allowed if free else check_url)(at)
            if at in seen:
                raise FetchError(url, "it redirects in a circle", "Open the address in a browser and use where it ends")
            seen.add(at)
            answer = await self._ask(at, accept, validators, free, max_bytes or self.max_bytes, permanent)
            if isinstance(answer, Response):
                return answer
            target, status = answer
            if urlsplit(at).scheme == "https" and urlsplit(target).scheme == "http":
                raise UnsafeURL(target, "it redirects from https to http", "Use the address it should have, with https")
            only_permanent = only_permanent and status in _PERMANENT
            permanent = target if only_permanent else permanent
            at = target
        raise FetchError(url, f"more than {self.max_redirects} redirects", "Use the address at the end of them")

    async def _ask(
        self, url: str, accept: str, validators: Validators, free: bool, max_bytes: int, permanent: str | None
    ) -> Response | tuple[str, int]:
        """One request: the answer, or where it redirects to and with which status."""
        host = urlsplit(url).netloc.casefold()
        if (wait := self._held.get(host, 0.0) - time.monotonic()) > 0:
            reason = f"{host} asked not to be asked again for {_span(wait)}"
            raise FetchError(url, reason, "It is tried again after that", retry_after=wait)
        session = self._allowed if free else self._guarded
        assert session is not None, "Http is used inside `async with`"
        headers = {"User-Agent": self.user_agent, "Accept": accept, "Accept-Encoding": ACCEPT_ENCODING}
        if validators.etag:
            headers["If-None-Match"] = validators.etag
        if validators.last_modified:
            headers["If-Modified-Since"] = validators.last_modified
        try:
            async with session.get(url, headers=headers, allow_redirects=False) as answer:
                if answer.status in _REDIRECTS and (location := answer.headers.get("Location")):
                    return _joined(url, location), answer.status
                self._refuse_bad_status(url, host, answer)
                body = b"" if answer.status == 304 else await _read(url, answer, max_bytes)
                return self._response(url, permanent, answer, body, validators)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _explained(url, error) from error

    def _response(
        self, url: str, permanent: str | None, answer: aiohttp.ClientResponse, body: bytes, asked: Validators
    ) -> Response:
        got = answer.headers
        given = Validators(freshness.validator(got.get("ETag")), freshness.validator(got.get("Last-Modified")))
        not_modified = answer.status == 304
        if not_modified:  # RFC 9111, 3.2: what a 304 brings replaces what was stored, the rest stays
            given = Validators(given.etag or asked.etag, given.last_modified or asked.last_modified)
        return Response(
            url=url,
            permanent_url=permanent,
            status=answer.status,
            headers=CIMultiDictProxy(CIMultiDict(got)),
            body=body,
            validators=given,
            not_modified=not_modified,
            max_age=freshness.max_age(got, datetime.now(UTC)),
        )

    def _refuse_bad_status(self, url: str, host: str, answer: aiohttp.ClientResponse) -> None:
        status = answer.status
        if 200 <= status < 300 or status == 304:
            return
        wait = freshness.retry_after(answer.headers, datetime.now(UTC)) if status in (429, 503) else None
        if wait:
            self._held[host] = time.monotonic() + wait
        reason, remedy = _STATUS.get(status, ("", ""))
        if not reason:
            kind = "the server failed" if status >= 500 else "the server refused"
            reason, remedy = f"{kind} ({status})", "It is tried again later" if status >= 500 else "Check the address"
        if status in (403, 503) and "cloudflare" in answer.headers.get("Server", "").casefold():
            reason, remedy = f"a bot filter (Cloudflare) refused ({status})", "Ask the site to let this bot's name in"
        raise FetchError(url, reason, remedy, status=status, retry_after=wait, permanent=status == 410)

    def _session(self, socket_factory: Any) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=self._connections,
            limit_per_host=self._per_host,
            socket_factory=socket_factory,
            resolver=self._resolver,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=None),  # asyncio.timeout bounds the whole fetch, redirects and all
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
            read_bufsize=2**16,
        )


_STATUS = {
    401: ("it wants a login (401)", "Use an address that is open to everybody"),
    402: ("it wants to be paid (402)", "Use an address that is open to everybody"),
    403: ("the server does not let the bot in (403)", "Ask the site to let this bot's name in"),
    404: ("there is no such page (404)", "Check the address; it is tried again later"),
    410: ("it is gone for good (410)", "Remove the source or give its new address"),
    429: ("the server wants fewer requests (429)", "It is tried again later"),
    451: ("it is withheld for legal reasons (451)", "Use another source"),
}


async def _read(url: str, answer: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The decoded body, streamed; stops at the bound, however small the bytes on the wire are."""
    encodings = answer.headers.get("Content-Encoding", "")
    if "," in encodings:
        raise FetchError(url, f"its body is packed twice ({encodings[:40]})", "Tell the site's owner")
    body = bytearray()
    async for chunk in answer.content.iter_chunked(2**16):
        body += chunk
        if len(body) > max_bytes:
            answer.close()
            raise FetchError(
                url, f"it is larger than {max_bytes / 1e6:g} MB", "Use a smaller page, or raise http.max_bytes"
            )
    return bytes(body)


def _joined(url: str, location: str) -> str:
    """Where a Location header leads; UnsafeURL where it is no address."""
    try:
        target = urljoin(url, location.strip())
    except ValueError:
        raise UnsafeURL(
            location[:200], "it redirects to something that is no address", "Tell the site's owner"
        ) from None
    return target.partition("#")[0]


def _guarded_socket(info: tuple[Any, ...]) -> socket.socket:
    """A socket for one connection attempt, if its address lies on the public internet.

    aiohttp calls this with the final address of every attempt, after DNS: a name that resolves differently the second
    time is judged by what is dialled.
    """
    family, kind, protocol, _, address = info
    if is_blocked(str(address[0])):
        raise _Refused(str(address[0]))
    return socket.socket(family=family, type=kind, proto=protocol)


class _Refused(OSError):
    """The address of a connection lies in a private network."""


def _explained(url: str, error: BaseException) -> FetchError | UnsafeURL:
    """What went wrong on the way, in words for the person who gave the address."""
    host = urlsplit(url).hostname
    later = "It is tried again later"
    if (refused := _cause(error, _Refused)) is not None:
        reason = f"{host} leads to {refused}, which is not a public address"
        return UnsafeURL(url, reason, "Only addresses on the public internet are fetched")
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError, ssl.SSLError)):
        return FetchError(
            url, f"no secure connection: {_certificate(error)}", "Check the address, or tell the site's owner"
        )
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return FetchError(url, f"there is no host {host}, or DNS does not answer", "Check the spelling of the address")
    if isinstance(error, OSError) and error.errno in (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH):
        return FetchError(url, f"{host} does not take connections", later)
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError)):
        broken = "encoding" in str(error).casefold()
        return FetchError(url, "its body cannot be unpacked" if broken else "the answer was cut off", later)
    if isinstance(error, aiohttp.ClientResponseError):
        return FetchError(url, f"the answer is not proper HTTP ({_short(error.message)})", later)
    if isinstance(error, (aiohttp.InvalidURL, ValueError)):
        return FetchError(url, "the address cannot be fetched", "Check the address")
    return FetchError(url, f"the connection failed ({_short(error)})", later)


def _cause(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, kind):
            return error
        if isinstance(error, BaseExceptionGroup):
            return next((found for inner in error.exceptions if (found := _cause(inner, kind))), None)
        error = getattr(error, "os_error", None) or error.__cause__ or error.__context__
    return None


def _certificate(error: BaseException) -> str:
    text = str(getattr(error, "certificate_error", error)).casefold()
    for mark, words in (
        ("expired", "its certificate has expired"),
        ("hostname mismatch", "its certificate is for another name"),
        ("doesn't match", "its certificate is for another name"),
        ("self-signed", "its certificate is self-signed"),
        ("self signed", "its certificate is self-signed"),
        ("unable to get local issuer", "its certificate's issuer is not known"),
        ("wrong version", "it does not speak TLS there"),
        ("record layer", "it does not speak TLS there"),
    ):
        if mark in text:
            return words
    return "its certificate is not valid" if "certificate" in text else "the TLS handshake failed"


def _short(error: object) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


def _span(seconds: float) -> str:
    return (
        f"{seconds / 3600:.0f} h"
        if seconds >= 5400
        else f"{seconds / 60:.0f} min"
        if seconds >= 90
        else f"{seconds:.0f} s"
    )
