"""A brief site: its topic pages list stories, and each story is a brief; also one brief document by its address.

A topic page may come as HTML, Markdown or a feed: story links (``/s/<uuid>``) look the same in all three. A story is
asked for as Markdown first, and read as Markdown or HTML, whichever comes.
"""

from __future__ import annotations

import asyncio
import html
import re
import time
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import lxml.html
from lxml import etree

from bot.briefs import document, tree
from bot.briefs.article import sections_from_html
from bot.briefs.model import Brief, Topic
from bot.briefs.topics import TOPICS, slug
from bot.errors import DocumentError, FetchError, SourceError
from bot.sources.http import Http, Response
from bot.sources.identity import Item
from bot.sources.kinds import Listing, ask
from bot.store.sources import Source

PAGE = (
    "text/markdown, application/atom+xml;q=0.9, application/rss+xml;q=0.9, application/feed+json;q=0.9, text/html;q=0.8"
)
STORY = "text/markdown, text/html;q=0.8, text/plain;q=0.5"
MOST_STORIES = 200
MOST_LINKS = 5000

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_STORY = re.compile(rf"/s/{_UUID}(?![0-9a-z-])", re.IGNORECASE)
# What may stand before it and belongs to the link; asked of a few characters only, as a page may be hostile.
_BEFORE = re.compile(r"(?:(?:https?:)?//[^\s\"'<>()\[\]\\?#=&/]{1,255})?(?:/[\w.~%-]{1,64}){0,4}\Z", re.IGNORECASE)
_LONGEST_BEFORE = 300
_TOPIC = re.compile(r"/c/([^/?#]+)")


class Site:
    """The kind ``site``: a topic page."""

    def __init__(self, http: Http) -> None:
        self.http = http

    async def list(self, source: Source) -> Listing:
        """The stories of the page, oldest last as pages have it, so turned round. Raises SourceError."""
        answer, listing = await ask(self.http, source, PAGE)
        if listing.not_modified:
            return listing
        links = await asyncio.to_thread(story_links, answer.text(), answer.url)
        if not links:
            raise SourceError(
                "no stories are listed there (links such as /s/<id>)", "Give the address of a brief site's topic page"
            )
        items = tuple(Item(guid=None, link=link, title=link) for link in reversed(links))
        return replace(listing, items=items)

    async def read(self, source: Source, item: Item, held: Any) -> Brief:
        """One story. Raises SourceError, or DocumentError where it is no brief."""
        brief = await fetch_brief(self.http, item.link or item.title, allow_private=source.allow_private)
        return brief if brief.topic else replace(brief, topic=topic_of(source.location))


class Document:
    """The kind ``brief``: one brief document, read again when it changes."""

    def __init__(self, http: Http) -> None:
        self.http = http

    async def list(self, source: Source) -> Listing:
        """The document as the one item of its source. Raises SourceError."""
        answer, listing = await ask(self.http, source, STORY)
        if listing.not_modified:
            return listing
        # With the time, as an edit that is taken back is an edit too.
        version = f"{listing.body_hash} {time.time_ns()}"
        item = Item(guid=source.location, link=source.location, title=source.location, version=version)
        return replace(listing, items=(item,), held={item: answer})

    async def read(self, source: Source, item: Item, held: Any) -> Brief:
        """The brief. Raises SourceError, or DocumentError where the document is none."""
        if isinstance(held, Response):
            return await _brief_of(self.http, held, allow_private=source.allow_private)
        return await fetch_brief(self.http, source.location, allow_private=source.allow_private)


def story_links(text: str, url: str) -> list[str]:
    """The addresses of the stories on a page that came from ``url``, in the page's order, each once."""
    host = _host(url)
    found: dict[str, None] = {}
    # In JSON a slash may be written \/, in HTML and XML as an entity.
    text = html.unescape(text).replace("\\/", "/")
    for match in islice(_STORY.finditer(text), MOST_LINKS):
        before = _BEFORE.search(text[max(0, match.start() - _LONGEST_BEFORE) : match.start()])
        try:
            link = urljoin(url, (before[0] if before else "") + match[0].lower())
            if _host(link) == host:
                found.setdefault(link)
        except ValueError:
            continue
    return list(found)[:MOST_STORIES]


def _host(url: str) -> tuple[str | None, int | None]:
    parts = urlsplit(url)
    return parts.hostname, None if parts.port in (80, 443) else parts.port


def topic_of(url: str) -> Topic | None:
    """The topic whose page an address is (``/c/data-ai``), or None."""
    found = _TOPIC.search(urlsplit(url).path)
    name = slug(unquote(found[1])) if found else ""
    if not name:
        return None
    known = TOPICS.get(name)
    return Topic(known.name if known else name.replace("-", " ").title(), name, url)


async def fetch_brief(http: Http, url: str, *, allow_private: bool = False) -> Brief:
    """The brief at an address. Raises SourceError, or DocumentError where it is none."""
    return await _brief_of(
        http, await http.get(url, accept=STORY, allow_private=allow_private), allow_private=allow_private
    )


