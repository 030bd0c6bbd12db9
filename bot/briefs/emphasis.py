"""Emphasis marks are known to pair before they are written: every OPEN has its CLOSE, and the rest are words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.briefs.tokens import Kind, Token


@dataclass(frozen=True, slots=True)
class Run:
    """Marks that may open or close, before they are paired. Those of a ``tag`` are not words if they pair with nothing."""

    text: str
    opens: bool
    closes: bool
    tag: bool = False


def pair(parts: Sequence[Token | Run]) -> list[Token]:
    """``parts`` with its emphasis marks paired: every OPEN has its CLOSE, well nested; other marks are TEXT."""
    out: list[Token] = []
    stack: list[tuple[str, int, bool]] = []  # mark, where in ``out`` it stands, whether it was a tag
    waiting: set[str] = set()  # the marks in the stack
    heading = False

    def literal(mark: str, tag: bool) -> Token:
        return Token(Kind.TEXT, "" if tag else mark, raw="".join("\\" + char for char in mark))

    def drop(size: int) -> None:
        while len(stack) > size:
            mark, place, tag = stack.pop()
            waiting.discard(mark)
            out[place] = literal(mark, tag)

    def close(mark: str, tag: bool) -> None:
        size = len(stack) - 1
        while stack[size][0] != mark:
            size -= 1
        drop(size + 1)
        _, place, opened_by_tag = stack.pop()
        waiting.discard(mark)
        if place == len(out) - 1:  # nothing between: Discord would not see a pair
            out[place] = literal(mark, opened_by_tag)
            out.append(literal(mark, tag))
        else:
            out.append(Token(Kind.CLOSE, mark, raw=mark))

    for part in parts:
        if isinstance(part, Token):
            if part.kind is Kind.BLOCK:
                drop(0)
                heading = "#" in part.text
            elif part.kind is Kind.BREAK:
                if heading or (out and out[-1].kind is Kind.BREAK):
                    drop(0)  # nothing is emphasised across a heading's end or an empty line
                heading = False
            if part.text or part.kind in (Kind.LINK, Kind.IMAGE):
                out.append(part)
            continue
        rest = part.text
        if len(rest) > 3 or (len(rest) == 3 and rest[0] in "~|"):
            out.append(literal(rest, part.tag))
            continue
        while rest:
            double = rest[:2]
            if part.closes and stack and stack[-1][0] in (double, rest[0]):
                mark = stack[-1][0]
                close(mark, part.tag)
            elif part.closes and double in waiting:
                mark = double
                close(mark, part.tag)
            elif part.opens and double not in waiting:
                mark = double  # of three, the single mark stands inside: ***x*** is **  * x *  **
                stack.append((mark, len(out), part.tag))
                waiting.add(mark)
                out.append(Token(Kind.OPEN, mark, raw=mark))
            else:
                mark = rest
                out.append(literal(mark, part.tag))
            rest = rest[len(mark) :]
    drop(0)
    return [token for token in out if token.text or token.kind in (Kind.LINK, Kind.IMAGE)]


def told_apart(tokens: list[Token]) -> list[Token]:
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
