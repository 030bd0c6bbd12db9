"""Long Markdown becomes pieces that each fit and each stand alone."""

from __future__ import annotations


def split(markdown: str, limit: int) -> list[str]:
    """First version: by words; fences and emphasis follow."""
    if limit < 1:
        raise ValueError(f"limit is {limit}; it must be at least 1")
    pieces, rest = [], markdown.strip()
    while len(rest) > limit:
        cut = max(rest.rfind("\n", 1, limit + 1), rest.rfind(" ", 1, limit + 1))
        cut = cut if cut > 0 else limit
        pieces.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [*pieces, rest] if rest else pieces
