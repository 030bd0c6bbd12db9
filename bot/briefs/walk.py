"""An HTML tree is a list of blocks, each a row of tokens: what a reader sees of it, in the order of reading."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import urljoin

import lxml.html
from lxml import etree

from bot.briefs import inline
from bot.briefs.inline import Kind, Token
from bot.briefs.invisible import clean
from bot.briefs.tables import aligned


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item or code block.

    ``level`` is a heading's (1-6; else 0). ``code`` is not None for a code block, then ``tokens`` is empty. ``quote``
    is the number of the quote it stands in (0: none). ``indent`` leads every line but the first, which has a BLOCK
    token. ``tight``: it follows the block before it without an empty line.
    """

    tokens: tuple[Token, ...] = ()
    level: int = 0
    code: str | None = None
    language: str = ""
    quote: int = 0
    indent: str = ""
    tight: bool = False


@dataclass(slots=True)
class _Mark:
    """An inline element that is open: emphasis by its mark, or a link by its address. ``start`` is -1 until it shows."""

    text: str = ""
    url: str | None = None
    start: int = -1


@dataclass(slots=True)
class _List:
    number: int | None  # of the next item; None where items have bullets
    step: int = 1
    items: int = 0
    orphan: bool = False  # opened by an item that no list holds: ends with it


@dataclass(slots=True)
class _Table:
    rows: list[list[list[Token]]]
    heads: int = 0
    linked: bool = False


