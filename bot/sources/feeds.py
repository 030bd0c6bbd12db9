"""A feed as a source: its entries are items, and an entry's own text is read into a brief."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.briefs import topics
from bot.briefs.article import html_to_text, sections_from_html
from bot.briefs.model import Brief, Section, SourceLink
from bot.briefs.text import shorten
from bot.errors import DocumentError, SourceError
from bot.sources import feed
from bot.sources.feed import Entry, Feed
from bot.sources.http import Http
from bot.sources.identity import Item, moment
from bot.sources.kinds import Listing, ask
from bot.sources.sandbox import Sandbox
from bot.store.sources import Source

ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.8, "
    "application/json;q=0.7, */*;q=0.5"
)
LONGEST_DEK = 300


class Feeds:
    """The kind ``feed``. Documents are parsed in the sandbox, never in this process."""

    def __init__(self, http: Http, sandbox: Sandbox) -> None:
        self.http, self.sandbox = http, sandbox

    async def list(self, source: Source) -> Listing:
        """The feed's entries, oldest first. Raises SourceError."""
        answer, listing = await ask(self.http, source, ACCEPT)
        if listing.not_modified:
            return listing
        read = await read_feed(self.sandbox, answer.body, url=answer.url, charset=answer.charset)
        entries = oldest_first(read)
        held = {item_of(entry): (read, entry) for entry in entries}
        items = tuple(map(item_of, entries))
        return replace(listing, items=items, whole=not read.truncated, ttl=read.ttl, held=held)

    async def read(self, source: Source, item: Item, held: Any) -> Brief:
        """The brief of an entry. Raises SourceError while the feed does not list it, DocumentError if it says nothing."""
        if held is None:
            raise SourceError("the feed does not list it now")
        read, entry = held
        return await asyncio.to_thread(brief_of, read, entry, source)


async def read_feed(sandbox: Sandbox, body: bytes, *, url: str, charset: str | None) -> Feed:
    """Parse a feed's bytes in the sandbox. Raises SourceError where it is none."""
    now = datetime.now(UTC).isoformat()
    return feed.from_json(await sandbox.run("feed", body, url=url, charset=charset, now=now))


def item_of(entry: Entry) -> Item:
    """The entry as a source lists it."""
    return Item(entry.guid, entry.link, entry.title or entry.link or entry.guid or "", entry.published)


def oldest_first(read: Feed) -> list[Entry]:
    """The entries by date where most have one, else turned round: feeds list the newest first."""
    entries = list(reversed(read.entries))
    dated = sum(entry.published is not None for entry in entries)
    if dated * 2 <= len(entries):
        return entries
    floor = datetime.min.replace(tzinfo=UTC)
    latest = floor
    order: list[tuple[datetime, int]] = []
    for n, entry in enumerate(entries):  # an undated entry keeps its place beside its neighbour
        latest = moment(entry.published) if entry.published else latest
        order.append((latest, n))
    return [entries[n] for _, n in sorted(order)]


def brief_of(read: Feed, entry: Entry, source: Source) -> Brief:
    """An entry as a brief: its text by headings, or by paragraphs where it has none."""
    base = entry.link or read.link or source.location
    markup = entry.content or entry.summary
    sections = tuple(Section(heading, body) for heading, body in sections_from_html(markup, base, entry.title))
    dek = html_to_text(entry.summary) if entry.content and entry.summary else ""
    if not dek and len(sections) == 1 and len(sections[0].body) <= LONGEST_DEK and sections[0].heading is None:
        dek, sections = html_to_text(markup), ()  # a teaser is all there is
    title = entry.title or shorten(html_to_text(markup), 120) or entry.link or ""
    if not title:
        raise DocumentError("title", 1, "the entry has neither title nor text nor link")
    ranked = topics.assign(title, dek, entry.tags, "\n".join(s.body for s in sections[:10]))
    return Brief(
        title=title,
        dek=shorten(dek, LONGEST_DEK) if dek else "",
        source=SourceLink(read.title or source.name, read.link),
        published=entry.published,
        topic=topics.TOPICS[ranked[0][0]] if ranked else None,
        permalink=entry.link,
        sections=sections,
        extra=tuple(pair for pair in (("Author", entry.author or ""), ("Tags", ", ".join(entry.tags))) if pair[1]),
    )
