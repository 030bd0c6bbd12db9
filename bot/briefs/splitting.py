"""Long Markdown becomes pieces that each fit and each stand alone: what a cut goes through is closed and reopened.

The text is a row of atoms (a word, a link, a code span, a line of code ...). Each knows how good it is to end a piece
after it, and what that costs: the marks to close there, and those to reopen (with the quote or fence) in the next.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.briefs import blocks, inline
from bot.briefs.inline import Kind, Token
from bot.briefs.shortening import at_boundary

# How good it is to end a piece right after an atom.
NEVER, CHARACTER, WORD, SENTENCE, LINE, PARAGRAPH = range(6)

# What ends a sentence, unless it is an initial or a short form that a name or a number follows.
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]*_]*$")
_SHORT_FORM = re.compile(
    r"(?:^|[(\[\"'])(?:[^\W\d_]\.)+$|\b(?:Inc|Corp|Ltd|Co|Dr|Mr|Mrs|Ms|Prof|St|No|vs|e\.g|i\.e|cf|ca|Fig|Jr|Sr)\.$",
    re.IGNORECASE,
)
# Scripts without spaces between words: a line may end between any two of these, but not before closing punctuation.
_WIDE = "\u0e00-\u0eff\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_WORDS = re.compile(rf"\s+|[^\s{_WIDE}]+|[{_WIDE}]", re.ASCII)
_NOT_FIRST = re.compile(
    "[、。，．！？：；）」』】》〉・ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ\u0e30-\u0e3a\u0e45-\u0e4e]"
)
_NOT_LAST = re.compile("[（「『【《〈\u0e40-\u0e44]")
_LINE_MARK = re.compile(r"(?:#{1,3}|-#|>{1,3}|[-+*]|\d{1,9}\.)\Z")
_SPECIAL = re.compile(r"([\\*_~|`\[\]<])")
_PLAIN = re.compile(r"[^\\*_~|`<\[\]]*\Z")
# A limit below this leaves no room for fences and marks: there the words alone are split.
_WORDS_ONLY_BELOW = 40


@dataclass(slots=True)
class _Atom:
    """``source`` stays whole if it fits; ``blank`` ones (spaces, line ends) are left out at a piece's edges.

    ``token`` tells how to make smaller parts of one that does not fit.
    """

    source: str
    quality: int = NEVER
    close: str = ""
    reopen: str = ""
    blank: bool = False
    token: Token | None = None


def split(markdown: str, limit: int) -> list[str]:
    """``markdown`` as pieces of at most ``limit`` characters, each valid Markdown alone; no pieces from blank text.

    Fences, bold and the like are closed at a cut and reopened after it, quotes and headings begin again; links,
    addresses and code spans stay whole wherever one fits. No word is lost, doubled or glued. Where ``limit`` is too
    small for markup, that gives way to the words. Raises ValueError for a limit below 1.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}; it must be at least 1")
    text = markdown.strip("\n")
    if not text.strip():
        return []
    if len(text) <= limit and _PLAIN.match(text):
        return [text]
    if limit < _WORDS_ONLY_BELOW:
        return _fill(list(_word_atoms(_plain(text), escaped=limit > 1)), limit)
    return _fill(_atoms(text), limit)


def _fill(atoms: list[_Atom], limit: int) -> list[str]:
    atoms.reverse()  # a stack: the next atom is the last
    pieces: list[str] = []
    head = ""
    mid_line = False
    while True:
        while atoms and atoms[-1].blank:
            mid_line = "\n" not in atoms.pop().source and mid_line
        if not atoms:
            return pieces
        first = atoms[-1]
        if mid_line and _LINE_MARK.match(first.source) and limit > len(head) + 2:
            mark = first.source  # in the middle of a line it was no markup
            first.source = f"{mark[:-1]}\\." if mark[-1] == "." else f"\\{mark}"
        count = _count(atoms, head, limit)
        if not count:
            _make_smaller(atoms, head, limit)
            continue
        taken = [atoms.pop() for _ in range(count)]
        last = taken[-1]
        while taken and taken[-1].blank:
            taken.pop()
        pieces.append(head + "".join(atom.source for atom in taken) + last.close)
        head, mid_line = last.reopen, "\n" not in last.source


