"""Text from a source is safe and looks as it should in Discord: nothing in it pings, links falsely or breaks out.

Two kinds of text come in. *Plain text* (titles, names) goes through :func:`escape`, which makes Discord show exactly
that text. *Markdown* (bodies, as their source wrote them) goes through :func:`neutralise`, which keeps the markup.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from bot.briefs import inline
from bot.briefs.inline import Kind, Token
from bot.briefs.invisible import clean
from bot.briefs.links import is_deceptive, safe_label, safe_url, without_invites
from bot.briefs.splitting import split

__all__ = ["escape", "link", "neutralise", "plain", "shorten", "split"]

ELLIPSIS = "…"

# What Discord would take for markup, in the order in which it must be looked for.
_SPECIAL = re.compile(
    r"""(?P<url>https?://[^\s<>\[\]"`、。，；）」】》]+)
    |(?P<line>^[^\S\n]*(?:\#{1,6}(?=\s|$)|>|[-+](?=\s|$|\#)|\d{1,9}(?=\.\s)))
    |(?P<everyone>@(?=everyone|here))
    |(?P<chip><(?=[@\#:/])|<[a-z]{1,8}(?=:(?!//)))
    |(?P<angle><(?=https?://|\+?\d|[^\s<>@]+@))
    |(?P<emoji>(?<![\w:]):(?=[\w+-]{2,}:(?![\w:])))
    |(?P<scheme>:(?=//))
    |(?P<char>[\\*_`\[]|\](?=\()|~(?=~)|(?<=~)~|\|(?=\|)|(?<=\|)\|)""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
# What Discord drops from the end of a bare address; anything else that follows one needs the <> form.
_DISCORD_TAIL = re.compile(r"""\)?[.,:;"'\]]*(?=[\s<]|$)""")


def escape(text: str) -> str:
    """Plain text -> Discord Markdown that shows exactly that text, at a line's start and anywhere else.

    Web addresses stay clickable. What is not shown exactly: invisible characters are cut, the @ of everyone and here
    becomes ``＠``, Discord invites become ``(invite removed)``.
    """
    return _literal(without_invites(clean(text)))


def _literal(text: str, *, urls: bool = True, line_start: bool = True) -> str:
    out: list[str] = []
    position = 0
    while found := _SPECIAL.search(text, position):
        out.append(text[position : found.start()])
        kind, matched = found.lastgroup, found.group()
        position = found.end()
        if kind == "url":
            if not urls:
                out.append(matched[: matched.index(":")])
                position = found.start() + matched.index(":")
                out.append("\\:")
                position += 1
                continue
            shown, length = _address(matched, text, found.start())
            out.append(shown)
            position = found.start() + length
        elif kind == "line" and found.start() == 0 and not line_start:
            out.append(matched)
        elif kind == "line":
            mark = matched.lstrip()
            blank = matched[: len(matched) - len(mark)]
            out.append(f"{blank}{mark}\\" if mark[0].isdigit() else f"{blank}\\{mark}")
        elif kind == "everyone":
            out.append("＠")
        elif kind == "chip":
            out.append(matched + "\\" + text[position])
            position += 1
        else:
            out.append("\\" + matched)
    out.append(text[position:])
    return "".join(out)


def _address(matched: str, text: str, start: int) -> tuple[str, int]:
    """How a bare address is shown, and how many characters of ``text`` that was."""
    url = inline.trim_url(matched)
    safe = safe_url(url, masked=False)
    if safe is None:
        colon = matched.index(":")
        return matched[:colon] + "\\:", colon + 1
    end = start + len(url)
    if _DISCORD_TAIL.match(text, end) and not (text.startswith(")", end) and "(" in url):
        return safe, len(url)
    return f"<{safe}>", len(url)


def link(label: str, url: str | None) -> str:
    """A masked link from a plain-text label; the escaped label where ``url`` must not be linked.

    A label that is blank, or that is the address, gives the bare address. A label that looks like some other address
    is followed by the real one instead of hiding it.
    """
    target = safe_url(url)
    if target is None:
        return escape(label)
    shown = safe_label(label)
    if not shown.strip():
        return f"<{safe_url(url, masked=False)}>"
    real = safe_url(url, masked=False) or target
    if is_deceptive(shown, real):
        alone = not re.search(r"\s", shown.strip())
        return f"<{real}>" if alone else f"{_literal(shown, urls=False)} (<{real}>)"
    if "://" in shown:
        return real if shown.strip() == real else f"<{real}>"
    return f"[{shown}]({target})"


def plain(markdown: str) -> str:
    """Markdown -> plain text: no marks, no fences, links as their labels, list items as lines."""
    out: list[str] = []
    for is_code, part in _fences(clean(markdown)):
        out.append(part.strip("\n") if is_code else inline.words(inline.parse(part)))
    return "\n".join(out).strip()


_FENCE = re.compile(r"^([^\S\n]{0,3})(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)


def _fences(markdown: str) -> list[tuple[bool, str]]:
    """(is it code, text) in order; the first version knows fences at line starts only."""
    parts: list[tuple[bool, str]] = []
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        found = _FENCE.match(line)
        if not fence and found:
            if lines:
                parts.append((False, "\n".join(lines)))
            fence, lines = found[2], [found[3].strip()]
        elif fence and line.strip() and set(line.strip()) == {fence[0]} and len(line.strip()) >= len(fence):
            parts.append((True, "\n".join(lines)))
            fence, lines = "", []
        else:
            lines.append(line)
    if fence or lines:
        parts.append((bool(fence), "\n".join(lines)))
    return parts


def neutralise(markdown: str) -> str:
    """Discord Markdown kept; mentions, chips, invites, deceptive or non-http links and invisible text made harmless."""
    text = without_invites(clean(markdown))
    out: list[str] = []
    for is_code, part in _fences(text):
        if is_code:
            language, _, code = part.partition("\n")
            out.append(f"```{language}\n" + code.replace("```", "ˋˋˋ") + "\n```")
        else:
            out.append(_write(inline.parse(part)))
    return "\n".join(out)


def _write(tokens: Sequence[Token]) -> str:
    out: list[str] = []
    for token in tokens:
        if token.kind is Kind.TEXT:
            out.append(_literal(token.text, urls=False, line_start=not out or out[-1].endswith("\n")))
        elif token.kind is Kind.ESCAPED:
            out.append("\\" + token.text)
        elif token.kind is Kind.CODE:
            ticks = "``" if "`" in token.text else "`"
            out.append(ticks + token.text + ticks)
        elif token.kind is Kind.LINK:
            out.append(link(inline.words(token.inner), token.url))
        elif token.kind is Kind.IMAGE:
            out.append(link(inline.words(token.inner), token.url) if token.inner else "")
        elif token.kind is Kind.URL:
            real = safe_url(token.text, masked=False)
            out.append(_literal(token.text, urls=False) if real is None else f"<{real}>" if token.angle else real)
        else:
            out.append(token.text)
    return "".join(out)


def shorten(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters: cut between words, with ``…`` where something was cut."""
    if limit < 1:
        return ""
    if len(text) <= limit:
        return text
    cut = text[:limit]
    space = max(cut.rfind(" "), cut.rfind("\n"))
    if text[limit - 1 : limit].isspace():
        space = limit - 1
    head = text[:space] if space > 0 else text[: limit - 1]
    while head and unicodedata.combining(head[-1]):
        head = head[:-1]
    return head.rstrip(" \n,;:") + ELLIPSIS
