"""A reader sees every character that is sent: what is invisible, reorders text or piles up is cut, and nothing else.

Kept: joiners that emoji sequences and Arabic or Indic words need, variation selectors on what they vary, the tag
letters of the three subdivision flags' kind of sequence, and up to a script's own number of combining marks.
"""

from __future__ import annotations

import re
import unicodedata

# What looks blank but is a letter, mark or symbol to Unicode (so that category alone does not tell), as code points.
BLANK_LETTERS = frozenset({0x115F, 0x1160, 0x3164, 0xFFA0, 0x17B4, 0x17B5, 0x034F, 0x2065, 0x1D159})
BLANK_SYMBOLS = frozenset({0x2800})
# Format characters (Cf) that are seen, or that a script cannot be written without.
VISIBLE_FORMATS = frozenset(
    [*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)]
)
LINE_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
# Scripts whose words change with a joiner: Arabic and its neighbours, Indic, Tibetan, Myanmar, Khmer, Mongolian.
JOINED_SCRIPTS = (
    (0x0600, 0x08FF),
    (0x0900, 0x0DFF),
    (0x0F00, 0x109F),
    (0x1780, 0x18AF),
    (0x1A20, 0x1AAF),
    (0x1B00, 0x1CFF),
    (0xA800, 0xA8FF),
    (0xA900, 0xABFF),
    (0xFB50, 0xFDFF),
    (0xFE70, 0xFEFC),
    (0x10A00, 0x11FFF),
)
# Marks in a row: two are common (Vietnamese, Greek), pointed Hebrew with cantillation takes four, and a Tibetan stack is
# written with subjoined letters, which Unicode counts as marks.
MARKS_KEPT, MARKS_KEPT_HEBREW, MARKS_KEPT_TIBETAN = 3, 4, 9
ZWNJ, ZWJ, TEXT_STYLE, EMOJI_STYLE, KEYCAP = "\u200c", "\u200d", "\ufe0e", "\ufe0f", "\u20e3"
BLACK_FLAG, TAG_END = "\U0001f3f4", "\U000e007f"
VARIED_PUNCTUATION = frozenset("‼⁉ℹ〰")

_FLAG_TAGS = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
# Texts with none of these (all ASCII, Latin, Greek, Cyrillic, CJK, Kana, Hangul and ordinary punctuation) are clean.
_SUSPECT = re.compile(
    "[^\t\n\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u202f-\u205f\u2070-\u20cf"
    "\u2100-\u27ff\u2900-\u2bff\u3001-\u3029\u3030-\u3098\u309b-\u3163\u3165-\u9fff\uac00-\ud7a3\uff01-\uff9f]"
)


def clean(text: str) -> str:
    """``text`` without invisible, reordering or piled-up characters; every kind of line break becomes ``\\n``.

    Lone surrogates and noncharacters become U+FFFD. Idempotent, and linear in the length of the text.
    """
    text = LINE_BREAKS.sub("\n", text)
    if not _SUSPECT.search(text):
        return text
    while True:
        cleaned = _cut(text)
        if cleaned == text:
            return cleaned
        text = cleaned


def _cut(text: str) -> str:
    out: list[str] = []
    marks = 0
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        code = ord(char)
        if 0x20 <= code < 0x7F or char in "\n\t":
            marks = 0
            out.append(char)
            continue
        category = unicodedata.category(char)
        before = out[-1] if out else ""
        after = text[position] if position < len(text) else ""
        if category == "Cs" or (code & 0xFFFE) == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
            marks = 0
            out.append("\ufffd")
        elif code in BLANK_SYMBOLS:
            out.append(" ")
        elif 0xE0000 <= code <= 0xE007F:
            # A lone tag letter is invisible; a run of them after the black flag is the flag of a part of a country.
            run = _FLAG_TAGS.match(text, position - 1) if before == BLACK_FLAG else None
            if run:
                out.extend(run.group())
                position = run.end()
        elif _varies(char):
            if _variable(before, char, after):
                out.append(char)
        elif char in (ZWJ, ZWNJ):
            if (char == ZWJ and _pictographic_end(before) and _pictographic(after)) or (
                _joined(before) and _joined(after)
            ):
                out.append(char)
        elif (
            category == "Cc"
            or code in BLANK_LETTERS
            or 0x180B <= code <= 0x180F
            or (category == "Cf" and code not in VISIBLE_FORMATS)
            or 0xFFF0 <= code <= 0xFFF8
            or 0xE0080 <= code <= 0xE0FFF
        ):
            continue
        elif category in ("Mn", "Me"):
            marks += 1
            if marks <= _marks_kept(code):
                out.append(char)
        else:
            marks = 0
            out.append(char)
    return "".join(out)


def _marks_kept(mark: int) -> int:
    if 0x0F00 <= mark <= 0x0FFF:
        return MARKS_KEPT_TIBETAN
    return MARKS_KEPT_HEBREW if 0x0590 <= mark <= 0x05FF else MARKS_KEPT


def _varies(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _variable(before: str, selector: str, after: str) -> bool:
    if not before or _varies(before):
        return False
    if selector in (TEXT_STYLE, EMOJI_STYLE):
        return (
            unicodedata.category(before)[0] == "S"
            or before in VARIED_PUNCTUATION
            or (before in "0123456789#*" and after == KEYCAP)
        )
    if selector >= "\U000e0100":
        return unicodedata.category(before) == "Lo" and ord(before) >= 0x2E80
    return unicodedata.category(before) in ("Lo", "Sm", "So", "Po") and not before.isspace()


def _pictographic(char: str) -> bool:
    return bool(char) and (unicodedata.category(char) in ("So", "Sm") or 0x1F000 <= ord(char) <= 0x1FAFF)


def _pictographic_end(char: str) -> bool:
    return _pictographic(char) or char in (EMOJI_STYLE, TAG_END)


def _joined(char: str) -> bool:
    return bool(char) and any(low <= ord(char) <= high for low, high in JOINED_SCRIPTS)
