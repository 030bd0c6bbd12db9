"""Which items of a source are new: a pure decision over keys, which are never forgotten.

An item has a key for its guid, one for its canonical link and one for its title. A key that several items of one document
share tells none of them apart, so there only pairs of keys do. An item is known if any of its keys is; a date bump or an
edit is never news. First sight is a baseline. The cases are those that broke other bots (peers.md, sections 2 and 4).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
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
    parts = [_parts(item) for item in items]
    shared = Counter(part for triple in parts for part in dict.fromkeys(triple) if part)
    # Two entries alike in every part are one entry that stands twice; they do not make a part ambiguous.
    for triple, count in Counter(parts).items():
        for part in dict.fromkeys(filter(None, triple)):
            shared[part] -= count - 1
    return [_keys(triple, shared, item.version) for triple, item in zip(parts, items, strict=True)]


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
    """What each item of a document is, in the document's order.

    ``known`` has the stored item of each key that is known, ``seen`` those items; ``oldest`` is the earliest date that
    was there at first sight, ``last_ok_at`` the last good poll before ``now``, which listed ``listed_before`` items; ``backfill`` counts the newest items that are news at
    first sight.
    """
    all_keys = keys(items)
    strong = [next((known[k] for k in ks if k in known and not _is_title(k)), None) for ks in all_keys]
    taken = {item_id for item_id in strong if item_id is not None}
    decisions: list[Decision] = []
    met: set[bytes] = set()
    for item, item_keys, item_id in zip(items, all_keys, strong, strict=True):
        if item_id is None:
            item_id = _by_title(item, item_keys, known, seen, taken)
        if item_keys and item_keys[0] in met:
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
        met.update(item_keys[:1])
        decisions.append(Decision(item, verdict, item_keys, item_id))
    if first_sight:
        return _with_backfill(decisions, backfill)
    if last_ok_at is not None and _is_flood(decisions, listed_before, last_ok_at, now):
        return [d if d.verdict is not Verdict.NEW else replace(d, verdict=Verdict.FLOOD) for d in decisions]
    return decisions


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


def _keys(
    parts: tuple[bytes | None, bytes | None, bytes | None], shared: Mapping[bytes, int], version: str | None
) -> tuple[bytes, ...]:
    found = [part for part in parts if part and shared[part] == 1]
    pairs = [(a, b) for n, a in enumerate(parts) for b in parts[n + 1 :] if a and b]
    found += [a + b"\0" + b for a, b in pairs if shared[a] > 1 or shared[b] > 1]
    if not found and (only := [part for part in parts if part]):
        found = only[:1]  # entries that nothing tells apart are one
    hashed = [_hash(part, title=part.startswith(b"t")) for part in found]
    return (*hashed, *([_version_key(version)] if version is not None else []))


def _hash(part: bytes, *, title: bool) -> bytes:
    """16 bytes, the first of which says whether the key is a title alone."""
    return (b"t" if title else b"k") + hashlib.blake2b(VERSION + part, digest_size=15).digest()


def _version_key(version: str) -> bytes:
    return b"v" + hashlib.blake2b(VERSION + version.encode("utf-8", "replace"), digest_size=15).digest()


def _is_title(key: bytes) -> bool:
    return key.startswith(b"t")


def _by_title(
    item: Item, item_keys: Sequence[bytes], known: Mapping[bytes, int], seen: Mapping[int, Seen], taken: set[int]
) -> int | None:
    """The stored item of the same title, unless this is surely another one under the same title.

    It is another where the first still stands beside it, and where guid and link are both new and it was published
    after the first was seen: a weekly column.
    """
    item_id = next((known[key] for key in item_keys if _is_title(key) and key in known), None)
    if item_id is None or item_id in taken:
        return None
    if item.guid and item.link and item.published and item_id in seen:
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
        return (-((moment(published, late=False) if published else floor) - floor).total_seconds(), n)

    chosen = set(sorted(fresh, key=newest_first)[:backfill])
    return [replace(d, verdict=Verdict.NEW) if n in chosen else d for n, d in enumerate(decisions)]


def _is_flood(decisions: Sequence[Decision], listed_before: int, last_ok_at: datetime, now: datetime) -> bool:
    """Whether a source renamed what it lists: many unknown items where as many known ones were, and most not dated as news.

    A busy feed, or one that was not polled for long, looks alike but for its dates: its items are younger than the last
    good poll. Items without a date are believed after a longer gap.
    """
    new = [d for d in decisions if d.verdict is Verdict.NEW and d.item.version is None]
    still = [d for d in decisions if d.item_id is not None]
    if len(new) < FLOOD or listed_before < len(new) / 2 or len(still) > len(new) / 4:
        return False
    believed = now - last_ok_at > LONG_GAP
    news = [d for d in new if (is_news(d.item.published, last_ok_at) if d.item.published else believed)]
    return len(news) < len(new) / 2


def is_news(published: date | datetime | None, last_ok_at: datetime) -> bool:
    """Whether a date is that of something published since the last good poll; of a date alone, its whole day counts."""
    return published is not None and moment(published, late=True) > last_ok_at
