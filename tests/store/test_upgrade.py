"""A database is made, copied, migrated or refused; two processes at once do it once."""

import asyncio
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from bot.errors import DatabaseBusy, DatabaseCorrupt, DatabaseTooNew, StoreError
from bot.store import faults, schema, upgrade
from bot.store.database import Database, get_meta, set_meta
from tests.store.make import start

HEAD = ScriptDirectory(str(upgrade.MIGRATIONS)).get_current_head() or ""
NEXT, AFTER = (f"{int(HEAD) + more:04}" for more in (1, 2))
STEP = '''"""A step of tomorrow."""

import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "{number}", "{before}", None, None


def upgrade() -> None:
    op.create_table("tomorrow_{number}", sa.Column("id", sa.Integer(), primary_key=True))
    {more}
'''


def tomorrow(folder: Path, *more: str) -> Path:
    """The steps of today and one for each of ``more``, which is what it does besides making a table."""
    steps = folder / "migrations %40"
    shutil.copytree(upgrade.MIGRATIONS, steps, ignore=shutil.ignore_patterns("__pycache__"))
    for number, line in enumerate(more, int(NEXT)):
        text = STEP.format(number=f"{number:04}", before=f"{number - 1:04}", more=line)
        (steps / "versions" / f"{number:04}_more.py").write_text(text, "utf-8")
    return steps


