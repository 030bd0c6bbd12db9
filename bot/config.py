"""config.toml and the environment, read into Settings; every problem is reported at once.

Order of precedence: environment (``BRIEFBOT_SECTION__KEY``), config file, defaults. The Discord token comes only from
``DISCORD_TOKEN`` or from the file named by ``discord.token_file``; a token written into the file is refused, unread.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import time, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from bot.delivery.calendar import find_zone
from bot.delivery.spoken import read_days, read_time
from bot.errors import ConfigError, Problem, UnsafeURL
from bot.sources.http import check_url, is_private

TOKEN_VARIABLE = "DISCORD_TOKEN"
ENV_PREFIX = "BRIEFBOT_"

_TOKEN_KEYS = {"token", "bot_token", "discord_token"}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_duration(value: object) -> timedelta:
    """``"90s"``, ``"30m"``, ``"2h"``, ``"1d"`` or a number of seconds -> timedelta; ValueError otherwise."""
    if isinstance(value, timedelta):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = float(value)
    elif isinstance(value, str) and (found := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd])\s*", value)):
        seconds = float(found[1]) * _UNITS[found[2]]
    else:
        raise ValueError('write a duration such as "90s", "30m", "2h" or "1d"')
    if not 0 < seconds <= 366 * 86400:
        raise ValueError("a duration lies between one second and one year")
    return timedelta(seconds=seconds)


def _snowflake(value: int) -> int:
    if not 2**22 <= value < 2**63:
        raise ValueError("a Discord id is a number of 17 to 19 digits: right-click the channel and choose Copy ID")
    return value


def _clock_time(value: object) -> object:
    if isinstance(value, time):
        return value.replace(second=0, microsecond=0)
    return read_time(value) if isinstance(value, str) else value


def _days(value: object) -> object:
    if isinstance(value, (list, tuple)) and all(isinstance(day, str) for day in value):
        value = ", ".join(value) or "none"
    return read_days(value) if isinstance(value, str) else value


def _zone(value: str) -> str:
    return find_zone(value).key


Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
Snowflake = Annotated[int, AfterValidator(_snowflake)]
SourceKind = Literal["folder", "site", "brief", "feed"]
Format = Literal["card", "compact", "embed"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DiscordSettings(_Part):
    """How the bot logs in."""

    token_file: Path | None = Field(None, description="File that holds the bot token and nothing else.")
    development_guild: Snowflake | None = Field(
        None, description="Server id that gets slash commands at once while you develop."
    )


class StorageSettings(_Part):
    """Where everything is remembered."""

    database: Path = Field(Path("data/briefbot.db"), description="SQLite file; its folder is made if missing.")


class HttpSettings(_Part):
    """How sources on the web are fetched."""

    contact: str = Field("", description="Address in the User-Agent, so that a site's owner can reach you.")
    timeout: Duration = Field(timedelta(seconds=20), description="Longest time for one whole fetch.")
    max_bytes: int = Field(5_000_000, ge=10_000, le=50_000_000, description="Largest decoded body, in bytes.")
    max_redirects: int = Field(5, ge=0, le=10, description="Redirects followed before giving up.")
    connections: int = Field(50, ge=1, le=500, description="Connections at once, over all hosts.")
    connections_per_host: int = Field(2, ge=1, le=8, description="Connections at once to one host.")


class PollingSettings(_Part):
    """How often sources are asked."""

    interval: Duration = Field(timedelta(hours=1), description="Usual time between two polls of a web source.")
    folder_interval: Duration = Field(timedelta(seconds=2), description="Usual time between two looks at a folder.")
    concurrency: int = Field(20, ge=1, le=200, description="Sources polled at the same time.")


class LogSettings(_Part):
    """What is logged, and how."""

    level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is shown.")
    format: Literal["auto", "console", "json"] = Field(
        "auto", description="console: one line for a person; json: one object a line; auto: console on a terminal."
    )


class SourceSettings(_Part):
    """One place that is polled."""

    name: str = Field(min_length=1, max_length=100, description="What members see; unique.")
    kind: SourceKind = Field(description="folder of documents, feed, site topic page, or one brief document's address.")
    path: Path | None = Field(None, description="The folder (kind = folder).")
    url: str | None = Field(None, max_length=2000, description="The address (kind = feed, site or brief).")
    interval: Duration | None = Field(None, description="Own time between two polls.")
    backfill: int = Field(
        0, ge=0, le=100, description="How many of the newest briefs found at the first poll are posted."
    )
    allow_private: bool = Field(False, description="Let this address lie in a private network.")
    enabled: bool = Field(True, description="Set to false to stop polling and keep what is stored.")

    @field_validator("name")
    @classmethod
    def _no_control_characters(cls, value: str) -> str:
        if not value.strip() or any(ord(c) < 32 for c in value):
            raise ValueError("a name is one line of text")
        return value.strip()


class SubscriptionSettings(_Part):
    """What one channel gets."""

    channel: Snowflake = Field(description="Id of the channel that gets the briefs.")
    topic: str | None = Field(None, min_length=1, description="Slug or name of a topic, such as data-ai.")
    source: str | None = Field(None, min_length=1, description="Name of a source above.")
    everything: bool = Field(False, description="Every brief.")
    format: Format = Field("card", description="card, compact (title, dek, link) or embed (announcement channels).")
    role: Snowflake | None = Field(None, description="Role that is mentioned with each brief; nobody by default.")


class DigestSettings(_Part):
    """What one channel gets gathered at its own local time."""

    channel: Snowflake = Field(description="Id of the channel that gets the digest.")
    name: str = Field(
        "Digest", min_length=1, max_length=80, description="What its first line says; unique in its channel."
    )
    topic: str | None = Field(None, min_length=1, description="Slug or name of a topic, such as data-ai.")
    source: str | None = Field(None, min_length=1, description="Name of a source above.")
    everything: bool = Field(False, description="Every brief.")
    at: Annotated[time, BeforeValidator(_clock_time)] = Field(description="Local time of day, such as 08:00.")
    days: Annotated[frozenset[int] | None, BeforeValidator(_days)] = Field(
        None, description="daily, weekdays, weekends, or days such as mon, thu."
    )
    monthday: int | None = Field(
        None, ge=1, le=31, description="Only on this day of each month; in a shorter month on its last day."
    )
    zone: Annotated[str, AfterValidator(_zone)] = Field("UTC", description="IANA time zone, such as Europe/Ljubljana.")
    most: int = Field(24, ge=1, le=60, description="Briefs shown; the others are behind a button.")
    when_empty: Literal["nothing", "line"] = Field(
        "nothing", description="What is posted when nothing is new: nothing, or one line that says so."
    )
    silent: Literal["night", "always", "never"] = Field(
        "night", description="When it makes no sound: from 22:00 to 07:00 local time, always or never."
    )
    catch_up: bool = Field(
        True, description="Send it late after an outage; false: skip what is more than 15 minutes late."
    )

    @field_validator("name")
    @classmethod
    def _one_line(cls, value: str) -> str:
        if not value.strip() or any(ord(c) < 32 for c in value):
            raise ValueError("a name is one line of text")
        return value.strip()


class Settings(BaseSettings):
    """Everything that can be set, checked and ready to use."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix=ENV_PREFIX, env_nested_delimiter="__", case_sensitive=False
    )

    discord: DiscordSettings = DiscordSettings()
    storage: StorageSettings = StorageSettings()
    http: HttpSettings = HttpSettings()
    polling: PollingSettings = PollingSettings()
    log: LogSettings = LogSettings()
    sources: tuple[SourceSettings, ...] = ()
    subscriptions: tuple[SubscriptionSettings, ...] = ()
    digests: tuple[DigestSettings, ...] = ()
    token: SecretStr | None = Field(None, exclude=True, repr=False)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment goes over the file, whose values arrive as init arguments."""
        return env_settings, init_settings


def load(path: Path | None) -> Settings:
    """Read the config file (None: defaults alone) and the environment.

    Relative paths in the file are meant from the file's own folder. Raises ConfigError with every problem found.
    """
    name = str(path) if path else "defaults"
    data: dict[str, Any] = {}
    if path is not None:
        data = _read_toml(path)
    base = path.parent if path else Path()
    problems = list(_take_out_secrets(name, data))
    settings: Settings | None = None
    try:
        settings = Settings(**data)
    except ValidationError as error:
        problems += _from_pydantic(name, error)
    except SettingsError as error:
        problems.append(Problem("environment", "", str(error), f"Correct or unset that {ENV_PREFIX}… variable"))
    problems += _cross_checks(name, data, base)
    token, token_problem = _token(name, data, base)
    if token_problem:
        problems.append(token_problem)
    if problems or settings is None:
        raise ConfigError(list(dict.fromkeys(problems)))
    return _absolute(settings, base).model_copy(update={"token": token})


def _read_toml(path: Path) -> dict[str, Any]:
    name = str(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text)
    except FileNotFoundError:
        remedy = "Copy config.example.toml to that name, or name another file with --config"
        raise ConfigError([Problem(name, "", "there is no such file", remedy)]) from None
    except OSError as error:
        raise ConfigError([Problem(name, "", f"cannot be read ({error.strerror})", "Check its permissions")]) from None
    except UnicodeDecodeError as error:
        raise ConfigError([Problem(name, "", f"is not UTF-8 (byte {error.start})", "Save it as UTF-8")]) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError([Problem(name, "", f"is not valid TOML: {error}", "Mend that line")]) from None


def _take_out_secrets(name: str, data: dict[str, Any], prefix: str = "") -> Iterator[Problem]:
    """A token in the file is refused wherever it stands; its value goes no further and is never repeated."""
    remedy = f"Remove it, make a new token, and set {TOKEN_VARIABLE} or discord.token_file"
    for key, value in list(data.items()):
        if isinstance(value, dict):
            yield from _take_out_secrets(name, value, f"{prefix}{key}.")
        elif key.casefold() in _TOKEN_KEYS:
            del data[key]
            yield Problem(name, f"{prefix}{key}", "a token must not stand in the config file", remedy)


def _from_pydantic(name: str, error: ValidationError) -> Iterator[Problem]:
    for detail in error.errors(include_input=False, include_url=False):
        location = detail["loc"]
        key = dotted(location)
        kind, message = detail["type"], detail["msg"].removeprefix("Value error, ")
        if kind == "extra_forbidden":
            known = _keys_at(location[:-1])
            close = difflib.get_close_matches(str(location[-1]), known, n=1, cutoff=0.5)
            remedy = f"Did you mean {close[0]}?" if close else f"Known here: {', '.join(known)}"
            yield Problem(name, key, "there is no such setting", remedy)
        elif kind == "missing":
            yield Problem(name, key, "is missing", "Add it; config.example.toml shows how")
        elif kind == "literal_error":
            yield Problem(name, key, "has a value that is not known", f"Use {detail['ctx']['expected']}")
        else:
            yield Problem(name, key, message[:1].lower() + message[1:], "config.example.toml shows a right value")


def dotted(location: tuple[int | str, ...]) -> str:
    """``("sources", 0, "url")`` -> ``sources[1].url``; entries are counted from 1, as a reader does."""
    out = ""
    for part in location:
        out += f"[{part + 1}]" if isinstance(part, int) else f"{'.' if out else ''}{part}"
    return out


def _keys_at(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Settings
    for part in location:
        if isinstance(part, int):
            continue
        annotation = model.model_fields[part].annotation
        inner = [a for a in (annotation, *get_args(annotation)) if isinstance(a, type) and issubclass(a, BaseModel)]
        model = inner[0]
    return [key for key in model.model_fields if key != "token"]


def _tables(data: Mapping[str, Any], key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    entries = data.get(key)
    for number, entry in enumerate(entries if isinstance(entries, (list, tuple)) else (), 1):
        if isinstance(entry, dict):
            yield f"{key}[{number}]", entry


def _cross_checks(name: str, data: Mapping[str, Any], base: Path) -> Iterator[Problem]:
    """What one setting alone cannot tell; runs on the raw tables so that it reports beside type errors."""
    names: dict[str, str] = {}
    for key, source in _tables(data, "sources"):
        title, kind, url, path = (source.get(k) for k in ("name", "kind", "url", "path"))
        if isinstance(title, str):
            folded = title.strip().casefold()
            if folded in names:
                yield Problem(name, f"{key}.name", f"{title!r} is also the name of {names[folded]}", "Rename one")
            names.setdefault(folded, key)
        wanted, other = ("path", "url") if kind == "folder" else ("url", "path")
        if kind in get_args(SourceKind):
            if source.get(wanted) is None:
                yield Problem(name, f"{key}.{wanted}", f"is missing: kind = {kind!r} needs it", "Add it")
            if source.get(other) is not None:
                yield Problem(name, f"{key}.{other}", f"does not go with kind = {kind!r}", "Remove it")
        if kind == "folder" and isinstance(path, str) and not (base / path).is_dir():
            yield Problem(name, f"{key}.path", f"{path!r} is not a folder", "Make it, or correct the path")
        if kind != "folder" and isinstance(url, str):
            yield from _url_problems(name, key, url, bool(source.get("allow_private")))
    titles: dict[tuple[object, str], str] = {}
    for key, digest in _tables(data, "digests"):
        title = digest.get("name", "Digest")
        if isinstance(title, str):
            folded = title.strip().casefold()
            if earlier := titles.get((digest.get("channel"), folded)):
                yield Problem(name, f"{key}.name", f"{title!r} is also the name of {earlier}", "Give it another name")
            titles.setdefault((digest.get("channel"), folded), key)
    for key, subscription in [*_tables(data, "subscriptions"), *_tables(data, "digests")]:
        chosen = [k for k in ("topic", "source", "everything") if subscription.get(k)]
        if len(chosen) != 1:
            said = "says neither topic, source nor everything" if not chosen else f"says {' and '.join(chosen)}"
            yield Problem(name, key, said, 'Choose one: topic = "…", source = "…" or everything = true')
        wanted_source = subscription.get("source")
        if isinstance(wanted_source, str) and wanted_source.strip().casefold() not in names:
            close = difflib.get_close_matches(wanted_source.casefold(), names, n=1, cutoff=0.5)
            remedy = f"Did you mean {close[0]!r}?" if close else "Use the name of one of the [[sources]]"
            yield Problem(name, f"{key}.source", f"there is no source {wanted_source!r}", remedy)


def _url_problems(name: str, key: str, url: str, allow_private: bool) -> Iterator[Problem]:
    try:
        check_url(url)
    except UnsafeURL as error:
        if not is_private(url):
            yield Problem(name, f"{key}.url", error.reason, error.remedy or "Use an http or https address")
        elif not allow_private:
            host = urlsplit(url).hostname
            remedy = "If that is meant, add allow_private = true to this source"
            yield Problem(name, f"{key}.url", f"{host} lies in a private network", remedy)


def _token(name: str, data: Mapping[str, Any], base: Path) -> tuple[SecretStr | None, Problem | None]:
    if value := os.environ.get(TOKEN_VARIABLE, "").strip():
        return SecretStr(value), None
    discord = data.get("discord")
    file = os.environ.get(f"{ENV_PREFIX}DISCORD__TOKEN_FILE") or (
        discord.get("token_file") if isinstance(discord, dict) else None
    )
    if not isinstance(file, str):
        return None, None
    try:
        value = (base / file).read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not text"
        return None, Problem(name, "discord.token_file", f"{file!r} cannot be read ({why})", "Correct the path")
    if not value:
        return None, Problem(name, "discord.token_file", f"{file!r} is empty", "Put the bot token into it")
    return SecretStr(value), None


def _absolute(settings: Settings, base: Path) -> Settings:
    base = base.resolve()
    storage = settings.storage.model_copy(update={"database": base / settings.storage.database})
    sources = tuple(s.model_copy(update={"path": base / s.path}) if s.path else s for s in settings.sources)
    return settings.model_copy(update={"storage": storage, "sources": sources})