_MARKS = {
    **dict.fromkeys(("b", "strong"), "**"),
    **dict.fromkeys(("i", "em", "cite", "dfn", "var"), "*"),
    **dict.fromkeys(("u", "ins"), "__"),
    **dict.fromkeys(("s", "del", "strike"), "~~"),
}
_CODE = frozenset({"code", "kbd", "tt", "samp"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    ["address", "article", "aside", "body", "center", "dd", "details", "dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "legend", "li", "main", "nav", "ol", "optgroup", "p", "search", "section", "summary", "ul", "caption"]
)
_TABLE_PARTS = frozenset({"tr", "td", "th", "thead", "tbody", "tfoot"})
_UNSEEN = frozenset(
    ["script", "style", "template", "head", "title", "noscript", "iframe", "object", "embed", "applet", "svg", "math", "audio", "video", "canvas", "map", "select", "datalist", "input", "button", "textarea", "progress", "meter", "noframes", "rp", "colgroup"]
)
# A table that holds any of these lays out a page; it has no cells to line up.
_LAYOUT = frozenset({"table", "ul", "ol", "pre", "blockquote", "figure", "dl", "hr", *_HEADINGS})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_ANCHOR_TEXTS = frozenset({"#", "¶", "§", "🔗", "⚓", ""})
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|webp|svg|avif|bmp)", re.IGNORECASE)
_LANGUAGE = re.compile(
    r"(?:^|[\s;])(?:language-|lang-|highlight-source-|highlight-text-|brush:\s*|sourceCode\s+)([\w+#.-]{1,20})", re.IGNORECASE
)
_SPACES = re.compile("[ \t\n\r\f\xa0]+")
_UPPER = str.maketrans("0123456789+-=()niabcdefghjklmoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
_LOWER = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_RAISED = frozenset("0123456789+-=()n")
_MOST_COLUMNS = 20


def blocks(root: lxml.html.HtmlElement, base: str) -> list[Block]:
    """The blocks of the tree; addresses are made absolute against ``base`` (or the document's own <base>)."""
    return _Walker(root, base).walk()


class _Walker:
    def __init__(self, root: lxml.html.HtmlElement, base: str) -> None:
        self.root = root
        own = root.find(".//base[@href]")
        self.base = _join(base, own.get("href") or "") or base if own is not None else base
        self.layout = _layout_tables(root)
        self.out: list[Block] = []
        self.tokens: list[Token] = []
        self.space = False  # a space is due before the next word
        self.marks: list[_Mark] = []
        self.heading = 0
        self.lists: list[_List] = []
        self.bullet: str | None = None  # of the list item that has shown nothing yet
        self.tight = False
        self.quotes = 0
        self.quote = 0
        self.scripts: list[str] = []
        self.code: list[str] | None = None
        self.pre: list[str] | None = None
        self.language = ""
        self.tables: list[_Table] = []
        self.in_cell = False

    def walk(self) -> list[Block]:
        todo: list[tuple[etree._Element, bool]] = [(self.root, False)]
        while todo:
            element, ended = todo.pop()
            if ended:
                self._end(element)
            elif self._is_unseen(element):
                if element.tag == "iframe":
                    self._flush()
            else:
                self._start(element)
                self._text(element.text)
                todo.append((element, True))
                todo.extend((child, False) for child in reversed(element))
                continue
            if element is not self.root:
                self._text(element.tail)
        self._flush()
        return self.out

    def _is_unseen(self, element: etree._Element) -> bool:
        if not isinstance(element.tag, str) or element.tag in _UNSEEN or element.get("hidden") is not None:
            return True
        if _HIDDEN_STYLE.search(element.get("style") or ""):
            return True
        is_anchor = element.tag == "a" and self.heading and not len(element)
        return bool(is_anchor and (element.text or "").strip() in _ANCHOR_TEXTS)

    # -- what begins and ends ------------------------------------------------------------------------------------

    def _start(self, element: etree._Element) -> None:
        tag = element.tag
        if tag == "pre":
            self._flush()
            self.code, self.pre, self.language = None, [], _language(element)
        elif self.pre is not None:
            if tag == "br":
                self.pre.append("\n")
        elif tag in _CODE and self.code is None:
            self.code = []
            self.marks.append(_Mark())  # so that _end knows that this one, not one inside it, is what ends
        elif self.code is not None:
            if tag == "br":
                self.code.append(" ")
        elif tag == "br":
            self._line_break()
        elif tag == "img":
            self._image(element)
        elif tag in _MARKS:
            self.marks.append(_Mark(_MARKS[tag]))
        elif tag == "a":
            self.marks.append(_Mark(url=self._target(element)))
        elif tag in ("sup", "sub"):
            self.scripts.append(tag)
        elif tag == "q":
            self._word("“")
        elif tag == "table" or tag in _TABLE_PARTS:
            self._start_table(element)
        else:
            self._start_block(element)

    def _end(self, element: etree._Element) -> None:
        tag = element.tag
        if tag == "pre" and self.pre is not None:
            self._end_pre()
        elif self.pre is not None:
            return
        elif tag in _CODE and self.code is not None and self.marks and not self.marks[-1].text:
            if sum(1 for _ in element.iterancestors(*_CODE)):
                return
            code, self.code = " ".join("".join(self.code).split()), None
            self.marks.pop()
            if code:
                self._content()
                self.tokens.append(Token(Kind.CODE, code))
        elif self.code is not None:
            return
        elif tag in _MARKS or tag == "a":
            if self.marks:
                self._close(self.marks.pop())
        elif tag in ("sup", "sub"):
            self.scripts.pop()
        elif tag == "q":
            self.space = False
            self._word("”")
        elif tag == "table" or tag in _TABLE_PARTS:
            self._end_table(element)
        else:
            self._end_block(element)

    def _start_block(self, element: etree._Element) -> None:
        tag = str(element.tag)
        if tag in _HEADINGS:
            self._flush()
            self.heading = 0 if self.lists or self.in_cell else _HEADINGS[tag]
            if not self.heading:
                self.marks.append(_Mark("**"))
        elif tag == "blockquote":
            self._flush()
            self.quotes += 1
            if self.quotes == 1:
                self.quote += 1
        elif tag in ("ul", "ol", "menu", "dir"):
            self._flush()
            self.bullet = None
            self.lists.append(_list(element))
        elif tag == "li":
            self._flush()
            if not self.lists:
                before = element.getprevious()
                alone = before is None or before.tag != "li"
                self.lists.append(_List(None, items=0 if alone else 1, orphan=True))
            self.bullet = self._bullet(element)
        elif tag in ("dt", "summary"):
            self._flush()
            self.marks.append(_Mark("**"))
        elif tag in ("figcaption", "caption"):
            self._flush()
            self.marks.append(_Mark("*"))
        elif tag in _BLOCKS:
            self._flush()
            self.tight = tag == "dd"

    def _end_block(self, element: etree._Element) -> None:
        tag = str(element.tag)
        if tag in _HEADINGS:
            self._flush()
            if self.heading:
                self.heading = 0
            else:
                self.marks.pop()
        elif tag == "blockquote":
            self._flush()
            self.quotes -= 1
        elif tag in ("ul", "ol", "menu", "dir"):
            self._flush()
            self.bullet = None
            self.lists.pop()
        elif tag == "li":
            self._flush()
            self.bullet = None
            if self.lists and self.lists[-1].orphan:
                self.lists.pop()
        elif tag in ("dt", "summary", "figcaption", "caption"):
            self._flush()
            self.marks.pop()
        elif tag in _BLOCKS:
            self._flush()

    # -- words ---------------------------------------------------------------------------------------------------

    def _text(self, text: str | None) -> None:
        if not text:
            return
        if self.pre is not None:
            self.pre.append(text)
            return
        if self.code is not None:
            self.code.append(text)
            return
        text = _SPACES.sub(" ", clean(text).replace("\n", " "))
        if text[:1] == " ":
            self.space = True
        word = text.strip(" ")
        if not word:
            return
        if self.scripts:
            word = _script(word, self.scripts[-1])
        self._word(word)
        self.space = text[-1:] == " "

    def _word(self, word: str) -> None:
        self._content()
        self.tokens.extend(inline.addresses(word))

    def _content(self) -> None:
        """Something that shows is about to be added: add the space and the marks that were due before it."""
        if self.space and self.tokens and self.tokens[-1].kind is not Kind.BREAK:
            self.tokens.append(Token(Kind.TEXT, " "))
        self.space = False
        floor = 0  # what a link that is open holds begins here
        for at, mark in enumerate(self.marks):
            if mark.start >= 0:
                floor = max(floor, mark.start if mark.url else 0)
                continue
            last = self.tokens[-1] if self.tokens else None
            if mark.text and not self._is_open(mark.text, at):
                if last and last.kind is Kind.CLOSE and last.text == mark.text and len(self.tokens) > floor:
                    self.tokens.pop()  # <b>a</b><b>b</b>: one run of bold, or the marks would read as four stars
                else:
                    self.tokens.append(Token(Kind.OPEN, mark.text))
                mark.start = len(self.tokens)
            elif mark.url:
                mark.start = floor = len(self.tokens)

    def _is_open(self, mark: str, before: int) -> bool:
        if mark == "**" and self.heading:
            return True
        return any(other.text == mark and other.start >= 0 for other in self.marks[:before])

    def _close(self, mark: _Mark) -> None:
        if mark.start < 0:
            return
        if mark.text:
            self.tokens.append(Token(Kind.CLOSE, mark.text))
        elif mark.url:
            inner = tuple(self.tokens[mark.start :])
            del self.tokens[mark.start :]
            if any(token.kind is Kind.LINK for token in inner):
                self.tokens.extend(inner)
            elif inner:
                self.tokens.append(Token(Kind.LINK, "", mark.url, inner))
        mark.start = -1

    def _line_break(self) -> None:
        self.space = False
        if self.heading or self.in_cell or any(mark.url and mark.start >= 0 for mark in self.marks):
            self.space = True
        elif self.tokens and self.tokens[-1].kind is Kind.BREAK:
            self._flush()
        elif self.tokens:
            self.tokens.append(Token(Kind.BREAK, "\n"))

    def _image(self, element: etree._Element) -> None:
        alt = " ".join(clean(element.get("alt") or "").split())
        if not alt or _FILE_NAME.fullmatch(alt) or "1" in (element.get("width"), element.get("height")):
            return
        source = element.get("src") or ""
        if not source or source.startswith("data:"):
            source = element.get("data-src") or ""
        self._content()
        if not any(char.isalnum() for char in alt) or "emoji" in (element.get("class") or ""):
            self.tokens.append(Token(Kind.TEXT, alt))
        else:
            address = _join(self.base, source) if source else None
            self.tokens.append(Token(Kind.IMAGE, "", address or "", (Token(Kind.TEXT, alt),)))

    def _target(self, element: etree._Element) -> str | None:
        href = (element.get("href") or "").strip()
        return None if not href or href.startswith("#") else _join(self.base, href)

    # -- blocks --------------------------------------------------------------------------------------------------

    def _taken(self) -> list[Token]:
        """The tokens so far, everything that is open closed; what is open opens again with the next word."""
        while self.tokens and (self.tokens[-1].kind is Kind.BREAK or self.tokens[-1].text == " "):
            self.tokens.pop()
        for mark in reversed(self.marks):
            self._close(mark)
        tokens, self.tokens, self.space = self.tokens, [], False
        return _told_apart(tokens)

    def _flush(self) -> None:
        if self.in_cell:
            self.space = True
            return
        tokens = self._taken()
        if not tokens:
            return
        block = Block(tuple(tokens), level=self.heading, quote=self.quote if self.quotes else 0)
        if self.heading:
            block = replace(block, tokens=(Token(Kind.BLOCK, "#" * self.heading + " "), *tokens))
        self._add(block)

    def _add(self, block: Block) -> None:
        if self.lists:
            depth = len(self.lists) - 1
            indent = "  " * (depth + 1)
            if self.bullet is not None and block.code is None:
                block = replace(block, tokens=(Token(Kind.BLOCK, "  " * depth + self.bullet), *block.tokens))
                first = depth == 0 and self.lists[0].items == 1
                self.bullet = None
                block = replace(block, indent=indent, tight=not first)
            else:
                self.bullet = None
                block = replace(block, indent=indent, tight=True)
        elif self.tight:
            block = replace(block, tight=True)
        self.tight = False
        self.out.append(block)

    def _bullet(self, element: etree._Element) -> str:
        current = self.lists[-1]
        current.items += 1
        if current.number is None:
            return "- "
        value = _number(element.get("value"))
        number = current.number if value is None else value
        current.number = number + current.step
        return f"{min(max(number, 0), 999_999_999)}. "

    def _end_pre(self) -> None:
        lines = clean("".join(self.pre or ())).replace("\xa0", " ").split("\n")
        self.pre = None
        code = "\n".join(line.rstrip() for line in lines).strip("\n")
        if code.strip():
            if self.in_cell:
                self._word(" ".join(code.split()))
            else:
                self._add(Block(code=code, language=self.language, quote=self.quote if self.quotes else 0))

    # -- tables --------------------------------------------------------------------------------------------------

    def _start_table(self, element: etree._Element) -> None:
        if element.tag == "table" and element not in self.layout and not self.in_cell:
            self._flush()
            self.tables.append(_Table([]))
        elif not self.tables:
            self._flush()
        elif element.tag == "tr":
            self.tables[-1].rows.append([])
        elif element.tag in ("td", "th"):
            table = self.tables[-1]
            if not table.rows:
                table.rows.append([])
            table.heads += element.tag == "th" and len(table.rows) == 1
            self.tokens, self.space, self.in_cell = [], False, True

    def _end_table(self, element: etree._Element) -> None:
        if not self.tables:
            self._flush()
        elif element.tag in ("td", "th") and self.in_cell:
            cell, self.in_cell, table = self._taken(), False, self.tables[-1]
            table.linked = table.linked or any(token.kind in (Kind.LINK, Kind.URL) for token in cell)
            span = min(max(_number(element.get("colspan")) or 1, 1), _MOST_COLUMNS)
            table.rows[-1].extend([cell, *([[]] * (span - 1))])
        elif element.tag == "table":
            self._add_table(self.tables.pop())

    def _add_table(self, table: _Table) -> None:
        rows = [row for row in table.rows if any(row)]
        quote = self.quote if self.quotes else 0
        plain = [[" ".join(inline.words(cell).split()) for cell in row] for row in rows]
        code = None if table.linked else aligned(plain)
        if code:
            self._add(Block(code=code, quote=quote))
            return
        for at, row in enumerate(rows):
            head = at == 0 and table.heads > 0 and len(rows) > 1
            tokens: list[Token] = []
            for cell in filter(None, row):
                if tokens:
                    tokens.append(Token(Kind.TEXT, " · "))
                tokens.extend(token for token in cell if not (head and token.text == "**"))
            start, end = [Token(Kind.BLOCK, "- ")], []
            if head:
                start, end = [Token(Kind.OPEN, "**")], [Token(Kind.CLOSE, "**")]
            self._add(Block((*start, *tokens, *end), quote=quote, tight=at > 0))


def _layout_tables(root: lxml.html.HtmlElement) -> set[etree._Element]:
    """The tables that place things on a page: they hold blocks or other tables, or have one column."""
    layout: set[etree._Element] = set()
    open_tables: list[list[etree._Element | int]] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        if event == "end":
            if tag == "table":
                table, columns = open_tables.pop()
                if isinstance(columns, int) and columns < 2 and isinstance(table, etree._Element):
                    layout.add(table)
            continue
        if open_tables and tag in _LAYOUT and isinstance(open_tables[-1][0], etree._Element):
            layout.add(open_tables[-1][0])
        if tag == "table":
            open_tables.append([element, 0])
            if element.get("role") == "presentation":
                layout.add(element)
        elif tag == "tr" and open_tables:
            columns = open_tables[-1][1]
            if isinstance(columns, int):
                open_tables[-1][1] = max(columns, sum(child.tag in ("td", "th") for child in element))
    return layout


def _told_apart(tokens: list[Token]) -> list[Token]:
    """``tokens`` where no two stars that mean different things touch: *a***b** is written _a_**b**."""
    out = list(tokens)
    opened: list[int] = []
    for at, token in enumerate(tokens):
        if token.kind is Kind.OPEN:
            opened.append(at)
        elif token.kind is Kind.CLOSE and opened:
            start = opened.pop()
            before = tokens[start - 1] if start else None
            after = tokens[at + 1] if at + 1 < len(tokens) else None
            touches = (before is not None and before.kind is Kind.CLOSE and before.text[0] == "*") or (
                after is not None and after.kind is Kind.OPEN and after.text[0] == "*"
            )
            if token.text == "*" and touches:
                out[start], out[at] = Token(Kind.OPEN, "_"), Token(Kind.CLOSE, "_")
    return out


def _list(element: etree._Element) -> _List:
    if element.tag != "ol":
        return _List(None)
    start = _number(element.get("start"))
    if element.get("reversed") is not None:
        items = sum(child.tag == "li" for child in element)
        return _List(items if start is None else start, -1)
    return _List(1 if start is None else start)


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\s*-?\d{1,9}\s*", text, re.ASCII) else None


def _script(word: str, script: str) -> str:
    """Raised and lowered digits as Unicode has them; other words as they are ("1st", a trademark sign)."""
    if not all(char in _RAISED for char in word) or (script == "sub" and "n" in word):
        return word
    return word.translate(_UPPER if script == "sup" else _LOWER)


def _language(pre: etree._Element) -> str:
    """The language of a code block, from where the usual highlighters and generators put it."""
    places = [pre, *list(pre)[:1]]
    parent = pre.getparent()
    if parent is not None:
        places.append(parent)
    for place in places:
        named = place.get("data-lang") or place.get("data-language") or place.get("lang")
        found = _LANGUAGE.search(place.get("class") or "")
        name = found[1] if found else named if place.tag != "html" else None
        if name and re.fullmatch(r"[\w+#.-]{1,20}", name):
            return name.lower()
    return ""


def _join(base: str, address: str) -> str | None:
    try:
        return urljoin(base, address.strip())
    except ValueError:
        return None


