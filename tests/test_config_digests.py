"""A digest in the config is read as people write it; what cannot be is answered with the nearest that can."""

from datetime import time
from pathlib import Path

import pytest

from bot.app import new_digest
from bot.config import Settings, load
from bot.errors import ConfigError
from bot.store.digests import NewDigest, Schedule

HEAD = "[[digests]]\nchannel = 123456789012345678\n"


def read(folder: Path, text: str) -> Settings:
    file = folder / "config.toml"
    file.write_text(text, "utf-8")
    return load(file)


def test_a_digest_is_read(tmp_path: Path) -> None:
    more = 'name = "Morning"\ntopic = "Data & AI"\nat = "8.30"\ndays = ["mon", "Thursday"]\nzone = "Europe/Berlin"\n'
    (digest,) = read(tmp_path, HEAD + more).digests
    assert new_digest(digest, {}) == NewDigest(
        123456789012345678, Schedule(time(8, 30), frozenset({0, 3}), zone="Europe/Berlin"), "Morning", topic="data-ai"
    )


def test_the_defaults_are_those_of_the_store(tmp_path: Path) -> None:
    for at in ('"08:00"', "08:00:00"):
        (digest,) = read(tmp_path, f"{HEAD}everything = true\nat = {at}\n").digests
        assert new_digest(digest, {}) == NewDigest(123456789012345678, Schedule(time(8)), everything=True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('at = "25:00"', "did you mean 01:00?"),
        ('zone = "Europe/Belrin"', "Did you mean Europe/Berlin"),
        ('zone = ""', "there is no time zone"),
        ('days = "mondya"', "did you mean monday?"),
        ("days = []", "no day"),
        ("days = 3", "valid"),
        ("monthday = 32", "31"),
        ("most = 0", "1"),
        ('silent = "sometimes"', "is not known"),
        ('name = "two\\nlines"', "one line"),
        ('source = "Nowhere"', "there is no source"),
        (
            'at = "08:00"\n[[digests]]\nchannel = 123456789012345678\neverything = true',
            "is also the name of digests[1]",
        ),
    ],
)
def test_what_cannot_be_is_answered(tmp_path: Path, line: str, said: str) -> None:
    rest = "" if line.startswith("source") else "everything = true\n"
    rest += "" if line.startswith("at") else 'at = "08:00"\n'
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f"{HEAD}{rest}{line}\n" + ('at = "09:00"\n' if "[[" in line else ""))
    assert any(said in str(problem) or said in problem.reason for problem in caught.value.problems), caught.value
