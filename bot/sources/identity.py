"""Which items of a source are new: a pure decision over keys, which are never forgotten.

An item has a key for its guid, one for its canonical link and one for its title. A part that several items of one
document share tells none of them apart, then or later, so there only pairs of parts do. An item is known if any of its
keys is; a date bump or an edit is never news. First sight is a baseline. The cases are those that broke other bots
(peers.md, sections 2 and 4).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from itertools import combinations
from urllib.parse import urlsplit

# The first byte of what is hashed: another way of making keys gets another byte and is told apart (matrix-hookshot#900).
VERSION = b"\x01"
# Parameters that say who shared a link or which visit it is, not which page (rssguard#343).
_NOISE = re.compile(
    r"(utm_\w+|fbclid|gclid|dclid|msclkid|yclid|mc_cid|mc_eid|igshid|_hsenc|_hsmi|mkt_tok|at_campaign|at_medium|xtor|"
    r"phpsessid|jsessionid|sid|session_?id|s_cid|ref_src|ncid)(=|$)",
    re.IGNORECASE,
)
# Fewer unknown items than this are never taken for a feed that renamed all it has.
FLOOD = 5
# So many unknown items are suspicious even where fewer were listed before.
BURST = 20
# After a gap of this length between two polls, undated items may all be new.
LONG_GAP = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class Item:
    """One entry as a source lists it, before it is read.

    ``version`` names the state of a document that is read again when it changes (a file, a page); None for entries that
    are read once.
    """

    guid: str | None
    link: str | None
    title: str
    published: date | datetime | None = None
    version: str | None = None


class Verdict(Enum):
    """What an item is to its source."""

    KNOWN = "known"
    CHANGED = "changed"  # known, but its version is not
    REPEATED = "repeated"  # stands twice in this document
    NEW = "new"
    BASELINE = "baseline"  # there at first sight
    OLD = "old"  # older than everything that was there at first sight: an old page slid into the list
    FLOOD = "flood"  # the source renamed what it lists


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on one item: the keys to give it, and the stored item that it is, if it is known."""

    item: Item
    verdict: Verdict
    keys: tuple[bytes, ...]
    item_id: int | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What the decision needs of a stored item."""

    first_seen_at: datetime
    last_listed_at: datetime


def keys(items: Sequence[Item]) -> list[tuple[bytes, ...]]:
    """The keys of each item of one document, strongest first; of an item with nothing to tell it by, none."""
    return _keys_of(items, set())


def lookup(items: Sequence[Item]) -> set[bytes]:
    """Every key that ``decide`` may ask about these items: what the store's known keys are to be looked up for."""
    found: set[bytes] = set()
    for item in items:
        parts = [part for part in _parts(item) if part]
        found.update(map(_hash, _combinations(parts)))
        found.update(map(_shared_key, parts))
        found.update(key for key in (_day_key(item),) if key is not None)
        if item.version is not None:
            found.add(_version_key(item.version))
    return found


def decide(
    items: Sequence[Item],
    known: Mapping[bytes, int],
    seen: Mapping[int, Seen],
    *,
    first_sight: bool,
    oldest: datetime | None,
    last_ok_at: datetime | None,
    now: datetime,
    listed_before: int,
    backfill: int = 0,
) -> list[Decision]:
    """What each item of a document is, in the document's order, which is oldest first where there are no dates.

    ``known`` has the stored item of each key that is known, ``seen`` those items; ``oldest`` is the earliest date that
    was there at first sight, ``last_ok_at`` the last good poll before ``now``, which listed ``listed_before`` items;
    ``backfill`` counts the newest items that are news at first sight.
    """
    vague = {part for item in items for part in _parts(item) if part and _shared_key(part) in known}
    repeated = _repeated(items)
    identified = _identified(items, _keys_of(items, vague), known, seen, repeated)
    for n, item in enumerate(items):
        # A part that belongs to a stored item which this one is not: it tells nothing any more.
        owners = {part: known.get(_hash([part])) for part in _parts(item) if part}
        vague.update(part for part, owner in owners.items() if owner is not None and owner != identified.get(n))
    decisions: list[Decision] = []
    for n, (item, item_keys) in enumerate(zip(items, _keys_of(items, vague), strict=True)):
        item_id = identified.get(n)
        if item_id is None and all(key in known for key in item_keys if _is_telling(key)):
            # Nothing of its own would be kept, so it would be news at every poll.
            item_id = next(map(known.get, item_keys), None)
        if n in repeated:
            verdict = Verdict.REPEATED
        elif item_id is not None:
            changed = item.version is not None and _version_key(item.version) not in known
            verdict = Verdict.CHANGED if changed else Verdict.KNOWN
        elif first_sight:
            verdict = Verdict.BASELINE
        elif oldest is not None and item.published is not None and moment(item.published, late=True) < oldest:
            verdict = Verdict.OLD
        else:
            verdict = Verdict.NEW
        decisions.append(Decision(item, verdict, item_keys, item_id))
    if first_sight:
        return _with_backfill(decisions, backfill)
    flood = _flood(decisions, known, listed_before, last_ok_at, now) if last_ok_at is not None else frozenset()
    return [replace(d, verdict=Verdict.FLOOD) if n in flood else d for n, d in enumerate(decisions)]


