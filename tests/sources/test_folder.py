"""A folder of any size is taken whole, costs little while nothing changes, and nothing in it stops the poller."""

import os
from pathlib import Path

from bot.sources.folder import AT_ONCE
from tests.sources.pages import document
from tests.sources.rig import Rig, drop


async def test_one_poll_takes_more_files_than_are_read_at_once(rig: Rig, tmp_path: Path) -> None:
    for n in range(AT_ONCE + 50):
        drop(tmp_path, f"{n}.md", document(n), age=9000 - n)
    await rig.add("folder", tmp_path, backfill=3)
    newest = AT_ONCE + 49
    assert await rig.poll() == [f"Story number {n}" for n in range(newest - 2, newest + 1)]
    assert len(await rig.titles()) == AT_ONCE + 50
    for n in range(1000, 1000 + AT_ONCE + 5):
        drop(tmp_path, f"{n}.md", document(n), age=5000 - n)
    assert await rig.poll() == [f"Story number {n}" for n in range(1000, 1000 + AT_ONCE + 5)]


async def test_what_is_stored_is_not_listed_again(rig: Rig, tmp_path: Path) -> None:
    folder = rig.poller._kinds["folder"]
    for n in range(3):
        drop(tmp_path, f"{n}.md", document(n))
    await rig.add("folder", tmp_path)
    assert len((await folder.list(await rig.source("folder"))).items) == 3, "listed until it is stored"
    await rig.poll()
    assert (await folder.list(await rig.source("folder"))).not_modified
    drop(tmp_path, "1.md", document(1), age=30)
    assert [i.title for i in (await folder.list(await rig.source("folder"))).items] == ["1.md"]
    rig.start()  # a new process knows nothing of the last looks, but the store does
    assert await rig.poll() == []


async def test_a_document_that_is_mended_is_news(rig: Rig, tmp_path: Path) -> None:
    await rig.add("folder", tmp_path)
    await rig.poll()
    drop(tmp_path, "a.md", b"\xff\xfe no text")
    assert await rig.poll() == []
    drop(tmp_path, "a.md", document(1), age=30)
    assert await rig.poll() == ["Story number 1"]


async def test_what_is_no_document_is_passed_over(rig: Rig, tmp_path: Path) -> None:
    await rig.add("folder", tmp_path / "in")
    (tmp_path / "in").mkdir()
    await rig.poll()
    outside = drop(tmp_path, "outside.md", document(1))
    (tmp_path / "in" / "link.md").symlink_to(outside)
    (tmp_path / "in" / "loop").symlink_to(tmp_path / "in")
    os.mkfifo(tmp_path / "in" / "pipe.md")
    for name in (".hidden.md", "a.md~", "~a.md", "a.md.tmp", "a.md.part", ".a.md.swp", "a.html"):
        drop(tmp_path / "in", name, document(2))
    drop(tmp_path / "in", "A.MD", document(3))
    assert await rig.poll() == ["Story number 3"]
    assert await rig.titles() == {"Story number 3"}


async def test_two_files_of_one_title_are_two_briefs_and_a_copy_is_one(rig: Rig, tmp_path: Path) -> None:
    await rig.add("folder", tmp_path)
    await rig.poll()
    drop(tmp_path, "monday.md", document(1))
    drop(tmp_path, "tuesday.md", document(1, published="2026-12-01").replace("a thing", "another"))
    drop(tmp_path, "copy of monday.md", document(1))
    assert len(await rig.poll()) == 2
