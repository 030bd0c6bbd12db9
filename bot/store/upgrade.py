"""Before the database is used it is checked, copied and migrated, by one process at a time."""

from __future__ import annotations

import errno
import logging
import os
import secrets
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, create_engine, inspect, text

from bot.errors import DatabaseTooNew, StoreError
from bot.store import faults

MIGRATIONS = Path(__file__).parent / "migrations"
KEPT_COPIES = 3
CHECK_SECONDS = 2.0  # a file too large to be checked in this time is checked as far as that goes
LOCK_SECONDS = 30.0  # another process may be copying and migrating
_SQLITE_STEPS = 10_000  # virtual machine steps between two looks at the clock
_APPLICATION = 0x42724674  # "BrFt" in the file's header, so that `file` and we know whose it is


def prepare(path: Path, *, migrate: bool, busy_timeout: float, migrations: Path = MIGRATIONS) -> None:
    """Make ``path`` a database of this version, or raise the StoreError that says why not.

    A missing file is made. An older one is copied beside itself and migrated in one transaction; one that is newer,
    damaged or of another program is refused untouched. With ``migrate`` False nothing is made or changed.
    """
    with _translated(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not migrate:
            if not path.exists():
                raise StoreError(str(path), "there is no database yet", "Start the bot once; it makes one")
            os.close(os.open(path, os.O_RDONLY))
            with _connected(path, busy_timeout) as (_, conn):
                found, newest = _version(path, conn, migrations)
            if found != newest:
                raise StoreError(str(path), "was written by an older Briefbot", "Start the bot once; it migrates")
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o666))
            _refuse_cut(path)
            with _connected(path, busy_timeout) as (raw, conn):
                _check(path, raw)
                found, newest = _version(path, conn, migrations)
                conn.rollback()
                _write_ahead(path, raw)
                if found != newest:
                    _migrate(path, conn, migrations, busy_timeout)


def connect(path: Path, mode: str, busy_timeout: float) -> sqlite3.Connection:
    """A connection without implicit transactions; never makes the file, so that a lost one is not begun anew."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=busy_timeout,
        check_same_thread=False,  # aiosqlite gives each connection one thread; only its shutdown comes from another
    )
    try:
        # FULL: a commit is on the disk before it is reported, so no power cut forgets that a message was sent.
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA cell_size_check=ON")
        connection.execute("PRAGMA foreign_keys=ON")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    with faults.translated(path):
        try:
            yield
        except OSError as error:
            raise faults.from_os(path, error) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time; the lock ends with the process that holds it, however that ends."""
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        until = time.monotonic() + LOCK_SECONDS
        while not _try_lock(descriptor):
            if time.monotonic() > until:
                raise faults.busy(path)
            time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _refuse_cut(path: Path) -> None:
    """Refuse what SQLite would take for whole: it begins an empty file anew and fills a cut last page with zeros.

    With a journal beside it a ragged end is what a power cut leaves, and SQLite mends it from the journal.
    """
    size, journal = path.stat().st_size, path.with_name(f"{path.name}-wal")
    journalled = journal.exists() and journal.stat().st_size > 0
    if size == 0 and (journalled or faults.copies(path)):
        raise faults.corrupt(path, "is empty, and was not")
    with path.open("rb") as file:
        header = file.read(18)
    page = int.from_bytes(header[16:18], "big")  # https://sqlite.org/fileformat.html#page_size, where 1 means 65536
    if header.startswith(b"SQLite format 3\0") and not journalled and size % (65536 if page == 1 else page or 1):
        raise faults.corrupt(path, "is cut short")


def _check(path: Path, raw: sqlite3.Connection) -> None:
    """Read every page once, within CHECK_SECONDS."""
    until = time.monotonic() + CHECK_SECONDS
    raw.set_progress_handler(lambda: time.monotonic() > until, _SQLITE_STEPS)
    try:
        (said,) = raw.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        said = "ok"
    finally:
        raw.set_progress_handler(None, 0)
    if said != "ok":
        raise faults.corrupt(path, "is damaged")


def _write_ahead(path: Path, raw: sqlite3.Connection) -> None:
    (mode,) = raw.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode != "wal":
        remedy = "Put storage.database on a local disk"
        raise StoreError(str(path), "its file system cannot share memory between readers and the writer", remedy)


@contextmanager
def _connected(path: Path, busy_timeout: float) -> Iterator[tuple[sqlite3.Connection, Connection]]:
    """One connection as both the driver's, for what only SQLite has, and SQLAlchemy's, which Alembic wants."""
    with closing(connect(path, "rw", busy_timeout)) as raw:
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=NullPool, hide_parameters=True)
        with engine.connect() as conn:
            yield raw, conn


def _version(path: Path, conn: Connection, migrations: Path) -> tuple[str | None, str]:
    """The version of the tables (None: a new file) and the newest one known."""
    tables = set(inspect(conn).get_table_names())
    found = MigrationContext.configure(conn).get_current_revision() if "alembic_version" in tables else None
    script = ScriptDirectory(str(migrations))
    newest = script.get_current_head() or ""
    if found is None and tables:
        raise StoreError(str(path), "is the database of another program", "Set storage.database to a file of its own")
    if found is not None and found not in {step.revision for step in script.walk_revisions()}:
        saved = faults.copies(path)
        older = f", or put back {saved[-1].name}" if saved else ""
        raise DatabaseTooNew(
            str(path),
            f"was written by a newer Briefbot (version {found}, known up to {newest})",
            f"Install that Briefbot again{older}",
        )
    return found, newest


def _migrate(path: Path, conn: Connection, migrations: Path, busy_timeout: float) -> None:
    conn.exec_driver_sql("PRAGMA foreign_keys=OFF")  # a step may build a table anew; all of it is checked below
    conn.rollback()
    conn.exec_driver_sql("BEGIN IMMEDIATE")
    found, _ = _version(path, conn, migrations)
    if found is not None:
        _copy(path, found, busy_timeout)
    logging.getLogger("alembic.runtime.migration").setLevel(logging.WARNING)  # one line a step says nothing to anyone
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.attributes["connection"] = conn
    command.upgrade(config, "head")
    if broken := conn.exec_driver_sql("PRAGMA foreign_key_check").first():
        raise StoreError(str(path), f"a row of {broken[0]} points nowhere", "Restore a copy; please report it")
    conn.execute(
        text("INSERT INTO meta (key, value) VALUES ('instance', :value) ON CONFLICT (key) DO NOTHING"),
        {"value": secrets.token_hex(4)},
    )
    conn.exec_driver_sql(f"PRAGMA application_id={_APPLICATION}")
    conn.commit()


def _copy(path: Path, version: str, busy_timeout: float) -> None:
    """Copy what is committed, all or nothing, and forget all but the newest copies."""
    made = f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"
    target = path.with_name(f"{path.name}.{made}.{version}.copy")
    unfinished = target.with_suffix(".part")
    try:
        with closing(connect(path, "ro", busy_timeout)) as source, closing(sqlite3.connect(unfinished)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    for old in faults.copies(path)[:-KEPT_COPIES]:
        old.unlink(missing_ok=True)
