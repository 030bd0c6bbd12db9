"""Feeds: RSS, Atom, RDF and JSON Feed bytes become entries.

feedparser reads the XML kinds; around it stands what it gets wrong (feeds.md, section 1). Runs in the sandbox.
"""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

import feedparser

from bot.briefs.article import html_to_text
from bot.errors import SourceError
from bot.sources import freshness
from bot.sources.charset import decode
from bot.sources.dates import read_date

MOST_ENTRIES = 200
# A single tag of this size is no feed's: feedparser needs 1.2 s for one with 10,000 attributes, and time squared beyond.
LONGEST_TAG = 64 * 1024
LONGEST_TITLE = 2000
_NOT_A_FEED = "Give the address of a feed, or of a page that links to one"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as the feed has it: texts plain, ``summary`` and ``content`` HTML, addresses absolute http(s)."""

    guid: str | None
    title: str
    link: str | None
    published: date | datetime | None = None
    author: str | None = None
    tags: tuple[str, ...] = ()
    summary: str = ""
    content: str = ""
    image: str | None = None
    image_alt: str | None = None


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed's entries, newest 200, in its own order. ``truncated``: the document was cut off before its end.

    ``ttl`` is the longest of what the feed itself asks for between two polls, in seconds, or None.
    """

    title: str
    link: str | None
    entries: tuple[Entry, ...]
    ttl: float | None = None
    truncated: bool = False


def parse(body: bytes, *, url: str, charset: str | None = None, now: str) -> Feed:
    """Read a feed document that came from ``url``; ``now`` is the ISO time of the poll.

    Raises SourceError where it is no feed, saying what it is instead.
    """
    text = decode(body, charset)
    start = text.lstrip("\ufeff \t\r\n\0")
    moment = datetime.fromisoformat(now)
    if not start:
        raise SourceError("the answer is empty", "Try again later; if it stays so, ask the site")
    if start.startswith(("{", "[")):
        return _json_feed(start, url, moment)
    if re.match(r"<!doctype html|<html\b", start[:200], re.IGNORECASE):
        raise SourceError("this is a web page, not a feed", _NOT_A_FEED)
    return _xml_feed(start, url, moment)


def _xml_feed(text: str, url: str, now: datetime) -> Feed:
    if any(len(tag) > LONGEST_TAG for tag in re.split(r"[<>]", _CDATA.sub("", text)) if "=" in tag[:4096]):
        raise SourceError("it has a tag of more than 64 kB", "No reader takes such a feed; tell its owner")
    prepared = _whole_ampersands(re.sub(r"^<\?xml[^>]*\?>", "", text))
    # No content-location: feedparser would make guids out of it, and they would change with the address.
    headers = {"content-type": "application/xml; charset=utf-8"}
    # A str or bytes could be taken for a URL or a file name; a stream cannot.
    document = feedparser.parse(
        io.BytesIO(prepared.encode("utf-8", "replace")),
        response_headers=headers,
        sanitize_html=False,
        resolve_relative_uris=False,
    )
    if not document.get("version") and not document.entries:
        raise SourceError("this is not a feed", _NOT_A_FEED)
    base = _address(document.feed.get("link"), url) or url
    found = list(document.entries)
    truncated = _is_cut_off(text)
    if truncated and found and _ends_inside_an_entry(text):
        found.pop()
    # A plain dict: feedparser's own answers for absent keys with other keys, warns, and raises.
    entries = [entry for raw in found[: MOST_ENTRIES * 5] if (entry := _entry(dict(dict.items(raw)), base, now))]
    return Feed(
        title=plain(document.feed.get("title", "")),
        link=_address(document.feed.get("link"), url),
        entries=_newest(entries),
        ttl=_ttl(document.feed, text),
        truncated=truncated,
    )


_CDATA = re.compile(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)


def _whole_ampersands(text: str) -> str:
    """Bare ampersands written out: feedparser turns "AT&T" into "AT&T;"."""
    bare = re.compile(r"&(?!#\d{1,7};|#x[0-9a-fA-F]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};)")
    out, at = [], 0
    for cdata in _CDATA.finditer(text):
        out += [bare.sub("&amp;", text[at : cdata.start()]), cdata[0]]
        at = cdata.end()
    return "".join(out) + bare.sub("&amp;", text[at:])


