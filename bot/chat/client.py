"""The Discord client: logs in, knows servers and channels, and is the worker's outlet."""

from __future__ import annotations

import asyncio
import functools
import logging
import secrets
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import aiohttp
import discord
import structlog
from discord import app_commands
from discord.http import Route

from bot.chat import answers, cards, commands, components, digest_cards, ids, login, permissions
from bot.chat.catalogue import Catalogue
from bot.chat.commands import sync
from bot.chat.items import Library
from bot.chat.shelf import Lookups
from bot.delivery.digests import FullPage
from bot.delivery.pacing import Refusals
from bot.errors import BriefbotError, DeliveryError, DeliveryLater, DeliveryRefused, StartError
from bot.store.briefs import StoredBrief
from bot.store.outbox import Delivery

log = structlog.get_logger(__name__)

REQUEST_SECONDS = 20.0  # discord.py sets no timeout, and aiohttp's own is 300 s
UNAVAILABLE_SECONDS = 30.0  # before a server that is down is tried again
PAGE = 100  # messages that one request for history brings, the most there may be
PAGES = 20  # requests from either end of the time that is searched


class Tree(app_commands.CommandTree["Client"]):
    """Commands whose failure is answered with a short id that the log has too."""

    async def on_error(self, interaction: discord.Interaction[Client], error: app_commands.AppCommandError, /) -> None:
        """Answer ephemerally: what a person can mend in words, anything else as an id."""
        cause = getattr(error, "original", error)
        if isinstance(cause, BriefbotError):
            text = str(cause)
        elif isinstance(error, app_commands.CommandOnCooldown):
            text = f"That was quick. Please ask again in {error.retry_after:.0f} s."
        elif isinstance(error, app_commands.CheckFailure):
            text = "You may not use this command here."
        else:
            mark = secrets.token_hex(3)
            name = interaction.command.qualified_name if interaction.command else None
            log.error("command failed", id=mark, command=name, exc_info=cause)
            text = f"That failed. If you report it, say the id `{mark}`."
        try:
            if interaction.response.is_done():
                await interaction.followup.send(text[:2000], ephemeral=True)
            else:
                await interaction.response.send_message(text[:2000], ephemeral=True)
        except (discord.HTTPException, aiohttp.ClientError, OSError) as failure:
            log.info("a failure could not be answered", reason=answers.in_short(failure))


