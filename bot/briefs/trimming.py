"""Words may be left out of a sentence only where what is left says nothing that the sentence did not say.

The rules know English. They take away an opening connective (``Additionally,``), a parenthesis without a verb, and a
clause at the end that only adds: ``, which ...``, ``, reducing ...``, ``, including ...``, ``, and the new X does Y``.
What is left must have a finite verb; what is taken away must have no negation, condition, exception, hedge, time or
attribution, and must not be an insertion (a comma in it that does not belong to a list) or the last part of a list.
Kinds that showed faults when they were read (participles inside lists, prepositional phrases, ``because`` and ``after``
clauses, appositions, dashes, brackets that narrow) are not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.briefs.sentences import LOWER_NAME

LONGEST = 1_200  # characters of a sentence that is looked into


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A shorter form of a sentence; ``cost`` grows with what was left out, in the units of a salience score."""

    text: str
    cost: float


_CONNECTIVE = re.compile(
    r"(?:(?:additionally|furthermore|moreover|in addition|also|finally|meanwhile|similarly|likewise|as a result|therefore|"
    r"thus|consequently|notably|importantly|specifically|in particular|indeed|in fact|of course|besides|overall|in short|"
    r"lastly|hence|then|accordingly|what'?s more|more importantly|at the same time|"
    r"on the \w+ (?:side|front)|to this end|in this (?:paper|work|post|article|study|report|blog post|tutorial|guide)|"
    r"(?P<turn>however|conversely|nevertheless|nonetheless|that said|by contrast|in contrast|on the (?:one|other) hand|"
    r"still|yet|instead))\s*,\s+"
    r"|(?:that['’]s why|this is why|and|(?P<but>but))\s+(?=(?:the|a|an|we(?:['’]re)?|you|users|developers)\b|(?-i:[A-Z`])))(?=\S)",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?…]+[\"”’)»]*$")
