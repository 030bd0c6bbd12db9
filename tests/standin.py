"""A local stand-in for the parts of Discord that a discord.py 2.7 bot touches, on the wire.

    async with StandIn() as discord_side:
        with discord_side.patched():  # Route.BASE + DiscordWebSocket.DEFAULT_GATEWAY
            await client.start(discord_side.token)

REST and gateway live on one loopback aiohttp server. Everything the bot sends is kept in ``requests``; faults are
scripted with ``fail()``; the world changes with ``deny()``, ``delete_channel()`` and ``guild_unavailable()``; users are
played with ``command()``, ``autocomplete()``, ``click()`` and ``submit()``; the gateway is cut with ``cut()``.

What it takes for granted of Discord, because nobody has published it: a nonce is known for ``nonce_window`` seconds
whatever the channel; the message bucket is a fixed window of 5; a channel of an unavailable server answers 404/10003.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import yarl
from aiohttp import WSMsgType, web

EPOCH_MS = 1_420_070_400_000
TEXT, NEWS, FORUM, PUBLIC_THREAD = 0, 5, 15, 11
EPHEMERAL, CROSSPOSTED, COMPONENTS_V2 = 1 << 6, 1 << 0, 1 << 15
VIEW, SEND, EMBED_LINKS, HISTORY, SEND_IN_THREADS = 1 << 10, 1 << 11, 1 << 14, 1 << 16, 1 << 38
ADMINISTRATOR = 1 << 3
ALL_PERMISSIONS = str(((1 << 53) - 1) & ~ADMINISTRATOR)  # an administrator would be above every overwrite
BODY: web.RequestKey[Any] = web.RequestKey("body", object)
FILES: web.RequestKey[list[str]] = web.RequestKey("files", list)


def reply(body: Any = None, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """discord.py parses JSON only if content-type is *exactly* application/json (http.py:114)."""
    if status == 204:
        return web.Response(status=204, headers=headers)
    return web.Response(body=json.dumps(body).encode(), status=status, headers=headers, content_type="application/json")


def error(status: int, code: int, message: str, errors: Any = None) -> web.Response:
    return reply({"message": message, "code": code, **({"errors": errors} if errors else {})}, status)


def too_many(
    retry_after: float, *, scope: str = "user", bucket: str = "b", code: int | None = None, via: bool = True
) -> web.Response:
    """A 429; without a ``Via`` header discord.py takes it for a Cloudflare ban (http.py:712)."""
    body = {"message": "You are being rate limited.", "retry_after": retry_after, "global": scope == "global"}
    headers = {
        **({"Via": "1.1 google"} if via else {}),
        "Retry-After": str(max(1, round(retry_after))),
        "X-RateLimit-Scope": scope,
    }
    if scope == "global":
        headers["X-RateLimit-Global"] = "true"
    else:
        headers |= {
            "X-RateLimit-Bucket": bucket,
            "X-RateLimit-Limit": "5",
            "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": str(time.time() + retry_after),
            "X-RateLimit-Reset-After": str(retry_after),
        }
    return reply(body | ({"code": code} if code else {}), 429, headers)


@dataclass
class Seen:
    method: str
    path: str
    json: Any
    at: float
    files: list[str] = field(default_factory=list)
    status: int = 0


@dataclass
class Fault:
    method: str
    pattern: re.Pattern[str]
    make: (
        Callable[[], web.Response] | str
    )  # or one of: drop-before, drop-after, hang-before, hang-after, 500-after, 503-after
    times: int = 1


@dataclass
class Invocation:
    id: int
    token: str
    kind: int
    born: float
    channel_id: int
    answered: asyncio.Future[Any]
    callback: Any = None  # the body the bot posted to /callback
    message: Any = None  # @original
    followups: list[Any] = field(default_factory=list)


class StandIn:
    def __init__(self, *, token: str = "t0ken", window: float = 1.0, limit: int = 5) -> None:
        self.token, self.window, self.limit = token, window, limit
        self._last_id = 0
        self.app_id, self.user = self.new_id(), {}
        self.user = self.person("briefs", id=self.app_id, bot=True)
        self.guilds: dict[int, dict[str, Any]] = {}
        self.channels: dict[int, dict[str, Any]] = {}
        self.messages: dict[int, dict[str, Any]] = {}
        self.commands: dict[str, list[Any]] = {}
        self.nonces: dict[str, tuple[float, int]] = {}
        self.forbidden: set[int] = set()
        self.away: set[int] = set()  # unavailable servers
        self.silent: set[int] = set()  # channels without Read Message History
        self.on_post: Callable[[int], Awaitable[None]] | None = None  # before a message is made: (channel id)
        self.on_created: Callable[[dict[str, Any]], Awaitable[None]] | None = None  # made, but not answered yet
        self.released = asyncio.Event()  # ends what hangs
        self.requests: list[Seen] = []
        self.faults: list[Fault] = []
        self.invocations: dict[int, Invocation] = {}
        self.hits: dict[str, deque[float]] = defaultdict(deque)
        self.sockets: list[web.WebSocketResponse] = []
        self.session = ""
        self.events: list[dict[str, Any]] = []
        self.gateway_ops: list[int] = []
        self.gateway_refuses: int | None = None  # close code that every IDENTIFY gets
        self.ready = asyncio.Event()
        self.resumed = asyncio.Event()
        self.crosspost_limit, self.crosspost_window, self.nonce_window = 10, 3600.0, 300.0
        self.interaction_deadline = 3.0

    # -- world ---------------------------------------------------------------------------------
    def new_id(self) -> int:
        """A snowflake of now, above all before."""
        self._last_id = max(self._last_id + 1, int(time.time() * 1000 - EPOCH_MS) << 22)
        return self._last_id

    def person(self, name: str, *, id: int | None = None, bot: bool = False) -> dict[str, Any]:
        return {
            "id": str(id or self.new_id()),
            "username": name,
            "discriminator": "0",
            "avatar": None,
            "global_name": name,
            "bot": bot,
            "public_flags": 0,
        }

    def member(self, user: dict[str, Any], permissions: str | None = None) -> dict[str, Any]:
        m = {
            "user": user,
            "roles": [],
            "joined_at": "2026-01-01T00:00:00+00:00",
            "deaf": False,
            "mute": False,
            "flags": 0,
        }
        return m | ({"permissions": permissions} if permissions else {})

    def add_guild(self, name: str = "guild") -> int:
        gid = self.new_id()
        everyone = {
            "id": str(gid),
            "name": "@everyone",
            "permissions": ALL_PERMISSIONS,
            "position": 0,
            "color": 0,
            "hoist": False,
            "managed": False,
            "mentionable": False,
            "flags": 0,
        }
        self.guilds[gid] = {
            "id": str(gid),
            "name": name,
            "owner_id": str(self.new_id()),
            "roles": [everyone],
            "emojis": [],
            "features": ["COMMUNITY"],
            "channels": [],
            "threads": [],
            "members": [self.member(self.user)],
            "member_count": 2,
            "unavailable": False,
            "preferred_locale": "en-US",
            "stickers": [],
        }
        return gid

    def add_channel(self, guild_id: int, name: str, type: int = TEXT, **extra: Any) -> int:
        cid = self.new_id()
        channel = {
            "id": str(cid),
            "guild_id": str(guild_id),
            "type": type,
            "name": name,
            "position": len(self.channels),
            "permission_overwrites": [],
            "nsfw": False,
            "parent_id": None,
            "topic": None,
            "rate_limit_per_user": 0,
            "flags": 0,
            **extra,
        }
        self.channels[cid] = channel
        self.guilds[guild_id]["channels"].append(channel)
        return cid

    def add_private(self, context: int) -> int:
        """A conversation outside servers: 1 with the bot, 2 between others."""
        channel_id = self.new_id()
        with_whom = self.user if context == 1 else self.person("friend")
        self.channels[channel_id] = {
            "id": str(channel_id),
            "type": 1,
            "last_message_id": None,
            "recipients": [with_whom],
            "context": context,
        }
        return channel_id

    async def deny(self, channel_id: int, permissions: int) -> None:
        """Take permissions from everyone in a channel (0 gives all back), and let the gateway say so."""
        channel = self.channels[channel_id]
        overwrite = {"id": channel["guild_id"], "type": 0, "allow": "0", "deny": str(permissions)}
        channel["permission_overwrites"] = [overwrite] if permissions else []
        (self.silent.add if permissions & HISTORY else self.silent.discard)(channel_id)
        await self.dispatch("CHANNEL_UPDATE", channel)

    async def delete_channel(self, channel_id: int, *, tell: bool = True) -> None:
        channel = self.channels.pop(channel_id)
        self.guilds[int(channel["guild_id"])]["channels"].remove(channel)
        if tell:
            await self.dispatch("CHANNEL_DELETE", channel)

    async def guild_unavailable(self, guild_id: int, *, tell: bool = True) -> None:
        self.away.add(guild_id)
        if tell:
            await self.dispatch("GUILD_DELETE", {"id": str(guild_id), "unavailable": True})

    async def guild_available(self, guild_id: int) -> None:
        self.away.discard(guild_id)
        await self.dispatch("GUILD_CREATE", self.guilds[guild_id])

    def denied(self, channel: dict[str, Any]) -> int:
        """The permissions that everyone lacks there; a thread has those of its parent."""
        place = self.channels[int(channel["parent_id"])] if channel["type"] == PUBLIC_THREAD else channel
        return sum(int(overwrite["deny"]) for overwrite in place["permission_overwrites"])

    def posted(self, channel_id: int) -> list[dict[str, Any]]:
        """The messages of a channel, oldest first."""
        return [m for _, m in sorted(self.messages.items()) if m["channel_id"] == str(channel_id)]

    def add_thread(self, parent_id: int, name: str) -> int:
        """An active public thread."""
        parent = self.channels[parent_id]
        thread_id = self.new_id()
        self.channels[thread_id] = thread = self._thread(thread_id, parent, name)
        self.guilds[int(parent["guild_id"])]["threads"].append(thread)
        return thread_id

    # -- life ----------------------------------------------------------------------------------
    async def __aenter__(self) -> StandIn:
        app = web.Application(client_max_size=26 * 2**20, middlewares=[self._middleware])
        app.router.add_get("/gateway", self._gateway)
        for method, path, handler in self._routes():
            app.router.add_route(method, "/api/v10" + path, handler)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        self.port = 0
        await self.unpause()
        return self

    async def pause(self) -> None:
        """Refuse new connections and drop the idle ones; the gateway's stays."""
        await self._site.stop()
        for connection in self._runner.server.connections:
            if connection._current_request is None and connection.transport is not None:
                connection.transport.abort()
        await asyncio.sleep(0.01)

    async def unpause(self) -> None:
        self._site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await self._site.start()
        self.port = self._site._server.sockets[0].getsockname()[1]

    async def __aexit__(self, *exc: object) -> None:
        self.released.set()
        for ws in list(self.sockets):
            await ws.close()
        await self._runner.cleanup()

    @property
    def gateway_url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/gateway"

    @contextlib.contextmanager
    def patched(self) -> Iterator[StandIn]:
        from discord.gateway import DiscordWebSocket
        from discord.http import Route

        before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
        Route.BASE = f"http://127.0.0.1:{self.port}/api/v10"
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(self.gateway_url)
        try:
            yield self
        finally:
            Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = before

    def fail(self, method: str, pattern: str, make: Callable[[], web.Response] | str, times: int = 1) -> None:
        self.faults.append(Fault(method, re.compile(pattern), make, times))

    def sent(self, pattern: str, method: str = "POST") -> list[Seen]:
        return [r for r in self.requests if r.method == method and re.search(pattern, r.path)]

    # -- REST ----------------------------------------------------------------------------------
    def _routes(self) -> Iterator[tuple[str, str, Callable[..., Awaitable[Any]]]]:
        ch, msg = r"/channels/{channel:\d+}", r"/messages/{message:\d+}"
        hook = r"/webhooks/{app:\d+}/{token}"
        yield "GET", "/users/@me", self._me
        yield "GET", "/oauth2/applications/@me", self._application
        yield "GET", "/gateway/bot", self._gateway_bot  # AutoShardedClient only; Client never asks
        yield "*", r"/applications/{app:\d+}/commands", self._commands
        yield "*", r"/applications/{app:\d+}/guilds/{guild:\d+}/commands", self._commands
        yield "GET", ch, self._get_channel
        yield "POST", ch + "/messages", self._create_message
        yield "GET", ch + "/messages", self._list_messages
        yield "*", ch + msg, self._one_message
        yield "POST", ch + msg + "/crosspost", self._crosspost
        yield "POST", ch + msg + "/threads", self._start_thread
        yield "POST", ch + "/threads", self._start_thread
        yield "POST", r"/interactions/{id:\d+}/{token}/callback", self._callback
        yield "POST", hook, self._followup
        yield "*", hook + "/messages/{message}", self._original

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Callable[..., Awaitable[Any]]) -> web.StreamResponse:
        if request.path == "/gateway":
            return await handler(request)
        body, files = None, []
        if request.content_type.startswith("multipart/"):
            async for part in await request.multipart():
                if part.name == "payload_json":
                    body = json.loads(await part.text())
                else:
                    files.append(part.filename or part.name)
                    await part.read()
        elif request.can_read_body:
            body = await request.json()
        request[BODY], request[FILES] = body, files
        path = request.path.removeprefix("/api/v10")
        seen = Seen(request.method, path, body, time.monotonic(), files)
        self.requests.append(seen)
        after = None
        for fault in self.faults:
            if fault.times and fault.method in ("*", request.method) and fault.pattern.search(path):
                fault.times -= 1
                if fault.make == "drop-before":
                    self._abort(request)
                    return web.Response()
                if fault.make == "hang-before":
                    await self.released.wait()
                    self._abort(request)
                    return web.Response()
                if isinstance(fault.make, str):  # the write happens, the answer does not arrive
                    after = fault.make
                    break
                response = fault.make()
                seen.status = response.status
                return response
        needs_auth = not path.startswith(("/interactions/", "/webhooks/"))
        if needs_auth and request.headers.get("Authorization") != f"Bot {self.token}":
            response = error(401, 0, "401: Unauthorized")
        else:
            try:
                response = await handler(request)
            except web.HTTPException:
                response = error(404, 0, f"404: no such route: {request.method} {path}")
        seen.status = response.status
        if after == "hang-after":
            await self.released.wait()
        if after in ("drop-after", "hang-after"):
            self._abort(request)
        if after in ("500-after", "503-after"):
            return error(int(after[:3]), 0, f"{after[:3]}: Server Error")
        return response

    @staticmethod
    def _abort(request: web.Request) -> None:
        if request.transport is not None:  # None: the bot has gone already
            request.transport.abort()

    async def _me(self, request: web.Request) -> web.Response:
        return reply(self.user)

    async def _application(self, request: web.Request) -> web.Response:
        return reply(
            {
                "id": str(self.app_id),
                "name": "briefs",
                "description": "",
                "icon": None,
                "bot_public": True,
                "flags": 0,
                "bot_require_code_grant": False,
                "verify_key": "00",
                "owner": self.person("owner"),
                "team": None,
            }
        )

    async def _gateway_bot(self, request: web.Request) -> web.Response:
        return reply(
            {
                "url": self.gateway_url,
                "shards": 1,
                "session_start_limit": {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1},
            }
        )

    async def _commands(self, request: web.Request) -> web.Response:
        scope = request.match_info.get("guild", "global")
        if request.method == "PUT":
            names = [c["name"] for c in request[BODY]]
            bad = [c for c in request[BODY] if not re.fullmatch(r"[-_'\w]{1,32}", c["name"]) and c.get("type", 1) == 1]
            if bad or len(set(names)) != len(names) or sum(c.get("type", 1) == 1 for c in request[BODY]) > 100:
                return error(
                    400, 50035, "Invalid Form Body", {"0": {"name": {"_errors": [{"code": "BAD", "message": "bad"}]}}}
                )
            self.commands[scope] = [
                {
                    "id": str(self.new_id()),
                    "application_id": str(self.app_id),
                    "version": "1",
                    "default_member_permissions": None,
                    "type": 1,
                    "description": "",
                    **({"guild_id": scope} if scope != "global" else {}),
                    **c,
                }
                for c in request[BODY]
            ]
        return reply(self.commands.get(scope, []))

    def _reach(self, request: web.Request) -> dict[str, Any] | web.Response:
        cid = int(request.match_info["channel"])
        if cid not in self.channels:
            return error(404, 10003, "Unknown Channel")
        if int(self.channels[cid]["guild_id"]) in self.away:
            return error(404, 10003, "Unknown Channel")
        if cid in self.forbidden or self.denied(self.channels[cid]) & VIEW:
            return error(403, 50001, "Missing Access")
        return self.channels[cid]

    async def _get_channel(self, request: web.Request) -> web.Response:
        found = self._reach(request)
        return found if isinstance(found, web.Response) else reply(found)

    def _bucket(self, name: str, major: int, limit: int, window: float) -> tuple[dict[str, str], float]:
        """Fixed-window limiter -> (headers, retry_after); retry_after > 0 means refused."""
        now, hits = time.monotonic(), self.hits[f"{name}:{major}"]
        if hits and now - hits[0] >= window:
            hits.clear()
        refused = len(hits) >= limit
        if not refused:
            hits.append(now)
        left = window - (now - hits[0])
        headers = {
            "X-RateLimit-Bucket": name,
            "X-RateLimit-Limit": str(limit),
            "X-RateLimit-Remaining": str(limit - len(hits)),
            "X-RateLimit-Reset": f"{time.time() + left:.3f}",
            "X-RateLimit-Reset-After": f"{left:.3f}",
        }
        return headers, left if refused else 0.0

    def _invalid(self, body: dict[str, Any], nfiles: int = 0) -> str | None:
        """The limits of openapi.json + the Components V2 rules (reference.mdx, userdoccers)."""
        flags, parts, embeds = body.get("flags") or 0, body.get("components") or [], body.get("embeds") or []
        flat = list(walk(parts))
        if len(str(body.get("nonce") or "")) > 25:
            return "nonce: Must be 25 or fewer in length"
        ids = [c["custom_id"] for c in flat if "custom_id" in c]
        if len(ids) != len(set(ids)) or any(not 1 <= len(i) <= 100 for i in ids):
            return "custom_id duplicated or not 1-100"
        if flags & COMPONENTS_V2:
            if body.get("content") or embeds or body.get("poll") or body.get("sticker_ids"):
                return "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"
            text = [c["content"] for c in flat if c["type"] == 10]
            if len(flat) > 40:
                return f"components: total {len(flat)} > 40"
            if sum(map(len, text)) > 4000 or any(not t for t in text):
                return f"COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED {sum(map(len, text))} > 4000"
            return None if flat else "components: required"
        if any(c["type"] >= 9 for c in flat):
            return "UNION_TYPE_CHOICES: components v2 without the flag"
        total = sum(
            len(e.get("title") or "")
            + len(e.get("description") or "")
            + len(e.get("footer", {}).get("text") or "")
            + len(e.get("author", {}).get("name") or "")
            + sum(len(f["name"]) + len(f["value"]) for f in e.get("fields", []))
            for e in embeds
        )
        if len(body.get("content") or "") > 2000 or len(embeds) > 10 or total > 6000:
            return f"content/embeds too long: {len(body.get('content') or '')}, {len(embeds)}, {total}"
        for e in embeds:
            if (
                len(e.get("title") or "") > 256
                or len(e.get("description") or "") > 4096
                or len(e.get("fields", [])) > 25
                or any(not 1 <= len(f["name"]) <= 256 or not 1 <= len(f["value"]) <= 1024 for f in e.get("fields", []))
            ):
                return "embed field out of bounds"
        return None if body.get("content") or embeds or flat or nfiles or body.get("poll") else "empty"

    def _make_message(self, channel_id: int, body: dict[str, Any], files: list[str]) -> dict[str, Any]:
        mid = self.new_id()
        self.messages[mid] = message = {
            "id": str(mid),
            "channel_id": str(channel_id),
            "author": self.user,
            "content": body.get("content") or "",
            "type": 0,
            "timestamp": datetime.fromtimestamp(((mid >> 22) + EPOCH_MS) / 1000, UTC).isoformat(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "embeds": body.get("embeds") or [],
            "components": with_ids(body.get("components")),
            "pinned": False,
            "flags": body.get("flags") or 0,
            "attachments": [
                {"id": str(i), "filename": f, "size": 1, "url": f"http://x/{f}", "proxy_url": f"http://x/{f}"}
                for i, f in enumerate(files)
            ],
            **({"nonce": body["nonce"]} if body.get("nonce") else {}),
        }
        return message

    async def _create_message(self, request: web.Request) -> web.Response:
        channel, body = self._reach(request), request[BODY] or {}
        if isinstance(channel, web.Response):
            return channel
        if channel["type"] == FORUM:
            return error(400, 50024, "Cannot execute action on this channel type")
        if self.denied(channel) & (SEND_IN_THREADS if channel["type"] == PUBLIC_THREAD else SEND):
            return error(403, 50013, "Missing Permissions")
        cid = int(channel["id"])
        if self.on_post:
            await self.on_post(cid)
        headers, wait = self._bucket("messages", cid, self.limit, self.window)
        if wait:
            return too_many(wait, bucket="messages")
        if problem := self._invalid(body, len(request[FILES])):
            return error(400, 50035, "Invalid Form Body", {"_errors": [{"code": "INVALID", "message": problem}]})
        key = str(body.get("nonce") or "")
        if (
            body.get("enforce_nonce")
            and key in self.nonces
            and time.monotonic() - self.nonces[key][0] < self.nonce_window
        ):
            earlier = self.messages.get(self.nonces[key][1])
            return reply(earlier, headers=headers) if earlier else error(404, 10008, "Unknown Message")
        message = self._make_message(cid, body, request[FILES])
        if key:
            self.nonces[key] = (time.monotonic(), int(message["id"]))
        if self.on_created:
            await self.on_created(message)
        return reply(message, headers=headers)

    async def _list_messages(self, request: web.Request) -> web.Response:
        """Newest first; ``after`` takes the oldest of those after it, ``before`` the newest of those before it."""
        channel, limit = self._reach(request), int(request.query.get("limit", 50))
        if isinstance(channel, web.Response):
            return channel
        found = [] if int(channel["id"]) in self.silent else self.posted(int(channel["id"]))
        if after := request.query.get("after"):
            found = [m for m in found if int(m["id"]) > int(after)][:limit]
        elif before := request.query.get("before"):
            found = [m for m in found if int(m["id"]) < int(before)]
        return reply(found[::-1][:limit])

    async def _one_message(self, request: web.Request) -> web.Response:
        channel, message = self._reach(request), self.messages.get(int(request.match_info["message"]))
        if isinstance(channel, web.Response):
            return channel
        if message is None:
            return error(404, 10008, "Unknown Message")
        if request.method == "DELETE":
            del self.messages[int(message["id"])]
            return reply(status=204)
        if request.method == "PATCH":
            return self._edit(message, request[BODY])
        return reply(message)

    def _edit(self, message: dict[str, Any], body: dict[str, Any]) -> web.Response:
        if message["flags"] & COMPONENTS_V2 and "flags" in body and not body["flags"] & COMPONENTS_V2:
            return error(400, 50035, "IS_COMPONENTS_V2 cannot be removed")
        if problem := self._invalid(message | {k: v for k, v in body.items() if v is not None or k in ("content",)}):
            return error(400, 50035, "Invalid Form Body", {"_errors": [{"code": "INVALID", "message": problem}]})
        kept = message["flags"] & EPHEMERAL  # an edit sets only SUPPRESS_EMBEDS and IS_COMPONENTS_V2
        message |= {k: v for k, v in body.items() if k in ("content", "embeds", "flags")}
        message["flags"] |= kept
        if "components" in body:
            message["components"] = with_ids(body["components"])
        message["content"], message["edited_timestamp"] = message["content"] or "", "2026-01-01T00:00:01+00:00"
        return reply(message)

    async def _crosspost(self, request: web.Request) -> web.Response:
        channel, message = self._reach(request), self.messages.get(int(request.match_info["message"]))
        if isinstance(channel, web.Response):
            return channel
        if channel["type"] != NEWS or message is None:
            return error(400, 50024, "Cannot execute action on this channel type")
        if message["flags"] & CROSSPOSTED:
            return error(400, 40033, "This message has already been crossposted")
        _, wait = self._bucket("crosspost", int(channel["id"]), self.crosspost_limit, self.crosspost_window)
        if wait:
            return too_many(wait, bucket="crosspost", scope="shared")
        message["flags"] |= CROSSPOSTED
        return reply(message)  # without headers: the true limit is hidden, so only a 429 tells

    def _thread(self, thread_id: int, parent: dict[str, Any], name: str, body: Any = None) -> dict[str, Any]:
        body = body or {}
        return {
            "id": str(thread_id),
            "guild_id": parent["guild_id"],
            "parent_id": parent["id"],
            "owner_id": str(self.app_id),
            "name": name,
            "type": PUBLIC_THREAD,
            "message_count": 0,
            "member_count": 1,
            "rate_limit_per_user": 0,
            "flags": 0,
            "applied_tags": body.get("applied_tags") or [],
            "thread_metadata": {
                "archived": False,
                "auto_archive_duration": body.get("auto_archive_duration") or 1440,
                "locked": False,
                "archive_timestamp": "2026-01-01T00:00:00+00:00",
                "create_timestamp": "2026-01-01T00:00:00+00:00",
            },
        }

    async def _start_thread(self, request: web.Request) -> web.Response:
        parent, body = self._reach(request), request[BODY]
        if isinstance(parent, web.Response):
            return parent
        forum, source = parent["type"] == FORUM, request.match_info.get("message")
        if not 1 <= len(body["name"]) <= 100 or len(body.get("applied_tags") or []) > 5:
            return error(
                400,
                50035,
                "Invalid Form Body",
                {"name": {"_errors": [{"code": "BASE_TYPE_BAD_LENGTH", "message": "1-100"}]}},
            )
        if forum and parent["flags"] & 1 << 4 and not body.get("applied_tags"):
            return error(400, 40067, "A tag is required to create a forum post in this channel")
        tid = int(source) if source else self.new_id()
        thread = self._thread(tid, parent, body["name"], body)
        if forum:
            if problem := self._invalid(body["message"], len(request[FILES])):
                return error(
                    400, 50035, "Invalid Form Body", {"message": {"_errors": [{"code": "INVALID", "message": problem}]}}
                )
            message = self._make_message(tid, body["message"], request[FILES])
            thread["message"] = message
        self.channels[tid] = {k: v for k, v in thread.items() if k != "message"}
        return reply(thread, 201)

    # -- interactions --------------------------------------------------------------------------
    def _find(self, token: str) -> Invocation | None:
        return next((i for i in self.invocations.values() if i.token == token), None)

    async def _callback(self, request: web.Request) -> web.Response:
        inv, body = self.invocations.get(int(request.match_info["id"])), request[BODY]
        if inv is None or time.monotonic() - inv.born > self.interaction_deadline:
            return error(404, 10062, "Unknown interaction")
        if inv.callback is not None:
            return error(400, 40060, "Interaction has already been acknowledged.")
        data = body.get("data") or {}
        if body["type"] in (4, 7) and (problem := self._invalid(data, len(request[FILES]))):
            return error(
                400, 50035, "Invalid Form Body", {"data": {"_errors": [{"code": "INVALID", "message": problem}]}}
            )
        if body["type"] == 8 and (len(data["choices"]) > 25 or any(len(c["name"]) > 100 for c in data["choices"])):
            return error(
                400,
                50035,
                "Invalid Form Body",
                {"data": {"choices": {"_errors": [{"code": "BAD", "message": "25/100"}]}}},
            )
        inv.callback = body
        result: dict[str, Any] = {"interaction": {"id": str(inv.id), "type": inv.kind}}
        if body["type"] in (4, 5):
            loading = {"content": "", "flags": (data.get("flags") or 0) | 1 << 7}
            inv.message = self._make_message(inv.channel_id, data if body["type"] == 4 else loading, request[FILES])
            result["interaction"] |= {
                "response_message_id": inv.message["id"],
                "response_message_loading": body["type"] == 5,
                "response_message_ephemeral": bool((data.get("flags") or 0) & EPHEMERAL),
            }
            result["resource"] = {"type": body["type"], "message": inv.message}
        elif body["type"] == 7 and inv.message is not None:
            self._edit(inv.message, data)
            result["resource"] = {"type": 7, "message": inv.message}
        if not inv.answered.done():
            inv.answered.set_result(body)
        return reply(result) if request.query.get("with_response") in ("1", "true") else reply(status=204)

    async def _followup(self, request: web.Request) -> web.Response:
        inv = self._find(request.match_info["token"])
        if inv is None or inv.callback is None:
            return error(404, 10015, "Unknown Webhook")
        if problem := self._invalid(request[BODY], len(request[FILES])):
            return error(400, 50035, "Invalid Form Body", {"_errors": [{"code": "INVALID", "message": problem}]})
        message = self._make_message(inv.channel_id, request[BODY], request[FILES])
        inv.followups.append(message)
        return reply(message)

    async def _original(self, request: web.Request) -> web.Response:
        inv, mid = self._find(request.match_info["token"]), request.match_info["message"]
        message = inv and (inv.message if mid == "@original" else self.messages.get(int(mid)))
        if not message:
            return error(404, 10008, "Unknown Message")
        if request.method == "DELETE":
            self.messages.pop(int(message["id"]), None)
            return reply(status=204)
        if request.method == "PATCH":
            message["flags"] &= ~(1 << 7)
            return self._edit(message, request[BODY])
        return reply(message)

    async def _interact(
        self,
        kind: int,
        data: dict[str, Any],
        channel_id: int,
        *,
        message: Any = None,
        locale: str = "en-US",
        user: Any = None,
        permissions: str = ALL_PERMISSIONS,
        wait: bool = True,
    ) -> Invocation:
        channel, user = self.channels[channel_id], user or self.person("reader")
        inv = Invocation(
            self.new_id(),
            f"tok{self.new_id()}",
            kind,
            time.monotonic(),
            channel_id,
            asyncio.get_running_loop().create_future(),
            message=message,
        )
        self.invocations[inv.id] = inv
        payload = {
            "id": str(inv.id),
            "application_id": str(self.app_id),
            "type": kind,
            "token": inv.token,
            "version": 1,
            "data": data,
            "channel": channel,
            "channel_id": channel["id"],
            "locale": locale,
            "app_permissions": ALL_PERMISSIONS,
            "entitlements": [],
            **self._where(channel, user, permissions),
            "attachment_size_limit": 10 * 2**20,
            **({"message": message} if message else {}),
        }
        await self.dispatch("INTERACTION_CREATE", payload)
        if wait:
            await asyncio.wait_for(asyncio.shield(inv.answered), 5.0)
        return inv

    def _where(self, channel: dict[str, Any], user: dict[str, Any], permissions: str) -> dict[str, Any]:
        if "guild_id" not in channel:  # the bot's direct messages, or others' where the user installed the app
            return {"user": user, "authorizing_integration_owners": {"1": user["id"]}, "context": channel["context"]}
        return {
            "guild_id": channel["guild_id"],
            "guild": {"id": channel["guild_id"], "features": [], "locale": "en-US"},
            "guild_locale": "en-US",
            "member": self.member(user, permissions),
            "authorizing_integration_owners": {"0": channel["guild_id"]},
            "context": 0,
        }

    def _command_data(self, path: str, options: dict[str, Any], focused: str | None = None) -> dict[str, Any]:
        """``"briefs add"`` + {"topic": "ai"} -> nested interaction data, typed after the synced definition."""
        name, *rest = path.split()
        scope, spec = next((s, c) for s, cs in self.commands.items() for c in cs if c["name"] == name)
        node, branch = spec, []
        for word in rest:
            node = next(o for o in node["options"] if o["name"] == word)
            branch.append(node)
        types = {o["name"]: o["type"] for o in node.get("options", [])}
        leaf = [
            {"name": k, "type": types[k], "value": v, **({"focused": True} if k == focused else {})}
            for k, v in options.items()
        ]
        for word in reversed(branch):
            leaf = [{"name": word["name"], "type": word["type"], "options": leaf}]
        return {
            "id": spec["id"],
            "name": name,
            "type": 1,
            "options": leaf,
            **({"guild_id": scope} if scope != "global" else {}),
        }

    async def command(self, path: str, channel_id: int, options: dict[str, Any] | None = None, **kw: Any) -> Invocation:
        data = self._command_data(path, options or {})
        if "resolved" in kw:
            data["resolved"] = kw.pop("resolved")
        return await self._interact(2, data, channel_id, **kw)

    async def autocomplete(
        self, path: str, channel_id: int, focused: str, value: str, **kw: Any
    ) -> list[dict[str, Any]]:
        inv = await self._interact(4, self._command_data(path, {focused: value}, focused), channel_id, **kw)
        return inv.callback["data"]["choices"]

    async def click(
        self, message: dict[str, Any], custom_id: str, values: list[str] | None = None, **kw: Any
    ) -> Invocation:
        component = next(c for c in walk(message["components"]) if c.get("custom_id") == custom_id)
        data = {
            "custom_id": custom_id,
            "component_type": component["type"],
            "id": component["id"],
            **({"values": values} if values else {}),
        }
        return await self._interact(3, data, int(message["channel_id"]), message=message, **kw)

    async def submit(self, opened: Invocation, values: dict[str, Any], **kw: Any) -> Invocation:
        """Fill the modal that ``opened.callback`` (type 9) showed; keys are component custom_ids or label texts."""
        modal, out = opened.callback["data"], []
        for label in modal["components"]:
            inner = label.get("component") or label["components"][0]
            value = values.get(label.get("label") or inner.get("label"), values.get(inner["custom_id"]))
            key = "values" if isinstance(value, list) else "value"
            out.append(
                {
                    "type": 18,
                    "id": 1,
                    "component": {"type": inner["type"], "id": 2, "custom_id": inner["custom_id"], key: value},
                }
            )
        return await self._interact(5, {"custom_id": modal["custom_id"], "components": out}, opened.channel_id, **kw)

    # -- gateway -------------------------------------------------------------------------------
    async def dispatch(self, name: str, data: Any) -> None:
        self.events.append({"op": 0, "t": name, "s": len(self.events) + 1, "d": data})
        if self.sockets:
            with contextlib.suppress(ConnectionError):
                await self.sockets[-1].send_json(self.events[-1])

    async def cut(self, how: str | int = 4000) -> None:
        """int: close code; "reconnect": op 7; "invalid": op 9 false; "abort": drop the TCP connection."""
        ws = self.sockets[-1]
        self.ready.clear()
        self.resumed.clear()
        if how == "reconnect":
            await ws.send_json({"op": 7, "d": None})
        elif how == "invalid":
            self.session = ""
            await ws.send_json({"op": 9, "d": False})
        elif how == "abort":
            self.sockets.remove(ws)
            ws._req.transport.abort()
        else:
            self.sockets.remove(ws)
            self._closing = asyncio.create_task(ws.close(code=int(how)))

    async def _gateway(self, request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse()
        await ws.prepare(request)  # text frames: the client takes them even though it asked for zlib-stream
        await ws.send_json({"op": 10, "d": {"heartbeat_interval": 41250}})
        async for raw in ws:
            if raw.type is not WSMsgType.TEXT:
                continue
            op, data = (m := raw.json())["op"], m.get("d")
            self.gateway_ops.append(op)
            if op == 1:
                await ws.send_json({"op": 11})
            elif op == 2:
                if self.gateway_refuses or data["token"] != self.token:
                    await ws.close(code=self.gateway_refuses or 4004)
                    break
                self.session, self.events = f"s{self.new_id()}", []
                self.sockets.append(ws)
                await self.dispatch(
                    "READY",
                    {
                        "v": 10,
                        "user": self.user,
                        "session_id": self.session,
                        "resume_gateway_url": self.gateway_url,
                        "shard": [0, 1],
                        "guilds": [{"id": str(g), "unavailable": True} for g in self.guilds],
                        "application": {"id": str(self.app_id), "flags": 0},
                    },
                )
                for guild_id, guild in self.guilds.items():
                    if guild_id not in self.away:
                        await self.dispatch("GUILD_CREATE", guild)
                self.ready.set()
            elif op == 6:
                if data["session_id"] != self.session or not self.session:
                    await ws.send_json({"op": 9, "d": False})
                    continue
                self.sockets.append(ws)
                for event in [e for e in self.events if e["s"] > data["seq"]]:
                    await ws.send_json(event)
                await self.dispatch("RESUMED", {"_trace": []})
                self.resumed.set()
        if ws in self.sockets:
            self.sockets.remove(ws)
        return ws


def walk(components: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Every component of a message, as Discord counts them: containers, accessories and leaves alike."""
    for c in components:
        yield c
        yield from walk(c.get("components") or [])
        if accessory := c.get("accessory"):
            yield accessory


def with_ids(components: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    numbered = json.loads(json.dumps(components or []))
    for n, c in enumerate(walk(numbered), 1):
        c.setdefault("id", n)
    return numbered