def canonical(link: str) -> str:
    """A link as far as it says which page is meant: no scheme, port 80/443, tracking or session; fragments count."""
    try:
        parts = urlsplit(link.strip())
        port = parts.port
    except ValueError:
        return link.strip()
    if not parts.hostname:
        return link.strip()
    host = parts.hostname + (f":{port}" if port not in (None, 80, 443) else "")
    path = re.sub(r";jsessionid=[^/?#]*", "", parts.path, flags=re.IGNORECASE).rstrip("/")
    query = "&".join(field for field in parts.query.split("&") if field and not _NOISE.match(field))
    return f"{host}{path}{'?' + query if query else ''}{'#' + parts.fragment if parts.fragment else ''}"


def _parts(item: Item) -> tuple[bytes | None, bytes | None, bytes | None]:
    guid = (item.guid or "").strip()
    link = canonical(item.link) if item.link and item.link.strip() else ""
    title = " ".join(unicodedata.normalize("NFKC", item.title).casefold().split())
    if link and (guid or title) and not re.search(r"[/?#]", link):
        link = ""  # a site's front page is where entries without a page of their own lead
    if guid and re.match(r"https?://", guid):
        guid = canonical(guid)  # a site that moves to https renames all its guids
    return (
        b"g" + guid.encode("utf-8", "replace") if guid else None,
        b"l" + link.encode("utf-8", "replace") if link else None,
        b"t" + title.encode("utf-8", "replace") if title else None,
    )


def _repeated(items: Sequence[Item]) -> dict[int, int]:
    """The items that stand in the document already, by index, with the index of the first: link and title are the same,
    and so is the guid or, where the guid was changed, the date."""
    first: dict[object, int] = {}
    found: dict[int, int] = {}
    for n, item in enumerate(items):
        guid, link, title = _parts(item)
        same: list[object] = [(guid, link, title)]
        if link and title:
            same.append((link, title, item.published))
        if guid and link:
            same.append((guid, link))
        known = next((first[s] for s in same if s in first), None)
        if known is not None and any((guid, link, title)):
            found[n] = known
        for s in same:
            first.setdefault(s, n if known is None else known)
    return found


def _keys_of(items: Sequence[Item], old: Collection[bytes]) -> list[tuple[bytes, ...]]:
    """The keys to store of each item; ``old`` has the parts that were shared before."""
    repeated = _repeated(items)
    all_parts = [[part for part in _parts(item) if part] for item in items]
    shared: Counter[tuple[bytes, ...]] = Counter()
    for n, parts in enumerate(all_parts):
        if n not in repeated:
            shared.update(_combinations(parts))
    found = []
    for n, item in enumerate(items):
        parts = all_parts[repeated.get(n, n)]
        vague = {part for part in parts if shared[part,] > 1 or part in old}
        choices = _combinations(parts)
        clear = [c for c in choices if shared[c] < 2 and (c[0] not in vague if len(c) == 1 else vague.intersection(c))]
        if not clear:
            clear = choices[-1:]  # items that nothing tells apart are one
        more = [_version_key(item.version)] if item.version is not None else []
        if (day := _day_key(item)) is not None:
            more.append(day)
        found.append((*map(_hash, clear), *map(_shared_key, sorted(vague)), *more))
    return found


def _combinations(parts: Sequence[bytes]) -> list[tuple[bytes, ...]]:
    """Each part alone, then each two of them, then all three."""
    return [some for size in range(1, len(parts) + 1) for some in combinations(parts, size)]


def _identified(
    items: Sequence[Item],
    all_keys: Sequence[tuple[bytes, ...]],
    known: Mapping[bytes, int],
    seen: Mapping[int, Seen],
    repeated: Mapping[int, int],
) -> dict[int, int]:
    """The stored item that each item is, by index.

    A stored item stands in a document once. Where several claim to be it, as when guids are only positions in the list,
    it is the one with most of its keys; the others are whatever else they have keys of, or new.
    """
    claims = []
    for n, item_keys in enumerate(all_keys):
        telling = [key for key in item_keys if _is_telling(key) and key in known] if n not in repeated else []
        count = Counter(known[key] for key in telling)
        by_rank = dict.fromkeys(known[key] for key in telling if not _is_title(key))
        claims += [(-count[item_id], rank, n, item_id) for rank, item_id in enumerate(by_rank)]
    found: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, n, item_id in sorted(claims):
        if n not in found and item_id not in taken:
            found[n] = item_id
            taken.add(item_id)
    for n, item_keys in enumerate(all_keys):
        if n not in found and n not in repeated:
            by_title = _by_title(items[n], item_keys, known, seen, taken)
            if by_title is not None:
                found[n] = by_title
                taken.add(by_title)
    return found | {n: found[first] for n, first in repeated.items() if first in found}


