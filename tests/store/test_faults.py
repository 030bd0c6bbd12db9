"""Whatever the disk does: one line names the file, the reason and the remedy, and nothing that was stored is lost."""

import asyncio
import errno
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.errors import (
    DatabaseBusy,
    DatabaseCorrupt,
    DatabaseFull,
    DatabaseReadOnly,
    StoreError,
)
from bot.store import briefs, faults
from bot.store.database import Database
from tests.store import make
from tests.store.make import keep, start, value


def clear(error: pytest.ExceptionInfo[StoreError], path: Path, *said: str) -> None:
    """One line that a person can act on."""
    line = str(error.value)
    assert line.startswith(f"{path}: ")
    assert "\n" not in line
    assert error.value.reason
    assert error.value.remedy
    for words in said:
        assert words in line


async def read_all(database: Database) -> list[briefs.StoredBrief]:
    async with database.read() as conn:
        return await briefs.latest(conn, limit=10_000)


async def fill(database: Database, number: int, *, start: int = 0, size: int = 3000) -> None:
    async with database.transaction() as conn:
        for n in range(start, start + number):
            await make.brief(conn, n, dek=os.urandom(size // 2).hex())


@pytest.fixture
async def filled(tmp_path: Path) -> Path:
    """A closed database of a few hundred pages."""
    path = tmp_path / "a.db"
    database = await Database.open(path)
    await fill(database, 100)
    await database.close()
    return path


async def open_and_close(path: Path, **options: bool) -> None:
    await (await Database.open(path, busy_timeout=0.1, **options)).close()


# Full disk


async def test_a_full_disk_loses_nothing_and_work_goes_on_when_there_is_room(database: Database) -> None:
    await fill(database, 20)
    async with database.transaction() as conn:
        pages = (await conn.exec_driver_sql("PRAGMA page_count")).scalar_one()
        await conn.exec_driver_sql(f"PRAGMA max_page_count={pages + 5}")
    with pytest.raises(DatabaseFull) as error:
        await fill(database, 50, start=20)
    clear(error, database.path, "no space left")
    await keep(database, "small", "fits")
    assert len(await read_all(database)) == 20
    async with database.transaction() as conn:
        await conn.exec_driver_sql("PRAGMA max_page_count=1000000")
    await fill(database, 50, start=20)
    assert len(await read_all(database)) == 70


SMALL_DISK = """
import asyncio, json, os, resource, sys
from bot.errors import DatabaseFull
from bot.store.database import Database
from tests.store.test_faults import fill, read_all

async def main(path):
    database = await Database.open(path)
    await fill(database, 10)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
    errors, stored = [], 10
    for _ in range(40):
        try:
            await fill(database, 10, start=stored)
            stored += 10
        except DatabaseFull as error:
            errors.append(str(error))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await fill(database, 10, start=stored)
    stored += 10
    print(json.dumps([errors, stored, len(await read_all(database))]))
    await database.close()

asyncio.run(main(sys.argv[1]))
"""


async def test_a_disk_that_refuses_to_grow_a_file_is_a_full_disk(tmp_path: Path) -> None:
    """The kernel's own refusal, which SQLite calls an I/O error."""
    child = start(SMALL_DISK, tmp_path / "a.db")
    said, wrong = await asyncio.to_thread(child.communicate, timeout=60)
    assert child.returncode == 0, wrong.decode()
    errors, stored, found = json.loads(said)
    assert stored == found > 20
    assert len(errors) > 5
    assert set(errors) == {
        f"{tmp_path / 'a.db'}: there is no space left for it. Free some space; what was stored is safe"
    }
    assert not [name for name in os.listdir(tmp_path) if "probe" in name]


NO_ROOM = """
import asyncio, resource, sys
from bot.errors import DatabaseFull
from bot.store.database import Database

async def main(path):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    try:
        await Database.open(path)
    except DatabaseFull as error:
        print(error)

asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize("room", [0, 5_000, 50_000])
async def test_a_disk_without_room_for_a_new_database(tmp_path: Path, room: int) -> None:
    child = start(NO_ROOM, tmp_path / "a.db", room)
    said, wrong = await asyncio.to_thread(child.communicate, timeout=60)
    assert (child.returncode, wrong.decode()) == (0, "")
    assert "there is no space left for it" in said.decode()
    await open_and_close(tmp_path / "a.db")


# Locked


async def test_another_process_that_writes_makes_it_busy_and_readers_do_not_care(
    database: Database, tmp_path: Path
) -> None:
    await keep(database, "k", "x")
    other = await Database.open(database.path, busy_timeout=0.1)
    with closing(sqlite3.connect(database.path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseBusy) as error:
            await keep(other, "k", "y")
        clear(error, database.path, "locked by another process")
        assert await value(other, "k") == "x"
        await open_and_close(database.path)
    await keep(other, "k", "y")
    await other.close()


@pytest.mark.parametrize("migrate", [True, False])
async def test_another_process_that_keeps_it_for_itself_makes_it_busy_at_open(filled: Path, migrate: bool) -> None:
    with closing(sqlite3.connect(filled, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseBusy) as error:
            await open_and_close(filled, migrate=migrate)
        clear(error, filled, "locked by another process")
    await open_and_close(filled, migrate=migrate)


# Read-only


async def test_a_database_that_may_not_be_written_in_the_middle_of_work(database: Database) -> None:
    await keep(database, "k", "x")
    async with database.transaction() as conn:
        await conn.exec_driver_sql("PRAGMA query_only=ON")
    with pytest.raises(DatabaseReadOnly) as error:
        await keep(database, "k", "y")
    clear(error, database.path, "cannot be written")
    assert await value(database, "k") == "x"


AS_NOBODY = """
import asyncio, os, sys
from bot.errors import StoreError
from bot.store import upgrade
from bot.store.database import Database, get_meta, set_meta

async def warm_up(path):
    # Afterwards the interpreter's own files may be out of reach.
    database = await Database.open(path)
    async with database.transaction() as conn:
        await set_meta(conn, "k", "x")
        await get_meta(conn, "k")
    await database.close()

async def main(path, migrate):
    try:
        database = await Database.open(path, migrate=migrate)
    except StoreError as error:
        print("open", type(error).__name__, error)
        return
    try:
        async with database.read() as conn:
            await get_meta(conn, "k")
        async with database.transaction() as conn:
            await set_meta(conn, "k", "y")
    except StoreError as error:
        print("work", type(error).__name__, error)
    await database.close()

path, warm, migrate = sys.argv[1:]
asyncio.run(warm_up(warm))
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
if os.access(upgrade.MIGRATIONS / "env.py", os.R_OK):
    asyncio.run(main(path, migrate == "migrate"))
else:
    print("skip")
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that any user can reach; pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="briefbot"))
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755)
    shutil.rmtree(folder)