async def _brief_of(http: Http, answer: Response, *, allow_private: bool) -> Brief:
    text = answer.text()
    if not _is_html(answer, text):
        brief = await asyncio.to_thread(document.parse, text)
        return brief if brief.permalink else replace(brief, permalink=answer.url)
    if (other := _markdown_link(text, answer.url)) is not None:
        try:
            linked = await http.get(other, accept="text/markdown", allow_private=allow_private)
            if not _is_html(linked, linked.text()):
                brief = await asyncio.to_thread(document.parse, linked.text())
                return brief if brief.permalink else replace(brief, permalink=answer.url)
        except (FetchError, DocumentError):
            pass  # the page itself is still there
    return await asyncio.to_thread(from_html, text, answer.url)


def _is_html(answer: Response, text: str) -> bool:
    start = text.lstrip("\ufeff \t\r\n")[:200].casefold()
    if re.match(r"<(!doctype html|html|head|body|article|main|!--)", start):
        return True
    return answer.content_type in ("text/html", "application/xhtml+xml") and not start.startswith("#")


def _markdown_link(text: str, url: str) -> str | None:
    for tag in re.findall(r"<link\b[^>]{0,1000}>", text[:100_000], re.IGNORECASE):
        if re.search(r"text/(x-)?markdown", tag, re.IGNORECASE) and re.search(r"\balternate\b", tag, re.IGNORECASE):
            address = re.search(r"\bhref\s*=\s*[\"']?([^\"'\s>]+)", tag, re.IGNORECASE)
            if address:
                return urljoin(url, html.unescape(address[1]))
    return None


def from_html(text: str, url: str) -> Brief:
    """The brief of a story's web page: written out as a brief document, then read as one. Raises DocumentError.

    The main part of the page is its ``article``, else its ``main``, else its body.
    """
    root = tree.tree(text)
    if root is None:
        raise DocumentError("document", 1, "the page is empty")
    main = _main(root)
    title = next((_words(h) for h in main.iter("h1") if _words(h)), "") or next(
        (_words(t) for t in root.iter("title") if _words(t)), ""
    )
    if not title:
        raise DocumentError("title", 1, "the page has no heading")
    lines, sections = [f"# {title}", ""], []
    if dek := _dek(main):
        lines += [dek, ""]
    lines += [f"- **{label}:** {value}" for label, value in _fields(main, url)]
    markup = etree.tostring(_body(main), encoding="unicode", method="html")
    for heading, body in sections_from_html(markup, url, title):
        if heading is not None:
            sections += ["", f"## {heading}", "", body]
    brief = document.parse("\n".join([*lines, *sections]))
    return brief if brief.permalink else replace(brief, permalink=url)


def _main(root: lxml.html.HtmlElement) -> lxml.html.HtmlElement:
    for name in ("article", "main", "body"):
        found = next((e for e in root.iter(name) if next(e.iter("h1", "h2"), None) is not None), None)
        if found is not None:
            return found
    return root


def _words(element: etree._Element) -> str:
    return " ".join("".join(str(t) for t in element.itertext()).split())


def _dek(main: lxml.html.HtmlElement) -> str:
    """The paragraph under the title that is no field, before the first heading of a section."""
    for element in main.iter("p", "h2", "div"):
        marks = f"{element.get('class') or ''} {element.get('itemprop') or ''}".casefold()
        if re.search(r"\b(dek|subtitle|standfirst|summary|lede|lead|description)\b", marks):
            return _words(element)
    for element in main.iter("p", "h2"):
        if element.tag == "h2":
            break
        if (words := _words(element)) and not re.match(r"[\w ]{2,30}:", words):
            return words
    return ""


_LABEL = re.compile(r"\s*([^:\n]{2,40}?)\s*:\s*(.*)", re.DOTALL)


def _fields(main: lxml.html.HtmlElement, url: str) -> list[tuple[str, str]]:
    """What a page says about its story before the first section: ``<dt>``/``<dd>``, or ``Label: value`` lines."""
    found: list[tuple[str, str]] = []
    for element in main.iter("h2", "dt", "li", "p", "tr"):
        if element.tag == "h2":
            break
        if element.tag == "dt":
            value = element.getnext()
            label = _words(element).rstrip(":")
        elif element.tag == "tr":
            cells = [c for c in element if c.tag in ("th", "td")]
            label, value = (_words(cells[0]).rstrip(":"), cells[1]) if len(cells) == 2 else ("", None)
        else:
            match = _LABEL.match(_words(element))
            label, value = (match[1], element) if match else ("", None)
        if not label or value is None:
            continue
        anchor = next(iter(value.iter("a")), None)
        moment = next(iter(value.iter("time")), None)
        words = _words(value)
        if value is element:
            words = words.partition(":")[2].strip()
        if moment is not None and moment.get("datetime"):
            words = str(moment.get("datetime"))
        elif anchor is not None and anchor.get("href"):
            words = f"[{re.sub(r'[][]', '', words)}]({urljoin(url, str(anchor.get('href')))})"
        found.append((label, words))
    return found


def _body(main: lxml.html.HtmlElement) -> lxml.html.HtmlElement:
    """A copy of the main part without what stands before its first section."""
    copy = lxml.html.fromstring(etree.tostring(main, encoding="unicode", method="html"))
    for element in list(copy.iter("header", "h1", "dl", "nav", "aside", "footer", "form", "script", "style")):
        first = next(copy.iter("h2"), None)
        if element.getparent() is not None and (first is None or element is not first):
            if element.tag in ("header", "dl") and next(element.iter("h2"), None) is not None:
                continue
            assert isinstance(element, lxml.html.HtmlElement)
            element.drop_tree()
    return copy
