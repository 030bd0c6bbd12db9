"""Why the bot could not log in, in one line that says what to do; the token is never in it."""

from __future__ import annotations

import urllib.request
from urllib.parse import urlsplit

import aiohttp
import discord

from bot.chat.answers import in_short
from bot.errors import StartError

PORTAL = "https://discord.com/developers/applications"
NEW_TOKEN = f"make a new one at {PORTAL} (Bot, Reset Token) and put it into DISCORD_TOKEN or discord.token_file"
TOKEN_REFUSED = StartError(f"Discord does not accept the bot token: {NEW_TOKEN}")


def check_token(token: str) -> str:
    """The token without the space around it; StartError where it cannot be one and would break the request."""
    token = token.strip()
    if not token:
        raise StartError(f"the bot token is empty: {NEW_TOKEN}")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise StartError(f"the bot token has characters that no token has: {NEW_TOKEN}")
    if token.casefold().startswith("bot."):
        raise StartError(f"the bot token must be given alone, without a word before it: {NEW_TOKEN}")
    return token


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for an address, or None; never for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def start_error(error: Exception, proxy: str | None) -> StartError:
    """The exception that ended ``login`` or ``connect`` as a StartError."""
    through = f" through the proxy {_without_password(proxy)}" if proxy else ""
    if isinstance(error, StartError):
        return error
    if isinstance(error, discord.LoginFailure) or _closed_with(error, 4004):
        return StartError(str(TOKEN_REFUSED))
    if isinstance(error, discord.PrivilegedIntentsRequired) or _closed_with(error, 4013, 4014):
        return StartError(f"Discord does not allow the intents asked for: switch them on at {PORTAL} (Bot)")
    if _closed_with(error, 4010, 4011):
        return StartError("Discord demands sharding for a bot in this many servers, which Briefbot does not do")
    if isinstance(error, (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError)):
        return StartError(f"Discord cannot be reached{through}: check HTTPS_PROXY, and that it lets discord.com by")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return StartError(
            f"the certificate that answers for discord.com{through} is not trusted: check the clock, the CA "
            "certificates, and whether a proxy opens TLS"
        )
    if isinstance(error, discord.HTTPException):
        return StartError(f"{in_short(error)}: see https://discordstatus.com and try again later")
    if isinstance(error, ValueError) and proxy:
        return StartError(f"the proxy {_without_password(proxy)} cannot be used ({error}): Briefbot takes HTTP proxies")
    if isinstance(error, (aiohttp.ClientError, OSError, discord.GatewayNotFound, discord.ConnectionClosed)):
        hint = "" if proxy else "; behind a proxy, set HTTPS_PROXY"
        return StartError(f"{in_short(error)}{through}: check the network and https://discordstatus.com{hint}")
    return StartError(f"the connection to Discord failed{through}: {in_short(error)}")


def _closed_with(error: Exception, *codes: int) -> bool:
    return isinstance(error, discord.ConnectionClosed) and error.code in codes


def _without_password(proxy: str | None) -> str:
    parts = urlsplit(proxy or "")
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
