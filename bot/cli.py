"""The briefbot command: parses, calls, prints."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bot import __version__, app, log, tasks
from bot.briefs import condense, document
from bot.briefs.model import Brief
from bot.chat import cards
from bot.config import TOKEN_VARIABLE, Format, Settings, load
from bot.errors import BriefbotError, ConfigError, DocumentError, StartError

cli = typer.Typer(
    name="briefbot",
    help="Tech briefs for Discord: subscriptions, digests and lookups.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
# Lines are not broken: a terminal does that itself, and a file or a pipe must not have it.
out, err = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)

DEFAULT_CONFIG = Path("config.toml")
Config = Annotated[
    Path | None,
    typer.Option("--config", "-c", metavar="FILE", help="Configuration file. [default: config.toml, if there is one]"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]


def settings_of(config: Path | None) -> Settings:
    """The settings of a command; a config file that was named must be there."""
    return load(config or (DEFAULT_CONFIG if DEFAULT_CONFIG.exists() else None))


@cli.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Tech briefs for Discord: subscriptions, digests and lookups."""
    if show:
        out.print(f"briefbot {__version__}")
        raise typer.Exit


@cli.command()
def run(
    config: Config = None,
    channel: Annotated[str, typer.Option(help="Which channel of the playground its page shows.")] = "briefs",
) -> None:
    """Run the bot: on Discord if there is a token, else in the playground."""
    settings = settings_of(config)
    if settings.token:
        log.configure(settings.log.level, settings.log.format)
        if not settings.subscriptions:
            err.print(
                "No channel is subscribed yet: add a [[subscriptions]] block to the config (see config.example.toml)."
            )
        asyncio.run(app.run_on_discord(settings, settings.token))
        return
    require_simcord()
    out.print(f"No Discord token ({TOKEN_VARIABLE} is not set), so this is the playground: a simulated Discord.")
    playground(channel=channel)


def require_simcord() -> None:
    """Raises StartError where the playground's extra is not installed."""
    if importlib.util.find_spec("simcord") is None:
        raise StartError(
            f"Set {TOKEN_VARIABLE} to run on Discord. To try the bot without a token, install the playground: "
            "pip install 'briefbot[playground]'"
        )


@cli.command()
def playground(
    channel: Annotated[str, typer.Option(help="Which channel the page shows.")] = "briefs",
    port: Annotated[int, typer.Option(help="Port of the page; 0 takes a free one.")] = 0,
    inbox: Annotated[Path | None, typer.Option(help="Folder whose brief documents are posted.")] = None,
    every: Annotated[float, typer.Option(help="Seconds between two sample briefs.", min=0.1)] = 3.0,
) -> None:
    """Run the whole bot on a simulated Discord, with a page in your browser."""
    require_simcord()
    log.configure("error", "console")  # SimCord makes a client of its own when it is imported, which warns
    from bot import playground as simulated

    asyncio.run(simulated.run(channel=channel, port=port, inbox=inbox, every=every, say=out.print))


@cli.command()
def preview(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A brief document; - reads standard input.")],
    as_json: AsJson = False,
    form: Annotated[str, typer.Option("--format", help="card, compact or embed.")] = "card",
) -> None:
    """Show how a brief document would be posted."""
    if form not in get_args(Format):
        raise BriefbotError(f"there is no format {form!r}: use {', '.join(get_args(Format))}")
    brief = condense.condensed(read_document(file))
    for warning in brief.warnings:
        err.print(f"[yellow]{escape(f'{file}: {warning}')}[/]")

    async def payload() -> dict[str, Any]:  # discord.py makes a view only inside a running loop
        return cards.render(brief, brief_id=0, format=form, mark="").payload()

    message = asyncio.run(payload())
    sections = [{"heading": s.heading, "summary": s.summary} for s in brief.sections]
    if as_json:
        print(json.dumps({"title": brief.title, "sections": sections, "messages": [message]}, ensure_ascii=False))
        return
    out.print(f"[bold]{escape(brief.title)}[/]")
    if brief.dek:
        out.print(escape(brief.dek))
    for section in brief.sections:
        out.print(f"\n[bold]{escape(section.heading)}[/]" if section.heading else "")
        out.print(escape(section.summary or ""))


def read_document(file: str) -> Brief:
    """The brief of a document file, or of standard input. BriefbotError names the file and what to do."""
    try:
        return document.parse(read_text(file))
    except DocumentError as error:
        raise BriefbotError(f"{file} is not a brief document: {error}") from None