class Client(discord.Client):
    """discord.py's client with the least it takes: servers and channels, no members, no messages.

    ``library`` is what components and commands read from and may be set later; ``development_guild`` alone gets the
    commands if there is one, and nobody is told of them unless ``publish``. Implements ``bot.delivery.worker.Outlet``.
    """

    def __init__(
        self, *, library: Library | None, development_guild: int | None = None, publish: bool = True, **options: Any
    ) -> None:
        self.refusals = Refusals()
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # no voice here, so nothing to warn of
        super().__init__(
            intents=discord.Intents(guilds=True),
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_messages=None,
            allowed_mentions=discord.AllowedMentions.none(),
            max_ratelimit_timeout=30.0,
            http_trace=answers.watching(self.refusals),
            **options,
        )
        self.tree = Tree(self)
        commands.register(self.tree)
        self.catalogue: Catalogue | None = None
        self._development_guild = development_guild
        self._publish = publish
        self._publishing: asyncio.Task[bool] | None = None
        self.library = library
        self._settled = False
        self._away: set[int] = set()
        self._token_refused = False
        logging.getLogger("discord.client").addFilter(_in_one_line)

    async def setup_hook(self) -> None:
        """Components of messages from before this start work again."""
        self.add_dynamic_items(*components.ITEMS)

    @property
    def library(self) -> Library | None:
        """What components read from; where it is ``Lookups`` too, the slash commands have something to look up."""
        return self._library

    @library.setter
    def library(self, library: Library | None) -> None:
        self._library = library
        lookups = self._lookups()
        if lookups is not None:
            self.catalogue = Catalogue(lookups)
            lookups.watch(self.catalogue.stale)
            if super().is_ready():
                self._open_lookups()

    def _lookups(self) -> Lookups | None:
        library: object = self._library
        return library if isinstance(library, Lookups) else None

    def _open_lookups(self) -> None:
        """Read what autocomplete offers, and tell Discord of the commands where they changed."""
        lookups = self._lookups()
        if self.catalogue is None or lookups is None:
            return
        self.catalogue.stale()
        if self._publish and self._publishing is None:
            told = sync.sync(self.tree, lookups, development_guild=self._development_guild)
            self._publishing = asyncio.create_task(told, name="publish commands")

    async def close(self) -> None:
        """Disconnect; what runs for the commands ends first."""
        if self.catalogue:
            await self.catalogue.close()
        if self._publishing:
            self._publishing.cancel()
            await asyncio.gather(self._publishing, return_exceptions=True)
        await super().close()

    # What the gateway says.

    async def on_ready(self) -> None:
        self._settled = True
        self._open_lookups()
        log.info("connected to Discord", name=str(self.user), servers=len(self.guilds))

    async def on_resumed(self) -> None:
        self._settled = True

    async def on_disconnect(self) -> None:
        self._settled = False

    async def on_guild_unavailable(self, guild: discord.Guild) -> None:
        self._away.add(guild.id)
        log.warning("server unavailable; its messages wait", server=guild.name, id=guild.id)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        if guild.id in self._away:  # at every start each server becomes available, which is no news
            self._away.discard(guild.id)
            log.info("server available again", server=guild.name, id=guild.id)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        log.exception("an event was not handled", event_name=event_method)

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Events end with the client: discord.py would hand them to a loop that ``close`` has taken away."""
        if not self.is_closed():
            super().dispatch(event, *args, **kwargs)

    # Life.

    async def run_until_closed(self, token: str) -> None:
        """Log in and stay connected until ``close``. Raises StartError where Discord does not let the bot in."""
        self.http.proxy = login.proxy_for(Route.BASE)
        timeout = aiohttp.ClientTimeout(total=REQUEST_SECONDS)
        self.http.request = functools.partial(self.http.request, timeout=timeout)  # type: ignore[method-assign]
        try:
            await self.login(login.check_token(token))
            await self.connect()
        except Exception as error:
            if self.is_closed() and not isinstance(error, (discord.ConnectionClosed, StartError)):
                return  # the session was closed under a request that was on its way
            if isinstance(error, AttributeError) and self.ws is None:
                # discord.py asks the socket that it never had for its sequence (client.py, connect).
                raise login.start_error(discord.GatewayNotFound(), self.http.proxy) from None
            raise login.start_error(error, self.http.proxy) from None
        finally:
            await self.close()
            await self.http.close()  # again: close() may have come before login had opened it
        if self._token_refused:
            raise StartError(str(login.TOKEN_REFUSED))

    # The worker's outlet.

    def is_ready(self) -> bool:
        """Whether messages may be sent: logged in, servers known, and Discord has not told the bot to rest."""
        return super().is_ready() and not self.is_closed() and not self.refusals.wait()

    async def send(self, delivery: Delivery, content: StoredBrief | FullPage) -> int:
        """Post a card or a digest's page under the delivery's nonce; the message's id. Raises DeliveryLater, -Refused or -Unknown."""
        place = self._place(delivery)
        if place is not None and (reason := permissions.cannot_post(place, delivery.format)):
            raise DeliveryRefused(reason, 50013)
        arguments = _arguments(delivery, content)
        attempt = answers.Attempt()
        token = answers.ATTEMPT.set(attempt)
        try:
            target = self.get_partial_messageable(delivery.channel_id)
            message = await target.send(nonce=delivery.nonce, **arguments)
        except Exception as error:
            raise self._explained(error, attempt, delivery) from error
        finally:
            answers.ATTEMPT.reset(token)
        return message.id

    async def find(self, delivery: Delivery, since: datetime) -> int | None:
        """The bot's own message with the delivery's mark, posted since then; None where there is none.

        Looks at most at PAGES pages from each end of that time. Raises DeliveryLater or DeliveryRefused.
        """
        place = self._place(delivery)
        if place is not None and (reason := permissions.cannot_look_back(place)):
            reason = f"a message may have been posted before the bot stopped, and it may not look: {reason}"
            raise DeliveryRefused(reason, 50013)
        try:
            async for message in self._history(delivery.channel_id, since):
                if self.user and message.author.id == self.user.id and bears(message, delivery.nonce):
                    return message.id
        except Exception as error:
            explained = self._explained(error, answers.Attempt(), delivery)
            if isinstance(explained, (DeliveryLater, DeliveryRefused)):
                raise explained from error
            raise DeliveryLater(explained.reason) from error
        return None

    async def _history(self, channel_id: int, since: datetime) -> AsyncIterator[discord.Message]:
        """From the old end, where a message of that time should be, then from the new end."""
        channel = self.get_partial_messageable(channel_id)
        start, seen = discord.utils.snowflake_time, 0
        most = PAGE * PAGES
        last: discord.abc.Snowflake = discord.Object(discord.utils.time_snowflake(since))
        async for message in channel.history(after=last, oldest_first=True, limit=most):
            seen, last = seen + 1, message
            yield message
        if seen == most:
            log.warning("much was written since; looking from the new end", channel=channel_id, since=start(last.id))
            async for message in channel.history(after=last, oldest_first=False, limit=most):
                yield message

    def _place(self, delivery: Delivery) -> permissions.Place | None:
        """The channel as the gateway described it, or None where it is not known; refuses where nothing can be sent."""
        channel = self.get_channel(delivery.channel_id)
        if channel is None:
            return None
        if isinstance(channel, discord.abc.PrivateChannel):
            return None
        if channel.guild.unavailable:
            raise DeliveryLater(f"the server {channel.guild.name} is unavailable", UNAVAILABLE_SECONDS)
        if not isinstance(channel, discord.abc.Messageable):
            kind = str(channel.type).replace("_", " ")
            reason = f"#{channel.name} of {channel.guild.name} is a {kind} channel: choose a text channel or a thread"
            raise DeliveryRefused(reason, 50024)
        return channel

    def _explained(self, error: Exception, attempt: answers.Attempt, delivery: Delivery) -> DeliveryError:
        meant = answers.meaning(error, attempt)
        status = error.status if isinstance(error, discord.HTTPException) else None
        if status == 401:
            self._end_for_token()
        elif isinstance(error, discord.HTTPException) and answers.is_ban(error):
            self.refusals.rest(max(answers.REST_SECONDS, answers.retry_after(error)))
        if isinstance(meant, DeliveryRefused):
            channel = self.get_channel(delivery.channel_id)
            if status == 404 and meant.code != answers.UNKNOWN_MESSAGE and self._may_be_away(channel):
                return DeliveryLater("the channel's server may be unavailable", UNAVAILABLE_SECONDS)
            return DeliveryRefused(_in_words(meant, channel, delivery), meant.code)
        return meant

    def _may_be_away(self, channel: object) -> bool:
        """Whether a 404 says nothing: the gateway is down, or the channel's server is, or any where it is not known."""
        if not self._settled:
            return True
        if isinstance(channel, permissions.Place):
            return channel.guild.unavailable
        return any(guild.unavailable for guild in self.guilds)

    def _end_for_token(self) -> None:
        """A token that was taken away while the bot ran: end, so that ``run_until_closed`` can say so."""
        if not self._token_refused:
            self._token_refused = True
            self._ending = asyncio.create_task(self.close())


