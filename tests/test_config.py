"""A config is read with every problem at once, each with file, key and remedy; the token stays secret."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config import Settings, load, parse_duration
from bot.errors import ConfigError, Problem

TOKEN = "MTAw.NotARealToken.abcdefgh"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCORD_TOKEN", raising=False)


def read(folder: Path, text: str) -> Settings:
    file = folder / "config.toml"
    file.write_text(text, "utf-8")
    return load(file)


def problems(folder: Path, text: str) -> dict[str, Problem]:
    with pytest.raises(ConfigError) as caught:
        read(folder, text)
    return {p.key: p for p in caught.value.problems}


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    settings = read(tmp_path, "")
    assert settings.polling.interval == timedelta(hours=1)
    assert settings.storage.database == tmp_path / "data" / "briefbot.db"
    assert settings.token is None


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    found = problems(
        tmp_path,
        """
        [http]
        timeuot = "5s"
        max_redirects = 99
        [log]
        level = "loud"
        [[sources]]
        name = "A"
        kind = "folder"
        path = "nowhere"
        [[sources]]
        name = "a"
        kind = "site"
        [[sources]]
        kind = "feeed"
        name = "C"
        [[sources]]
        name = "D"
        kind = "brief"
        url = "http://127.0.0.1/x"
        [[sources]]
        name = "E"
        kind = "brief"
        url = "ftp://example.org/x"
        [[subscriptions]]
        channel = 5
        topic = "ai"
        everything = true
        [[subscriptions]]
        channel = 123456789012345678
        source = "E "
        format = "cards"
        [[subscriptions]]
        channel = 123456789012345678
        source = "Dd"
        """,
    )
    assert found["http.timeuot"].remedy == "Did you mean timeout?"
    assert "not a folder" in found["sources[1].path"].reason
    assert "also the name" in found["sources[2].name"].reason
    assert found["sources[2].url"].reason.startswith("is missing")
    assert "'folder', 'site'" in found["sources[3].kind"].remedy
    assert "allow_private = true" in found["sources[4].url"].remedy
    assert "sources[5].url" in found
    assert "topic and everything" in found["subscriptions[1]"].reason
    assert "Copy ID" in found["subscriptions[1].channel"].reason
    assert found["subscriptions[3].source"].remedy == "Did you mean 'd'?"
    assert {"http.max_redirects", "log.level", "subscriptions[2].format"} <= set(found)
    assert all(p.file.endswith("config.toml") and p.reason and p.remedy for p in found.values())


def test_a_private_address_may_be_allowed(tmp_path: Path) -> None:
    text = '[[sources]]\nname = "A"\nkind = "site"\nurl = "http://127.0.0.1:8000/c/ai"\nallow_private = true'
    assert read(tmp_path, text).sources[0].allow_private


@pytest.mark.parametrize("text", ["= 1", "a = [", 'x = "\\q"', "\x00"])
def test_broken_toml_names_the_place(tmp_path: Path, text: str) -> None:
    assert "not valid TOML" in problems(tmp_path, text)[""].reason


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        load(tmp_path / "none.toml")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        load(tmp_path / "config.toml")


@pytest.mark.parametrize("section", ["", "[discord]\n", "[http]\n", "[discord.deeper]\n"])
@pytest.mark.parametrize("key", ["token", "bot_token", "DISCORD_TOKEN"])
def test_a_token_in_the_file_is_refused_and_never_repeated(tmp_path: Path, section: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, f'{section}{key} = "{TOKEN}"')
    assert "must not stand in the config file" in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_the_token_comes_from_the_environment_and_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", f" {TOKEN}\n")
    settings = read(tmp_path, "")
    assert settings.token is not None
    assert settings.token.get_secret_value() == TOKEN
    assert TOKEN not in repr(settings) + str(settings) + settings.model_dump_json()


def test_the_token_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(TOKEN + "\n")
    settings = read(tmp_path, '[discord]\ntoken_file = "secret"')
    assert settings.token is not None
    assert settings.token.get_secret_value() == TOKEN


@pytest.mark.parametrize(("content", "reason"), [(None, "cannot be read"), ("  \n", "is empty")])
def test_a_bad_token_file_is_a_problem(tmp_path: Path, content: str | None, reason: str) -> None:
    if content is not None:
        (tmp_path / "secret").write_text(content)
    assert reason in problems(tmp_path, '[discord]\ntoken_file = "secret"')["discord.token_file"].reason


def test_the_environment_goes_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIEFBOT_POLLING__INTERVAL", "5m")
    assert read(tmp_path, '[polling]\ninterval = "2h"').polling.interval == timedelta(minutes=5)


def test_a_wrong_variable_is_a_problem_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIEFBOT_HTTP__TIMEOUTT", "5s")
    assert "timeout" in problems(tmp_path, "")["http.timeoutt"].remedy


@pytest.mark.parametrize("value", ["", "5", "5 parsecs", "-1s", True, None, [], "0s", 0, -3, "1e9d", "9999d"])
def test_a_wrong_duration_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="duration"):
        parse_duration(value)


@given(st.integers(1, 300), st.sampled_from("smhd"))
def test_a_duration_is_its_number_of_units(number: int, unit: str) -> None:
    assert parse_duration(f"{number}{unit}") == timedelta(
        seconds=number * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit]
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=12,
    )
)
def test_no_value_makes_reading_fail_otherwise(value: object) -> None:
    """Whatever stands where, the answer is Settings or a ConfigError: never another exception."""
    from bot.config import _cross_checks, _take_out_secrets

    for key in ("sources", "subscriptions", "discord", "http", "log"):
        data = {key: value}
        list(_take_out_secrets("f", data))
        list(_cross_checks("f", data, Path()))
