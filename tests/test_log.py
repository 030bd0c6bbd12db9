"""Logs are one line an event, and a token never reaches them."""

import io
import json
import logging

import pytest
import structlog

from bot.log import configure

TOKEN = "MTE0NzI5NjU0MzIxMDk4NzY1NA.GxYzAb.abcdefghijklmnopqrstuvwxyz0123456789AB"


@pytest.fixture(autouse=True)
def _restore() -> object:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield None
    root.handlers[:], root.level = handlers, level
    structlog.reset_defaults()


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_token_is_cut_out_whoever_logs_it(form: str) -> None:
    out = io.StringIO()
    configure("info", form, out)
    structlog.get_logger("bot").info("logged in", detail=f"with {TOKEN}", token="x")
    logging.getLogger("discord").warning("static token %s", TOKEN)
    try:
        raise ValueError(TOKEN)
    except ValueError:
        structlog.get_logger("bot").exception("failed")
    assert TOKEN not in out.getvalue()
    assert "[secret]" in out.getvalue()


def test_elsewhere_than_on_a_terminal_each_line_is_an_object() -> None:
    out = io.StringIO()
    configure("info", "auto", out)
    structlog.get_logger("bot").warning("source failed", source="A", reason="no\nanswer")
    (line,) = out.getvalue().splitlines()
    assert json.loads(line)["source"] == "A"


def test_a_level_hides_what_is_below_it() -> None:
    out = io.StringIO()
    configure("warning", "console", out)
    structlog.get_logger("bot").info("quiet")
    assert not out.getvalue()
