"""Hostile HTML becomes a tree in bounded time: its size, its depth and the length of a tag are cut before it is parsed.

Measured with libxml2 2.14 (lxml 6.1): one element with 40,000 attributes takes 13 s, and everything that is nested
deeper than 256 elements (2,048 with ``huge_tree``) is lost with its text.
"""

from __future__ import annotations

import html
import re

import lxml.html
from lxml import etree

from bot.briefs.invisible import clean

LONGEST = 2_000_000  # characters of HTML that are looked at
DEEPEST = 400  # elements inside each other
LONGEST_TAG = 8_000  # characters between < and >

_TAG = re.compile(r"""<(/?)([a-zA-Z][\w:.-]*+)((?:[^"'>=]++|=\s*+(?:"[^"]*+"|'[^']*+')|[="'])*+)(>?)""")
_KEPT_ATTRIBUTE = re.compile(
    r"""\s(href|src|alt|start|class)\s?=\s?("[^"<>]{0,4000}"|'[^'<>]{0,4000}')""", re.IGNORECASE
)
# These never stand inside each other: the next one, or a parent's end, ends them.
_SELF_CLOSING = frozenset(
    """
    area base br col embed hr img input link meta param source track wbr p li dt dd tr td th option thead tbody
    tfoot colgroup
    """.split()
)
# The parser ends these where a <p> begins, and browsers do not; there the <p> is renamed.
_ENDED_BY_P = frozenset(["b", "big", "code", "em", "font", "i", "s", "small", "strike", "strong", "tt", "u"])
_PARSER_MARKS = re.compile(r"<\?xml[^>]*>|<!\[CDATA\[|\]\]>", re.IGNORECASE)
_HIDDEN_TEXT = re.compile(r"<(script|style|template)\b[^<>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_KNOWN_TAG = re.compile(
    r"</?(?:a|abbr|acronym|address|article|aside|audio|b|bdi|bdo|big|blockquote|body|br|button|center|cite|code|dd|del|"
    r"details|dfn|div|dl|dt|em|embed|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|"
    r"ins|kbd|label|li|link|main|mark|meta|nav|nobr|object|ol|p|picture|pre|q|ruby|rp|rt|s|samp|script|section|select|"
    r"small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|time|"
    r"title|tr|tt|u|ul|var|video|wbr)(?:\s[^<>]*|/)?>",
    re.IGNORECASE,
)
_PARTING_TAG = re.compile(r"</?(?:br|p|div|li|ul|ol|h[1-6]|hr|tr|td|th|table|section)\b", re.IGNORECASE)


def tree(source: str) -> lxml.html.HtmlElement | None:
    """The element tree of ``source``; None where there is nothing in it. Never raises, whatever the text."""
    source = _bounded(_PARSER_MARKS.sub("", clean(source[:LONGEST])))
    if not source.strip():
        return None
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        return lxml.html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def text(source: str) -> str:
    """HTML (a feed's title, a name) -> one line of plain text: tags dropped, entities decoded once.

    What only looks like a tag (``Vec<T>``, ``a < b``) stays.
    """
    source = clean(source[:LONGEST])
    if "<" in source:
        if "</" in source or "-->" in source:
            source = _HIDDEN_TEXT.sub(" ", source)
        source = _KNOWN_TAG.sub(lambda tag: " " if _PARTING_TAG.match(tag.group()) else "", source)
    return " ".join(clean(html.unescape(source)).split())


def is_escaped_twice(source: str) -> bool:
    """``source`` has no tags of its own, but tags that were escaped, as feeds that escape twice send them."""
    return (
        _KNOWN_TAG.search(source) is None
        and re.search(
            r"&lt;(?:p|div|br|a|img|ul|ol|h[1-6]|blockquote|strong|em|b|i|span)(?:\s[^<>]{0,2000}?)?/?&gt;", source
        )
        is not None
    )


def _bounded(source: str) -> str:
    depth = surplus = 0
    inline = 0  # open elements of _ENDED_BY_P
    paragraphs: list[tuple[bool, int]] = []  # of each open <p>: whether it was renamed; ``inline`` before it

    def bound(tag: re.Match[str]) -> str:
        nonlocal depth, surplus, inline
        closing, name, attributes, end = tag.groups()
        lower = name.lower()
        if lower in _ENDED_BY_P:
            inline = max(0, inline - 1) if closing else inline + 1
        elif lower == "p":
            renamed = inline > 0
            if not closing:
                paragraphs.append((renamed, inline))
            elif paragraphs:
                renamed, inline = paragraphs.pop()
            else:
                renamed = False
            name = lower = "div" if renamed else "p"
        if lower not in _SELF_CLOSING:
            if not closing:
                if depth >= DEEPEST:
                    surplus += 1
                    return " "
                depth += 1
            elif surplus:
                surplus -= 1
                return " "
            else:
                depth = max(0, depth - 1)
        if len(attributes) > LONGEST_TAG:
            kept = {found[1].lower(): found.group() for found in _KEPT_ATTRIBUTE.finditer(attributes)}
            attributes = "".join(kept.values())
        return f"<{closing}{name}{attributes}{end}"

    return _TAG.sub(bound, source)
