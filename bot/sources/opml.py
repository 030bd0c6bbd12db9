"""OPML, the list of feeds that readers exchange: read with listparser, written by the standard library."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass

import listparser

from bot.errors import SourceError, UnsafeURL
from bot.sources.address import check_url

LONGEST = 5_000_000


@dataclass(frozen=True, slots=True)
class Listed:
    """One feed of a list; ``refused`` says why it cannot be polled, or is None."""

    title: str
    url: str
    refused: str | None = None


def read(text: str) -> list[Listed]:
    """The feeds of an OPML document, each address once, in its order. Raises SourceError where it lists none."""
    if len(text) > LONGEST:
        raise SourceError(f"the list is longer than {LONGEST / 1e6:g} million characters", "Split it")
    found: dict[str, Listed] = {}
    # listparser 0.20 takes what names no charset for Latin-1.
    bare = re.sub(r"^\s*<\?xml[^>]*\?>", "", text)
    prepared = f'<?xml version="1.0" encoding="utf-8"?>{bare}'.encode("utf-8", "replace")
    for feed in listparser.parse(prepared).feeds:
        url = (feed.url or "").strip()
        if url and url not in found:
            found[url] = Listed(" ".join((feed.title or "").split())[:100], url, _refused(url))
    if not found:
        raise SourceError("it lists no feeds", "Export the list as OPML from your feed reader")
    return list(found.values())


def _refused(url: str) -> str | None:
    try:
        check_url(url)
    except UnsafeURL as error:
        return error.reason
    return None


def write(feeds: Iterable[tuple[str, str]], title: str = "Briefbot") -> str:
    """An OPML 2.0 document (opml.org/spec2.opml) of (title, address) pairs."""
    root = ET.Element("opml", version="2.0")
    ET.SubElement(ET.SubElement(root, "head"), "title").text = title
    body = ET.SubElement(root, "body")
    for name, url in feeds:
        ET.SubElement(body, "outline", type="rss", text=_plain(name), title=_plain(name), xmlUrl=_plain(url))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _plain(text: str) -> str:
    """Without what XML 1.0 cannot hold."""
    return "".join(
        c for c in text if c in "\t\n" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    )
