"""A shortened text ends between words, and says so with an ellipsis."""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"
_JOINERS = ("\u200d", "\u200c")


def shorten(text: str, limit: int) -> str:
    """Plain ``text`` in at most ``limit`` characters: cut between words, with ``…`` where something was cut.

    A number, an address or what a reader sees as one character is never cut in two: where not even the first of them
    fits, only the ellipsis is left. Scripts without spaces, and overlong words, are cut between characters.
    """
    if len(text) <= limit:
        return text
    if limit < 1:
        return ""
    room = limit - len(ELLIPSIS)
    end = room
    while end > 0 and not (text[end].isspace() and not text[end - 1].isspace()):
        end -= 1
    if end == 0 or _spaceless(text[end:room]):
        end = _cut(text, end, room)
    head = text[:end].rstrip().rstrip(",;:–—-([{«“‘").rstrip()
    return head + ELLIPSIS


def at_boundary(text: str, at: int) -> bool:
    """Between ``text[at - 1]`` and ``text[at]`` a reader sees two characters (UAX #29, without its rarer rules)."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return False
    if after in _JOINERS or before == "\u200d" or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return False
    code = ord(after)
    if 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F or 0xFF9E <= code <= 0xFF9F:
        return False
    if 0x1160 <= code <= 0x11FF and 0x1100 <= ord(before) <= 0x11FF:
        return False
    if 0xDC00 <= code <= 0xDFFF and 0xD800 <= ord(before) <= 0xDBFF:
        return False
    if _flag_letter(before) and _flag_letter(after):
        start = at
        while start > 0 and _flag_letter(text[start - 1]):
            start -= 1
        return (at - start) % 2 == 0
    return True


def _cut(text: str, start: int, end: int) -> int:
    """The last place in ``text[start:end]`` where a run without spaces may be cut: not in a number or an address."""
    while end > start:
        before, after = text[end - 1], text[end]
        if before.isascii() and after.isascii() and not before.isspace():
            first, last = end, end
            while first > start and text[first - 1].isascii() and not text[first - 1].isspace():
                first -= 1
            while last < len(text) and text[last].isascii() and not text[last].isspace():
                last += 1
            if text[first:last].isalpha():
                return end
            end = first
        elif at_boundary(text, end) and not (before.isdigit() and after.isdigit()):
            return end
        else:
            end -= 1
    return start


def _spaceless(text: str) -> bool:
    """Most of what stands after the last space is of a script that is written without them."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" or 0x0E00 <= ord(char) <= 0x0EFF for char in text)
    return wide * 2 > len(text)


def _flag_letter(char: str) -> bool:
    return 0x1F1E6 <= ord(char) <= 0x1F1FF
