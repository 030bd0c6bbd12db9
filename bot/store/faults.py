"""What SQLite, SQLAlchemy and the file system say is turned into one line for a person, here and nowhere else."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, TimeoutError

from bot.errors import (
    DatabaseBusy,
    DatabaseCorrupt,
    DatabaseFull,
    DatabaseReadOnly,
    StoreError,
)
from bot.store.schema import Unreadable

MOVED = "was moved, replaced or deleted while it was in use"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_PROBE = 64 * 1024  # more than a file system keeps back for one file


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise the StoreError of whatever the store's libraries raise inside; other errors pass as they are."""
    try:
        yield
    except (DBAPIError, sqlite3.Error, TimeoutError, Unreadable) as error:
        meant = fault(path, error)
        if meant is None:
            raise
        raise meant from error


def fault(path: Path, error: BaseException) -> StoreError | None:
    """The StoreError that ``error`` means for the database at ``path``; None for a fault of our own SQL."""
    name = str(path)
    if isinstance(error, Unreadable):
        return corrupt(path, str(error))
    if isinstance(error, TimeoutError):
        return DatabaseBusy(name, "every connection has been in use for too long", "Look for a task that hangs")
    if isinstance(error, OSError):
        return from_os(path, error)
    original = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(original, sqlite3.Error) or isinstance(original, sqlite3.InterfaceError):
        return None
    code: int | None = getattr(original, "sqlite_errorcode", None)
    said = str(original)
    if code is None:
        if "UTF-8" in said:
            return corrupt(path, "a text in it is not text any more")
        closed = "no active connection" in said or "onnection closed" in said or "closed database" in said
        return StoreError(name, "is closed", "Start the bot again") if closed else None
    match code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return busy(path)
        case sqlite3.SQLITE_FULL:
            return _full(path)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            if code == sqlite3.SQLITE_READONLY_DBMOVED:
                return moved(path)
            return _read_only(path, "cannot be written")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return corrupt(path, "is no SQLite database" if code & 0xFF == sqlite3.SQLITE_NOTADB else "is damaged")
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_IOERR:
            if code == sqlite3.SQLITE_IOERR_SHORT_READ:
                return corrupt(path, "is cut short")
            return _from_probe(path) or StoreError(
                name, f"cannot be read or written ({original.sqlite_errorname})", "Check the disk and its file system"
            )
        case sqlite3.SQLITE_ERROR if "no such" in said:
            return corrupt(path, f"lacks a part ({said})")
        case sqlite3.SQLITE_ERROR | sqlite3.SQLITE_MISUSE | sqlite3.SQLITE_RANGE:
            return None
        case _:
            return StoreError(name, f"refused the change ({said})", "This is a fault in Briefbot: please report it")


def from_os(path: Path, error: OSError) -> StoreError:
    """The StoreError of a failed file operation on the database, its folder or its lock."""
    number, said = error.errno, error.strerror or type(error).__name__
    if number in _FULL:
        return _full(path)
    if number in _FORBIDDEN:
        return _read_only(path, f"cannot be written ({said})")
    if number == errno.EISDIR:
        return StoreError(str(path), "is a folder, not a file", "Set storage.database to the path of a file")
    if number in (errno.ENOTDIR, errno.EEXIST):
        return StoreError(str(path), "lies under something that is no folder", "Correct storage.database")
    if number == errno.ENOENT:
        return StoreError(str(path), "cannot be made there (no such folder)", "Correct storage.database")
    if number in (errno.EMFILE, errno.ENFILE):
        return StoreError(str(path), f"cannot be opened ({said})", "Raise the limit of open files (ulimit -n)")
    return StoreError(str(path), f"cannot be used ({said})", "Check storage.database and its disk")


def busy(path: Path) -> DatabaseBusy:
    """Somebody else holds the lock."""
    return DatabaseBusy(str(path), "is locked by another process", "Stop the other process, then try again")


def moved(path: Path) -> StoreError:
    """The file at ``path`` is not the one that was opened."""
    return StoreError(str(path), MOVED, "Stop the bot, put the file back with its -wal file, and start it again")


def copies(path: Path) -> list[Path]:
    """The copies beside the database, oldest first; their names begin with the time they were made."""
    ours = re.compile(re.escape(path.name) + r"\.\d{8}T\d{12}Z\.\w+\.copy")
    try:
        found = [p for p in path.parent.iterdir() if ours.fullmatch(p.name)]
    except OSError:
        return []
    return sorted(found)


def _full(path: Path) -> DatabaseFull:
    return DatabaseFull(str(path), "there is no space left for it", "Free some space; what was stored is safe")


def _read_only(path: Path, reason: str) -> DatabaseReadOnly:
    return DatabaseReadOnly(str(path), reason, "Let the bot's user write the file and its folder")


def corrupt(path: Path, reason: str) -> DatabaseCorrupt:
    """The file is not what was written; ``reason`` says in which way."""
    saved = copies(path)
    remedy = f"Keep the file, and put back {saved[-1].name} or a backup" if saved else "Keep it, and restore a backup"
    return DatabaseCorrupt(str(path), reason, remedy)


def _from_probe(path: Path) -> StoreError | None:
    """SQLite names some failures only "I/O error": find out by trying what it tried. None where that works."""
    if path.is_dir():
        return from_os(path, OSError(errno.EISDIR, os.strerror(errno.EISDIR)))
    if not path.exists():
        return moved(path)
    sizes = [p.stat().st_size for p in (path, path.with_name(f"{path.name}-wal")) if p.exists()]
    probe = path.with_name(f"{path.name}.probe")
    try:
        os.close(os.open(path, os.O_RDWR))
        try:
            with open(probe, "wb", buffering=0) as file:
                file.seek(max(sizes))
                if file.write(bytes(_PROBE)) < _PROBE:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        return from_os(path, error)
    return None
