"""A run of Markdown is a list of tokens: words, code, links, and emphasis marks that are known to pair.

The grammar is what CommonMark (which sources write) and Discord (which readers see) share, plus Discord's
``__underline__`` and ``||spoiler||``, plus the HTML that people put into Markdown. Marks that pair with nothing come
out as words, so that whoever writes the tokens back can escape them. Time grows with the length of the text: every
pattern is bounded or consumes what it looked at.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from bot.briefs.emphasis import Run, pair
from bot.briefs.invisible import clean
from bot.briefs.tokens import Kind, Token, scripted, words

__all__ = ["Kind", "Token", "addresses", "parse", "trim_url", "words"]


BLOCK_PREFIX = re.compile(
    r"[ \t]*+(?:(?:>(?=[ \t>\n]|\Z)|(?:\#{1,6}|[-*+]|\d{1,9}[.)])(?=[ \t]+[^\s]))[ \t]*+)+", re.VERBOSE
)
_ATOM = re.compile(
    r"""\\(?P<escaped>[!-/:-@\[-`{-~])
    |(?P<ticks>`+)
    |<(?P<angle>https?://[^\s<>]{1,2000})>
    |(?P<url>(?<![A-Za-z0-9])https?://[^\s<>\[\]"`]{1,2000})
    |(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)
    |(?P<code><(?P<coded>code|kbd|tt|samp)>(?P<inside>[^<>\n`]{1,300})</(?P=coded)>)
    |(?P<comment><!--)
    |(?P<tag></?(?P<name>[a-z][a-z0-9]{0,15})(?P<attributes>\s[^<>]{0,2000})?\s?/?>)
    |(?P<bracket>!?\[)
    |(?P<close>\])
    |(?P<mark>\*+|_+|~~+|\|\|+)
    |(?P<newline>\n)""",
    re.VERBOSE | re.IGNORECASE,
)
_ADDRESS = re.compile(r"""(?<![A-Za-z0-9])https?://[^\s<>\[\]"`、。，；）」】》]{1,2000}""", re.IGNORECASE)
_TARGET = re.compile(
    r"""\([ \t\n]{0,100}(?:<(?P<angle>[^<>\n]{0,2000})>
        |(?P<bare>(?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.){0,500}\)){0,2000}))
    (?:[ \t\n]{1,100}(?:"(?:[^"\\]|\\.){0,500}"|'(?:[^'\\]|\\.){0,500}'|\((?:[^()\\]|\\.){0,500}\)))?[ \t\n]{0,100}\)""",
    re.VERBOSE,
)
_REFERENCE = re.compile(r"\[([^\[\]\n]{0,200})\]")
_UNESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_URL_STOPS = ".,:;'\"!?*_~|\\"
_URL_ENTITIES = ("&quot;", "&gt;", "&lt;", "&apos;", "&#39;")
CODE_LENGTH = 4000
ALT_LENGTH = 1000

_MARKS = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "u": "__",
    "ins": "__",
    "s": "~~",
    "del": "~~",
    "strike": "~~",
}
_SCRIPTED = re.compile(r"([^<>\n]{1,20})</su[pb]\s*>", re.IGNORECASE)
_LINE_TAGS = frozenset(
    """
    br hr p div li tr ul ol dl dt dd table thead tbody h1 h2 h3 h4 h5 h6 details summary center section article
    blockquote pre figure figcaption header footer
    """.split()
)
_DROPPED_TAGS = frozenset(
    """
    span font small big sub sup picture source video audio mark abbr cite var dfn code kbd tt samp q time td th svg
    path iframe wbr bdi bdo label input form button nav main aside object embed script style template
    """.split()
)
_HIDDEN = frozenset({"script", "style", "template"})
_ATTRIBUTE = r"""\s{}\s?=\s?(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))"""
_HREF, _SRC, _ALT = (re.compile(_ATTRIBUTE.format(name), re.IGNORECASE) for name in ("href", "src", "alt"))


def trim_url(url: str) -> str:
    """A bare URL without what follows it in a sentence: stops, quotes, marks, a bracket that it did not open."""
    while True:
        trimmed = url.rstrip(_URL_STOPS)
        for entity in _URL_ENTITIES:
            trimmed = trimmed.removesuffix(entity)
        closing = len(trimmed) - len(trimmed.rstrip(")"))
        if closing:
            surplus = trimmed.count(")") - trimmed.count("(")
            trimmed = trimmed[: len(trimmed) - max(0, min(surplus, closing))]
        if trimmed == url:
            return url
        url = trimmed


def parse(markdown: str, references: Mapping[str, str] | None = None, *, tags: bool = True) -> list[Token]:
    """The tokens of lines without fenced code. A line may start with a BLOCK; its end is a BREAK.

    ``references`` are the targets of ``[label][name]`` and ``[name]`` by lower-case name. ``tags=False`` takes HTML
    and entities for words, as Discord does.
    """
    return _Parser(markdown, references or {}, tags).tokens()


def addresses(text: str) -> list[Token]:
    """Plain ``text`` as TEXT and URL tokens: the web addresses in it, and what stands around them."""
    tokens: list[Token] = []
    position = 0
    for found in _ADDRESS.finditer(text):
        url = trim_url(found.group())
        if re.match(r"https?://.", url, re.IGNORECASE):
            tokens.append(Token(Kind.TEXT, text[position : found.start()]))
            tokens.append(Token(Kind.URL, url))
            position = found.start() + len(url)
    tokens.append(Token(Kind.TEXT, text[position:]))
    return [token for token in tokens if token.text]


class _Parser:
    def __init__(self, source: str, references: Mapping[str, str], tags: bool) -> None:
        self.source = source
        self.references = references
        self.tags = tags
        self.out: list[Token | Run] = []
        # where in ``out`` an open "[", "![" or "<a>" stands, which of them it is (with an <a>'s target), where in source
        self.brackets: list[tuple[int, str, int]] = []
        self.ticks: dict[int, list[int]] = {}  # length of a run of backticks -> where such runs start, last first
        self.endless: set[str] = set()  # endings that were looked for and are not there
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

    def _text(self, text: str, raw: str | None = None) -> None:
        if text:
            self.out.append(Token(Kind.TEXT, text, raw=text if raw is None else raw))

    def _block(self, position: int) -> int:
        prefix = BLOCK_PREFIX.match(self.source, position)
        if prefix is None:
            return position
        self.out.append(Token(Kind.BLOCK, prefix.group(), raw=prefix.group()))
        return prefix.end()

    def _atom(self, found: re.Match[str]) -> int:
        kind, text, end = found.lastgroup, found.group(), found.end()
        if kind == "escaped":
            self._text(found["escaped"], text)
        elif kind == "ticks":
            return self._code(found)
        elif kind == "angle":
            self.out.append(Token(Kind.URL, found["angle"], angle=True, raw=text))
        elif kind == "url":
            url = trim_url(text)
            if re.match(r"https?://.", url, re.IGNORECASE) is None:
                self._text(text[:4])
                return found.start() + 4
            # Converters write a\_b in addresses too; there the backslash is no escape but part of the address.
            self.out.append(Token(Kind.URL, _UNESCAPE.sub(r"\1", url), raw=url))
            return found.start() + len(url)
        elif kind in ("entity", "code", "comment", "tag") and not self.tags:
            self._text(text)
        elif kind == "entity":
            self._text(clean(html.unescape(text)).replace("\xa0", " ").replace("\n", " "))
        elif kind == "code":
            self.out.append(Token(Kind.CODE, clean(html.unescape(found["inside"]))))
        elif kind == "comment":
            return self._skip("-->", end, text)
        elif kind == "tag":
            return self._tag(found)
        elif kind == "bracket":
            self.brackets.append((len(self.out), text, found.start()))
            self._text(text)
        elif kind == "close":
            return self._close(end)
        elif kind == "mark":
            self._mark(found)
        else:
            self.out.append(Token(Kind.BREAK, "\n", raw=text))
            return self._block(end)
        return end

    def _skip(self, ending: str, start: int, text: str) -> int:
        stop = -1 if ending in self.endless else self.source.find(ending, start)
        if stop < 0:
            self.endless.add(ending)
            self._text(text)
            return start
        return stop + len(ending)

    def _code(self, found: re.Match[str]) -> int:
        starts, end = self.ticks.get(len(found.group()), []), found.end()
        while starts and starts[-1] <= found.start():
            starts.pop()
        if starts and starts[-1] - end < CODE_LENGTH:
            code = self.source[end : starts[-1]]
            if code.strip() and "\n\n" not in code:
                stop = starts[-1] + len(found.group())
                self.out.append(Token(Kind.CODE, code, raw=self.source[found.start() : stop]))
                return stop
        self._text(found.group())
        return end

    def _mark(self, found: re.Match[str]) -> None:
        source, text = self.source, found.group()
        before = source[found.start() - 1] if found.start() else "\n"
        after = source[found.end()] if found.end() < len(source) else "\n"
        opens, closes = not after.isspace(), not before.isspace()
        if text[0] == "_":
            opens, closes = opens and not before.isalnum(), closes and not after.isalnum()
        self.out.append(Run(text, opens, closes))

    def _tag(self, found: re.Match[str]) -> int:
        name, end, closing = found["name"].lower(), found.end(), found.group().startswith("</")
        attributes = found["attributes"] or ""
        if name in _HIDDEN and not closing:
            ending = f"</{name}>"
            if ending not in self.endless:
                stop = re.compile(ending, re.IGNORECASE).search(self.source, end)
                if stop is not None:
                    return stop.end()
                self.endless.add(ending)
        elif name in _MARKS:
            self.out.append(Run(_MARKS[name], not closing, closing, tag=True))
        elif name == "img":
            alt = _attribute(_ALT, attributes)
            inner = (Token(Kind.TEXT, alt),) if alt.strip() else ()
            self.out.append(Token(Kind.IMAGE, "", _attribute(_SRC, attributes), inner))
        elif name == "a":
            if not closing:
                self.brackets.append((len(self.out), "<a>" + _attribute(_HREF, attributes), found.start()))
                self.out.append(Token(Kind.TEXT, ""))
            elif any(mark.startswith("<a>") for _, mark, _ in self.brackets[-4:]):
                while not self.brackets[-1][1].startswith("<a>"):
                    self.brackets.pop()
                opener, mark, start = self.brackets.pop()
                self._link(opener, mark[3:], start, end)
        elif name in ("sup", "sub") and not closing and (inside := _SCRIPTED.match(self.source, end)):
            self._text(scripted(html.unescape(inside[1]), name))
            return inside.end()
        elif name in _LINE_TAGS:
            self.out.append(Token(Kind.BREAK, "\n"))
        elif name not in _DROPPED_TAGS:
            self._text(found.group())
        return end

    def _close(self, end: int) -> int:
        if not self.brackets or self.brackets[-1][1].startswith("<a>"):
            self._text("]")
            return end
        opener, mark, start = self.brackets.pop()
        target = _TARGET.match(self.source, end)
        if target is not None:
            url = target["angle"] if target["angle"] is not None else target["bare"]
            url = _UNESCAPE.sub(r"\1", html.unescape(url) if self.tags else url)
            self._link(opener, url, start, target.end(), image=mark == "![")
            return target.end()
        if self.references:
            reference = _REFERENCE.match(self.source, end)
            name = reference[1] if reference and reference[1] else _label(self.out[opener + 1 :])
            url = self.references.get(" ".join(name.split()).lower(), "")
            if url:
                end = reference.end() if reference else end
                self._link(opener, url, start, end, image=mark == "![")
                return end
        self._text("]")
        return end

    def _link(self, opener: int, url: str, start: int, end: int, *, image: bool = False) -> None:
        inner = tuple(pair(self.out[opener + 1 :]))
        if image:
            alt = words(inner)[:ALT_LENGTH]
            inner = (Token(Kind.TEXT, alt),) if alt.strip() else ()
        del self.out[opener:]
        self.out.append(Token(Kind.IMAGE if image else Kind.LINK, "", url, inner, raw=self.source[start:end]))
        if not image:
            self.brackets.clear()  # no links in links


def _attribute(pattern: re.Pattern[str], attributes: str) -> str:
    found = pattern.search(attributes)
    return html.unescape(next(filter(None, found.groups()), "")) if found else ""


def _label(parts: Sequence[Token | Run]) -> str:
    return "".join(part.text for part in parts)
