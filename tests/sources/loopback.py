"""A web server on loopback that answers as a test tells it, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Self

from aiohttp import web

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
