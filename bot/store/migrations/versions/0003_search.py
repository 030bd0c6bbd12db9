"""Search: the words of every brief, the words there are, and the lists that answers page through."""

import json

import sqlalchemy as sa
from alembic import op

from bot.store import search_index
from bot.store.briefs import from_dict
from bot.store.schema import Unreadable

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_BATCH = 500


def upgrade() -> None:
    op.create_table(
        "search_terms",
        sa.Column("term", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("term", name=op.f("pk_search_terms")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "lists",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("entries", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lists")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_lists_created_at", "lists", ["created_at"], unique=False)
    if op.get_context().dialect.name == "sqlite":
        op.execute(
            "CREATE VIRTUAL TABLE brief_words USING fts5(title, dek, headings, body, source, "
            "tokenize = \"porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'\", prefix = '2 3')"
        )
        _read_what_is_stored()


def _read_what_is_stored() -> None:
    conn, last = op.get_bind(), 0
    insert = sa.text(
        "INSERT INTO brief_words (rowid, title, dek, headings, body, source) "
        "VALUES (:id, :title, :dek, :headings, :body, :source)"
    )
    page = sa.text("SELECT id, document FROM briefs WHERE id > :last ORDER BY id LIMIT :most")
    while rows := conn.execute(page, {"last": last, "most": _BATCH}).all():
        for row in rows:
            try:
                found = search_index.parts(from_dict(json.loads(row.document)))
            except (ValueError, Unreadable):
                continue  # damaged: whoever reads the brief is told, and the step is not held up by it
            conn.execute(insert, {"id": row.id, **found})
            new = [{"term": term} for term in search_index.terms(found)]
            if new:
                conn.execute(sa.text("INSERT INTO search_terms (term) VALUES (:term) ON CONFLICT DO NOTHING"), new)
        last = rows[-1].id


def downgrade() -> None:
    raise NotImplementedError("put back the copy that was made before the step")
