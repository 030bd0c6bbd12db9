"""An HTML tree is a list of blocks, each a row of tokens: what a reader sees of it, in the order of reading."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import urljoin

import lxml.html
from lxml import etree

from bot.briefs import inline
from bot.briefs.invisible import clean
from bot.briefs.row import Row
from bot.briefs.tables import aligned
from bot.briefs.tokens import Kind, Token


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
    """
    address article aside body center dd details dialog div dl dt fieldset figcaption figure footer form header
    hgroup hr legend li main nav ol optgroup p search section summary ul caption
    """.split()
)
_TABLE_PARTS = frozenset({"tr", "td", "th", "thead", "tbody", "tfoot"})
_UNSEEN = frozenset(
    """
    script style template head title noscript iframe object embed applet svg math audio video canvas map select
    datalist input button textarea progress meter noframes rp colgroup
    """.split()
)
# A table that holds any of these lays out a page; it has no cells to line up.
_LAYOUT = frozenset({"table", "ul", "ol", "pre", "blockquote", "figure", "dl", "hr", *_HEADINGS})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_ANCHOR_TEXTS = frozenset({"#", "¶", "§", "🔗", "⚓", ""})
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|webp|svg|avif|bmp)", re.IGNORECASE)
_LANGUAGE = re.compile(
    r"(?:^|[\s;])(?:language-|lang-|highlight-source-|highlight-text-|brush:\s*|sourceCode\s+)([\w+#.-]{1,20})",
    re.IGNORECASE,
)
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
        self.row = Row()
        self.heading = 0
        self.lists: list[_List] = []
        self.bullet: str | None = None  # of the list item that has shown nothing yet
        self.tight = False
        self.quotes = 0
        self.quote = 0
        self.scripts: list[str] = []
        self.code: list[str] | None = None
        self.code_element: etree._Element | None = None
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
            self.code, self.code_element = [], element
        elif self.code is not None:
            if tag == "br":
                self.code.append(" ")
        elif tag == "br":
            if self.in_cell:
                self.row.space = True
            elif self.row.line_break():
                self._flush()
        elif tag == "img":
            self._image(element)
        elif tag in _MARKS:
            self.row.open(element, _MARKS[tag])
        elif tag == "a":
            self.row.open(element, url=self._target(element))
        elif tag in ("sup", "sub"):
            self.scripts.append(tag)
        elif tag == "q":
            self.row.word("“")
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
        elif self.code is not None:
            if element is self.code_element:
                code, self.code, self.code_element = " ".join("".join(self.code).split()), None, None
                if code:
                    self.row.add(Token(Kind.CODE, clean(code)))
        elif tag in _MARKS or tag == "a":
            self.row.close(element)
        elif tag in ("sup", "sub"):
            self.scripts = self.scripts[:-1]
        elif tag == "q":
            self.row.space = False
            self.row.add(Token(Kind.TEXT, "”"))
        elif tag == "table" or tag in _TABLE_PARTS:
            self._end_table(element)
        else:
            self._end_block(element)

    def _start_block(self, element: etree._Element) -> None:
        tag = str(element.tag)
        if tag in _HEADINGS:
            self._flush()
            self.heading = 0 if self.lists or self.in_cell else _HEADINGS[tag]
            self.row.is_bold = self.heading > 0
            if not self.heading:
                self.row.open(element, "**")
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
            self.row.open(element, "**")
        elif tag in ("figcaption", "caption"):
            self._flush()
            self.row.open(element, "*")
        elif tag in _BLOCKS:
            self._flush()
            self.tight = tag == "dd"

    def _end_block(self, element: etree._Element) -> None:
        tag = str(element.tag)
        if tag in _HEADINGS:
            self._flush()
            self.heading, self.row.is_bold = 0, False
            self.row.close(element)
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
            self.row.close(element)
        elif tag in _BLOCKS:
            self._flush()

    # -- words ---------------------------------------------------------------------------------------------------

    def _text(self, text: str | None) -> None:
        if not text:
            return
        if self.pre is not None:
            self.pre.append(text)
        elif self.code is not None:
            self.code.append(text)
        else:
            self.row.text(text, self.scripts[-1] if self.scripts else "")

    def _image(self, element: etree._Element) -> None:
        alt = " ".join(clean(element.get("alt") or "").split())
        if not alt or _FILE_NAME.fullmatch(alt) or "1" in (element.get("width"), element.get("height")):
            return
        if not any(char.isalnum() for char in alt) or "emoji" in (element.get("class") or ""):
            self.row.add(Token(Kind.TEXT, alt))
            return
        source = element.get("src") or ""
        if not source or source.startswith("data:"):
            source = element.get("data-src") or ""
        address = _join(self.base, source) if source else None
        self.row.add(Token(Kind.IMAGE, "", address or "", (Token(Kind.TEXT, alt),)))

    def _target(self, element: etree._Element) -> str | None:
        href = (element.get("href") or "").strip()
        return None if not href or href.startswith("#") else _join(self.base, href)

    # -- blocks --------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        if self.in_cell:
            self.row.space = True
            return
        tokens = self.row.take()
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
                self.row.word(" ".join(code.split()))
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
            self.row.take()
            self.in_cell = True

    def _end_table(self, element: etree._Element) -> None:
        if not self.tables:
            self._flush()
        elif element.tag in ("td", "th") and self.in_cell:
            cell, self.in_cell, table = self.row.take(), False, self.tables[-1]
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
