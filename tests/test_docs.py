"""The docs say what the code does: every setting is in the example, in the docs and in the code."""

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from bot.config import Settings, load

ROOT = Path(__file__).parent.parent
EXAMPLE = (ROOT / "config.example.toml").read_text("utf-8")
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text("utf-8")


def settings_in_code() -> dict[str, str]:
    """``section.key`` -> description, from the models themselves."""
    found = {}
    for section, field in Settings.model_fields.items():
        models = [a for a in (field.annotation, *get_args(field.annotation)) if isinstance(a, type)]
        for model in (m for m in models if issubclass(m, BaseModel)):
            found |= {f"{section}.{key}": f.description or "" for key, f in model.model_fields.items()}
    return found


def uncommented() -> str:
    """The example with every ``#key = value`` and ``#[[table]]`` line made real."""
    return re.sub(r"(?m)^#(?=\[|\w+ = )", "", EXAMPLE)


def settings_in_example() -> set[str]:
    found = set()
    for section, value in tomllib.loads(uncommented()).items():
        for table in value if isinstance(value, list) else [value]:
            found |= {f"{section}.{key}" for key in table}
    return found


def test_every_setting_is_described_in_the_code() -> None:
    assert all(settings_in_code().values())


def test_the_example_has_every_setting_and_no_other() -> None:
    assert settings_in_example() == set(settings_in_code())


def test_the_docs_have_every_setting_and_no_other() -> None:
    assert set(re.findall(r"^\| `(\w+\.\w+)` \|", CONFIGURATION, re.M)) == set(settings_in_code())


def test_the_docs_give_the_defaults_of_the_code() -> None:
    rows = dict(re.findall(r"^\| `(\w+\.\w+)` \| `([^`]*)` \|", CONFIGURATION, re.M))
    defaults = {
        f"{section}.{key}": str(value)
        for section, model in load(None).model_dump(mode="json").items()
        if isinstance(model, dict)
        for key, value in model.items()
    }
    for key in ("http.max_bytes", "http.max_redirects", "http.connections", "http.connections_per_host", "log.level"):
        assert rows[key] == defaults[key]


def test_the_example_runs_as_it_is() -> None:
    assert load(ROOT / "config.example.toml").sources[0].name == "Samples"


def test_the_example_with_every_setting_switched_on_is_right(tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    (tmp_path / "discord-token.txt").write_text("not-a-real-token")
    (tmp_path / "config.toml").write_text(uncommented(), "utf-8")
    settings = load(tmp_path / "config.toml")
    assert len(settings.sources) == 4
    assert len(settings.subscriptions) == 3


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]), ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"
