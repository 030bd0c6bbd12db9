"""What kind of source an address is, found by looking at it: a feed, a topic page, a brief, or a page that names a feed."""

from __future__ import annotations

import asyncio
import html
import re
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from bot.errors import DocumentError, SourceError
from bot.sources import site
from bot.sources.feeds import ACCEPT, read_feed
from bot.sources.http import Http, Response
from bot.sources.sandbox import Sandbox

MOST_CANDIDATES = 4
_FEED_TYPES = re.compile(r"application/(rss|atom|rdf|feed)\+(xml|json)|application/json", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """A source that can be polled: its kind, its address, and what it calls itself, if it says."""

    kind: str
    url: str
    title: str | None = None


async def discover(http: Http, sandbox: Sandbox, url: str, *, allow_private: bool = False) -> Found:
    """What lies at an address. Raises SourceError where nothing there can be polled, saying what was found instead."""
    answer = await http.get(url, accept=f"{ACCEPT}, text/markdown, text/html", allow_private=allow_private)
    text = answer.text()
    is_story = re.search(r"/s/[0-9a-f-]{36}$", urlsplit(url).path) is not None
    links = [] if is_story else await asyncio.to_thread(site.story_links, text, answer.url)
    if links:
        return Found("site", url)
    try:
        read = await read_feed(sandbox, answer.body, url=answer.url, charset=answer.charset)
        return Found("feed", url, read.title or None)
    except SourceError as error:
        reason = error.reason
    for candidate in feed_links(text, answer.url):
        try:
            linked = await http.get(candidate, accept=ACCEPT, allow_private=allow_private)
            read = await read_feed(sandbox, linked.body, url=linked.url, charset=linked.charset)
            return Found("feed", candidate, read.title or None)
        except SourceError:
            continue
    if is_story or not _is_page(answer, text):
        try:
            return Found("brief", url, (await site.fetch_brief(http, url, allow_private=allow_private)).title)
        except DocumentError as error:
            reason = f"{reason}, and no brief document either ({error})"
    raise SourceError(
        reason, "Give a feed, a page that links to one, a brief site's topic page or a brief's own address"
    )


def feed_links(text: str, url: str) -> list[str]:
    """The feeds that a page names in its head, in the page's order."""
    found: dict[str, None] = {}
    for tag in re.findall(r"<link\b[^>]{0,1000}>", text[:200_000], re.IGNORECASE):
        address = re.search(r"\bhref\s*=\s*[\"']?([^\"'\s>]+)", tag, re.IGNORECASE)
        if address and _FEED_TYPES.search(tag) and re.search(r"\balternate\b", tag, re.IGNORECASE):
            try:
                found.setdefault(urljoin(url, html.unescape(address[1])))
            except ValueError:
                continue
    return list(found)[:MOST_CANDIDATES]


def _is_page(answer: Response, text: str) -> bool:
    return answer.content_type in ("text/html", "application/xhtml+xml") or text.lstrip()[:15].casefold().startswith(
        ("<!doctype html", "<html")
    )
