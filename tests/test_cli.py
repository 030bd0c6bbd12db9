"""The briefbot command, as a person runs it: every fault ends in plain lines and a status, never in a traceback."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import structlog

from bot.cli import main

ROOT = Path(__file__).parent.parent
REAL = ROOT / "tests" / "data" / "briefs" / "brifing-pytorch-2.15.md"


class Ran(NamedTuple):
    """What a command printed and how it ended."""

    stdout: str
    stderr: str
    returncode: int


Briefbot = Callable[..., Ran]


@pytest.fixture
def briefbot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Briefbot]:
    """Run the command in the test's folder, without a token unless one is given."""
    for name in [n for n in os.environ if n.startswith(("DISCORD_", "BRIEFBOT_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def run(*words: object, **env: str) -> Ran:
        with monkeypatch.context() as patch:
            for name, value in env.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["briefbot", *map(str, words)])
            with pytest.raises(SystemExit) as ended:
                main()
        said = capfd.readouterr()
        assert "Traceback" not in said.out + said.err
        return Ran(said.out, said.err, int(ended.value.code or 0))

    yield run
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


def config(folder: Path, more: str = "") -> Path:
    """A config file with one folder of documents."""
    (folder / "in").mkdir(exist_ok=True)
    path = folder / "c.toml"
    path.write_text(
        f'[storage]\ndatabase = "b.db"\n[[sources]]\nname = "Docs"\nkind = "folder"\npath = "in"\n{more}', "utf-8"
    )
    return path


@pytest.mark.parametrize(
    "file", [REAL, REAL.with_name("brifing-pytorch-2.15.flattened.txt")], ids=["written", "flattened"]
)
def test_preview_as_json(briefbot: Briefbot, file: Path) -> None:
    shown = json.loads(briefbot("preview", file, "--json").stdout)
    assert shown["title"].startswith("PyTorch 2.15 Released")
    assert len(shown["sections"]) == 12
    assert shown["sections"][1]["heading"] == "Rewritten NCCL Backend Default"
    body = file.read_text("utf-8")
    for section in shown["sections"]:
        assert section["summary"].split(". ")[0].rstrip(".") in " ".join(body.split())
    (message,) = shown["messages"]
    assert message["flags"] == 1 << 15
    assert message["allowed_mentions"]["parse"] == []


def test_preview_for_a_person_and_from_standard_input(briefbot: Briefbot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(REAL.read_bytes()), "utf-8"))
    shown = briefbot("preview", "-")
    assert shown.returncode == 0
    assert "Rewritten NCCL Backend Default" in shown.stdout


@pytest.mark.parametrize("content", [b"", b"hello", b"\xff\xfe\x00", b"<html></html>", None])
def test_preview_of_what_is_no_brief(briefbot: Briefbot, tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "x.md").write_bytes(content)
    found = briefbot("preview", "x.md")
    assert found.returncode == 1
    assert "x.md" in found.stderr


def test_check_reports_every_problem(briefbot: Briefbot, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('[http]\ntimeuot = 1\n[log]\nlevel = "loud"\n')
    found = briefbot("check", "--config", "c.toml")
    assert found.returncode == 2
    assert "http.timeuot" in found.stderr
    assert "Did you mean timeout?" in found.stderr
    assert "log.level" in found.stderr
    assert briefbot("check", "--config", config(tmp_path)).returncode == 0


def test_once_stores_the_baseline_then_the_news(briefbot: Briefbot, tmp_path: Path) -> None:
    path = config(tmp_path, "[[subscriptions]]\nchannel = 123456789012345678\neverything = true\n")
    (tmp_path / "in" / "a.md").write_text(REAL.read_text("utf-8"), "utf-8")
    first = briefbot("once", "--config", path)
    assert "1 briefs stored, 0 messages sent, 0 waiting." in first.stdout
    (tmp_path / "in" / "b.md").write_text("# Another\n\n## One\n\nA sentence.\n", "utf-8")
    (tmp_path / "in" / "bad.md").write_text("nothing", "utf-8")
    second = briefbot("once", "--config", path, BRIEFBOT_LOG__FORMAT="json")
    assert "2 briefs stored, 0 messages sent, 1 waiting." in second.stdout
    assert "DISCORD_TOKEN" in second.stdout
    report = json.loads(briefbot("status", "--json", "--config", path).stdout)
    assert report["sources"][0]["state"] == "fine"
    assert report["messages"]["queued"] == 1
    (bad,) = report["unread"]
    assert bad["item"] == "bad.md"
    assert bad["reason"]
    assert "Docs" in briefbot("status", "--config", path).stdout


def test_add_a_folder_once_and_only_once(briefbot: Briefbot, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("")
    (tmp_path / "docs").mkdir()
    added = briefbot("add", "docs", "--config", "c.toml")
    assert "Added 'docs': a folder of documents" in added.stdout
    again = briefbot("add", "docs", "--config", "c.toml")
    assert again.returncode == 1
    assert "Choose another with --name" in again.stderr
    assert briefbot("add", "docs", "--name", "more", "--config", "c.toml").returncode == 0


@pytest.mark.parametrize(
    "what",
    ["nowhere", "c.toml", "ftp://example.org/x", "http://127.0.0.1:1/c/ai", "http://", "https://u:p@example.org"],
)
def test_add_what_cannot_be_added(briefbot: Briefbot, tmp_path: Path, what: str) -> None:
    (tmp_path / "c.toml").write_text("")
    found = briefbot("add", what, "--config", "c.toml")
    assert found.returncode == 1
    assert found.stderr.startswith("briefbot: ")


def test_a_list_of_feeds_in_and_out(briefbot: Briefbot, tmp_path: Path) -> None:
    path = config(tmp_path)
    feeds = [("Same", "https://a.example.org/"), ("Same", "https://b.example.org/"), ("", "https://c.example.org/feed")]
    listed = "".join(
        f'<outline text="{name}" xmlUrl="{url}"/>' for name, url in [*feeds, ("x", "ftp://x.example.org/")]
    )
    (tmp_path / "f.opml").write_text(f'<opml version="2.0"><body>{listed}</body></opml>')
    said = briefbot("import", "f.opml", "--config", path)
    assert "3 feeds added, 0 were there already." in said.stdout
    assert "Left out: x: ftp: addresses are not fetched" in said.stdout
    assert "0 feeds added, 3 were there already." in briefbot("import", "f.opml", "--config", path).stdout
    written = briefbot("export", "--config", path).stdout
    assert all(url in written for _, url in feeds)
    assert 'text="Same (2)"' in written
    assert briefbot("import", "none.opml", "--config", path).returncode == 1
    (tmp_path / "g.opml").write_text("nothing")
    assert "lists no feeds" in briefbot("import", "g.opml", "--config", path).stderr


@pytest.mark.parametrize("command", ["run", "once", "status", "add x"])
def test_a_config_that_is_not_there(briefbot: Briefbot, tmp_path: Path, command: str) -> None:
    found = briefbot(*command.split(), "--config", "none.toml")
    assert found.returncode == 2
    assert "there is no such file" in found.stderr


def test_a_database_that_cannot_be_used(briefbot: Briefbot, tmp_path: Path) -> None:
    path = config(tmp_path)
    (tmp_path / "b.db").write_bytes(b"this is no database, but longer than a header of one hundred bytes" * 3)
    for command in ("once", "status"):
        found = briefbot(command, "--config", path)
        assert found.returncode == 1
        assert "b.db" in found.stderr


def test_a_second_bot_is_refused(briefbot: Briefbot, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    path = config(tmp_path)
    with (tmp_path / "b.db.running").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        found = briefbot("once", "--config", path)
    assert found.returncode == 1
    assert "in use by another Briefbot" in found.stderr


@pytest.mark.parametrize("token", ["wrong.token.here", "Bot x", "ünïcode"])
def test_a_token_that_cannot_be_one_or_no_network(briefbot: Briefbot, tmp_path: Path, token: str) -> None:
    """There is no way to Discord from the tests: one line says so, without the token."""
    found = briefbot("run", "--config", config(tmp_path), DISCORD_TOKEN=token, HTTPS_PROXY="http://127.0.0.1:1")
    assert found.returncode == 1
    assert "briefbot: " in found.stderr
    assert token not in found.stdout + found.stderr


def test_version_and_help(briefbot: Briefbot, tmp_path: Path) -> None:
    assert briefbot("--version").stdout.startswith("briefbot ")
    for command in ("run", "playground", "preview", "check", "status", "add", "once"):
        assert command in briefbot("--help").stdout


def test_as_a_module() -> None:
    """`python -m bot` is the same command."""
    words = [sys.executable, "-W", "ignore", "-m", "bot", "--version"]
    assert subprocess.check_output(words, cwd=ROOT, text=True).startswith("briefbot ")