def _count(atoms: list[_Atom], head: str, limit: int) -> int:
    """How many atoms the next piece takes; 0 where it cannot end after any of them."""
    ends: dict[int, tuple[int, int]] = {}  # quality -> the last such end that fits: atoms, length
    length, at = len(head), 0
    for at, atom in enumerate(reversed(atoms), 1):
        shown = length if atom.blank else length + len(atom.source)
        if shown > limit:
            break
        length += len(atom.source)
        if shown + len(atom.close) > limit:
            continue
        if at == len(atoms):
            return at
        ends[atom.quality] = (at, shown)
    ends.pop(NEVER, None)
    for quality in (PARAGRAPH, LINE, SENTENCE):
        if quality in ends and ends[quality][1] * 2 >= limit:
            return ends[quality][0]
    spaced = [end for quality, (end, _) in ends.items() if quality >= WORD]
    return max(spaced, default=ends.get(CHARACTER, (0, 0))[0])


def _make_smaller(atoms: list[_Atom], head: str, limit: int) -> None:
    """Replace the longest atom before the next possible end by parts of it."""
    run, length = 1, len(head)
    while run < len(atoms) and atoms[-run].quality == NEVER and length <= 2 * limit:
        length += len(atoms[-run].source)
        run += 1
    at = max(range(1, run + 1), key=lambda place: len(atoms[-place].source))
    others = sum(len(atoms[-place].source) for place in range(1, run + 1) if place != at)
    atom = atoms[-at]
    room = limit - len(head) - others - max(len(atoms[-run].close), len(atom.close))
    if room < 1 or len(atom.source) < 2:
        if at > 1 or run > 1:  # many small ones that belong together: part them all the same
            fits = 1
            length = len(head) + len(atoms[-1].source)
            while fits < run and length + len(atoms[-fits - 1].source) + len(atoms[-fits - 1].close) <= limit:
                fits += 1
                length += len(atoms[-fits].source)
            if length + len(atoms[-fits].close) <= limit:
                atoms[-fits].quality = CHARACTER
                return
        room = max(1, len(atom.source) // 2)
    room = min(room, max(1, len(atom.source) - 1))
    if len(atom.source) < 2:  # not even a character and its marks fit: the marks go
        atom.close = atom.reopen = ""
        atom.quality = CHARACTER
        return
    parts = _parts(atom, room)
    smaller = [
        _Atom(part, WORD if part[-1:].isspace() else CHARACTER, atom.close, atom.reopen, part.isspace())
        for part in parts
    ]
    smaller[-1].quality = atom.quality
    atoms[len(atoms) - at : len(atoms) - at + 1] = reversed(smaller)


def _parts(atom: _Atom, room: int) -> list[str]:
    token = atom.token
    if token is not None and token.kind is Kind.CODE and room > 6:
        parts = list(_chunks(token.text.strip("`").replace("`", "'"), room - 2))
        return [f"`{part}`" for part in parts if part.strip()]
    if token is not None and token.kind is Kind.LINK:
        label = list(_chunks(_SPECIAL.sub(r"\\\1", inline.words(token.inner)), room))
        address = f" <{token.url}>"
        return [*label, *([" ", address.strip()] if len(address) <= room else [])] or [" "]
    if token is not None and token.kind is Kind.URL:
        return list(_chunks(atom.source.strip("<>").replace(":", "\\:", 1), room))
    return list(_chunks(atom.source, room))


def _chunks(text: str, room: int) -> Iterator[str]:
    """``text`` in order, in parts of at most ``room``: cut after a space, else between characters, else anywhere."""
    start = 0
    while len(text) - start > room:
        end = text.rfind(" ", start, start + room) + 1
        if end <= start:
            end = start + room
            part = text[start : end + 1]
            while end > start and not (at_boundary(part, end - start) and _whole_escapes(text, end)):
                end -= 1
        if end <= start:
            end = start + room
        yield text[start:end]
        start = end
    yield text[start:]


def _whole_escapes(text: str, end: int) -> bool:
    before = text[max(0, end - 50) : end]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _atoms(markdown: str) -> list[_Atom]:
    atoms: list[_Atom] = []
    for block in blocks.scan(markdown):
        if atoms:
            _line_end(atoms, "", "")
        if isinstance(block, blocks.Code):
            atoms.extend(_code_atoms(block))
        else:
            _text_atoms(inline.parse(block.text, tags=False), atoms)
    for atom, after in itertools.pairwise(atoms):
        if after.blank and not atom.blank:
            atom.quality = NEVER  # the piece ends after the blank
    return atoms


def _line_end(atoms: list[_Atom], close: str, reopen: str) -> None:
    if atoms[-1].blank and "\n" in atoms[-1].source:
        atoms[-1].source, atoms[-1].quality = "\n\n", PARAGRAPH
    else:
        atoms.append(_Atom("\n", LINE, close, reopen, blank=True))


def _code_atoms(block: blocks.Code) -> Iterator[_Atom]:
    quote = "> " if block.quoted else ""
    opening = f"{quote}```{block.language[:16]}\n{quote}"
    closing = f"\n{quote}```"
    yield _Atom(opening)
    lines = block.text.strip("\n").split("\n")
    for at, line in enumerate(lines):
        if line:
            yield _Atom(line, NEVER, closing, opening)
        if at < len(lines) - 1:
            yield _Atom("\n" + quote, LINE, closing, opening, blank=True)
    yield _Atom(closing, CHARACTER)


def _text_atoms(tokens: list[Token], atoms: list[_Atom]) -> None:
    opened: list[str] = []
    prefix = ""  # what a line begins with again when a piece ends within it
    heading = False
    for at, token in enumerate(tokens):
        if token.kind is Kind.BREAK:
            prefix = ""
            if atoms:
                _line_end(atoms, *_price("", opened))
                if heading:
                    atoms[-1].quality = NEVER  # a heading goes with what follows
            continue
        if token.kind is Kind.BLOCK:
            marks = re.findall(r">|#+", token.text)
            prefix = ("> " if ">" in marks else "") + "".join(mark + " " for mark in marks if mark[0] == "#")
            heading = "#" in token.text
            atoms.append(_Atom(token.raw))
            continue
        if not atoms or atoms[-1].source.endswith("\n"):
            heading = False
        if token.kind is Kind.OPEN:
            opened.append(token.text)
        elif token.kind is Kind.CLOSE:
            opened.remove(token.text)
        following = tokens[at + 1].kind if at + 1 < len(tokens) else Kind.BREAK
        price = _price(prefix, opened)
        if token.kind is Kind.TEXT:
            words = list(_word_atoms(token.raw))
            for word in words:
                word.close, word.reopen = price
            atoms.extend(words)
            if words and following is Kind.CLOSE and not words[-1].blank:
                atoms[-1].quality = NEVER
        else:
            never = token.kind is Kind.OPEN or following is Kind.CLOSE
            whole = None if token.kind in (Kind.OPEN, Kind.CLOSE) else token
            atoms.append(_Atom(token.raw, NEVER if never else CHARACTER, *price, token=whole))


def _price(prefix: str, opened: list[str]) -> tuple[str, str]:
    return "".join(reversed(opened)), prefix + "".join(opened)


def _word_atoms(text: str, *, escaped: bool = False) -> Iterator[_Atom]:
    found = _WORDS.findall(text)
    for at, word in enumerate(found):
        following = found[at + 1] if at + 1 < len(found) else ""
        if word.isspace():
            before = found[at - 1] if at else ""
            ends = _SENTENCE_END.search(before) and not _SHORT_FORM.search(before)
            quality = LINE if "\n" in word else SENTENCE if ends else WORD
            yield _Atom(word, quality, blank=True)
            continue
        quality = CHARACTER
        if len(word) == 1 and re.match(f"[{_WIDE}]", word) and following and not following.isspace():
            bound = _NOT_FIRST.match(following) or _NOT_LAST.match(word) or not at_boundary(word + following, 1)
            quality = NEVER if bound else SENTENCE if word in "。！？" else WORD
        elif following and not following.isspace():
            quality = NEVER if _NOT_FIRST.match(following) or not at_boundary(word[-1] + following, 1) else WORD
        yield _Atom(_SPECIAL.sub(r"\\\1", word) if escaped else word, quality)


def _plain(markdown: str) -> str:
    """The words of ``markdown``, marks and addresses of links left out."""
    parts = []
    for block in blocks.scan(markdown):
        is_code = isinstance(block, blocks.Code)
        parts.append(block.text if is_code else inline.words(inline.parse(block.text, tags=False)))
    return "\n".join(parts)