def _arguments(delivery: Delivery, content: StoredBrief | FullPage) -> dict[str, Any]:
    try:
        if isinstance(content, FullPage):
            return digest_cards.render(content, delivery.nonce).arguments() | {"silent": content.page.silent}
        card = cards.render(
            content.brief, brief_id=content.id, format=delivery.format, mark=delivery.nonce, role_id=delivery.role_id
        )
    except Exception as error:
        log.exception("a card could not be laid out", brief=delivery.brief_id, delivery=delivery.id)
        raise DeliveryRefused(f"its card could not be laid out ({answers.in_short(error)})", 0) from error
    return card.arguments()


def _in_words(refused: DeliveryRefused, channel: object, delivery: Delivery) -> str:
    if refused.code == answers.UNKNOWN_CHANNEL:
        return f"channel {delivery.channel_id} does not exist (any more): choose another in the config"
    if refused.code in (50001, 50013):
        if isinstance(channel, permissions.Place) and (reason := permissions.cannot_post(channel, delivery.format)):
            return reason
        here = f"channel {delivery.channel_id}"
        return f"{refused.reason}: invite the bot to the server of {here} and let it view the channel and send there"
    return refused.reason


def bears(message: discord.Message, mark: str) -> bool:
    """Whether a component of the message has the delivery's mark in its custom_id."""
    return mark in ids.marks([component.to_dict() for component in message.components])


def _in_one_line(record: logging.LogRecord) -> bool:
    """discord.py logs a traceback each time it reconnects; a line says as much."""
    if record.exc_info and record.exc_info[1] and str(record.msg).startswith("Attempting a reconnect"):
        record.msg = f"{record.getMessage()}: {answers.in_short(record.exc_info[1])}".replace("%", "%%")
        record.args, record.exc_info, record.exc_text = (), None, None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True
