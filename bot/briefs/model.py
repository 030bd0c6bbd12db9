"""A brief and its parts: frozen values that every other part of Briefbot passes around."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class SourceLink:
    """Who wrote the original report: a name, and the address of their site if the brief gives one."""

    name: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject with its name (``Data & AI``), its slug (``data-ai``) and the page that lists it, if known."""

    name: str
    slug: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a brief: ``body`` is Markdown as the source wrote it, ``summary`` the sentence that carries it.

    ``heading`` is None for text that stands under no heading; ``summary`` is None until the section is condensed.
    """

    heading: str | None
    body: str
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """One source covering the story: its address, its title, or both."""

    url: str | None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Brief:
    """One tech brief.

    ``published`` is a date where the source gave no clock time, an aware datetime where it did, None where it gave
    none. ``extra`` keeps the fields nobody asked for, in order. ``warnings`` says what was puzzling in the document;
    it is about the reading, so two equal briefs may differ in it.
    """

    title: str
    dek: str = ""
    source: SourceLink | None = None
    published: date | datetime | None = None
    topic: Topic | None = None
    permalink: str | None = None
    original: str | None = None
    sections: tuple[Section, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    notice: str | None = None
    extra: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = field(default=(), compare=False)
