"""Digests: their schedules, their runs, what each has been given, and their pages in the outbox."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "digests",
        sa.Column("subscription_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("days", sa.Text(), nullable=True),
        sa.Column("monthday", sa.Integer(), nullable=True),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("when_empty", sa.Text(), nullable=False),
        sa.Column("silent", sa.Text(), nullable=False),
        sa.Column("catch_up", sa.Boolean(), nullable=False),
        sa.Column("counts_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_done", sa.Date(), nullable=True),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("after_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["subscription_id"], ["subscriptions.id"], name=op.f("fk_digests_subscription_id")),
        sa.PrimaryKeyConstraint("subscription_id", name=op.f("pk_digests")),
    )
    op.create_index("ix_digests_next_at", "digests", ["next_at"], unique=False)
    op.create_table(
        "digest_runs",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("subscription_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("briefs", sa.Integer(), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("upto_id", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["subscription_id"], ["subscriptions.id"], name=op.f("fk_digest_runs_subscription_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_digest_runs")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_digest_runs_once", "digest_runs", ["subscription_id", "day"], unique=True)
    op.create_table(
        "digest_items",
        sa.Column("subscription_id", sa.BigInteger(), nullable=False),
        sa.Column("brief_id", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["subscription_id"], ["subscriptions.id"], name=op.f("fk_digest_items_subscription_id")
        ),
        sa.ForeignKeyConstraint(["brief_id"], ["briefs.id"], name=op.f("fk_digest_items_brief_id")),
        sa.ForeignKeyConstraint(["run_id"], ["digest_runs.id"], name=op.f("fk_digest_items_run_id")),
        sa.PrimaryKeyConstraint("subscription_id", "brief_id", name=op.f("pk_digest_items")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_digest_items_run", "digest_items", ["run_id", "place"], unique=False)
    if op.get_context().dialect.name == "sqlite":
        _build_deliveries_anew()
    else:
        op.alter_column("deliveries", "brief_id", existing_type=sa.BigInteger(), nullable=True)
        op.add_column("deliveries", sa.Column("run_id", sa.BigInteger(), nullable=True))
        op.add_column("deliveries", sa.Column("content", sa.Text(), nullable=True))
        op.create_foreign_key(op.f("fk_deliveries_run_id"), "deliveries", "digest_runs", ["run_id"], ["id"])
    op.create_index(
        "ix_deliveries_page_once",
        "deliveries",
        ["run_id", "page"],
        unique=True,
        sqlite_where=sa.text("run_id IS NOT NULL"),
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )


def _build_deliveries_anew() -> None:
    """SQLite drops no NOT NULL. Written out, because Alembic's batch mode loses AUTOINCREMENT and partial indices."""
    for index in ("ix_deliveries_once", "ix_deliveries_queued", "ix_deliveries_sending"):
        op.drop_index(index, table_name="deliveries")
    op.rename_table("deliveries", "deliveries_0001")
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("subscription_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("brief_id", sa.BigInteger(), nullable=True),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("format", sa.Text(), nullable=False),
        sa.Column("role_id", sa.BigInteger(), nullable=True),
        sa.Column("nonce", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sending_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("message_id", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run_id", sa.BigInteger(), nullable=True),
        sa.Column("content", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["brief_id"], ["briefs.id"], name=op.f("fk_deliveries_brief_id")),
        sa.ForeignKeyConstraint(["subscription_id"], ["subscriptions.id"], name=op.f("fk_deliveries_subscription_id")),
        sa.ForeignKeyConstraint(["run_id"], ["digest_runs.id"], name=op.f("fk_deliveries_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sqlite_autoincrement=True,
    )
    kept = (
        "id, subscription_id, channel_id, brief_id, page, format, role_id, nonce, state, attempts, due_at, sending_at, "
        "finished_at, message_id, reason, created_at"
    )
    op.execute(f"INSERT INTO deliveries ({kept}) SELECT {kept} FROM deliveries_0001")
    op.drop_table("deliveries_0001")
    op.create_index("ix_deliveries_once", "deliveries", ["brief_id", "channel_id", "page"], unique=True)
    queued, sending = sa.text("state = 'queued'"), sa.text("state = 'sending'")
    op.create_index("ix_deliveries_queued", "deliveries", ["subscription_id", "id"], sqlite_where=queued)
    op.create_index("ix_deliveries_sending", "deliveries", ["channel_id"], sqlite_where=sending)


def downgrade() -> None:
    raise NotImplementedError("put back the copy that was made before the step")
