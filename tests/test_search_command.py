"""``briefbot search``: lines for a person, JSON for a program, and words that begin with a sign."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.briefs.model import Brief, Topic
from bot.cli import cli
from bot.errors import StoreError
from bot.store import briefs, sources
from bot.store.database import Database
from bot.store.sources import NewSource

NOW = datetime(2026, 12, 1, tzinfo=UTC)
BRIEFS = [
    Brief("PyTorch 2.15 [bold]", published=NOW, topic=Topic("Data & AI", "data-ai"), permalink="https://a.example/1"),
    Brief("PyTorch patch", topic=Topic("Security", "security")),
]


async def fill(path: Path) -> None:
    database = await Database.open(path)
    async with database.transaction() as conn:
        new = NewSource(name="Wire", kind="site", location="https://w.example/", interval=timedelta(hours=1))
        source = await sources.add(conn, new, NOW)
        for brief in BRIEFS:
            await briefs.add(conn, brief, source_id=source.id, now=NOW, baseline=False)
    await database.close()


@pytest.fixture
def config(tmp_path: Path) -> str:
    asyncio.run(fill(tmp_path / "b.db"))
    file = tmp_path / "config.toml"
    file.write_text('[storage]\ndatabase = "b.db"\n', "utf-8")
    return str(file)


def said(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["search", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_json_is_a_list_best_first(config: str) -> None:
    found = json.loads(said("pytorch", "--json", "--config", config))
    assert {one["id"] for one in found} == {1, 2}
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    first = next(one for one in found if one["id"] == 1)
    assert first["title"] == "PyTorch 2.15 [bold]"
    assert (first["permalink"], first["topic"]) == ("https://a.example/1", "data-ai")


@pytest.mark.parametrize("topic", ["data-ai", "Data & AI"])
def test_a_topic_by_name_or_slug(config: str, topic: str) -> None:
    assert [one["id"] for one in json.loads(said("pytorch", "--topic", topic, "--json", "--config", config))] == [1]


def test_a_line_for_each(config: str) -> None:
    line = said("2.15", "--config", config)
    assert line.split("  ") == ["1", "2026-12-01", "data-ai", "PyTorch 2.15 [bold]", "https://a.example/1\n"]


@pytest.mark.parametrize(
    "words", [["pytorch", "-patch"], ["pytorch -patch"], ["-patch", "pytorch"], ["pytorch", '-"patch"']]
)
def test_words_to_leave_out(config: str, words: list[str]) -> None:
    assert [one["id"] for one in json.loads(said(*words, "--json", "--config", config))] == [1]


def test_nothing_is_an_empty_list(config: str) -> None:
    assert json.loads(said("quantum", "--json", "--config", config)) == []
    assert said("quantum", "--config", config) == ""


def test_a_misspelt_word_is_mended(config: str) -> None:
    result = CliRunner().invoke(cli, ["search", "pytorhc", "--json", "--config", config])
    assert {one["id"] for one in json.loads(result.stdout)} == {1, 2}
    assert "searched 'pytorch'" in result.stderr


def test_without_a_database_it_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[storage]\ndatabase = "none.db"\n', "utf-8")
    with pytest.raises(StoreError, match="there is no database yet"):
        CliRunner().invoke(cli, ["search", "x", "--config", str(file)], catch_exceptions=False)
