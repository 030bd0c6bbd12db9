"""The words around a brief's sections: its title, dek, foot line and the links that Discord will take.

Titles, deks, headings and names are plain text, but many a source writes ``code``, **bold** or links into them: where
one holds such marks it is read as Markdown. Nothing here is longer than it says, however long the source was.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from urllib.parse import quote, urlsplit

from bot.briefs.invisible import clean
from bot.briefs.masked import safe_url, without_invites
from bot.briefs.model import Brief
from bot.briefs.shortening import ELLIPSIS
from bot.briefs.text import escape, link, neutralise, plain, shorten
from bot.chat.limits import BUTTON_URL, characters

TITLE, DEK, HEADING, NAME = 240, 400, 100, 80  # characters shown of each, at most
LINKED_URL = 300  # a masked link's address counts as text: a longer one is left to a button

# English whatever the host's locale is.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MARKDOWN = re.compile(r"\]\(https?://|\*\*[^\s*](?:[^*]*[^\s*])?\*\*|`[^`\n]+`")
_BLOCK_START = re.compile(r"\s*(?:#{1,3}|-#|>{1,3}|[-*+])(?:\s|$)|```")
_NUMBERED = re.compile(r"\A(\d{1,9})([.)])(?=\s|\Z)")
_EVERYONE = re.compile(r"@(?=everyone|here)", re.IGNORECASE)
_TIMESTAMP_SECONDS = 8_640_000_000_000  # docs reference: the range of a date that the client can show


def one_line(text: str) -> str:
    """``text`` on one line, without what cannot be seen."""
    return " ".join(clean(text).split())


def fit(text: str, limit: int) -> str:
    """Plain text in at most ``limit`` characters as Discord may count them, cut between words; ``""`` if none fits."""
    room = limit
    cut = shorten(text, room)
    while (over := characters(cut) - limit) > 0 and room > 0:
        room -= max(1, over // 2)
        cut = shorten(text, max(0, room))
    return cut if cut != ELLIPSIS else ""


def words(text: str) -> str:
    """A title, heading or name as plain text on one line."""
    text = one_line(text)
    return one_line(plain(text)) if _MARKDOWN.search(text) else text


def label(text: str, limit: int) -> str:
    """A name for a place where Discord reads no Markdown: a menu, a footer, an author."""
    return fit(without_invites(_EVERYONE.sub("＠", words(text))), limit)


def escaped(text: str, limit: int) -> str:
    """Plain text escaped, of at most ``limit`` characters with its backslashes."""
    shown = escape(fit(text, room := limit))
    while (over := characters(shown) - limit) > 0:
        room -= over
        shown = escape(fit(text, room))
    return shown


def inline(text: str, limit: int) -> str:
    """A dek or heading as Markdown on one line, of at most ``limit`` characters before escaping."""
    text = one_line(text)
    if _MARKDOWN.search(text) and characters(text) <= limit:
        return sentence(text)
    return escape(fit(words(text), limit))


def heading(text: str | None, limit: int = HEADING) -> str:
    """A heading as it stands between ``**``; ``""`` where there is none to see."""
    text = one_line(text or "")
    if "`" in text and "*" not in text and _MARKDOWN.search(text) and characters(text) <= limit:
        return sentence(text)
    return escape(fit(words(text), limit))


def sentence(markdown: str) -> str:
    """A source's Markdown on one line, harmless, and nothing in it that would make a block of it."""
    shown = _NUMBERED.sub(r"\1\\\2", neutralise(one_line(markdown)))  # 12. März is no list
    if "\n" in shown or "```" in shown or _BLOCK_START.match(shown):
        shown = one_line(escape(one_line(plain(markdown))))
    return shown


def title(brief: Brief, limit: int = TITLE) -> str:
    """A brief's title as plain text; what else names it where the title cannot be seen."""
    for text in (brief.title, brief.dek, brief.permalink or "", brief.original or "", day(brief.published)):
        if shown := fit(words(text), limit):
            return shown
    return "A brief without a title"


def short_link(name: str, url: str | None, limit: int = NAME, longest: int = LINKED_URL) -> str:
    """A masked link, or the label alone where the address would eat the room for text."""
    address = safe_url(url)
    return link(fit(words(name), limit), address if address and len(address) <= longest else None)


def linked_title(brief: Brief, longest: int = LINKED_URL) -> str:
    """The title, linked to the brief, or else to the original article."""
    address = brief.permalink if safe_url(brief.permalink) else brief.original
    return short_link(title(brief), address, TITLE, longest)


def dek(brief: Brief, limit: int = DEK) -> str:
    """The dek as Markdown; ``""`` where there is none, or it only repeats the title."""
    text = words(brief.dek)
    if not text or text.casefold() == words(brief.title).casefold() or not words(brief.title):
        return ""
    return inline(brief.dek, limit)


def day(published: date | datetime | None) -> str:
    """``28 October 2026``; ``""`` for None."""
    return f"{published.day} {_MONTHS[published.month - 1]} {published.year}" if published else ""


def moment(published: date | datetime | None) -> str:
    """A datetime as Discord's timestamp, which each reader sees in their own zone; a date as the plain day it is."""
    if isinstance(published, datetime) and published.tzinfo is not None:
        seconds = int(published.timestamp())
        if abs(seconds) < _TIMESTAMP_SECONDS:
            return f"<t:{seconds}:D>"
    return day(published)


def source_count(brief: Brief) -> str:
    """``3 sources``, ``1 source``, or ``""``."""
    n = len(brief.coverage)
    return f"{n:,} source{'' if n == 1 else 's'}" if n else ""


def foot(brief: Brief, *, count: bool = True) -> str:
    """Source, topic, date and number of sources, as one line of small print; ``""`` where nothing is known."""
    parts = [
        short_link(brief.source.name, brief.source.url) if brief.source and words(brief.source.name) else "",
        short_link(brief.topic.name, brief.topic.url) if brief.topic and words(brief.topic.name) else "",
        moment(brief.published),
        source_count(brief) if count else "",
    ]
    shown = " · ".join(filter(None, parts))
    return f"-# {shown}" if shown else ""


def button_url(url: str | None) -> str | None:
    """``url`` as a link button or an embed takes it, or None.

    Discord answers 50035 for an address that it finds ill-formed, which would refuse the whole message: so only
    http(s) with a full host name or IP address, ASCII, without credentials, and at most 512 characters.
    """
    address = safe_url(url, masked=False)
    if address is None:
        return None
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        host = host.encode("idna").decode("ascii") if not host.isascii() else host
        port = f":{parts.port}" if parts.port else ""
    except (UnicodeError, ValueError):
        return None
    if not re.fullmatch(r"(?:[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{1,63}\.?", host):
        return None
    rest = address.partition(parts.netloc)[2]
    encoded = f"{parts.scheme}://{host}{port}" + quote(rest, safe="/?#%:@!$&'()*+,;=~-._")
    return encoded if len(encoded) <= BUTTON_URL else None


def site(url: str) -> str:
    """The site of an address that ``button_url`` gave: ``brifing.si``; ``""`` where it would not fit a label."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    return host if len(host) <= 40 else ""
