"""Logging: one key=value line for a person on a terminal, one JSON object a line elsewhere; secrets never."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

# A bot token is three base64url parts (discord.com/developers/docs/reference#authentication); anything of that shape is
# cut out of every line, whoever logged it.
_TOKEN = re.compile(r"[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}")
_SECRET_KEYS = {"token", "authorization", "password"}


def _redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in event.items():
        if key.casefold() in _SECRET_KEYS:
            event[key] = "[secret]"
        elif isinstance(value, str):
            event[key] = _TOKEN.sub("[secret]", value)
    return event


def configure(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send every log line, ours and the libraries', to ``stream`` (standard error by default).

    ``level`` is debug, info, warning or error; ``form`` is console, json or auto (console on a terminal).
    """
    stream = stream or sys.stderr
    console = form == "console" or (form == "auto" and stream.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if console else "iso", utc=not console),
        structlog.processors.format_exc_info,
        _redact,
    ]
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=stream.isatty(), pad_event_to=0, sort_keys=False)
        if console
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # The libraries' own chatter: their warnings are ours to see, their progress is not.
    for name in ("discord", "apscheduler", "aiosqlite", "sqlalchemy", "alembic", "asyncio", "aiohttp"):
        logging.getLogger(name).setLevel(logging.INFO if level == "debug" else max(root.level, logging.WARNING))