_SPAN = re.compile(r"`+[^`\n]+`+|https?://\S+|\([^()\n]*\)|“[^”\n]*”|\"[^\"\n]*\"|«[^»\n]*»|\[[^\]\n]*\]")
_WORD = re.compile(r"[A-Za-z][\w'’-]*")
_PARENTHESIS = re.compile(r"(?<!,)\s\([^()`]{1,200}\)(?=[\s,;:.]|$)(?!\s[\dA-Z])")
# What must stay: negation, exception, condition, hedge, restriction, time, source, support status.
_BINDING = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|unless|except|excluding|only|cannot|but|however|although|though|despite|"
    r"if|until|till|when|whenever|where|wherever|while(?! [a-z]+ing\b)|after|before|once|since|as long as|as soon as|provided|assuming|given|subject to|"
    r"depend\w*|requir\w*|needs?|must|should|may|might|could|would|can(?= be)|likely|possibl\w+|potential\w*|probabl\w+|perhaps|"
    r"expected|planned|alleged\w*|reported\w*|reports?|said|says|saying|according|told|claim\w*|announc\w+|argu\w+|believ\w+|"
    r"estimat\w+|citing|quot\w+|starting|beginning|effective|limit\w*|restrict\w*|until|experimental\w*|preview|beta|alpha|deprecat\w*|unsupported|limited|optional\w*|opt-in|opt-out|"
    r"flags?|disabled?|by default|fail\w*|at least|at most|up to|almost|nearly|about|approximately|around|roughly|instead|rather|"
    r"hopefully|supposedly|so-called|temporar\w+|pending)\b|n['’]t\b|--\w",
    re.IGNORECASE,
)
# In what is left, these make a part that was taken away matter ("It does not work, making ...").
_TURNED = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|only|unless|if|when|whether|fail\w*|instead|rather)\b|n['’]t\b", re.I
)
_VERB_IN_BRACKETS = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|will|can|do|does|did|use[ds]?|set|see|add|run|enable[ds]?)\b|\d|[=<>/]",
    re.I,
)
# "free (for students)" says less than "free"; "tools (such as those for Linux)" says no more than "tools".
_NARROWS = re.compile(r"\b(?:for|in|on|with|by|from|at|to|as|of|under|via|per|than|or)\b", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"\s\((?:e\.g\.|such as|including|for (?:example|instance)|also (?:called|known as))", re.IGNORECASE
)
_WHICH = re.compile(
    r"(?:(?:(?:both|some|all|many|most|each|one|several) of|in|on|for|from|by|with|at|to|of|through|under) (?:which|whom)|which|who|"
    r"whose|where(?! (?:available|possible|supported|applicable|needed|necessary|appropriate|permitted|allowed)))\b"
)
_ING = re.compile(
    r"(?:also |thereby |thus |significantly |greatly |further |effectively |\w+ly )?(?P<verb>[a-z]+ing)\b(?! ?,)(?! (?:and|or)\b)\s+\S"
)
_INCLUDING = re.compile(r"(?:including|such as|notably|especially|particularly|alongside|along with|together with)\b")
_AND = re.compile(r"and (?:the|a|an|its|their|our|it|they|we|you|users|developers|more|new)\b")
# Up to its first comma, a sentence that opens with one of these may be no sentence yet.
_OPENS_SUBORDINATE = re.compile(
    r"(?:as|while|when|whenever|where|if|since|although|though|because|after|before|once|unless|until|whether|for|with|by|in|"
    r"on|at|from|to|under|during|without|despite|unlike|like|due|based|using|given|through|besides|among|instead|rather|"
    r"what|how|who|why|that|even|given|regardless)\b",
    re.IGNORECASE,
)
# After an insertion's closing comma the sentence goes on with one of these.
_CLOSES = re.compile(r"(?:to|for|in|on|by|from|with|at|as|that|which|who|where|but|so|using|via)\b")
_LISTED = re.compile(r"(?:and|or|as well as)\b")
# "... has been optimized, reducing": no gerund of the clause before must be what the comma continues.
_GERUND = re.compile(r"\b(?!during\b|something\b|nothing\b|anything\b|everything\b)[a-z]{2,}ing\b")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NOT_VERBS = _set(
    "during according something nothing anything everything string king thing ring spring sing wing ceiling sibling "
    "engineering processing training testing computing programming learning meaning building pricing timing setting "
    "following upcoming ongoing existing remaining outstanding excluding regarding concerning pending"
)
_DANGLING_END = _set(
    "a an the of to in on at by for with from and or but as that which who whose into than via per is are was were be been "
    "has have had their its our not including such between both either more less most very also can will may"
)
_FINITE = _set(
    """
    is are was were am has have had do does did can could will would may might must shall should isn't aren't wasn't
    weren't hasn't haven't hadn't doesn't don't didn't can't couldn't won't wouldn't cannot it's they're we're
    you're there's that's here's we've they've i've you've i'm accelerates accepts achieves adapts adds adjusts
    affects aims aligns allocates allow allows announced appears applies argues arrives assumes avoids became
    becomes began begins blocks boosts bought brings broke brought came captures carries causes changed claimed
    combines comes compares computes confirmed confirms connects considers consists contains continues converts
    covers creates cuts debuted debuts decided decreases defines delivers demonstrates denies depends describes
    detects determines differs disables discusses doubled doubles drops dropped eliminates employs enable enables
    encodes ends ensures establishes evaluates expands expects explains explores exposes extends extracts
    facilitates falls fell finds fixed fixes focuses follows gave generates gets gives goes got grew grows handles
    happens helps holds identifies implements implies improved improves include includes incorporates increased
    increases indicates integrates introduce introduced introduces involves joined joins keeps knows lacks landed
    lands launched launches leads learns leaves let lets leverages lies loses lowers maintains makes manages marked
    matches means meets merges moved moves needs occurs offer offers opened opens operates optimizes outperforms
    owns passes performs permits plays prefers prepares presented presents prevents produces promises promotes
    propose proposes protects proves provide provides published publishes pulls pushes puts raised raises ran
    reached reaches reads receives recognizes recommends reduces refers reflects rejected rejects relates released
    relies remains reminds removed removes renames renders replaced replaces represents requires resembles resolves
    restores restricts retains reveals rewrites rises rose runs saw seeks seems sees selects sends serves shipped
    ships should show showed shows signed signs simplifies sits solves speaks specifies spends stands started starts
    stays stopped stops streamlines succeeds suffers suggests supports surpasses switched switches takes teaches
    tells tends thinks took transforms translates treats tried tries turned turns underwent unifies unlocks upgraded
    uses utilize utilizes validates wants warned went won works writes wrote yielded yields
    """
)
# Whatever follows a subject pronoun is its verb.
_PRONOUN_VERB = re.compile(r"\b(?:we|you|they|I)\s+(?:also |now |then |[a-z]+ly )?[a-z]{3,}\b", re.IGNORECASE)


