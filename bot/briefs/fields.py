"""A field of a brief document is a label and a value; each known label fills one part of a ``Brief``.

Reading and writing stand side by side here, with the normal forms that make one the inverse of the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from urllib.parse import quote, unquote, urlsplit

from bot.briefs import links
from bot.briefs.model import Brief, Coverage, SourceLink, Topic
from bot.briefs.topics import slug

DASHES = " \t-–—―|"

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile("\r\n?|[\x85\u2028\u2029]")
_BLANKS = re.compile("[ \t\n]+")
_BULLET = re.compile(r" {0,3}[-*+][ \t]+(?=\S)")
_BOLD = re.compile(r"(\*\*|__)(.{1,200}?)\1[ \t]*(.*)$")
_PLAIN = re.compile(r"([^:：*_\[\]<>`]{1,40})[:：](?!//)[ \t]*(.*)$")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CLOCK = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,6})?)?)[0-9]* ?"
    r"([Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)?)?"
)
_TOPIC_PATH = re.compile(r"/c/([^/?#]+)")
_KNOWN = {
    "source": "source",
    "published": "published",
    "date": "published",
    "topic": "topic",
    "original article": "original",
    "original": "original",
    "permalink": "permalink",
}


def clean(text: str) -> str:
    """The text in NFC with ``\\n`` line ends, without control characters, byte order marks and lone surrogates."""
    text = _SURROGATE.sub("\ufffd", _BREAK.sub("\n", text))
    return unicodedata.normalize("NFC", _UNSEEN.sub("", text))


def line(text: str) -> str:
    """The text as one line with single spaces; spaces of other kinds (no-break, ideographic) stay."""
    return _BLANKS.sub(" ", clean(text)).strip(" ")


def address(url: str | None) -> str | None:
    """The normal form of an http(s) address, or None."""
    return links.address(clean(url)) if url else None


def split(text: str) -> tuple[str, str] | None:
    """Label and value of a line that is a field, or None: a bullet with a label, or a known label in bold."""
    bullet = _BULLET.match(text)
    if bullet is None and text.startswith("    "):
        return None
    content = text[bullet.end() :] if bullet else text.lstrip(" ")
    if bold := _BOLD.match(content):
        label, value = bold[2].strip(" \t"), bold[3]
        if label.endswith((":", "：")):
            label = label.rstrip(":： \t")
        elif value.startswith((":", "：")):
            value = value[1:]
        else:
            return None
        return (label, value.strip(" \t")) if label and (bullet or kind(label)) else None
    if bullet and (found := _PLAIN.match(content)) and (label := found[1].strip(" \t")):
        return label, found[2].strip(" \t")
    return None


def kind(label: str) -> str | None:
    """The part of a brief that a label names (``source``, ``published`` ...), or None."""
    label = label.casefold()
    return _KNOWN.get(label) or ("permalink" if label.startswith("on ") else None)


@dataclass
class Reading:
    """What has been read of a document so far."""

    source: SourceLink | None = None
    published: date | datetime | None = None
    topic: Topic | None = None
    permalink: str | None = None
    original: str | None = None
    coverage: list[Coverage] = field(default_factory=list)
    notice: str | None = None
    extra: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    def add(self, label: str, value: str) -> None:
        """Takes in one field. What cannot be used is kept in ``extra`` with a warning; the first of a kind wins."""
        label, value = extra_label(label), line(value)
        part = kind(label)
        if part is None:
            reason = "is not known"
        elif part in self.taken:
            reason = "appears twice"
        elif not value.strip(DASHES):
            self.taken.add(part)
            return
        else:
            reason = self._take(part, value)
        if reason:
            self.extra.append((label, value))
            shown = label if len(label) <= 60 else label[:59] + "…"
            self.warnings.append(f"the field '{shown}' {reason}")

    def _take(self, part: str, value: str) -> str:
        if part == "permalink":
            link = links.find(value)
            if link is None or (url := address(link.target)) is None:
                return "holds no http(s) address"
            self.permalink = url
        self.taken.add(part)
        if part == "source":
            self.source = _read_source(value)
        elif part == "topic":
            self.topic = _read_topic(value)
        elif part == "original":
            link = links.find(value)
            self.original = address(link.target) if link else None
            if self.original is None:
                return "holds no http(s) address"
        elif part == "published":
            self.published = read_date(value)
            if self.published is None:
                return "holds no date (2026-10-28, or with a time 2026-10-28T14:30:00Z)"
        return ""


def read_date(text: str) -> date | datetime | None:
    """An ISO date, or an ISO time (UTC where it names no zone) as an aware datetime; None for anything else."""
    text = text.strip(" \t*_`")
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
        if clock := _CLOCK.fullmatch(text):
            zone = {"z": "+00:00", "utc": "+00:00", "gmt": "+00:00", "": "+00:00"}.get(
                (clock[3] or "").lower(), clock[3]
            )
            moment = datetime.fromisoformat(f"{clock[1]}T{clock[2].replace(',', '.')}{zone}")
            moment.astimezone(UTC)
            return moment
    except (ValueError, OverflowError):
        return None
    return None


def extra_label(label: str) -> str:
    """The normal form of a label: one line without marks of bold or a colon at its ends, at most 200 characters."""
    label = line(re.sub(r"\*+|_{2,}", " ", line(label)))[:200].strip(" \t_:：")
    return label or "Note"


def written(brief: Brief) -> Iterator[tuple[str, str]]:
    """Label and value of each field of a normalised brief. The known ones are all there, so that an extra field of the
    same name stays extra."""
    source, topic, when = brief.source, brief.topic, brief.published
    yield "Source", _named(source.name, source.url) if source else ""
    yield "Published", when.isoformat() if when else ""
    named = ""
    if topic:
        own = slug(topic.name) or "topic"
        named = _named(topic.name, topic.url or (None if topic.slug == own else f"/c/{quote(topic.slug, safe='')}"))
    yield "Topic", named
    yield "Original article", links.alone(brief.original) if brief.original else ""
    on_brifing = brief.permalink is None or links.host(brief.permalink) == "brifing.si"
    yield "On Brifing" if on_brifing else "Permalink", links.alone(brief.permalink) if brief.permalink else ""
    yield from brief.extra


def normal_source(source: SourceLink) -> SourceLink | None:
    """The source with a one-line name (its host's if it has none), or None where it has neither name nor address."""
    name, url = line(source.name), address(source.url)
    if not name.strip(DASHES):
        name = links.host(url) if url else ""
    return SourceLink(name, url) if name else None


def normal_topic(topic: Topic) -> Topic | None:
    """The topic with a one-line name and the slug that its address or else its own slug gives; None without a name."""
    name, url = line(topic.name), address(topic.url)
    if not name.strip(DASHES):
        return None
    given = _slug_of(url) if url else slug(clean(topic.slug))
    return Topic(name, given or slug(name) or "topic", url)


def _named(name: str, target: str | None) -> str:
    return links.inline(name, target) if target else links.escape(name)


def _read_source(value: str) -> SourceLink | None:
    name, target = _name_and_target(value)
    return normal_source(SourceLink(name, target))


def _read_topic(value: str) -> Topic | None:
    name, target = _name_and_target(value)
    url = address(target)
    if not name and url:
        name = _slug_of(url) or links.host(url)
    return normal_topic(Topic(name, _slug_of(target) if target else "", url))


def _name_and_target(value: str) -> tuple[str, str | None]:
    link = links.find(value)
    if link is None:
        return links.plain(value), None
    if link.label is not None and link.label != link.target:
        return link.label, link.target
    return links.plain((link.before + link.after).strip(" \t()[]<>:" + DASHES)), link.target


def _slug_of(target: str) -> str:
    found = _TOPIC_PATH.search(target if target.startswith("/") else urlsplit(target).path)
    return slug(clean(unquote(found[1]))) if found else ""
