"""A brief document is Markdown text that reads to a ``Brief``, and a ``Brief`` writes to such a document.

The form is a title (``# ``), a dek, a list of fields (``- **Source:** ...``), sections (``## ``), the sources covering
the story and, after a rule, a notice. Lines decide; inside a section everything is kept as it was written, fenced code
with ``## `` lines in it too. A document that has lost its newlines is given them back first (``flattened.restore``).

What stands between two documents that say the same is settled by a normal form: ``normalise``. Texts of one line have
their white space collapsed, all text is NFC and bears no control characters, addresses are http(s) without spaces,
naive times are UTC. ``parse`` gives nothing else, ``write`` accepts anything, and ``parse(write(brief))`` is
``normalise(brief)``. A line of a body that would read as the document's own mark (``## ``, a fence that never closes, a
link definition, a rule before the notice) is written with a backslash before it, and one backslash is taken from such a
line when it is read; nothing else is escaped, so that a body stays what its author wrote.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from urllib.parse import unquote, urlsplit

from bot.briefs import flattened
from bot.briefs.model import Brief, Coverage, Section, SourceLink, Topic
from bot.errors import DocumentError

COVERAGE_HEADING = "Sources covering this story"

_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile("[ \t\n]+")
_ATX = re.compile(r" {0,3}(#{1,2})(?:[ \t]+(.*?))?[ \t]*$")
_CLOSING = re.compile(r"(?:^|[ \t]+)#+$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)$")
_RULE = re.compile(r" {0,3}(?:-[ \t]*){3,}$| {0,3}(?:\*[ \t]*){3,}$| {0,3}(?:_[ \t]*){3,}$")
_DEFINITION = re.compile(r" {0,3}\[([^\[\]^][^\[\]]{0,200})\]:[ \t]*(<[^<>]*>|\S+)(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$")
_REFERENCE = re.compile(r"`[^`]*`|(?<!\\)\[([^\[\]]{1,500})\](?:\[([^\[\]]{0,200})\]|(?![\[(:]))")
_BULLET = re.compile(r" {0,3}[-*+][ \t]+(.*)$")
_BOLD_LABEL = re.compile(r"(\*\*|__)(.{1,200}?)\1[ \t]*(.*)$")
_PLAIN_LABEL = re.compile(r"([^:：*_\[\]<>`]{1,40})[:：](?!//)[ \t]*(.*)$")
_COVERAGE_NAMES = re.compile(r"sources(?: covering (?:this|the) story)?|coverage|covered by", re.IGNORECASE)
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,4}[.)])(?:[ \t]+(.*))?$")
_DASHES = "-–—―"
_URL = re.compile(r"https?://[^\s<>\\\"]*[^\s<>\\\"/:][^\s<>\\\"]*", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s/<>\\\"]+[^\s<>\\\"]*", re.IGNORECASE)
_PUNCTUATION = re.compile(r"\\([!-/:-@\[-`{-~])")
# What a body line may start with that parse would take for the document's own mark.
_MARK = r" {0,3}(?:##?(?:[ \t]|$)|`{3,}|~{3,}|(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$|\[[^\[\]^][^\[\]]{0,200}\]:[ \t]*\S)"
