"""A web server and a DNS on loopback that answer as a test tells them; the server remembers what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Self

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from bot.sources.http import Http, Response, Validators

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Loopback:
    """``async with Loopback() as site: site.page("/x", "text"); site.url("/x")``."""

    def __init__(self) -> None:
        self.pages: dict[str, Handler] = {}
        self.asked: list[web.Request] = []

    def page(
        self, path: str, body: str | bytes = b"", *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer a path always alike; an ETag or Last-Modified among the headers makes it answer 304 when it fits."""
        given = {"Content-Type": "text/plain; charset=utf-8", **(headers or {})}
        raw = body.encode() if isinstance(body, str) else body

        async def answer(request: web.Request) -> web.StreamResponse:
            asked = (request.headers.get("If-None-Match"), request.headers.get("If-Modified-Since"))
            held = (given.get("ETag"), given.get("Last-Modified"))
            if any(held) and any(a == h for a, h in zip(asked, held, strict=True) if a and h):
                return web.Response(status=304, headers={k: v for k, v in given.items() if k != "Content-Type"})
            return web.Response(body=raw, status=status, headers=given)

        self.pages[path] = answer

    def serve(self, path: str, handler: Handler) -> None:
        """Answer a path by a handler of the test's own."""
        self.pages[path] = handler

    def redirect(self, path: str, target: str, status: int = 302) -> None:
        """Redirect a path."""
        self.page(path, status=status, headers={"Location": target})

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The address of a path."""
        return f"http://{host}:{self.port}{path}"

    def hits(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(request.path_qs == path for request in self.asked)

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port: int = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request)
        handler = self.pages.get(request.path_qs) or self.pages.get(request.path)
        return await handler(request) if handler else web.Response(status=404, text="not found")


class Names(AbstractResolver):
    """A resolver that answers from a table; a list is used up one look-up at a time, the last for ever."""

    def __init__(self, table: dict[str, list[str]]) -> None:
        self.table = table

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        answers = self.table.get(host)
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, f"no {host}")
        if answers == ["never"]:
            await asyncio.sleep(60)
        address = answers.pop(0) if len(answers) > 1 else answers[0]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        pass


@contextlib.asynccontextmanager
async def raw_server(
    serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], tls: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """A server below HTTP: ``serve`` is called once the request's head was read; gives the port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            await serve(reader, writer)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def get(http: Http, url: str, validators: Validators | None = None) -> Response:
    return await http.get(url, accept="text/markdown, */*;q=0.5", validators=validators, allow_private=True)