def permit(path: Path, file: int | None, folder: int) -> None:
    if file is not None:
        path.chmod(file)
        path.with_name("a.db.lock").chmod(0o666)
    path.parent.chmod(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another matter there")
@pytest.mark.parametrize(
    ("file", "folder", "migrate", "said"),
    [
        (0o444, 0o777, "migrate", "open DatabaseReadOnly"),
        (0o666, 0o555, "migrate", "open DatabaseReadOnly"),
        (0o000, 0o777, "migrate", "open DatabaseReadOnly"),
        (0o444, 0o777, "", "work DatabaseReadOnly"),
        (0o666, 0o555, "", "open DatabaseReadOnly"),
        (None, 0o555, "migrate", "open DatabaseReadOnly"),
    ],
)
async def test_permissions_that_forbid_writing(
    public: Path, tmp_path: Path, file: int | None, folder: int, migrate: str, said: str
) -> None:
    """Root may write everywhere, so the child becomes another user first."""
    path = public / "a.db"
    if file is not None:
        await open_and_close(path)
    permit(path, file, folder)
    child = start(AS_NOBODY, path, tmp_path / "warm.db", migrate)
    out, wrong = await asyncio.to_thread(child.communicate, timeout=60)
    assert (child.returncode, wrong.decode()) == (0, "")
    if out == b"skip\n":
        pytest.skip("the project lies where no other user can read it")
    assert out.decode().startswith(f"{said} {path}: cannot be written")
    assert out.count(b"\n") == 1


@pytest.mark.parametrize("where", ["/proc/briefbot/a.db", "/sys/briefbot/a.db"])
async def test_a_place_where_nothing_can_be_made(where: str) -> None:
    if not Path(where).parents[1].is_dir():
        pytest.skip("not on this system")
    with pytest.raises(StoreError) as error:
        await open_and_close(Path(where))
    clear(error, Path(where))


# Not a file at all


@pytest.mark.parametrize("migrate", [True, False])
async def test_a_folder_in_place_of_the_file(tmp_path: Path, migrate: bool) -> None:
    (tmp_path / "a.db").mkdir()
    for path in (tmp_path / "a.db", Path("/")):
        with pytest.raises(StoreError) as error:
            await open_and_close(path, migrate=migrate)
        clear(error, path, "is a folder, not a file")


async def test_a_path_that_leads_through_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "a.db", tmp_path / "file" / "deeper" / "a.db"):
        with pytest.raises(StoreError) as error:
            await open_and_close(path)
        clear(error, path, "lies under something that is no folder")


