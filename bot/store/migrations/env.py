"""Alembic's entry: runs the steps on the connection it was handed, inside the caller's transaction."""

from alembic import context

from bot.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a column only by building the table anew
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
