"""A token is a piece of Markdown that has been understood: words, code, a link, an emphasis mark, a line's prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """What a token is; see :class:`Token` for what its fields hold."""

    TEXT = "text"
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

    ``text``: the words, without backslashes and entities; the code; the address (URL); the mark (OPEN, CLOSE: one of
    ``* ** _ __ ~~ ||``); the line's block prefix (BLOCK: ``"> "``, ``"- "``, ``"## "`` ...). ``url`` and ``inner`` are
    the target and the tokens of the label (LINK) or of the alternative text (IMAGE). ``angle``: the URL stood in ``<>``.
    ``raw`` is the source that it was read from.
    """

    kind: Kind
    text: str
    url: str = ""
    inner: tuple[Token, ...] = ()
    angle: bool = False
    raw: str = field(default="", compare=False)


def words(tokens: Sequence[Token]) -> str:
    """The plain text of ``tokens``: no marks and block prefixes, links as their labels."""
    parts: list[str] = []
    for token in tokens:
        if token.kind in (Kind.TEXT, Kind.CODE, Kind.URL, Kind.BREAK):
            parts.append(token.text)
        elif token.kind in (Kind.LINK, Kind.IMAGE):
            parts.append(words(token.inner))
    return "".join(parts)


_UPPER = str.maketrans("0123456789+-=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ")
_LOWER = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")


def scripted(word: str, script: str) -> str:
    """Raised ("sup") and lowered ("sub") digits as Unicode has them; other words as they are: "1st", a trademark sign.

    A power that Unicode cannot raise gets a caret, so that it does not run into the number before it.
    """
    table = _UPPER if script == "sup" else _LOWER
    if all(ord(char) in table for char in word):
        return word.translate(table)
    return f"^{word}" if word[:1].isdigit() else word