def _is_cut_off(text: str) -> bool:
    tail = re.sub(r"<!--.*?-->|<\?.*?\?>", "", text[-2000:], flags=re.DOTALL).rstrip("\0 \t\r\n")
    return re.search(r"</\s*(?:[\w.-]+:)?(rss|feed|rdf|channel|xml)\s*>\Z", tail, re.IGNORECASE) is None


def _ends_inside_an_entry(text: str) -> bool:
    plain_text = _CDATA.sub("", text)
    opened = [m.start() for m in re.finditer(r"<(?:[\w.-]+:)?(?:item|entry)[\s>]", plain_text, re.IGNORECASE)]
    closed = [m.start() for m in re.finditer(r"</(?:[\w.-]+:)?(?:item|entry)\s*>", plain_text, re.IGNORECASE)]
    return bool(opened) and opened[-1] > (closed[-1] if closed else -1)


def _entry(raw: Mapping[str, Any], base: str, now: datetime) -> Entry | None:
    guid = str(raw.get("id") or "").strip() or None
    link = _entry_link(raw, base)
    title = plain(raw.get("title", ""))
    summary = str(raw.get("summary") or "")
    contents = [str(c.get("value") or "") for c in raw.get("content") or ()]
    content = max(contents, key=len, default="")
    if not (guid or link or title):
        return None
    published = read_date(raw.get("published"), raw.get("published_parsed"), now=now) or read_date(
        raw.get("updated"), raw.get("updated_parsed"), now=now
    )
    image, alt = _image(raw, content or summary, link or base)
    return Entry(
        guid=guid,
        title=title,
        link=link,
        published=published,
        author=plain(str(raw.get("author") or "")) or None,
        tags=tuple(dict.fromkeys(t for tag in raw.get("tags") or () if (t := plain(str(tag.get("term") or "")))))[:20],
        summary="" if summary == content else summary,
        content=content,
        image=image,
        image_alt=alt,
    )


def _entry_link(raw: Mapping[str, Any], base: str) -> str | None:
    """The entry's page: its alternate link, else its first, else a guid that is an address and says it is one."""
    links = [link for link in raw.get("links") or () if isinstance(link, Mapping)]
    alternate = [link.get("href") for link in links if link.get("rel", "alternate") == "alternate"]
    for candidate in [*alternate, raw.get("link")]:
        # feedparser takes a guid such as "1" for a link: an address is known by its scheme or by a slash.
        if candidate and ("/" in str(candidate) or candidate != raw.get("id")) and (found := _address(candidate, base)):
            return found
    guid = str(raw.get("id") or "")
    return _address(guid, guid) if guid.startswith(("http://", "https://")) and raw.get("guidislink", True) else None


def _address(candidate: Any, base: str) -> str | None:
    """An absolute http(s) address, or None."""
    if not isinstance(candidate, str) or not candidate.strip():
        return None
    try:
        joined = urljoin(base, re.sub(r"[\t\r\n]", "", candidate.strip()))
        parts = urlsplit(joined)
        if parts.scheme in ("http", "https") and parts.hostname and len(joined) <= 2000:
            return joined.replace(" ", "%20")
    except ValueError:
        pass
    return None


def _image(raw: Mapping[str, Any], markup: str, base: str) -> tuple[str | None, str | None]:
    media = [*(raw.get("media_content") or ()), *(raw.get("media_thumbnail") or ())]
    links = [link for link in raw.get("links") or () if link.get("rel") == "enclosure"]
    enclosures = [link for link in links if str(link.get("type", "")).startswith("image/")]
    for found in [*(m for m in media if str(m.get("type", "image/")).startswith("image/")), *enclosures]:
        if address := _address(found.get("url") or found.get("href"), base):
            return address, None
    if tag := re.search(r"<img\b[^>]{0,2000}>", markup[:200_000], re.IGNORECASE):
        source = re.search(r"\bsrc\s*=\s*[\"']([^\"']{1,2000})", tag[0], re.IGNORECASE)
        alt = re.search(r"\balt\s*=\s*[\"']([^\"']{1,1000})", tag[0], re.IGNORECASE)
        if source and (address := _address(html.unescape(source[1]), base)):
            return address, plain(alt[1]) or None if alt else None
    return None, None


