"""How well a sentence carries its section is a weighted sum of what can be seen in it.

What counts most is what it shares with the section's heading and the brief's title; then where it stands, how much of
the section's vocabulary it covers and how close it is to the middle of it, its length, and words that announce. The
weights were fitted (softmax over the sentences of a text, towards ROUGE with human summaries) on training parts of
SciTLDR, CNN/DailyMail and technical posts; the penalties for what cannot stand alone were set by hand.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from bot.briefs.sentences import LOWER_NAME

WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # scripts that say twice as much a character

_SPACELESS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_SPACELESS}]|[^\W_{_SPACELESS}]+(?:['’][a-z]+)?")
_NAME = re.compile(r"(?<=[\w,;:)] )[A-ZČŠŽÄÖÜÉА-Я][\w-]+")
_NUMBER = re.compile(r"(?<![\w.])[$€£¥]?\d[\d.,:/–-]*\w*(?:\s?%)?|\b[vV]\d[\w.-]*")
_IDENTIFIER = re.compile(
    r"`[^`]+`|\b[A-Za-z_]\w*(?:(?:\.|::|_)\w+)+\b|\b[A-Za-z]*[a-z]+[A-Z]\w*\b|\b[A-Za-z]+\d\w*\b|\b[A-Z]{2,}\w*\b"
)
_PROPER = re.compile(r"(?<=[a-z0-9,;:)] )[A-ZČŠŽÄÖÜ][a-zčšžäöüß][\w-]+")
_ANNOUNCES = re.compile(
    r"\b(?:introduc\w+|announc\w+|propos\w+|present(?:s|ed)?|releas\w+|launch\w+|now (?:available|supports?|includes?|"
    r"offers?|uses?|allows?)|can now|new|adds?|added|supports?|lets? you|allow(?:s|ing)?|enabl\w+|improv\w+|available|"
    r"provid\w+|replac\w+|faster|reduc\w+|show that|shows? how|we (?:show|propose|present|introduce|find|demonstrate|"
    r"develop|study)|this (?:post|article|paper|guide|release|work|document)|learn (?:how|about)|default|drop(?:s|ped)?|"
    r"remov\w+|deprecat\w+|starting (?:in|with|from))\b",
    re.IGNORECASE,
)
_POINTS_ELSEWHERE = re.compile(
    r"\b(?:for example|for instance|e\.g\.|such as|see |check out|click|thanks?|thank you|stay tuned|let'?s|note that|as "
    r"shown|figure|below|above|imagine|suppose|remember|hopefully|unfortunately|of course|by the way|in other words|bug|"
    r"feedback|stack overflow|twitter|github issue)\b",
    re.IGNORECASE,
)
_FURNITURE = re.compile(
    r"\W*(?:read (?:more|on|the|our|about)\b|continue reading|learn more|check out\b|see (?:the|our|this|also)\b|for more\b|"
    r"to (?:learn|find out|read|know) more\b|visit\b|take a look|head over|stay tuned|sign up|subscribe|follow us|share this|click here|"
    r"(?:photo|image|picture|credit)s?(?: credit)?s?(?: by|:)|photograph|source:|advertisement|sponsored|related:|"
    r"full changelog|what'?s changed|originally published|updated? (?:on|at)\b|posted (?:on|by)|table of contents|"
    r"copyright|all rights reserved|skip to|last (?:updated|modified)|[^.!?|]{1,80}(?: \| [^.!?|]{1,80})+$)",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I’m|I've|I’ve|my|me)\b")
# "This release" refers to what the brief is about; "this mechanism" to a sentence before it.
_REFERS = {
    "en": re.compile(
        r"\W*(?:\w+,\s+)?(?:(?:this|these|those|that|such)\b(?:\s+(?:new\s+|latest\s+)?(?P<what>[A-Za-z][\w-]+))?"
        r"|(?:it(?!(?:['’]s| is| was) (?:now|almost|been|time|(?:also )?possible|important|easy|hard|worth|clear)\b)|they|he|she|"
        r"his|her|their|its|both|here(?!,| we\b)|another|others|the (?:former|latter|same|other)|as such|doing so|"
        r"to (?:do (?:so|this|that)|this end)|in (?:both|either|this|that|these|such) cases?|because of this|even so|so)\b)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\W*(?:diese\w*|dies|sie|er|es|dadurch|damit|dabei|dazu|davon|außerdem|zudem|hierbei)\s", re.IGNORECASE
    ),
    "sl": re.compile(
        r"\W*(?:to|ta|te|ti|tem|tako|poleg tega|zato|vendar|slednj\w+|njegov\w*|njihov\w*)\s", re.IGNORECASE
    ),
    "fr": re.compile(
        r"\W*(?:il|elle|ils|elles|cela|ceci|celui-ci|celle-ci|ceux-ci|ce|cette|ces|en outre)\s", re.IGNORECASE
    ),
    "es": re.compile(r"\W*(?:esto|esta|este|estos|estas|ello|él|ella|ellos|además|también)\s", re.IGNORECASE),
    "pt": re.compile(r"\W*(?:isto|isso|este|esta|esse|essa|ele|ela|eles|elas|além disso|também)\s", re.IGNORECASE),
    "it": re.compile(r"\W*(?:questo|questa|questi|queste|ciò|esso|essa|inoltre)\s", re.IGNORECASE),
    "ru": re.compile(r"\W*(?:это|эта|этот|эти|он|она|оно|они|также|кроме)\s", re.IGNORECASE),
    "zh": re.compile(r"\W*(?:这|該|该|它|他|她|此|其)"),
    "ja": re.compile(r"\W*(?:これ|それ|この|その|また|さらに)"),
    "ko": re.compile(r"\W*(?:이는|이것|또한|그)"),
}


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OWN = _set(
    """
    release update version paper post article work guide tutorial study report blog week month year document survey
    thesis chapter section brief issue edition patch changelog announcement newsletter episode talk webinar book
    """
)
_STOP_WORDS = _set(
    """
    a an the and or but if of in on at to for from by with as is are was were be been being it its this that these those
    there here we you they he she i our your their his her him them us me my not no nor so than then too very can could
    may might will would shall should must do does did has have had having into over under out up down off about after
    before between through during without within also more most other some such only own same both each few all any how
    what when where which while who whom why one two new now using use used via per just like get got make made many much
    well however
    der die das den dem des ein eine einer einem einen und oder aber mit von zu zum zur im in am an auf für ist sind war
    waren wird werden wurde nicht auch als wie bei nach aus über es sie wir ich er
    je so in na v z s za pa ki da se ne bi bo bodo ni ali kot po pri od do iz ga jo jih ta te to tudi še že lahko več
    el la los las un una de del y o que en por para con se es son como al lo su sus más
    le les une des du et ou qui dans pour par avec est sont au aux ce cette plus pas
    и в не на с что как по это из к у за от для о или а но же бы все так то можно
    """
)
# Suffix, and how many letters must be left for it to be one.
_SUFFIXES = (
    ("ations", 3),
    ("ation", 3),
    ("ments", 4),
    ("ment", 4),
    ("ings", 3),
    ("ing", 3),
    ("ized", 3),
    ("izes", 3),
    ("izing", 3),
    ("ies", 3),
    ("ed", 3),
    ("es", 3),
    ("ly", 4),
    ("er", 4),
    ("s", 3),
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str | None:
    """``word`` in the form that its inflections share; None for a word that says nothing by itself."""
    lower = word.lower().replace("’", "'")
    if lower in _STOP_WORDS or (len(lower) < 2 and not WIDE.match(lower)):
        return None
    lower = lower.removesuffix("'s")
    if len(lower) > 5:
        for suffix, rest in _SUFFIXES:
            if lower.endswith(suffix) and len(lower) - len(suffix) >= rest:
                lower = lower[: -len(suffix)]
                break
    elif len(lower) > 3 and lower.endswith("s") and not lower.endswith("ss"):
        lower = lower[:-1]
    return lower[:-1] if lower.endswith("e") and len(lower) > 4 else lower


def concepts(text: str) -> list[str]:
    """The stems of the words of ``text`` that say something, in order."""
    return [found for word in _WORD.findall(text) if (found := stem(word)) is not None]


def facts(text: str) -> dict[str, float]:
    """What a reader would look for in ``text``, each with its weight: numbers 1.5, identifiers 1, names 0.6."""
    found = {number.strip(".,:-–"): 1.5 for number in _NUMBER.findall(text)}
    for identifier in _IDENTIFIER.findall(text):
        found.setdefault(identifier.strip("`"), 1.0)
    for name in _PROPER.findall(text):
        found.setdefault(name, 0.6)
    return found


class Section:
    """The sentences of a section, and what a sentence of it is worth."""

    def __init__(self, sentences: Sequence[str], heading: str, title: str, language: str) -> None:
        self.sentences = sentences
        self._refers = _REFERS.get(language)
        self.stems = [concepts(sentence) for sentence in sentences]
        self._counts = [Counter(words) for words in self.stems]
        self.frequency: Counter[str] = Counter()
        spread: Counter[str] = Counter()
        for counts in self._counts:
            self.frequency.update(counts)
            spread.update(counts.keys())
        self._rarity = {word: math.log(1 + len(sentences) / count) for word, count in spread.items()}
        self._centre = self._centroid()
        self._centre_length = math.sqrt(sum(x * x for x in self._centre.values())) or 1.0
        self._mass = sum(math.log(1 + x) for x in self.frequency.values()) or 1.0
        named = concepts(heading if heading == title else f"{heading} {title}")
        self.named = frozenset(named)
        self._heading = frozenset(concepts(heading)) or self.named
        self._named_pairs = frozenset(pairwise(named))
        self.wide = 2 if sentences and len(WIDE.findall(sentences[0])) * 4 > len(sentences[0]) else 1

    def _centroid(self) -> dict[str, float]:
        centre: dict[str, float] = {}
        for counts in self._counts:
            vector = [(word, count * self._rarity[word]) for word, count in counts.items()]
            length = math.sqrt(sum(x * x for _, x in vector)) or 1.0
            for word, x in vector:
                centre[word] = centre.get(word, 0.0) + x / length
        return centre

    def weight(self, words: Sequence[str] | frozenset[str]) -> float:
        """The share of the section's vocabulary that ``words`` (distinct stems) are, those of the heading 1.5-fold."""
        total = sum(math.log(1 + self.frequency[word]) * (1.5 if word in self.named else 1.0) for word in words)
        return total / self._mass

    def dangles(self, at: int, text: str) -> bool:
        """``text``, made of the sentence ``at``, opens with a reference to a sentence before it."""
        found = self._refers.match(text) if self._refers is not None and at > 0 else None
        if found is None:
            return False
        what = found.groupdict().get("what")
        return what is None or not (what.lower() in _OWN or not self._heading.isdisjoint(concepts(what)))

    def stands_alone(self, at: int, text: str) -> bool:
        """A reader understands ``text``, made of the sentence ``at``, without the sentences around it."""
        return not (self.dangles(at, text) or text[-1:] in ":：" or _FURNITURE.match(text))

    def score(self, at: int, text: str, limit: int) -> float:
        """How well ``text``, the sentence ``at`` or a part of it, carries the section in ``limit`` characters."""
        same = text is self.sentences[at]
        words = self.stems[at] if same else concepts(text)
        counts = self._counts[at] if same else Counter(words)
        dot = squares = covered = frequent = 0.0
        hits = 0
        for word, count in counts.items():
            x = count * self._rarity.get(word, 1.0)
            squares += x * x
            seen = self.frequency.get(word, 0)
            if seen:
                dot += x * self._centre[word]
                covered += math.log(1 + seen)
                frequent += math.log(seen)
            hits += word in self.named
        distinct, size = len(counts) or 1, len(text) * self.wide
        total = 0.148 / (1 + at)
        if len(self.sentences) > 1:
            total -= 0.47 * at / (len(self.sentences) - 1)
        if self.named:
            pairs = len(self._named_pairs.intersection(pairwise(words)))
            total += 1.05 * hits / len(self.named) + 0.753 * hits / distinct + 0.337 * min(1.0, pairs / 3)
        total += 0.928 * dot / ((math.sqrt(squares) or 1.0) * self._centre_length)
        total += 0.759 * covered / self._mass + 0.373 * frequent / distinct
        total += 0.207 * min(4, len(_NAME.findall(text))) / 4
        total += 1.902 * min(size, 250) / 250 - 1.15 * min(len(text) / limit, 1.5) ** 2 - 0.203 * (size < 45)
        total += 0.524 * min(2, len(_ANNOUNCES.findall(text))) / 2 - 0.127 * bool(_POINTS_ELSEWHERE.search(text))
        return total - _penalties(text, alone=len(self.sentences) == 1)


def _penalties(text: str, *, alone: bool) -> float:
    """What makes a text less of a sentence that stands by itself."""
    if alone:
        return 0.0
    end = text[-1:]
    penalty = 0.25 if end in "?？" else 0.4 if end in ":：" else 0.0
    penalty += 0.05 * bool(_FIRST_PERSON.search(text))
    penalty += 0.6 * (text[:1].islower() and not LOWER_NAME.match(text))
    return penalty + 0.8 * bool(_FURNITURE.match(text))