def prepare(path: Path, steps: Path = upgrade.MIGRATIONS, *, migrate: bool = True) -> None:
    upgrade.prepare(path, migrate=migrate, busy_timeout=0.2, migrations=steps)


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as raw:
        return {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def note(path: Path, value: str) -> None:
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(
            "INSERT INTO meta VALUES ('note', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", [value]
        )


def noted(path: Path) -> str:
    with closing(sqlite3.connect(path)) as raw:
        return str(raw.execute("SELECT value FROM meta WHERE key = 'note'").fetchone()[0])


def test_the_steps_build_the_schema(tmp_path: Path) -> None:
    prepare(tmp_path / "a.db")
    engine = create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.connect() as conn:
        # SQLAlchemy knows no virtual tables: FTS5 makes brief_words and its shadows.
        opts = {"compare_type": True, "include_name": lambda name, kind, _: not str(name).startswith("brief_words")}
        assert compare_metadata(MigrationContext.configure(conn, opts=opts), schema.metadata) == []
        made = {name: sql for name, sql in conn.exec_driver_sql("SELECT name, sql FROM sqlite_master") if sql}
        made = {name: sql for name, sql in made.items() if not name.startswith("brief_words")}
    engine.dispose()
    fresh = create_engine("sqlite://")
    with fresh.connect() as conn:
        schema.metadata.create_all(conn)
        wanted = {name: sql for name, sql in conn.exec_driver_sql("SELECT name, sql FROM sqlite_master") if sql}
    fresh.dispose()
    assert made.pop("alembic_version")

    def parts(sql: str) -> list[str]:  # the order of constraints is free
        return sorted(part.strip(" ()") for part in " ".join(sql.split()).removesuffix(" WITHOUT ROWID").split(", "))

    # Alembic does not compare partial indices or AUTOINCREMENT; their text does.
    assert {name: parts(sql) for name, sql in made.items()} == {name: parts(sql) for name, sql in wanted.items()}


def test_the_schema_is_valid_for_postgresql_too() -> None:
    dialect = postgresql.dialect()
    for table in schema.metadata.sorted_tables:
        said = str(CreateTable(table).compile(dialect=dialect))
        assert "AUTOINCREMENT" not in said
        if "id" in table.c:
            assert "id BIGSERIAL" in said
        for index in table.indexes:
            assert str(CreateIndex(index).compile(dialect=dialect))


def test_a_fresh_database_needs_no_copy(tmp_path: Path) -> None:
    prepare(tmp_path / "deep" / "er" / "a.db")
    prepare(tmp_path / "deep" / "er" / "a.db")
    assert sorted(os.listdir(tmp_path / "deep" / "er")) == ["a.db", "a.db.lock"]


def test_a_copy_is_made_before_a_step_and_holds_what_was(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    prepare(path)
    note(path, "precious")
    prepare(path, tomorrow(tmp_path, "pass", "pass"))
    assert tables(path) >= {f"tomorrow_{NEXT}", f"tomorrow_{AFTER}", "deliveries"}
    (copy,) = faults.copies(path)
    assert copy.name.endswith(f".{HEAD}.copy")
    assert f"tomorrow_{NEXT}" not in tables(copy)
    assert noted(path) == noted(copy) == "precious"
    # A copy put back is a database of the version it had.
    shutil.copy(copy, tmp_path / "back.db")
    prepare(tmp_path / "back.db")


def test_what_is_only_in_the_journal_is_copied_too(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    prepare(path)
    with closing(sqlite3.connect(path)) as held, held:
        held.execute("PRAGMA wal_autocheckpoint=0")
        held.execute("INSERT INTO meta VALUES ('note', 'in the journal')")
        held.commit()
        prepare(path, tomorrow(tmp_path, "pass"))
    assert noted(faults.copies(path)[0]) == "in the journal"


def test_the_last_three_copies_are_kept_and_nothing_else_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    prepare(path)
    others = ["a.db.mine.copy", "a.db.20260101T000000000000Z.0001.copy.bak", "aXdb.20260101T000000000000Z.0001.copy"]
    for name in others:
        (tmp_path / name).write_text("mine")
    for number in range(1, 6):
        steps = tomorrow(tmp_path / str(number), *["pass"] * number)
        note(path, f"before step {number}")
        prepare(path, steps)
    assert [noted(copy) for copy in faults.copies(path)] == ["before step 3", "before step 4", "before step 5"]
    assert set(others) <= set(os.listdir(tmp_path))
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


@pytest.mark.parametrize("step", ["raise RuntimeError('no')", 'op.execute("INSERT INTO nowhere VALUES (1)")'])
def test_a_step_that_fails_changes_nothing(tmp_path: Path, step: str) -> None:
    path = tmp_path / "a.db"
    prepare(path)
    note(path, "precious")
    before = tables(path)
    with pytest.raises((RuntimeError, StoreError)):
        prepare(path, tomorrow(tmp_path, "pass", step))
    assert tables(path) == before
    assert noted(path) == "precious"
    prepare(path)


def test_a_step_that_breaks_a_reference_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    prepare(path)
    row = "(brief_id, source_id, seen_at) VALUES (1, 1, '2026-01-01 00:00:00.000000')"
    with pytest.raises(StoreError, match="a row of brief_sources points nowhere"):
        prepare(path, tomorrow(tmp_path, f'op.execute("INSERT INTO brief_sources {row}")'))
    assert f"tomorrow_{NEXT}" not in tables(path)


@pytest.mark.parametrize("migrate", [True, False])
def test_a_newer_database_is_refused_untouched(tmp_path: Path, migrate: bool) -> None:
    path = tmp_path / "a.db"
    prepare(path)
    prepare(path, tomorrow(tmp_path, "pass"))
    before = path.read_bytes()
    with pytest.raises(
        DatabaseTooNew, match=rf"a newer Briefbot \(version {NEXT}, known up to {HEAD}\)\. Install .* put back a"
    ) as error:
        prepare(path, migrate=migrate)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("migrate", [True, False])
def test_a_database_of_another_program_is_refused_untouched(tmp_path: Path, migrate: bool) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE photos (id INTEGER)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is the database of another program"):
        prepare(path, migrate=migrate)
    assert path.read_bytes() == before


def test_without_migration_nothing_is_made_or_changed(tmp_path: Path) -> None:
    path = tmp_path / "no" / "a.db"
    with pytest.raises(StoreError, match="there is no database yet"):
        prepare(path, migrate=False)
    assert os.listdir(tmp_path) == []
    prepare(path)
    prepare(path, migrate=False)
    with pytest.raises(StoreError, match="was written by an older Briefbot"):
        prepare(path, tomorrow(tmp_path, "pass"), migrate=False)
    assert faults.copies(path) == []


def test_an_empty_file_is_a_new_database_unless_it_was_none(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.touch()
    prepare(path)
    prepare(path, tomorrow(tmp_path, "pass"))
    path.write_bytes(b"")
    with pytest.raises(DatabaseCorrupt, match="is empty, and was not"):
        prepare(path)
    lost = tmp_path / "b.db"
    lost.touch()
    (tmp_path / "b.db-wal").write_bytes(b"journal")
    with pytest.raises(DatabaseCorrupt, match="is empty, and was not"):
        prepare(lost)
    assert (tmp_path / "b.db-wal").read_bytes() == b"journal"


def test_the_lock_of_another_start_is_waited_for_and_then_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "LOCK_SECONDS", 0.1)
    path = tmp_path / "a.db"
    with upgrade._locked(path), pytest.raises(DatabaseBusy):
        prepare(path)
    prepare(path)


STARTER = """
import sys
from pathlib import Path
from bot.store import upgrade
upgrade.prepare(Path(sys.argv[1]), migrate=True, busy_timeout=5, migrations=Path(sys.argv[2]))
"""


async def test_processes_that_start_at_once_copy_and_migrate_once(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database = await Database.open(path)
    async with database.transaction() as conn:
        await set_meta(conn, "note", "precious")
    steps = tomorrow(tmp_path, "import time; time.sleep(0.2)")
    # The bot that is running keeps working while the new ones start.
    starters = [start(STARTER, path, steps) for _ in range(3)]
    for starter in starters:
        _, said = await asyncio.to_thread(starter.communicate, timeout=60)
        assert starter.returncode == 0, said.decode()
    assert len(faults.copies(path)) == 1
    assert f"tomorrow_{NEXT}" in tables(path)
    async with database.read() as conn:
        assert await get_meta(conn, "note") == "precious"
    await database.close()