def _ttl(channel: Mapping[str, Any], text: str) -> float | None:
    """The longest of RSS ``ttl`` (minutes) and the syndication module's period, in seconds."""
    asked = []
    if re.fullmatch(r"\s*\d{1,6}\s*", str(channel.get("ttl", ""))):
        asked.append(int(channel["ttl"]) * 60.0)
    period = str(channel.get("sy_updateperiod", ""))
    if (every := freshness.update_period(period, str(channel.get("sy_updatefrequency", "1")))) is not None:
        asked.append(every)
    return max(asked, default=None)


def _json_feed(text: str, url: str, now: datetime) -> Feed:
    """JSON Feed 1.0 and 1.1 (jsonfeed.org/version/1.1); an entry of a wrong type is left out, the others stay."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise SourceError("it begins like JSON but is not valid JSON", _NOT_A_FEED) from None
    if not isinstance(data, dict) or not isinstance(data.get("items"), list):
        raise SourceError("this is JSON, but no JSON Feed", _NOT_A_FEED)
    base = _address(data.get("home_page_url"), url) or url
    entries = []
    for raw in data["items"][: MOST_ENTRIES * 5]:
        if not isinstance(raw, dict):
            continue
        guid = raw.get("id")
        guid = str(guid).strip() or None if isinstance(guid, (str, int, float)) and not isinstance(guid, bool) else None
        link = _address(raw.get("url"), base) or _address(raw.get("external_url"), base)
        title, content = plain(_text(raw, "title")), _text(raw, "content_html")
        if not content and (body := _text(raw, "content_text")):
            content = "".join(f"<p>{html.escape(p)}</p>" for p in re.split(r"\n\s*\n", body))
        if not (guid or link or title or content):
            continue
        people = raw.get("authors") if isinstance(raw.get("authors"), list) else [raw.get("author")]
        names = [plain(_text(person, "name")) for person in people or () if isinstance(person, dict)]
        tags = raw.get("tags")
        entries.append(
            Entry(
                guid=guid,
                title=title,
                link=link,
                published=read_date(_text(raw, "date_published"), now=now)
                or read_date(_text(raw, "date_modified"), now=now),
                author=", ".join(filter(None, names)) or None,
                tags=tuple(t.strip() for t in tags if isinstance(t, str) and t.strip())[:20]
                if isinstance(tags, list)
                else (),
                summary=html.escape(_text(raw, "summary")),
                content=content,
                image=_address(raw.get("image"), base) or _address(raw.get("banner_image"), base),
            )
        )
    return Feed(plain(_text(data, "title")), _address(data.get("home_page_url"), url), _newest(entries))


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _newest(entries: list[Entry]) -> tuple[Entry, ...]:
    """The newest entries in the feed's own order; those without a date count as where they stand."""
    if len(entries) <= MOST_ENTRIES:
        return tuple(entries)
    dated = [e.published for e in entries if e.published]
    backwards = len(dated) > 1 and _day(dated[0]) < _day(dated[-1])
    return tuple(entries[-MOST_ENTRIES:] if backwards else entries[:MOST_ENTRIES])


def _day(moment: date | datetime) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def plain(markup: Any) -> str:
    """A title or name as one line of plain text: known tags out, entities (also escaped twice) read, blanks folded."""
    return html_to_text(markup[: LONGEST_TITLE * 20])[:LONGEST_TITLE] if isinstance(markup, str) else ""


def to_json(feed: Feed) -> dict[str, Any]:
    """The feed as JSON types."""
    data = asdict(feed)
    for entry in data["entries"]:
        entry["published"] = entry["published"] and entry["published"].isoformat()
    return data


def from_json(data: Mapping[str, Any]) -> Feed:
    """The feed of such a value."""
    return Feed(**{**data, "entries": tuple(_entries_from_json(data["entries"]))})


def _entries_from_json(rows: list[dict[str, Any]]) -> Iterator[Entry]:
    for row in rows:
        raw = row["published"]
        published = None if raw is None else (datetime if "T" in raw else date).fromisoformat(raw)
        yield replace(Entry(**{**row, "published": None, "tags": tuple(row["tags"])}), published=published)