def without_connective(sentence: str) -> Trimmed:
    """``sentence`` without an opening ``Additionally,`` or the like; itself at no cost where there is none."""
    found = _CONNECTIVE.match(sentence)
    if found is None:
        return Trimmed(sentence, 0.0)
    rest = sentence[found.end() :]
    turned = found["turn"] or found["but"]
    return Trimmed(rest if LOWER_NAME.match(rest) else rest[0].upper() + rest[1:], 0.06 if turned else 0.02)


def trimmed(sentence: str) -> Iterator[Trimmed]:
    """The forms of an English ``sentence`` with words left out, in no order; there may be none.

    A sentence of more than ``LONGEST`` characters has none.
    """
    if len(sentence) > LONGEST:
        return
    without = _PARENTHESIS.sub(lambda found: found.group() if _bound_in_brackets(found.group()) else "", sentence)
    if without != sentence and _stands(without):
        yield Trimmed(without, 0.06)
    yield from _without_ends(sentence)
    if without != sentence:
        for form in _without_ends(without):
            yield Trimmed(form.text, form.cost + 0.06)


def _bound_in_brackets(text: str) -> bool:
    if _BINDING.search(text) or _VERB_IN_BRACKETS.search(text):
        return True
    return _NARROWS.search(text) is not None and _EXAMPLE.match(text) is None


def _without_ends(sentence: str) -> Iterator[Trimmed]:
    end = _END.search(sentence)
    if end is None or sentence[end.start()] not in ".!…":
        return
    stop = end.start()
    masked = _SPAN.sub(lambda found: "Q" * len(found.group()), sentence)[:stop]
    commas = [found.start() for found in re.finditer(", ", masked)]
    for at in commas:
        adding = _adds(masked, at, commas)
        if adding is None or _TURNED.search(masked, 0, at) or _BINDING.search(sentence, adding.opened, stop):
            continue
        form = sentence[:at] + sentence[stop:]
        if _stands(form):
            yield Trimmed(form, adding.cost)


@dataclass(frozen=True, slots=True)
class _Adding:
    """An end of a sentence that merely adds: what leaving it out costs, and where its first words end."""

    cost: float
    opened: int


def _adds(masked: str, at: int, commas: list[int]) -> _Adding | None:
    """Whether what follows the comma ``at`` merely adds to the sentence."""
    before, later = masked[:at], [comma for comma in commas if comma > at]
    if ":" in masked or ";" in masked or not _finite(before) or not _is_list(masked, later):
        return None
    if at == commas[0] and _OPENS_SUBORDINATE.match(masked):
        return None
    if at != commas[0] and not _finite(masked[commas[commas.index(at) - 1] + 2 : at]):
        return None  # "a, b, including c": the comma may be one of a list's
    start = at + 2
    if found := _WHICH.match(masked, start):
        return _Adding(0.06, found.end())
    if found := _ING.match(masked, start):
        verb = found["verb"]
        several = later or re.search(r"\b(?:and|or) \w+ing\b", masked[start:])
        listed = several and any(word not in _NOT_VERBS for word in _GERUND.findall(before))
        if verb not in _NOT_VERBS and verb != "including" and not listed:
            return _Adding(0.05, start)
    if found := _INCLUDING.match(masked, start):
        return _Adding(0.08, found.end())
    if commas[0] == at and _AND.match(masked, start) and _finite(masked[start + 4 :]):
        return _Adding(0.1, start)
    return None


def _is_list(masked: str, later: list[int]) -> bool:
    """The commas ``later`` than the one in question part a list, and close no insertion."""
    if not later:
        return True
    last = masked[later[-1] + 2 :]
    if any(_CLOSES.match(masked, comma + 2) or masked[comma + 2 :].split(" ", 1)[0] in _FINITE for comma in later):
        return False
    return _LISTED.match(last) is not None or re.search(r"\b(?:and|or)\b", last) is not None


def _finite(text: str) -> bool:
    words = _WORD.findall(text)
    if _PRONOUN_VERB.search(text):
        return True
    return any(word.replace("’", "'") in _FINITE for word in words) or bool(words and words[0].lower() in _FINITE)


def _stands(text: str) -> bool:
    """``text`` still is a sentence: a finite verb, no dangling end, its brackets and quotes closed."""
    masked = _SPAN.sub(lambda found: "Q" * len(found.group()), text)
    words = _WORD.findall(masked)
    if len(words) < 5 or not _finite(masked) or words[-1].lower() in _DANGLING_END:
        return False
    return text.count("(") == text.count(")") and text.count("`") % 2 == 0 and text.count('"') % 2 == 0
