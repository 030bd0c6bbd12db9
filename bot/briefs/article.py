"""HTML is read twice over: as Discord Markdown to show at once, and as sections whose bodies are Markdown to keep.

A section's body is a *source's Markdown*, as every body in a brief document is: it is never shown as it stands, but
goes through :func:`bot.briefs.text.neutralise`, which leaves it as it is but for what only plain HTML text can hold
(``&amp;`` written out, ``<tag>``): those are escaped in a body, and not in what :func:`html_to_discord` returns.
"""

from __future__ import annotations

import html as entities
from collections.abc import Sequence

from bot.briefs import inline, tree, walk
from bot.briefs.inline import Kind
from bot.briefs.text import fenced, write
from bot.briefs.walk import Block

# A paragraph shorter than this does not become a section of its own in an article without headings.
SHORT_PARAGRAPH = 160
# A bold line up to this long, in an article without headings, is a heading.
LONGEST_BOLD_HEADING = 100


def html_to_discord(html: str, base: str) -> str:
    """HTML -> Discord Markdown that shows what a browser would, as far as Discord can, and is harmless.

    Relative addresses are made absolute against ``base``; addresses that are not http(s) lose their link. Never
    raises; ``tree.LONGEST`` characters are looked at, nesting past ``tree.DEEPEST`` is flattened.
    """
    return _joined(_blocks(html, base), source=False)


def sections_from_html(html: str, base: str, title: str = "") -> tuple[tuple[str | None, str], ...]:
    """The sections of an article: (heading as plain text or None, body as a source's Markdown), none of them empty.

    Text before the first heading has the heading None. In an article without headings, lines that are all bold are
    its headings; without those too, every paragraph of some length begins a section without heading. A heading that
    only repeats ``title``, and one that nothing follows before the next, is left out.
    """
    if tree.is_escaped_twice(html):
        html = entities.unescape(html)
    blocks = _blocks(html, base)
    if not any(block.level for block in blocks):
        blocks = [_as_heading(block) for block in blocks]
    groups = _by_heading(blocks, title) if any(block.level for block in blocks) else _by_paragraph(blocks)
    sections = ((heading, _joined(group, source=True)) for heading, group in groups)
    return tuple((heading, body) for heading, body in sections if body)


def html_to_text(html: str) -> str:
    """HTML in a title or name -> one line of plain text: known tags dropped, entities decoded once."""
    return tree.text(html)


def _blocks(html: str, base: str) -> list[Block]:
    root = tree.tree(html)
    return [] if root is None else walk.blocks(root, base)


def _by_heading(blocks: Sequence[Block], title: str) -> list[tuple[str | None, list[Block]]]:
    groups: list[tuple[str | None, list[Block]]] = [(None, [])]
    for block in blocks:
        if not block.level or block.quote:
            groups[-1][1].append(block)
            continue
        heading = _words(block)
        if heading and heading.casefold() != " ".join(title.split()).casefold():
            groups.append((heading, []))
    return groups


def _by_paragraph(blocks: Sequence[Block]) -> list[tuple[str | None, list[Block]]]:
    groups: list[tuple[str | None, list[Block]]] = []
    length = 0  # of the words in the last group
    for block in blocks:
        belongs = block.code is not None or block.tight or block.tokens[0].kind is Kind.BLOCK
        if not groups or (length >= SHORT_PARAGRAPH and not belongs):
            groups.append((None, []))
            length = 0
        groups[-1][1].append(block)
        length += len(_words(block)) + 1
    if len(groups) > 1 and length < SHORT_PARAGRAPH:
        groups[-2][1].extend(groups.pop()[1])
    return groups


def _as_heading(block: Block) -> Block:
    tokens = block.tokens
    if len(tokens) < 3 or block.quote or block.indent:
        return block
    bold = (tokens[0].kind, tokens[0].text, tokens[-1].kind, tokens[-1].text) == (Kind.OPEN, "**", Kind.CLOSE, "**")
    words = _words(block)
    if not bold or sum(token.text == "**" for token in tokens) != 2 or len(words) > LONGEST_BOLD_HEADING:
        return block
    return block if words.endswith((".", "!", ":", ",", ";", "。")) else Block(tokens, level=2)


def _words(block: Block) -> str:
    return block.code if block.code is not None else " ".join(inline.words(block.tokens).split())


def _joined(blocks: Sequence[Block], *, source: bool) -> str:
    out: list[str] = []
    previous: Block | None = None
    for block in blocks:
        text = fenced(block.code, block.language) if block.code is not None else write(block.tokens, source=source)
        if not text.strip():
            continue
        if block.code is None and block.indent:
            lead = "" if block.tokens[0].kind is Kind.BLOCK else block.indent
            text = lead + text.replace("\n", "\n" + block.indent)
        if block.quote:
            text = "\n".join("> " + line for line in text.split("\n"))
        if previous is not None:
            same_quote = block.quote and block.quote == previous.quote
            out.append("\n" if block.tight and block.quote == previous.quote else "\n> \n" if same_quote else "\n\n")
        out.append(text)
        previous = block
    return "".join(out)
