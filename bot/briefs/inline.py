"""A run of Markdown is a list of tokens: words, code, links, and emphasis marks that are known to pair.

The grammar is where CommonMark (what sources write) and Discord (what readers see) overlap, plus Discord's
``__underline__`` and ``||spoiler||``. Marks that pair with nothing come out as words, so that whoever writes the tokens
back can escape them. Linear in the length of the text: nothing is matched twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a token is; see :class:`Token` for what its fields hold."""

    TEXT = "text"
    ESCAPED = "escaped"
    CODE = "code"
    LINK = "link"
    IMAGE = "image"
    URL = "url"
    OPEN = "open"
    CLOSE = "close"
    BLOCK = "block"
    BREAK = "break"


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    ``text``: the words; the character without its backslash (ESCAPED); the code; the address (URL); the mark (OPEN,
    CLOSE: ``* ** _ __ ~~ ||``); the line's block prefix (BLOCK: ``"> "``, ``"- "``, ``"## "`` ...). ``url`` and
    ``inner`` are the target and the label's (or alt text's) tokens of a LINK or IMAGE. ``angle``: a URL stood in ``<>``.
    """

    kind: Kind
    text: str
    url: str = ""
    inner: tuple[Token, ...] = ()
    angle: bool = False


BLOCK_PREFIX = r"(?:[ \t]*(?:>(?:[ \t]|(?=[\n>])|$)|#{1,6}(?=[ \t]|$)[ \t]*|[-*+](?=[ \t]|$)[ \t]*|\d{1,9}[.)](?=[ \t]|$)[ \t]*))+"
_BLOCK = re.compile(BLOCK_PREFIX)
_ATOM = re.compile(
    r"""\\(?P<escaped>[!-/:-@\[-`{-~])
    |(?P<ticks>`+)
    |<(?P<angle>https?://[^\s<>]+)>
    |(?P<url>(?<![A-Za-z0-9])https?://[^\s<>\[\]"`]+)
    |(?P<image>!?\[)
    |(?P<close>\])
    |(?P<mark>\*+|_+|~~|\|\|)
    |(?P<newline>\n)""",
    re.VERBOSE | re.IGNORECASE,
)
_TARGET = re.compile(
    r"""\([ \t\n]*(?:<(?P<angle>[^<>\n]*)>|(?P<bare>(?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.)*\))*))
    (?:[ \t\n]+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t\n]*\)""",
    re.VERBOSE,
)
_UNESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_URL_TAIL = re.compile(r"""(?:[.,:;'"!?*_~|\\]|&(?:quot|gt|lt|apos|#39);)+$""")


def trim_url(url: str) -> str:
    """A bare URL without what follows it in a sentence: stops, quotes, marks, a bracket that it did not open."""
    while True:
        trimmed = _URL_TAIL.sub("", url)
        surplus = trimmed.count(")") - trimmed.count("(")
        if surplus > 0 and trimmed.endswith(")"):
            closing = len(trimmed) - len(trimmed.rstrip(")"))
            trimmed = trimmed[: len(trimmed) - min(surplus, closing)]
        if trimmed == url:
            return url
        url = trimmed


def parse(markdown: str) -> list[Token]:
    """The tokens of a run of lines without fenced code. Line starts may bear block prefixes; ``\\n`` is a BREAK."""
    return _Parser(markdown).tokens()


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.out: list[Token] = []
        self.brackets: list[int] = []  # where in ``out`` the still open "[" and "![" stand
        self.ticks: dict[int, list[int]] = {}  # length of a run of backticks -> where such runs start, last first
        for run in re.finditer(r"`+", source):
            self.ticks.setdefault(len(run.group()), []).append(run.start())
        for starts in self.ticks.values():
            starts.reverse()

    def tokens(self) -> list[Token]:
        source, position = self.source, self._block(0)
        while position < len(source):
            found = _ATOM.search(source, position)
            if found is None:
                self._text(source[position:])
                break
            self._text(source[position : found.start()])
            position = self._atom(found)
        return pair(self.out)

    def _text(self, text: str) -> None:
        if text:
            self.out.append(Token(Kind.TEXT, text))

    def _block(self, position: int) -> int:
        prefix = _BLOCK.match(self.source, position)
        if prefix is None:
            return position
        self.out.append(Token(Kind.BLOCK, prefix.group()))
        return prefix.end()

    def _atom(self, found: re.Match[str]) -> int:
        kind, text, end = found.lastgroup, found.group(), found.end()
        if kind == "escaped":
            self.out.append(Token(Kind.ESCAPED, found["escaped"]))
        elif kind == "ticks":
            return self._code(found)
        elif kind == "angle":
            self.out.append(Token(Kind.URL, found["angle"], angle=True))
        elif kind == "url":
            url = trim_url(text)
            if re.match(r"https?://.", url, re.IGNORECASE) is None:
                self._text(text[:4])
                return found.start() + 4
            self.out.append(Token(Kind.URL, url))
            return found.start() + len(url)
        elif kind == "image":
            self.brackets.append(len(self.out))
            self._text(text)
        elif kind == "close":
            return self._close(end)
        elif kind == "mark":
            before = self.source[found.start() - 1] if found.start() else "\n"
            after = self.source[end] if end < len(self.source) else "\n"
            self.out.append(Token(Kind.OPEN, text, before + after))
        else:
            self.out.append(Token(Kind.BREAK, "\n"))
            return self._block(end)
        return end

    def _code(self, found: re.Match[str]) -> int:
        starts = self.ticks[len(found.group())]
        while starts and starts[-1] <= found.start():
            starts.pop()
        if starts and "\n\n" not in self.source[found.end() : min(starts[-1], found.end() + 4000)]:
            code = self.source[found.end() : starts[-1]]
            if code.strip() and len(code) < 4000:
                self.out.append(Token(Kind.CODE, code))
                return starts[-1] + len(found.group())
        self._text(found.group())
        return found.end()

    def _close(self, end: int) -> int:
        if not self.brackets:
            self._text("]")
            return end
        opener = self.brackets.pop()
        target = _TARGET.match(self.source, end)
        if target is None:
            self._text("]")
            return end
        url = target["angle"] if target["angle"] is not None else target["bare"]
        inner = tuple(pair(self.out[opener + 1 :]))
        image = self.out[opener].text == "!["
        del self.out[opener:]
        self.out.append(Token(Kind.IMAGE if image else Kind.LINK, "", _UNESCAPE.sub(r"\1", url), inner))
        if not image:
            self.brackets.clear()  # no links in links
        return target.end()


def pair(tokens: Sequence[Token]) -> list[Token]:
    """``tokens`` with its emphasis marks paired: every OPEN has its CLOSE, well nested; other marks are TEXT."""
    out: list[Token] = []
    stack: list[tuple[str, int]] = []  # mark, where in ``out`` it stands
    waiting: dict[str, int] = {}  # mark -> how many of it are in the stack

    def drop(size: int) -> None:
        while len(stack) > size:
            mark, place = stack.pop()
            waiting[mark] -= 1
            out[place] = Token(Kind.TEXT, mark)

    def close(mark: str) -> None:
        size = len(stack) - 1
        while stack[size][0] != mark:
            size -= 1
        if stack[size][1] == len(out) - 1:  # nothing between: Discord would not see a pair
            drop(size)
            out.append(Token(Kind.TEXT, mark))
            return
        drop(size + 1)
        stack.pop()
        waiting[mark] -= 1
        out.append(Token(Kind.CLOSE, mark))

    for token in tokens:
        if token.kind is Kind.BLOCK:
            drop(0)
        if token.kind is not Kind.OPEN or len(token.url) != 2:
            out.append(token)
            continue
        before, after = token.url
        can_open, can_close = not after.isspace(), not before.isspace()
        if token.text[0] == "_":
            can_open, can_close = can_open and not before.isalnum(), can_close and not after.isalnum()
        rest = token.text
        if len(rest) > 3:
            out.append(Token(Kind.TEXT, rest))
            continue
        while rest:
            double, single = rest[:2], rest[0]
            if can_close and stack and stack[-1][0] in (double, single) and waiting.get(stack[-1][0]):
                mark = stack[-1][0]
                close(mark)
            elif can_close and len(double) == 2 and waiting.get(double):
                mark = double
                close(mark)
            elif can_close and len(double) == 1 and waiting.get(single):
                mark = single
                close(mark)
            elif can_open:
                mark = double if len(rest) != 1 else single
                stack.append((mark, len(out)))
                waiting[mark] = waiting.get(mark, 0) + 1
                out.append(Token(Kind.OPEN, mark))
            else:
                mark = rest
                out.append(Token(Kind.TEXT, mark))
            rest = rest[len(mark) :]
    drop(0)
    return out


def words(tokens: Sequence[Token]) -> str:
    """The plain text of ``tokens``: no marks, labels without targets, one space for one line break."""
    parts: list[str] = []
    for token in tokens:
        if token.kind in (Kind.TEXT, Kind.ESCAPED, Kind.CODE, Kind.URL):
            parts.append(token.text)
        elif token.kind in (Kind.LINK, Kind.IMAGE):
            parts.append(words(token.inner))
        elif token.kind is Kind.BREAK:
            parts.append("\n")
    return "".join(parts)
