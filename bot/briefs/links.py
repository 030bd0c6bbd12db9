"""A link in any Markdown form is read to its label and its address, and written so that it reads the same.

Inline (with or without a title, address in angle brackets or with parentheses in it), reference, autolink and bare
addresses are understood. Every scan goes once over the text, however many brackets stand in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlsplit

_BARE = re.compile(r"https?://[^\s<>]+", re.IGNORECASE)
_AUTO = re.compile(r"<[ \t]*(https?://[^<>]{1,4000}?)[ \t]*>", re.IGNORECASE)
_HOST = re.compile(r"https?://[^\s/?#]+", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = re.compile(r"(\*\*|__|\*|_|`)(.+)\1$")
_TITLE = re.compile(r"[ \t]+(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|\([^()]{0,1000}\))[ \t]*\)|[ \t]*\)")
_REFERENCE = re.compile(r"`[^`]*`|(?<!\\)\[([^\[\]]{1,500})\](?:\[([^\[\]]{0,200})\]|(?![\[(:]))")
_ATTEMPTS = 8  # opening brackets tried before a value is taken for one without an inline link

DEFINITION = re.compile(
    r" {0,3}\[([^\[\]^\\][^\[\]]{0,200})\]:[ \t]*(<[^<>]{1,4000}>|[^\s<]\S{0,4000})"
    r"(?:[ \t]+(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|\([^()]{0,1000}\)))?[ \t]*$"
)


class Link(NamedTuple):
    """A link found in a text: ``label`` is plain text or None, ``target`` the address as written, and what is around."""

    label: str | None
    target: str
    before: str
    after: str


def address(target: str) -> str | None:
    """The normal form of an http(s) address (no spaces, brackets or control characters), None if it is none."""
    url = "".join(quote(c) if c in '<>"\\' or c.isspace() or not c.isprintable() else c for c in target.strip(" \t\n"))
    if not _HOST.match(url):
        return None
    try:
        return url if urlsplit(url).hostname else None
    except ValueError:
        return None


def host(url: str) -> str:
    """The host of an address in normal form."""
    return urlsplit(url).hostname or url


def unescape(text: str) -> str:
    """Markdown without its backslash escapes."""
    return _ESCAPED.sub(r"\1", text)


def escape(text: str) -> str:
    """Plain text as Markdown in which neither a link nor emphasis is seen; ``plain`` gives the text back."""
    return re.sub(r"([\\`*_\[\]<>]|:(?=//))", r"\\\1", text)


def plain(text: str) -> str:
    """The text of a label or name: emphasis around it and backslash escapes taken off."""
    for _ in range(3):
        if found := _EMPHASIS.match(text):
            text = found[2]
    return unescape(text)


def _inline(text: str, start: int) -> tuple[Link, int] | None:
    depth, i = 0, start
    while i < len(text):
        c = text[i]
        if c == "\\":
            i += 1
        elif c == "[":
            depth += 1
        elif c == "]":
            depth -= 1
            if not depth:
                break
        i += 1
    if depth or text[i + 1 : i + 2] != "(":
        return None
    begin = i + 2
    while text[begin : begin + 1] in (" ", "\t"):
        begin += 1
    if text[begin : begin + 1] == "<":
        end = text.find(">", begin)
        if end < 0:
            return None
        target, rest = text[begin + 1 : end], end + 1
    else:
        depth, rest = 0, begin
        while rest < len(text) and not text[rest].isspace():
            if text[rest] == "(":
                depth += 1
            elif text[rest] == ")":
                if not depth:
                    break
                depth -= 1
            elif text[rest] == "\\":
                rest += 1
            rest += 1
        target = unescape(text[begin:rest])
    closed = _TITLE.match(text, rest)
    if not closed:
        return None
    label = plain(re.sub(r"[ \t]+", " ", text[start + 1 : i].strip(" \t")))
    link = Link(label or None, target.replace("&amp;", "&"), text[:start], text[closed.end() :])
    return link, closed.end()


def _auto(text: str, found: re.Match[str]) -> Link:
    return Link(None, found[1], text[: found.start()], text[found.end() :])


def _bare(text: str, found: re.Match[str]) -> Link:
    url = found[0]
    loose = {")": url.count(")") - url.count("("), "]": url.count("]") - url.count("[")}
    end = len(url)
    while url[end - 1] in ".,;:!?'\"*_" or loose.get(url[end - 1], 0) > 0:
        end -= 1
        if url[end] in loose:
            loose[url[end]] -= 1
    url = url[:end]
    return Link(None, url, text[: found.start()], text[found.start() + len(url) :])


def leading(text: str) -> Link | None:
    """The link that the text starts with, or None."""
    if text.startswith("[") and (inline := _inline(text, 0)):
        return inline[0]
    if found := _AUTO.match(text):
        return _auto(text, found)
    return _bare(text, found) if (found := _BARE.match(text)) else None


def find(text: str) -> Link | None:
    """The first link of the text, an inline one before others; None if there is none."""
    at = -1
    for _ in range(_ATTEMPTS):
        at = text.find("[", at + 1)
        if at < 0:
            break
        if (at == 0 or text[at - 1] != "\\") and (inline := _inline(text, at)):
            return inline[0]
    if found := _AUTO.search(text):
        return _auto(text, found)
    return _bare(text, found) if (found := _BARE.search(text)) else None


def inline(label: str, target: str) -> str:
    """``[label](target)`` for a plain label and an address in normal form."""
    target = target.replace("&amp;", "&amp;amp;")
    return f"[{escape(label)}]({f'<{target}>' if set(target) & set('()') else target})"


def alone(url: str) -> str:
    """An address that stands for itself: bare, or in angle brackets where its end could be misread."""
    link = leading(url)
    return url if link and link.target == url else f"<{url}>"


def definitions(lines: Iterable[str]) -> dict[str, str]:
    """Link definitions (``[label]: address``) by label, the first of each."""
    found: dict[str, str] = {}
    for line in lines:
        if "]:" in line and (match := DEFINITION.match(line)):
            found.setdefault(" ".join(match[1].split()).casefold(), match[2].strip("<>"))
    return found


def resolve(line: str, defined: Mapping[str, str]) -> str:
    """The line with its reference links made inline."""

    def one(match: re.Match[str]) -> str:
        target = match[1] and defined.get(" ".join((match[2] or match[1]).split()).casefold())
        return f"[{match[1]}](<{target}>)" if target else match[0]

    return _REFERENCE.sub(one, line) if "[" in line else line
