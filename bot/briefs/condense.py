"""Each section is condensed to the sentence that carries it: a sentence of the source, whole where it fits.

A linear scorer chooses: overlap with heading and title, position, weight of its words in the section, length, cues. It is
told the heading, which is what beats taking the first sentence on technical text (condense.md, section 1). A chosen
sentence that is too long loses only what the rules below let go: an opening connective, a parenthesis without a verb, a
trailing clause that adds (", which …", ", including …"). Nothing with a negation, a condition or an attribution goes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from bot.briefs.model import Brief
from bot.briefs.sentences import sentences
from bot.briefs.text import plain, shorten

USUAL_LIMIT = 240
MOST_SENTENCES = 60  # of a section; what stands after them does not carry it
LONGEST_BODY = 40_000  # characters of a section that are looked at
# A carrying sentence this short, as a share of the limit, leaves room for a second one that adds facts.
SHORT = 0.55

# Weights as fitted on train splits of SciTLDR, CNN/DM and technical posts (condense.md, section 2).
_WEIGHTS = {
    "inverse_position": 0.148,
    "relative_position": -0.47,
    "named": 1.05,
    "share_named": 0.753,
    "named_pairs": 0.337,
    "central": 0.928,
    "covers": 0.759,
    "frequent": 0.373,
    "capitals": 0.207,
    "over_length": -1.15,
    "length": 1.902,
    "short": -0.203,
    "cue": 0.524,
    "aside": -0.127,
}
_DANGLING, _QUESTION, _COLON, _FRAGMENT, _CUT = 0.35, 0.25, 0.4, 0.6, 0.35

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['’][a-z]+)?")
_CAPITAL = re.compile(r"(?<=[\w,;:)] )[^\W\d_a-z][\w-]+")
_FACT = re.compile(r"\d[\d.,]*\w*|`[^`]+`|\b\w+(?:\.|::|_)\w+\b|\b[A-Z]{2,}\w*\b|\b[A-Za-z]+\d\w*\b|\b[a-z]+[A-Z]\w*\b")
_CUE = re.compile(
    r"\b(introduc\w+|announc\w+|propos\w+|releas\w+|launch\w+|unveil\w*|now|can now|new|adds?|added|supports?|lets? you|"
    r"allow(?:s|ing)?|enabl\w+|improv\w+|available|replac\w+|faster|reduc\w+|default|drop(?:s|ped)?|remov\w+|deprecat\w+|"
    r"fix(?:es|ed)?|patch\w*|found|shows?|starting (?:in|with|from))\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\b(for example|for instance|e\.g\.|see |check out|click|thanks?|thank you|stay tuned|let'?s|note that|as shown|"
    r"figure|below|above|imagine|suppose|remember|of course|by the way|in other words)\b",
    re.IGNORECASE,
)
_DANGLER = re.compile(
    r"\W*(this|these|those|that|such|it|they|he|she|his|her|their|its|both|there|here|another|dies\w*|es|sie|er|questo|"
    r"esto|este|esta|il|elle|cela|to|ta|te|это|он|она|они)\b",
    re.IGNORECASE,
)
_CONNECTIVE = re.compile(
    r"(?:however|additionally|furthermore|moreover|conversely|also|therefore|thus|hence|then|meanwhile|finally|besides|"
    r"similarly|likewise|nevertheless|nonetheless|in addition|as a result|in particular|specifically|in short|overall|"
    r"consequently|notably|importantly|on the software side|on the hardware side),\s+",
    re.IGNORECASE,
)
_STOP = frozenset(
    """
    a an the and or but if of in on at to for from by with as is are was were be been being it its this that these those
    there here we you they he she i our your their his her him them us me my not no nor so than then too very can could may
    might will would shall should must do does did has have had having into over under out up down off about after before
    between through during without within also more most other some such only own same both each few all any how what when
    where which while who whom why one two new now using use used via per just like get got make made many much well however
    der die das den dem des ein eine einer einem einen und oder aber mit von zu zum zur im in am an auf für ist sind war
    waren wird werden wurde nicht auch als wie bei nach aus über es sie wir ich er
    je so in na v z s za pa ki da se ne bi bo bodo ni ali kot po pri od do iz ga jo jih ta te to tudi še že lahko več
    el la los las un una de del y o que en por para con se es son como al lo su sus más no
    le les une des du et ou qui dans pour par avec est sont au aux ce cette plus ne pas
    и в не на с что как по это из к у за от для о или а но же бы все так то
    """.split()
)
# What must not be lost when words are left out: negation, condition, hedge, attribution (condense.md, section 4).
_KEEPS = re.compile(
    r"\b(not|no|never|n't|without|unless|if|only|except|until|after|before|once|when|where|while|provided|pending|but|"
    r"although|though|despite|said|says|according|claims?|alleged\w*|reportedly|may|might|could|would|likely|flag|opt)\b|n['’]t\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r",\s+(?:which|including|such as|as well as|alongside|along with|allowing|enabling|making|letting|bringing|giving|"
    r"providing|reducing|improving|eliminating|replacing|yielding|building|debuting|leading|resulting|helping|ensuring)\b"
)
_PARENTHESIS = re.compile(r"\s*\([^()`]{1,120}\)")
_VERB = re.compile(r"\b(is|are|was|were|has|have|had|can|will|does|do|use|uses|enable|set|see)\b|--?\w", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Section:
    """What the scorer knows of a section as a whole."""

    texts: list[str]
    words: list[list[str]]
    frequency: Counter[str]
    rarity: dict[str, float]
    centre: dict[str, float]
    named: frozenset[str]
    named_pairs: frozenset[tuple[str, str]]


def condense(body: str, *, heading: str | None, title: str, limit: int) -> str:
    """The sentence that carries a section, in at most ``limit`` characters on one line.

    ``body`` is Markdown; links become their labels, emphasis goes, code blocks count only where there is nothing else.
    A second sentence follows where the first is short and it adds facts. Empty where the body has no words, or the limit
    is below 1.
    """
    if limit < 1:
        return ""
    texts = [s for s in map(_without_marker, sentences(_prose(body[:LONGEST_BODY]))) if s][:MOST_SENTENCES]
    if not texts:
        return ""
    section = _section(texts, f"{heading or ''} {title}" if heading != title else title)
    ranked = sorted(range(len(texts)), key=lambda n: (-_score(section, n, texts[n], limit), n))
    chosen = max(
        (
            (_score(section, n, text, limit) - cost, -n, text)
            for n in ranked[:8]
            for text, cost in _forms(texts[n], n, limit)
        ),
        default=None,
    )
    if chosen is None:
        return _clipped(texts[ranked[0]], limit)
    first, text = -chosen[1], chosen[2]
    return _with_second(section, ranked, first, text, limit)


def condensed(brief: Brief, limit: int = USUAL_LIMIT) -> Brief:
    """The brief with the summary of every section."""
    return replace(
        brief,
        sections=tuple(
            replace(s, summary=condense(s.body, heading=s.heading, title=brief.title, limit=limit))
            for s in brief.sections
        ),
    )


def _prose(body: str) -> str:
    """The body as plain text, without code blocks unless there is nothing else."""
    without = re.sub(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", "", body)
    return plain(without).strip() or plain(body)


def _without_marker(sentence: str) -> str:
    return re.sub(r"^\s*(?:[-*+•‣◦▪·–>|]+\s+|\(?\d{1,2}[.)]\s+(?=\S))+", "", sentence).strip(" |")


@lru_cache(maxsize=1 << 15)
def _stem(word: str) -> str | None:
    """A content word in the form that its inflections share; None for a word that says nothing."""
    lower = word.lower().replace("’", "'").removesuffix("'s")
    if lower in _STOP or (len(lower) < 2 and not re.match(rf"[{_CJK}]", lower)):
        return None
    for suffix in (
        "ations",
        "ation",
        "ments",
        "ment",
        "ings",
        "ing",
        "ized",
        "izes",
        "ies",
        "ed",
        "es",
        "ly",
        "er",
        "s",
    ):
        if lower.endswith(suffix) and len(lower) - len(suffix) >= 4 and not lower.endswith("ss"):
            lower = lower[: -len(suffix)]
            break
    return lower.removesuffix("e") if len(lower) > 4 else lower


def _content(text: str) -> list[str]:
    return [stem for word in _WORD.findall(text) if (stem := _stem(word))]


def _section(texts: list[str], names: str) -> _Section:
    words = [_content(text) for text in texts]
    spread, frequency = Counter(w for some in words for w in set(some)), Counter(w for some in words for w in some)
    rarity = {word: math.log(1 + len(texts) / count) for word, count in spread.items()}
    centre: dict[str, float] = {}
    for some in words:
        vector = {word: count * rarity[word] for word, count in Counter(some).items()}
        length = math.sqrt(sum(x * x for x in vector.values())) or 1.0
        for word, value in vector.items():
            centre[word] = centre.get(word, 0.0) + value / length
    named = _content(names)
    return _Section(
        texts, words, frequency, rarity, centre, frozenset(named), frozenset(zip(named, named[1:], strict=False))
    )


def _score(section: _Section, n: int, text: str, limit: int) -> float:
    words = section.words[n] if text is section.texts[n] else _content(text)
    counts, unique = Counter(words), len(set(words)) or 1
    vector = {word: count * section.rarity.get(word, 1.0) for word, count in counts.items()}
    length = math.sqrt(sum(x * x for x in vector.values())) or 1.0
    whole = math.sqrt(sum(x * x for x in section.centre.values())) or 1.0
    mass = sum(math.log(1 + x) for x in section.frequency.values()) or 1.0
    hits = sum(word in section.named for word in counts)
    pairs = section.named_pairs.intersection(zip(words, words[1:], strict=False))
    size = len(text) * (2 if re.search(rf"[{_CJK}]", text) else 1)
    features = {
        "inverse_position": 1 / (1 + n),
        "relative_position": n / (len(section.texts) - 1) if len(section.texts) > 1 else 0.0,
        "named": hits / len(section.named) if section.named else 0.0,
        "share_named": hits / unique,
        "named_pairs": min(1.0, len(pairs) / 3),
        "central": sum(value * section.centre.get(word, 0.0) for word, value in vector.items()) / (length * whole),
        "covers": sum(math.log(1 + section.frequency[word]) for word in counts) / mass,
        "frequent": sum(math.log(max(1, section.frequency[word])) for word in counts) / unique,
        "capitals": min(4, len(_CAPITAL.findall(text))) / 4,
        "over_length": min(len(text) / limit, 1.5) ** 2,
        "length": min(size, 250) / 250,
        "short": float(size < 45),
        "cue": min(2, len(_CUE.findall(text))) / 2,
        "aside": float(bool(_ASIDE.search(text))),
    }
    score = sum(_WEIGHTS[name] * value for name, value in features.items())
    score -= _DANGLING if n > 0 and _DANGLER.match(text) else 0.0
    score -= _QUESTION if text.endswith(("?", "？")) else _COLON if text.endswith((":", "：")) else 0.0
    return score - (_FRAGMENT if re.match(r"[a-z]+\s", text) else 0.0)


def _forms(text: str, n: int, limit: int) -> Iterator[tuple[str, float]]:
    """The forms of a sentence that fit, each with what it costs to have left words out."""
    if n > 0 or len(text) > limit:
        text = _without_connective(text)
    if len(text) <= limit:
        yield text, 0.0
        return
    shorter = _PARENTHESIS.sub(lambda m: m[0] if _VERB.search(m[0]) or _KEEPS.search(m[0]) else "", text)
    for form in (shorter, *(_without_tail(form) for form in (text, shorter))):
        if form != text and len(form) <= limit and len(form) > limit / 4:
            yield form, _CUT
            return


def _without_connective(text: str) -> str:
    if found := _CONNECTIVE.match(text):
        rest = text[found.end() :]
        return rest if re.match(r"\w*[._:(A-Z]|[a-z]+[A-Z]", rest) else rest[:1].upper() + rest[1:]
    return text


def _without_tail(text: str) -> str:
    """The sentence without its last adding clause, if that clause holds nothing that must be kept."""
    for found in reversed(list(_TAIL.finditer(text))):
        head, tail = text[: found.start()], text[found.start() :]
        balanced = head.count("(") == head.count(")") and head.count("`") % 2 == 0 and head.count('"') % 2 == 0
        if balanced and not _KEEPS.search(tail) and len(head.split()) >= 5:
            return head + "."
    return text


def _with_second(section: _Section, ranked: list[int], first: int, text: str, limit: int) -> str:
    """The carrying sentence, and after it the one that adds most, where it fits whole."""
    wide = bool(re.search(rf"[{_CJK}]", text))
    room = limit - len(text) - (0 if wide else 1)
    if len(text) > SHORT * limit or room < 30 or not re.search(r"[.!?。！？][\"”)]?$", text):
        return text
    known, facts = set(_content(text)), set(_FACT.findall(text))
    for n in ranked[:6]:
        other = _without_connective(section.texts[n])
        follows = n == first + 1
        if (
            n <= first
            or len(other) > room
            or not re.search(r"[.!?。！？][\"”)]?$", other)
            or other.endswith(("?", "？"))
        ):
            continue
        if _DANGLER.match(other) and not follows:
            continue
        new = set(_content(other)) - known
        if set(_FACT.findall(other)) - facts and len(new) >= 3:
            return f"{text}{'' if wide else ' '}{other}"
    return text


def _clipped(text: str, limit: int) -> str:
    """The last resort: the beginning of a sentence, cut at a clause if that leaves most of the room used."""
    text = _without_connective(text)
    cut = max(text.rfind(mark, 0, limit) for mark in (", ", "; ", " — ", "、", "，"))
    if cut > 0.6 * limit and text.count("(", 0, cut) == text.count(")", 0, cut) and text.count("`", 0, cut) % 2 == 0:
        return text[:cut].rstrip() + "…"
    return shorten(text, limit)