def read_text(file: str) -> str:
    """The text of a file, or of standard input for ``-``. BriefbotError names the file and the reason."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else getattr(error, "strerror", error)
        raise BriefbotError(f"{file} cannot be read: {reason}") from None


@cli.command()
def check(config: Config = None) -> None:
    """Read the configuration and report every problem at once."""
    settings = settings_of(config)
    out.print(
        f"The configuration is right: {len(settings.sources)} sources, {len(settings.subscriptions)} subscriptions, "
        f"{'a token' if settings.token else 'no token'}."
    )


@cli.command()
def status(config: Config = None, as_json: AsJson = False) -> None:
    """Show every source, subscription and waiting message, and what is wrong with any of them."""
    report = asyncio.run(tasks.status(settings_of(config)))
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
        return
    for title, rows in report.items():
        if isinstance(rows, dict):
            out.print(
                f"\n[bold]{title.capitalize()}[/]: " + (", ".join(f"{n} {what}" for what, n in rows.items()) or "none")
            )
            continue
        if not rows:
            if title != "unread":
                out.print(f"[bold]{title.capitalize()}[/]: none")
            continue
        table = Table(title=f"{title.capitalize()} ({len(rows)})", title_justify="left", box=None, pad_edge=False)
        for column in rows[0]:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(escape("" if value is None else str(value)) for value in row.values()))
        out.print(table)


@cli.command(context_settings={"ignore_unknown_options": True})
def search(
    words: Annotated[
        list[str],
        typer.Argument(metavar="WORDS...", help='Words, "quoted phrases", -without this.', show_default=False),
    ],
    config: Annotated[  # without -c: a word that begins with - is one to leave out
        Path | None, typer.Option("--config", metavar="FILE", help="Configuration file. [default: config.toml]")
    ] = None,
    topic: Annotated[str | None, typer.Option(help="Only this topic: its name or slug.")] = None,
    limit: Annotated[int, typer.Option(help="How many, at most.", min=1, max=1000)] = 20,
    as_json: AsJson = False,
) -> None:
    """Find stored briefs by their words, best first."""
    found = asyncio.run(tasks.search_briefs(settings_of(config), " ".join(words), topic, limit))
    for word, meant in found.instead.items():
        err.print(escape(f"No brief has {word!r}; searched {meant!r}."))
    rows = []
    for hit in found.hits:
        brief = hit.stored.brief
        rows.append(
            {
                "id": hit.stored.id,
                "title": brief.title,
                "permalink": brief.permalink,
                "topic": brief.topic.slug if brief.topic else None,
                "published": brief.published.isoformat() if brief.published else None,
                "score": hit.score,
            }
        )
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
        return
    if not rows:
        err.print("Nothing found.")
    for row in rows:
        day = str(row["published"] or "")[:10]
        parts = (str(row["id"]), day, str(row["topic"] or ""), str(row["title"]), str(row["permalink"] or ""))
        out.print("  ".join(escape(part) for part in parts if part), soft_wrap=True)


@cli.command()
def add(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="An address or a folder.")],
    config: Config = None,
    name: Annotated[str | None, typer.Option(help="What members see. [default: the host or folder name]")] = None,
) -> None:
    """Add one source: a brief site's topic page, a brief document's address, or a folder of documents."""
    out.print(escape(asyncio.run(tasks.add_source(settings_of(config), source, name))))


@cli.command("import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="An OPML file; - reads standard input.")],
    config: Config = None,
) -> None:
    """Add every feed of an OPML list, as feed readers export it."""
    for line in asyncio.run(tasks.import_feeds(settings_of(config), read_text(file))):
        out.print(escape(line))


@cli.command()
def export(config: Config = None) -> None:
    """Print every feed as an OPML list, as feed readers import it."""
    print(asyncio.run(tasks.export_feeds(settings_of(config))), end="")


@cli.command()
def once(config: Config = None) -> None:
    """Poll every source that is due, store what is new, deliver what is due, then exit."""
    settings = settings_of(config)
    log.configure(settings.log.level, settings.log.format)
    out.print(escape(asyncio.run(app.once(settings, settings.token))))


def main() -> None:
    """Run the command; what goes wrong ends in plain lines and a status, not in a traceback."""
    try:
        cli(standalone_mode=True)
    except ConfigError as error:
        for problem in error.problems:
            err.print(f"[red]{escape(str(problem))}[/]")
        sys.exit(2)
    except BriefbotError as error:
        err.print(f"[red]briefbot: {escape(str(error))}[/]")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
