"""Discord has no tables: one is shown as aligned columns in a code block, or as lines where it would be too wide."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

# A code block wraps at about 60 characters in a desktop channel with the member list open; wrapped columns are noise.
WIDEST = 56
COLUMN_GAP = "  "


def width(text: str) -> int:
    """How many columns ``text`` takes in a monospaced font: wide characters two, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def aligned(rows: Sequence[Sequence[str]]) -> str | None:
    """``rows`` of plain cells as aligned text for a code block; None where that would be wider than ``WIDEST``."""
    columns = max(map(len, rows), default=0)
    widths = [max((width(row[at]) for row in rows if at < len(row)), default=0) for at in range(columns)]
    if sum(widths) + len(COLUMN_GAP) * (columns - 1) > WIDEST:
        return None
    lines = []
    for row in rows:
        cells = [cell + " " * (widths[at] - width(cell)) for at, cell in enumerate(row)]
        lines.append(COLUMN_GAP.join(cells).rstrip())
    return "\n".join(lines)
