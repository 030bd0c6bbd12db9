"""Whether two briefs tell the same story: what they name, how alike they read, how far apart they came.

Follows the measured recommendation (search.md, section 2): the same address or title is the same story; else the cosine of
weighted words, title twice, times e^(-days/3); titles that name versions or CVE ids and share none are two stories; two
briefs of one source are merged only when they are nearly the same. Two briefs alone have no word statistics, so a word's
weight is judged by its form: identifiers and names are rare, plain words common.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from datetime import datetime
from functools import lru_cache

from bot.briefs.model import Brief
from bot.briefs.text import plain

THRESHOLD = 0.25
SAME_SOURCE = 0.80
DAYS = 3.0
SAME_TITLE_DAYS = 7
SHARED_VERSION = 0.1  # for titles that name the same version or CVE id

_IDENTIFIER, _NAME, _WORD, _COMMON, _YEAR = 3.0, 2.2, 0.8, 0.25, 0.2
_TITLE = 2.0
_LONGEST_BODY = 1500

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}](?:[^\W{_CJK}]|[.+#-](?=[^\W{_CJK}]))*[+#]*")
_VERSION = re.compile(r"\b(?:cve-\d{4}-\d{3,7}|v?\d+(?:\.\d+)+)\b", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s+|\n)\W*$")
# Words of every tech story, in the languages that briefs come in; they say nothing about which story it is.
_COMMON_WORDS = frozenset(
    """
    a an the and or but if of in on at to for from by with as is are was were be been it its this that these those there
    we you they he she our your their not no than then too very can could may might will would should must do does did has
    have had into over under out up down off about after before between through during without within also more most other
    some such only own same both each few all any how what when where which while who new now first last one two three
    release released releases version update updates support supports adds added available company says said year years
    month months day days week today users user developers developer million billion percent use used using open source
    software data system systems service services feature features make makes made get gets time security model models
    der die das den dem des ein eine einer einem einen und oder aber mit von zu zum zur im am auf für ist sind war wird
    werden wurde nicht auch als wie bei nach aus über es sie hat haben
    el la los las un una de del y o que en por para con se es son como al lo su más no le les des du et ou dans pour par
    avec est sont au aux ce cette plus il di per con che non da em os as na no
    je so in na v z za pa ki da se ne bi bo ali kot po pri od do ga jo jih te tudi še že
    и в не на с что как по это из к у за от для о или а но
    """.split()
)


def same_story(a: Brief, b: Brief) -> float:
    """How likely two briefs tell the same story: 0 to 1; from ``THRESHOLD`` on they do. Symmetric."""
    if _addresses(a) & _addresses(b):
        return 1.0
    apart = _days_apart(a, b)
    one, other = _title(a), _title(b)
    if one and one == other and (apart is None or apart <= SAME_TITLE_DAYS):
        return 1.0
    versions, others = _versions(a), _versions(b)
    if versions and others and not versions & others:
        return 0.0
    score = _cosine(_weights(a), _weights(b)) + (SHARED_VERSION if versions & others else 0.0)
    if apart is not None:
        score *= math.exp(-apart / DAYS)
    if a.source and b.source and a.source.name.casefold() == b.source.name.casefold() and score < SAME_SOURCE:
        return min(score, THRESHOLD * 0.99)
    return min(1.0, max(0.0, score))


def _addresses(brief: Brief) -> set[str]:
    """Where the story itself lies; a site's front page is nobody's story."""
    found = {brief.permalink, brief.original, *(c.url for c in brief.coverage)}
    bare = {re.sub(r"^https?://(www\.)?|[?#].*$", "", url).rstrip("/") for url in found if url}
    return {url for url in bare if "/" in url}


def _title(brief: Brief) -> str:
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFKC", brief.title).casefold()))


def _versions(brief: Brief) -> set[str]:
    return {found.casefold().removeprefix("v") for found in _VERSION.findall(brief.title)}


def _days_apart(a: Brief, b: Brief) -> float | None:
    """Whole days between two dates, one of grace for time zones; None where one is missing."""
    if a.published is None or b.published is None:
        return None
    first, second = (p.date() if isinstance(p, datetime) else p for p in (a.published, b.published))
    return max(0.0, abs((first - second).days) - 1.0)


@lru_cache(maxsize=2048)
def _weights(brief: Brief) -> dict[str, float]:
    """Each word of a brief with its weight."""
    body = "\n".join(plain(section.body[:_LONGEST_BODY]) for section in brief.sections[:20])
    headings = "\n".join(section.heading or "" for section in brief.sections[:20])
    counts: Counter[str] = Counter()
    rarity: dict[str, float] = {}
    for text, times in ((brief.title, _TITLE), (brief.dek, 1.0), (headings, 1.0), (body, 1.0)):
        for term, weight in _terms(text):
            counts[term] += 1 if times == 1.0 else 2
            rarity[term] = max(rarity.get(term, 0.0), weight)
    return {term: rarity[term] * (1 + math.log(count)) for term, count in counts.items()}


def _terms(text: str) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        word = match[0]
        if re.match(rf"[{_CJK}]", word):
            found += [(word[n : n + 2], _WORD) for n in range(max(1, len(word) - 1))]
            continue
        folded = _folded(word)
        if folded in _COMMON_WORDS or len(folded) < 2:
            weight = _COMMON if len(folded) > 3 else 0.0
        elif re.fullmatch(r"(19|20)\d\d|\d{1,2}", folded):
            weight = _YEAR
        elif any(c.isdigit() for c in folded):
            weight = _IDENTIFIER
        elif word[0].isupper() and (
            word[1:].upper() == word[1:] or not _SENTENCE_START.search(text[: match.start()][-12:])
        ):
            weight = _NAME
        else:
            weight = _WORD
        if weight:
            found.append((folded, weight))
    return found


def _folded(word: str) -> str:
    """Lower case, without accents and without a plural or a German genitive s."""
    plain_word = "".join(c for c in unicodedata.normalize("NFD", word.casefold()) if not unicodedata.combining(c))
    return (
        plain_word[:-1]
        if len(plain_word) > 4 and plain_word.endswith("s") and not plain_word.endswith("ss")
        else plain_word
    )


def _cosine(a: dict[str, float], b: dict[str, float]) -> float:
    if len(a) > len(b):
        a, b = b, a
    dot = sum(weight * b[term] for term, weight in a.items() if term in b)
    length = math.sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
    return dot / length if length else 0.0
