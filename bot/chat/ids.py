"""A component's custom_id says which brief it belongs to, which delivery posted it and what it does.

``brief:{brief id}:{mark}:{verb}`` or ``brief:{brief id}:{mark}:{verb}.{number}.{number}``. The mark is the nonce of the
delivery that posted the message, so that the bot's own history can be searched for it; it is empty in answers. What
belongs to a digest and not to one brief begins with ``digest:`` and the id of the digest's run; what belongs to a list
that somebody asked for, with ``list:`` and the id of the list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.chat import limits

PREFIX = "brief:"
DIGEST_PREFIX = "digest:"
LIST_PREFIX = "list:"
MARK = re.compile(rf"[0-9A-Za-z._-]{{0,{limits.NONCE}}}")

_NUMBER = r"(?:0|[1-9][0-9]{0,8})"
_ID = re.compile(
    rf"(brief|digest|list):(0|[1-9][0-9]{{0,18}}):({MARK.pattern}):([a-z]{{1,20}})((?:\.{_NUMBER}){{0,3}})"
)
_MAX_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Address:
    """What a custom_id says: ``numbers`` are those after the verb.

    Of ``digest``, the id is that of the digest's run; of ``list``, that of the list.
    """

    brief_id: int
    mark: str
    verb: str
    numbers: tuple[int, ...] = ()
    of: str = "brief"

    def __str__(self) -> str:
        """The custom_id. Raises ValueError where it would not be read back as the same address."""
        text = f"{self.of}:{self.brief_id}:{self.mark}:{self.verb}" + "".join(f".{n}" for n in self.numbers)
        if parse(text) != self:
            raise ValueError(f"no custom_id can hold {self!r}")
        return text


def parse(custom_id: str) -> Address | None:
    """A custom_id read strictly; None for everything that this bot would not have written."""
    found = _ID.fullmatch(custom_id)
    if found is None or len(custom_id) > limits.CUSTOM_ID or int(found[2]) > _MAX_ID:
        return None
    return Address(int(found[2]), found[3], found[4], tuple(int(n) for n in found[5].split(".")[1:]), found[1])


def marks(components: Sequence[Mapping[str, Any]]) -> set[str]:
    """The marks that a message's components bear, none where no delivery posted it."""
    addresses = (parse(str(c.get("custom_id") or "")) for c in limits.walk(components))
    return {address.mark for address in addresses if address and address.mark}
