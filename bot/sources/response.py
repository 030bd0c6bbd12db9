"""What a fetch brings back: the body, where it came from, and what to ask with next time."""

from __future__ import annotations

import re
from dataclasses import dataclass

from multidict import CIMultiDictProxy

from bot.sources.charset import decode


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave to ask with next time; opaque, handed back byte for byte."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """A good answer. ``url`` is where it came from in the end, ``permanent_url`` where the source has moved for good.

    Both are written as they are sent: ASCII, no fragment. ``permanent_url`` follows the 301s and 308s at the beginning of
    the way, and is None if there was none; store it only once the body was read well. ``not_modified``: a 304, whose body
    is empty and whose validators are those to ask with next time. ``max_age`` is how many seconds the server calls it
    fresh, or None.
    """

    url: str
    permanent_url: str | None
    status: int
    headers: CIMultiDictProxy[str]
    body: bytes
    validators: Validators
    not_modified: bool = False
    max_age: float | None = None

    @property
    def delta(self) -> bool:
        """Whether the body holds only what is new since the ETag that was sent (226, RFC 3229)."""
        return self.status == 226

    @property
    def content_type(self) -> str:
        """``text/html`` and the like, in lower case; empty if the server says nothing."""
        return self.headers.get("Content-Type", "").partition(";")[0].strip().casefold()

    @property
    def charset(self) -> str | None:
        """The charset that the Content-Type names, or None."""
        said = self.headers.get("Content-Type", "")
        found = re.search(r";\s*charset\s*=\s*[\"']?([\w.:-]{1,40})", said, re.IGNORECASE | re.ASCII)
        return found[1] if found else None

    def text(self) -> str:
        """The body as text; never raises. See ``charset.decode``."""
        return decode(self.body, self.charset)
