"""A row of tokens is written as HTML is read: blanks collapse, and marks open with the first word and close with the last.

So ``a <b> spaced </b> b`` is ``a **spaced** b``, ``<b></b>`` is nothing, and ``<b>a</b><b>b</b>`` is one run of bold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.briefs import inline
from bot.briefs.emphasis import told_apart
from bot.briefs.invisible import clean
from bot.briefs.tokens import Kind, Token, scripted

_SPACES = re.compile("[ \t\n\r\f\xa0]+")


@dataclass(slots=True)
class _Open:
    """An element that is open: emphasis by its mark, or a link by its address. ``start`` is -1 until something shows."""

    element: object
    mark: str
    url: str | None
    start: int = -1


class Row:
    """The tokens of the paragraph, heading or cell that is being read."""

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.open_elements: list[_Open] = []
        self.space = False  # one is due before the next word
        self.is_bold = False  # as a heading is: bold in it shows nothing

    def open(self, element: object, mark: str = "", url: str | None = None) -> None:
        """``element`` begins: emphasis with ``mark``, or a link to ``url``."""
        self.open_elements.append(_Open(element, mark, url))

    def close(self, element: object) -> None:
        """``element`` ends, if it was opened."""
        if self.open_elements and self.open_elements[-1].element is element:
            self._end(self.open_elements.pop())

    def text(self, text: str, script: str = "") -> None:
        """Add the text of an HTML node. ``script`` is "sup" or "sub" where it is raised or lowered."""
        text = _SPACES.sub(" ", clean(text).replace("\n", " "))
        self.space = self.space or text[:1] == " "
        word = text.strip(" ")
        if word:
            self.word(scripted(word, script) if script else word)
            self.space = text[-1:] == " "

    def word(self, word: str) -> None:
        self.add(*inline.addresses(word))

    def add(self, *tokens: Token) -> None:
        """Add tokens that show, after the space and the marks that were due before them."""
        if self.space and self.tokens and self.tokens[-1].kind is not Kind.BREAK:
            self.tokens.append(Token(Kind.TEXT, " "))
        self.space = False
        floor = 0  # where the innermost link that shows begins
        shown = {"**"} if self.is_bold else set()
        for entry in self.open_elements:
            if entry.start >= 0:
                shown.add(entry.mark)
                floor = max(floor, entry.start if entry.url else 0)
            elif entry.url:
                entry.start = floor = len(self.tokens)
            elif entry.mark and entry.mark not in shown:
                shown.add(entry.mark)
                last = self.tokens[-1] if len(self.tokens) > floor else None
                if last is not None and last.kind is Kind.CLOSE and last.text == entry.mark:
                    self.tokens.pop()
                else:
                    self.tokens.append(Token(Kind.OPEN, entry.mark))
                entry.start = len(self.tokens)
        self.tokens.extend(tokens)

    def line_break(self) -> bool:
        """Begin a new line; True where this is an empty one, so that a paragraph ends here."""
        self.space = False
        if self.is_bold or any(entry.url and entry.start >= 0 for entry in self.open_elements):
            self.space = True
        elif self.tokens and self.tokens[-1].kind is Kind.BREAK:
            return True
        elif self.tokens:
            self.tokens.append(Token(Kind.BREAK, "\n"))
        return False

    def take(self) -> list[Token]:
        """The tokens so far, all that is open closed (it opens again with the next word); the row is empty then."""
        while self.tokens and (self.tokens[-1].kind is Kind.BREAK or self.tokens[-1].text == " "):
            self.tokens.pop()
        for entry in reversed(self.open_elements):
            self._end(entry)
        tokens, self.tokens, self.space = self.tokens, [], False
        return told_apart(tokens)

    def _end(self, entry: _Open) -> None:
        if entry.start < 0:
            return
        if entry.mark:
            self.tokens.append(Token(Kind.CLOSE, entry.mark))
        elif entry.url:
            inner = tuple(self.tokens[entry.start :])
            if inner and not any(token.kind is Kind.LINK for token in inner):
                self.tokens[entry.start :] = [Token(Kind.LINK, "", entry.url, inner)]
        entry.start = -1
