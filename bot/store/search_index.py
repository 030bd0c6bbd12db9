"""What search reads is written in the transaction that writes the brief: its words by part, and every word once.

SQLite only: ``brief_words`` is an FTS5 table (made by migration 0003), ``search_terms`` the words that a misspelt one
is compared with.
"""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.briefs.model import Brief
from bot.briefs.text import plain
from bot.briefs.words import CJK, bare, normal, split
from bot.store.schema import insert_new, search_terms, storable

PARTS = ("title", "dek", "headings", "body", "source")
MAX_BODY = 100_000  # characters of a brief's sections that are found
MAX_TERMS = 3000  # new words that one brief may bring
LONGEST_TERM = 30

_DELETE = text("DELETE FROM brief_words WHERE rowid = :id")
_INSERT = text(
    "INSERT INTO brief_words (rowid, title, dek, headings, body, source) "
    "VALUES (:id, :title, :dek, :headings, :body, :source)"
)


def parts(brief: Brief) -> dict[str, str]:
    """The normalised text of each part that is searched."""
    body, room = [], MAX_BODY
    for section in brief.sections:
        if room <= 0:
            break
        found = plain(section.body[:room]) or (section.summary or "")[:room]
        body.append(found)
        room -= len(section.body) + 1
    found_in = {
        "title": brief.title,
        "dek": brief.dek,
        "headings": " . ".join(section.heading for section in brief.sections if section.heading),
        "body": "\n".join(body),
        "source": brief.source.name if brief.source else "",
    }
    return {name: storable(normal(value[:MAX_BODY])) for name, value in found_in.items()}


def terms(found: dict[str, str]) -> list[str]:
    """The words worth correcting a misspelt one to: letters only, four of them or more, without accents."""
    seen: dict[str, None] = {}
    for value in found.values():
        for word in split(value):
            if 4 <= len(word) <= LONGEST_TERM and not re.search(r"\d", word) and not CJK.search(word):
                seen.setdefault(bare(word))
                if len(seen) >= MAX_TERMS:
                    return list(seen)
    return list(seen)


async def write(conn: AsyncConnection, brief_id: int, brief: Brief) -> None:
    """Make the brief found by its words, and no longer by those it had before."""
    if conn.dialect.name != "sqlite":
        return
    found = parts(brief)
    await conn.execute(_DELETE, {"id": brief_id})
    await conn.execute(_INSERT, {"id": brief_id, **found})
    if new := terms(found):
        rows: list[dict[str, Any]] = [{"term": term} for term in new]
        await conn.execute(insert_new(conn, search_terms).on_conflict_do_nothing(), rows)
