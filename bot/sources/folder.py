"""A watched folder of brief documents: new, changed and removed files, none of them read while it is being written."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from bot.briefs import document
from bot.briefs.model import Brief
from bot.errors import DocumentError, SourceError
from bot.sources.identity import Item
from bot.sources.kinds import Listing
from bot.store.sources import Source

log = structlog.get_logger(__name__)

SUFFIXES = (".md", ".markdown", ".txt")
MOST_FILES = 20_000
DEEPEST = 4
LONGEST = 5_000_000
AT_ONCE = 200  # files listed at one look: each is read at once, and the store's writer is not held for longer
# A file that was written to this short a time ago may still be written to, unless it was as large at the last look.
SETTLED_AFTER = 1.0
# A document that is no brief may become one for so long; then it is set aside.
UNFINISHED = 10.0


@dataclass(frozen=True, slots=True)
class _File:
    path: str  # below the folder, with slashes
    size: int
    modified: int  # nanoseconds

    @property
    def version(self) -> str:
        return f"{self.path}\0{self.size}\0{self.modified}"


class Folder:
    """The kind ``folder``. Remembers the last look at each folder, to tell what is still being written and what is taken.

    A look costs one ``stat`` a file; only files that are not as they were when they were stored are listed.
    """

    def __init__(self) -> None:
        self._looks: dict[int, dict[str, _File]] = {}
        self._taken: dict[int, dict[str, _File]] = {}

    async def list(self, source: Source) -> Listing:
        """The documents that changed since they were stored and are not being written, oldest first; some at a time.

        At first sight the newest come first, as those may be news. Raises SourceError.
        """
        if source.last_ok_at is None:
            self._taken.pop(source.id, None)
            self._looks[source.id] = {f.path: f for f in await asyncio.to_thread(_scan, Path(source.location))}
            if any(_is_recent(file) for file in self._looks[source.id].values()):
                await asyncio.sleep(SETTLED_AFTER)  # what was dropped just before belongs to the baseline too
        files = await asyncio.to_thread(_scan, Path(source.location))
        before = self._looks.get(source.id, {})
        self._looks[source.id] = {file.path: file for file in files}
        taken = self._taken.setdefault(source.id, {})
        for path in taken.keys() - self._looks[source.id].keys():
            log.debug("file removed, its brief stays", source=source.name, file=path)
            del taken[path]
        changed = [f for f in files if taken.get(f.path) != f]
        settled = [f for f in changed if not _is_recent(f) or (before.get(f.path) == f and source.last_ok_at)]
        settled.sort(key=lambda f: (f.modified, f.path))
        some = settled[-AT_ONCE:] if source.baseline_at is None else settled[:AT_ONCE]
        return Listing(
            items=tuple(Item(guid=f.path, link=None, title=f.path, version=f.version) for f in some),
            not_modified=not some and source.baseline_at is not None,
            unsettled=len(settled) < len(changed),
            more=len(some) < len(settled),
            taken=lambda: taken.update((f.path, f) for f in some),
        )

    async def read(self, source: Source, item: Item, held: Any) -> Brief:
        """The brief in a file. Raises DocumentError where it is none, SourceError while it may still become one."""
        path = Path(source.location) / item.title
        try:
            return await asyncio.to_thread(_read, path)
        except DocumentError as error:
            if await asyncio.to_thread(_is_fresh, path):
                raise SourceError(str(error)) from None
            raise


def _is_recent(file: _File) -> bool:
    return 0 <= time.time() - file.modified / 1e9 < SETTLED_AFTER


def _is_fresh(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return 0 <= time.time() - path.stat().st_mtime < UNFINISHED
    return False


def _scan(folder: Path) -> list[_File]:
    if not folder.is_dir():
        why = "it is not a folder" if folder.exists() else "there is no such folder"
        raise SourceError(f"{why}: {folder}", "Make it, or correct the source's path")
    try:
        files = list(_walk(folder, "", 0))
    except PermissionError:
        raise SourceError(f"the folder cannot be read: {folder}", "Let the bot's user read it") from None
    except OSError as error:
        raise SourceError(f"the folder cannot be read ({error.strerror}): {folder}", "Check the disk") from None
    if len(files) > MOST_FILES:
        raise SourceError(f"there are more than {MOST_FILES} documents in {folder}", "Split them over several folders")
    return files


def _walk(folder: Path, below: str, depth: int) -> Iterator[_File]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith((".", "~", "#")) or name.endswith("~"):
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    yield from _walk(Path(entry.path), f"{below}{name}/", depth + 1)
                continue
            # A link could lead anywhere; and what is neither a link nor a file could block for ever.
            if name.lower().endswith(SUFFIXES) and entry.is_file(follow_symlinks=False):
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # removed between the two calls
                yield _File(f"{below}{name}", found.st_size, found.st_mtime_ns)


def _read(path: Path) -> Brief:
    try:
        with path.open("rb") as handle:
            if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
                raise DocumentError("document", 1, "it is not a file")
            raw = handle.read(LONGEST + 1)
    except OSError as error:
        raise SourceError(f"it cannot be read ({error.strerror})", "Let the bot's user read it") from None
    if len(raw) > LONGEST:
        raise DocumentError("document", 1, f"it is larger than {LONGEST / 1e6:g} MB")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DocumentError("document", line, "it is not UTF-8 text") from None
    return document.parse(text)