async def test_paths_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no path"):
        await Database.open("a\0b")
    with pytest.raises(StoreError, match="File name too long"):
        await Database.open(tmp_path / ("x" * 300))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(StoreError):
        await Database.open(tmp_path / "loop")


async def test_a_path_of_any_characters_works(tmp_path: Path) -> None:
    path = tmp_path / "a folder?x=1#y" / "%41 'ü 漢.db"
    database = await Database.open(path)
    await keep(database, "k", "x")
    await database.close()
    await open_and_close(path, migrate=False)
    assert path.exists()


# Damaged


def content(path: Path) -> bytes:
    return path.read_bytes()


def garbage(path: Path) -> None:
    path.write_bytes(b"This is no database at all, but it is long enough to be looked at.\n" * 100)


def bad_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(os.urandom(100))


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def cut_inside_a_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1000)


def flipped_page(path: Path) -> None:
    """Every bit of some pages in the middle, as a failing disk or a stray write leaves them."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        for page in range(size // 4096 // 3, size // 4096 // 3 * 2):
            file.seek(page * 4096)
            old = file.read(4096)
            file.seek(page * 4096)
            file.write(bytes(byte ^ 0xFF for byte in old))


DAMAGE = [garbage, bad_header, truncated, cut_inside_a_page, flipped_page]


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_file_is_told_at_open_and_left_as_it_is(filled: Path, damage: Callable[[Path], None]) -> None:
    damage(filled)
    before = content(filled)
    with pytest.raises(DatabaseCorrupt) as error:
        await open_and_close(filled)
    clear(error, filled, "Keep it, and restore a backup")
    assert content(filled) == before


@pytest.mark.parametrize("damage", [truncated, flipped_page])
async def test_a_file_damaged_in_the_middle_of_work(filled: Path, damage: Callable[[Path], None]) -> None:
    database = await Database.open(filled)
    try:
        damage(filled)
        with pytest.raises(DatabaseCorrupt) as error:
            await read_all(database)
        clear(error, filled)
        with pytest.raises(StoreError) as error:
            await fill(database, 300, start=50)
        clear(error, filled)
    finally:
        await database.close()


async def test_the_newest_copy_is_named_in_the_remedy(filled: Path) -> None:
    for stamp in ("20260101T000000000000Z", "20260102T000000000000Z"):
        shutil.copy(filled, filled.with_name(f"a.db.{stamp}.0001.copy"))
    garbage(filled)
    with pytest.raises(DatabaseCorrupt, match=r"put back a\.db\.20260102T000000000000Z\.0001\.copy or a backup"):
        await open_and_close(filled)


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_file_taken_away_in_the_middle_of_work(filled: Path, tmp_path: Path, replaced: bool) -> None:
    database = await Database.open(filled)
    await keep(database, "k", "x")
    os.rename(filled, tmp_path / "elsewhere.db")
    if replaced:
        garbage(filled)
        before = content(filled)
    for work in (keep(database, "k", "y"), value(database, "k")):
        with pytest.raises(StoreError) as error:
            await work
        clear(error, filled, "moved, replaced or deleted")
    # Nothing was begun anew under the old name, and putting it back is enough.
    assert not replaced or content(filled) == before
    os.rename(tmp_path / "elsewhere.db", filled)
    assert await value(database, "k") == "x"
    await database.close()


async def test_a_time_that_is_none_is_damage(database: Database) -> None:
    async with database.transaction() as conn:
        await make.source(conn)
        await conn.exec_driver_sql("UPDATE sources SET next_poll_at = 'noon'")

    async def read() -> None:
        async with database.read() as conn:
            await make.source(conn)

    with pytest.raises(DatabaseCorrupt, match="'noon' stands where a time should"):
        await read()


def test_faults_of_our_own_are_not_blamed_on_the_disk(tmp_path: Path) -> None:
    def syntax() -> None:
        with faults.translated(tmp_path / "a.db"), closing(sqlite3.connect(":memory:")) as raw:
            raw.execute("SELEC 1")

    with pytest.raises(sqlite3.OperationalError):
        syntax()


def test_too_many_open_files_are_named(tmp_path: Path) -> None:
    assert "ulimit" in str(faults.from_os(tmp_path / "a.db", OSError(errno.EMFILE, "Too many open files")))
