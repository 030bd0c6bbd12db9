"""What the poller needs of a kind of source: to list its items, and to read one into a brief."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.briefs.model import Brief
from bot.sources.http import Http, Response, Validators
from bot.sources.identity import Item
from bot.store.sources import Source


@dataclass(frozen=True, slots=True)
class Listing:
    """What a source lists now. ``items`` stand oldest first where the source says so.

    ``not_modified``: nothing was listed, as nothing changed. ``whole`` is False where the document was cut off, so that
    its validators must not be kept. ``fresh_for`` and ``ttl`` are what server and document ask for, in seconds.
    ``body_hash`` names the state of the document that was read. ``unsettled``: something is there that is still being
    written; ``more``: there is more than what is listed, to be listed at the next poll. ``held`` carries what ``read``
    needs of each item. ``taken`` is called when all that is listed is stored.
    """

    items: tuple[Item, ...] = ()
    not_modified: bool = False
    validators: Validators = field(default_factory=Validators)
    whole: bool = True
    fresh_for: float | None = None
    ttl: float | None = None
    body_hash: str | None = None
    unsettled: bool = False
    more: bool = False
    held: Mapping[Item, Any] = field(default_factory=dict)
    taken: Callable[[], None] = lambda: None


class Kind(Protocol):
    """A kind of source, such as a folder or a brief site."""

    async def list(self, source: Source) -> Listing:
        """The items of a source now. Raises SourceError."""

    async def read(self, source: Source, item: Item, held: Any) -> Brief:
        """The brief of an item. Raises SourceError where it may be tried again, DocumentError where it is no brief."""


async def ask(http: Http, source: Source, accept: str) -> tuple[Response, Listing]:
    """Fetch a source's own document if it changed: the answer, and a listing without items that has its validators.

    ``listing.not_modified`` is set where there is nothing to read: a 304, or the same body as at the last good poll.
    Raises SourceError.
    """
    answer = await http.get(
        source.location,
        accept=accept,
        validators=Validators(source.etag, source.last_modified),
        allow_private=source.allow_private,
    )
    state = source.body_hash if answer.not_modified else hashlib.blake2b(answer.body, digest_size=16).hexdigest()
    same = answer.not_modified or (state == source.body_hash and source.baseline_at is not None)
    listing = Listing(not_modified=same, validators=answer.validators, fresh_for=answer.max_age, body_hash=state)
    return answer, listing
