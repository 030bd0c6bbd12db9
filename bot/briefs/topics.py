"""Topics: their slugs."""

from __future__ import annotations

import re
import unicodedata


def slug(name: str) -> str:
    """A topic's name as its slug: ``Data & AI`` -> ``data-ai``; letters of every script stay. ``""`` if none is left."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[^\w]+|_+", "-", folded).strip("-")
