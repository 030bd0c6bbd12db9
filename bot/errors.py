"""Every error Briefbot raises, as one tree.

::

    BriefbotError                       str() is one line for a person: what, where, what to do next
    ├── ConfigError                     .problems: every problem of a config file at once
    ├── StartError                      the bot cannot start (token, Discord unreachable, missing intent)
    ├── DocumentError                   a document is not a brief: .part .line .reason
    ├── SourceError                     a source could not be read: .reason .remedy
    │   ├── FetchError                  .url .status .retry_after .permanent
    │   └── UnsafeURL                   .url .reason: refused before a byte was sent
    ├── StoreError                      the database cannot be used: .path .reason .remedy
    │   ├── DatabaseTooNew
    │   ├── DatabaseBusy                locked by somebody else
    │   ├── DatabaseReadOnly
    │   ├── DatabaseFull                no space left on the disk
    │   └── DatabaseCorrupt
    └── DeliveryError                   one message did not go out: .reason
        ├── DeliveryLater               try again: .retry_after seconds, or None
        ├── DeliveryRefused             Discord will not take it: .code; the subscription pauses
        └── DeliveryUnknown             it may or may not exist; look before sending again
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class BriefbotError(Exception):
    """The root: anything Briefbot says to a person on purpose."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a configuration: the file, the dotted key, what is wrong and what to do."""

    file: str
    key: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}: {self.key}" if self.key else self.file
        return f"{where}: {self.reason}. {self.remedy}".rstrip()


class ConfigError(BriefbotError):
    """A configuration with at least one problem; ``problems`` has all of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class StartError(BriefbotError):
    """The bot cannot start; the message says why and what to do."""


class DocumentError(BriefbotError):
    """A text is not a brief document.

    ``part`` names the part ("title", "sections", "document"), ``line`` is 1-based, ``reason`` says what is wrong.
    """

    def __init__(self, part: str, line: int, reason: str) -> None:
        self.part, self.line, self.reason = part, line, reason
        super().__init__(f"{part}, line {line}: {reason}")


class SourceError(BriefbotError):
    """A source could not be read: ``reason`` says why, ``remedy`` what to do (may be empty)."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        self.reason, self.remedy = reason, remedy
        super().__init__(f"{reason}. {remedy}" if remedy else reason)


class FetchError(SourceError):
    """An HTTP fetch failed.

    ``status`` is the HTTP status or None (no answer), ``retry_after`` seconds the server asked for or None,
    ``permanent`` True where asking again is pointless (410 Gone).
    """

    def __init__(
        self,
        url: str,
        reason: str,
        remedy: str = "",
        *,
        status: int | None = None,
        retry_after: float | None = None,
        permanent: bool = False,
    ) -> None:
        self.url, self.status, self.retry_after, self.permanent = url, status, retry_after, permanent
        super().__init__(reason, remedy)


class UnsafeURL(SourceError):
    """A URL is refused before a byte is sent: ``url`` and ``reason``."""

    def __init__(self, url: str, reason: str, remedy: str = "") -> None:
        self.url = url
        super().__init__(reason, remedy)


class StoreError(BriefbotError):
    """The database cannot be used: ``path`` (or URL without password), ``reason``, ``remedy``."""

    def __init__(self, path: str, reason: str, remedy: str = "") -> None:
        self.path, self.reason, self.remedy = path, reason, remedy
        super().__init__(f"{path}: {reason}. {remedy}".rstrip())


class DatabaseTooNew(StoreError):
    """The database was written by a newer version of Briefbot."""


class DatabaseBusy(StoreError):
    """Another process holds the database's lock."""


class DatabaseReadOnly(StoreError):
    """The database, or its folder, cannot be written."""


class DatabaseFull(StoreError):
    """There is no space left where the database lies."""


class DatabaseCorrupt(StoreError):
    """The file is damaged or is no SQLite database."""


class DeliveryError(BriefbotError):
    """One message did not go out; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class DeliveryLater(DeliveryError):
    """Nothing was posted and nothing is wrong with us: try again after ``retry_after`` seconds (None: usual back-off)."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(reason)


class DeliveryRefused(DeliveryError):
    """Discord will not take it (403, 404, 50035): the subscription pauses; ``code`` is Discord's JSON error code."""

    def __init__(self, reason: str, code: int) -> None:
        self.code = code
        super().__init__(reason)


class DeliveryUnknown(DeliveryError):
    """The request was cut off: the message may exist. Its nonce or the channel's history must be asked first."""