def _hash(parts: Sequence[bytes]) -> bytes:
    """16 bytes, the first of which says whether the key is a title alone."""
    title = len(parts) == 1 and parts[0].startswith(b"t")
    said = VERSION + b"\0".join(len(part).to_bytes(4, "big") + part for part in parts)
    return (b"t" if title else b"k") + hashlib.blake2b(said, digest_size=15).digest()


def _shared_key(part: bytes) -> bytes:
    """The key that says a part was shared by several items once."""
    return b"s" + hashlib.blake2b(VERSION + part, digest_size=15).digest()


def _day_key(item: Item) -> bytes | None:
    """The key of a title on a day."""
    title = _parts(item)[2]
    if title is None or item.published is None:
        return None
    day = item.published.isoformat()[:10].encode()
    return b"d" + hashlib.blake2b(VERSION + day + title, digest_size=15).digest()


def _version_key(version: str) -> bytes:
    return b"v" + hashlib.blake2b(VERSION + version.encode("utf-8", "replace"), digest_size=15).digest()


def _is_telling(key: bytes) -> bool:
    """Whether a key says which item it is: not its version, nor that a part was shared."""
    return key[:1] in (b"k", b"t")


def _is_title(key: bytes) -> bool:
    return key.startswith(b"t")


def _by_title(
    item: Item, item_keys: Sequence[bytes], known: Mapping[bytes, int], seen: Mapping[int, Seen], taken: set[int]
) -> int | None:
    """The stored item of the same title, unless this is surely another one under the same title.

    It is another where the first still stands beside it, and where guid and link are both new and it was published
    after the first was seen, on a day the first never bore: a weekly column.
    """
    item_id = next((known[key] for key in item_keys if _is_title(key) and key in known), None)
    if item_id is None or item_id in taken:
        return None
    guid, link, _ = _parts(item)
    same_day = (day := _day_key(item)) is not None and known.get(day) == item_id
    if guid and link and item.published and item_id in seen and not same_day:
        first_seen = seen[item_id].first_seen_at
        if moment(item.published, late=False) > first_seen + timedelta(hours=1):
            return None
    return item_id


def moment(published: date | datetime, *, late: bool = False) -> datetime:
    """A date as an instant; of a date without a clock time its end (``late``) or its beginning."""
    if isinstance(published, datetime):
        return published
    return datetime.combine(published, time.max if late else time.min, UTC)


def _with_backfill(decisions: list[Decision], backfill: int) -> list[Decision]:
    fresh = [n for n, d in enumerate(decisions) if d.verdict is Verdict.BASELINE]
    floor = datetime.min.replace(tzinfo=UTC)

    def newest_first(n: int) -> tuple[float, int]:
        published = decisions[n].item.published
        return (-((moment(published, late=False) if published else floor) - floor).total_seconds(), -n)

    chosen = set(sorted(fresh, key=newest_first)[:backfill])
    return [replace(d, verdict=Verdict.NEW) if n in chosen else d for n, d in enumerate(decisions)]


def _flood(
    decisions: Sequence[Decision], known: Mapping[bytes, int], listed_before: int, last_ok_at: datetime, now: datetime
) -> frozenset[int]:
    """The items (by index) of a source that renamed what it lists.

    There are many unknown items where as many known ones were (or very many: the last answer was a short one), hardly a
    known one among them, and most are not dated as news, or stand under known titles.

    A busy feed, or one that was not polled for long, looks alike but for its dates: its items are younger than the last
    good poll. Items without a date are believed after a longer gap. Files are no window that slides: any number may come.
    """
    new = [n for n, d in enumerate(decisions) if d.verdict is Verdict.NEW and d.item.version is None]
    still = sum(d.item_id is not None for d in decisions)
    few = len(new) < FLOOD or (len(new) < BURST and listed_before < len(new) / 2)
    if few or still > len(new) / 4:
        return frozenset()
    believed = now - last_ok_at > LONG_GAP

    def is_told_as_news(item: Item) -> bool:
        title = _parts(item)[2]
        if title and _hash([title]) in known:
            return False
        return is_news(item.published, last_ok_at) if item.published else believed

    strange = [n for n in new if not is_told_as_news(decisions[n].item)]
    return frozenset(strange) if len(strange) > len(new) / 2 else frozenset()


def is_news(published: date | datetime | None, last_ok_at: datetime) -> bool:
    """Whether a date is that of something published since the last good poll; of a date alone, its whole day counts."""
    return published is not None and moment(published, late=True) > last_ok_at
