"""Text from a source is safe and looks as it should in Discord: nothing in it pings, links falsely or breaks out.

Two kinds of text come in. *Plain text* (titles, names) goes through :func:`escape`, which makes Discord show exactly
that text. *Markdown* (bodies, as their source wrote them: CommonMark, the HTML in it included, or Discord's own)
goes through :func:`neutralise`, which keeps the markup that Discord has and turns the rest into it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bot.briefs import blocks, inline
from bot.briefs.inline import Kind, Token
from bot.briefs.invisible import clean
from bot.briefs.masked import is_deceptive, is_invite, safe_label, safe_url, without_invites
from bot.briefs.shortening import shorten
from bot.briefs.splitting import split

__all__ = ["escape", "link", "neutralise", "plain", "shorten", "split"]

# What Discord would take for markup, in the order in which it must be looked for.
_SPECIAL = re.compile(
    r"""(?P<url>https?://[^\s<>\[\]"`、。，；）」】》]{1,2000})
    |(?P<line>^[^\S\n]*+(?:\#{1,6}(?=\s|\Z)|>|[-+](?=\s|\Z|\#)|\d{1,9}(?=\.\s)))
    |(?P<everyone>@(?=everyone|here))
    |(?P<chip><(?=[@\#:/])(?!@(?:everyone|here))|<[a-z]{1,8}(?=:(?!//)))
    |(?P<angle><(?=https?://|\+?\d|[^\s<>@]{1,64}@))
    |(?P<emoji>(?<![\w:]):(?=[\w+-]{2,32}:(?![\w:])))
    |(?P<scheme>:(?=//))
    |(?P<char>[\\*`\[]|_(?![A-Za-z0-9])|(?<![A-Za-z0-9])_|\](?=\()|~(?=~)|(?<=~)~|\|(?=\|)|(?<=\|)\|)""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
# (An underscore between letters closes nothing, so snake_case stays as it is.)
# What else is markup in the Markdown of a source, and would be taken for it if a text were read again.
_SOURCE = re.compile(r"&(?=#?\w{1,32};)|<(?=[a-z!])", re.IGNORECASE)
# What Discord drops from the end of a bare address; anything else that follows one needs the <> form.
_DISCORD_TAIL = re.compile(r"""\)?[.,:;"'\]]*(?=[\s<]|\Z)""")
# A label that is nothing but an address: the real one can stand in its place. ("bank.example »" holds a word more.)
_ADDRESS_ALONE = re.compile(r"(?:https?://)?[\w.-]+(?::\d+)?(?:[/?#][^\s()\[\]<>]*)?", re.IGNORECASE)
_CODE_CHIP = re.compile(
    r"<(?=[@#][!&]?\d+>|a?:\w+:\d+>|t:-?\d+|/[^\s<>:]+:\d+>|id:\w+>|sound:)|@(?=everyone|here)", re.I
)


def escape(text: str) -> str:
    """Plain text -> Discord Markdown that shows exactly that text, at a line's start and anywhere else.

    Web addresses stay clickable. What is not shown exactly: invisible characters are cut, the @ of everyone and here
    becomes ``＠``, Discord invites become ``(invite removed)``.
    """
    return _literal(without_invites(clean(text)))


def link(label: str, url: str | None) -> str:
    """A masked link from a plain-text label; the escaped label where ``url`` must not be linked.

    A label that is blank, or that is the address, gives the bare address. A label that looks like some other address
    is followed by the real one instead of hiding it.
    """
    target, real = safe_url(url), safe_url(url, masked=False)
    if target is None or real is None:
        return escape(label)
    shown = safe_label(label)
    if not shown:
        return f"<{real}>"
    if "://" not in shown and not is_deceptive(shown, real):
        return f"[{shown}]({target})"
    label = " ".join(clean(label).split())
    if _ADDRESS_ALONE.fullmatch(label):
        return real if label == real else f"<{real}>"
    return f"{_literal(without_invites(label), urls=False)} (<{real}>)"


def neutralise(markdown: str) -> str:
    """A source's Markdown -> the same in Discord's Markdown, harmless.

    Mentions, chips, invites, deceptive and non-http links, marks that pair with nothing and unclosed fences cannot do
    anything. Rules are dropped; tables, images, deep headings, quotes in quotes, references, entities and HTML become
    what Discord shows best. Idempotent.
    """
    text = clean(markdown)
    for _ in range(_PASSES):
        done = _neutralised(text)
        if done == text:
            break
        text = done
    return text


def plain(markdown: str) -> str:
    """Markdown -> plain text: no marks and fences, links as their labels, one line a list item."""
    text = clean(markdown)
    known = blocks.references(text)
    parts: list[str] = []
    for block in blocks.scan(text):
        if isinstance(block, blocks.Code):
            parts.append(block.text.strip("\n"))
            continue
        for part in blocks.discord_blocks(block.text):
            is_code = isinstance(part, blocks.Code)
            parts.append(part.text if is_code else inline.words(inline.parse(part.text, known)))
    return _trimmed("\n".join(parts)).strip()


# One pass is enough for nearly every text; HTML inside entities inside links may take another.
_PASSES = 4


def _neutralised(text: str) -> str:
    known = blocks.references(text)
    out: list[str] = []
    for block in blocks.scan(text):
        if isinstance(block, blocks.Code):
            out.append(fenced(block.text, block.language, quoted=block.quoted))
            continue
        for part in blocks.discord_blocks(block.text):
            if isinstance(part, blocks.Code):
                out.append(fenced(part.text, part.language, quoted=part.quoted))
            else:
                out.append(_lines(part.text, known))
    return "\n".join(out).strip("\n")


def _lines(text: str, known: Mapping[str, str]) -> str:
    return _trimmed(write(inline.parse(text, known)))


def _trimmed(text: str) -> str:
    """``text`` without spaces at the lines' ends (but for the one that makes an empty line of a quote)."""
    lines = (line if line == "> " else line.rstrip(" \t") for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def fenced(code: str, language: str = "", *, quoted: bool = False) -> str:
    """``code`` as a code block that it cannot close; "" where there is none. ``quoted``: as lines of a quote."""
    body = _safe_code(code.strip("\n")).replace("```", "ˋˋˋ")
    if not body.strip():
        return ""
    block = f"```{language}\n{body}\n```"
    return "\n".join("> " + line for line in block.split("\n")) if quoted else block


def _safe_code(code: str) -> str:
    """Discord shows no chip in code, but its search for mentions looks there too."""
    return without_invites(_CODE_CHIP.sub(lambda found: "‹" if found.group() == "<" else "＠", code))


def write(tokens: Sequence[Token], *, source: bool = True) -> str:
    """Tokens -> Discord Markdown. ``source``: so that :func:`neutralise` would leave it as it is (entities, tags)."""
    out: list[str] = []
    tail = ""  # closes the bold that stands for a heading too deep for Discord
    waiting: list[str] = []  # literal text that is not escaped yet: what it needs depends on its neighbours
    fresh = True  # at the start of a line
    opened: list[str] = []

    def flush() -> None:
        nonlocal fresh
        if waiting:
            text = without_invites("".join(waiting))
            out.append(_literal(text, urls=False, line_start=fresh, source=source))
            waiting.clear()
            fresh = False

    for at, token in enumerate(tokens):
        if token.kind is Kind.TEXT:
            waiting.append(token.text)
            continue
        if token.kind is Kind.BREAK and waiting and waiting[-1].endswith("\\") and tokens[at - 1].raw == waiting[-1]:
            waiting[-1] = waiting[-1][:-1]  # an unescaped backslash here is CommonMark's hard line break
        flush()
        if token.kind is Kind.BREAK:
            out.append(tail + "\n")
            tail, fresh = "", True
            continue
        if token.kind is Kind.BLOCK:
            prefix, tail = _prefix(token.text)
            out.append(prefix + tail)
            continue
        if tail and token.kind in (Kind.OPEN, Kind.CLOSE) and token.text == tail:
            continue
        if token.kind is Kind.OPEN:
            opened.append(token.text)
        elif token.kind is Kind.CLOSE:
            opened.pop()
        if token.kind is Kind.URL:
            following = tokens[at + 1] if at + 1 < len(tokens) else None
            out.append(_shown_url(token, following, source))
        elif token.kind is Kind.CODE:
            out.append(inline_code(token.text))
        elif token.kind in (Kind.LINK, Kind.IMAGE):
            out.append(_shown_link(token, [*opened, tail], source))
        else:
            out.append(token.text)
        fresh = False
    flush()
    return "".join(out) + tail


def _shown_url(token: Token, following: Token | None, source: bool) -> str:
    real = safe_url(token.text, masked=False)
    if real is None:
        return escape(token.text) if is_invite(token.text) else _literal(token.text, urls=False, source=source)
    if following is None or following.kind in (Kind.BREAK, Kind.CLOSE, Kind.BLOCK):
        apart = True
    else:
        apart = following.kind is Kind.TEXT and _ends_here(real, following.text, 0)
    return real if apart and not token.angle else f"<{real}>"


def _shown_link(token: Token, opened: Sequence[str], source: bool) -> str:
    label = " ".join(inline.words(token.inner).split())
    if not label:
        return ""
    if safe_url(token.url) is None:
        return write(token.inner, source=source).replace("\n", " ")
    before = after = ""
    inner = token.inner
    while (
        len(inner) > 2
        and (inner[0].kind, inner[-1].kind) == (Kind.OPEN, Kind.CLOSE)
        and inner[0].text == inner[-1].text
    ):
        mark = inner[0].text
        if sum(part.kind is Kind.OPEN and part.text == mark for part in inner) > 1:
            break
        if mark not in opened:
            before, after = before + mark, mark + after
        inner = inner[1:-1]
    return before + link(label, token.url) + after


def inline_code(code: str) -> str:
    """``code`` between as many backticks as it needs; Discord knows one and two."""
    code = re.sub(r"`{3,}", lambda run: "ˋ" * len(run.group()), _safe_code(" ".join(code.split("\n"))))
    runs = {len(run) for run in re.findall(r"`+", code)}
    if not code.strip():
        return ""
    if {1, 2} <= runs:
        code, runs = code.replace("``", "ˋˋ"), {1}
    ticks = "``" if 1 in runs else "`"
    start = " " if code.startswith("`") else ""
    end = " " if code.endswith("`") else ""
    return ticks + start + code + end + ticks


def _prefix(prefix: str) -> tuple[str, str]:
    """A line's block prefix as Discord has it, and the mark that a heading too deep for it stands in instead."""
    quoted = ">" in prefix
    rest = prefix.rpartition(">")[2]
    marks = rest.split()
    indent = "" if quoted else rest[: len(rest) - len(rest.lstrip())].replace("\t", "  ")
    tail = ""
    shown = []
    for mark in marks:
        if mark[0] == "#":
            if len(mark) > 3:
                tail = "**"
            else:
                shown.append(mark)
        else:
            shown.append("-" if mark == "+" else mark.replace(")", "."))
    return ("> " if quoted else "") + indent + "".join(mark + " " for mark in shown), tail


def _literal(text: str, *, urls: bool = True, line_start: bool = True, source: bool = False) -> str:
    """``text`` escaped. ``urls``: addresses stay clickable; ``source``: it may be read as a source's Markdown again."""
    out: list[str] = []
    position = 0
    while found := _SPECIAL.search(text, position):
        out.append(_entities(text[position : found.start()], source))
        kind, matched = found.lastgroup, found.group()
        position = found.end()
        if kind == "url" and urls:
            shown, length = _address(matched, text, found.start())
            out.append(shown)
            position = found.start() + length
        elif kind == "url":
            colon = matched.index(":")
            out.append(matched[:colon] + "\\:")
            position = found.start() + colon + 1
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
    out.append(_entities(text[position:], source))
    return "".join(out)


def _entities(text: str, source: bool) -> str:
    return _SOURCE.sub(lambda found: "\\" + found.group(), text) if source else text


def _address(matched: str, text: str, start: int) -> tuple[str, int]:
    """How a bare address is shown, and how many characters of ``text`` that was."""
    url = inline.trim_url(matched)
    safe = safe_url(url, masked=False)
    if safe is None:
        return _literal(matched, urls=False), len(matched)
    return safe if _ends_here(url, text, start + len(url)) else f"<{safe}>", len(url)


def _ends_here(url: str, text: str, end: int) -> bool:
    """Discord would end the bare ``url`` before what follows it at ``text[end:]``."""
    return _DISCORD_TAIL.match(text, end) is not None and not (text.startswith(")", end) and "(" in url)
