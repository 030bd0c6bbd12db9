"""A text is a list of sentences: sentencex finds their ends, and is kept from ends that technical text only seems to have.

What is no end is masked before the text is split: dots in identifiers, versions, addresses, inline code, times and
abbreviations, and stops inside quotes and brackets. What sentencex takes for an end and is none (the text goes on in
lower case) is joined again; what it misses (``etc.`` and ``Inc.`` before a new sentence) is split. sentencex 1.0.32
takes quadratic time for unclosed quotes and brackets, so a text goes through it in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import sentencex  # type: ignore[import-untyped]  # it ships no types

PIECE = 2_000  # characters given to sentencex at once: 2,000 unclosed quotes cost 1 ms, 100,000 cost 2.5 s
_SEEN = 2_000  # characters from which the language is told

_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪·–][ \t]+\S|\(?\d{1,3}[.)][ \t]+\S|[①-⑳])")

# The commonest words of each language that tell it from the others; scripts of one language need none.
_COMMON = {
    "en": "the of and to in is for that with are this on by be as it from an or can was has",
    "de": "der die das und ist ein eine mit für auf den von nicht auch wird werden sich im dem zu bei",
    "sl": "je in na za ki se so ne da pri tudi ali pa kot bo bodo iz po ter ni ga z s v",
    "fr": "le la les des est une dans pour que qui avec sur du au et pas sont plus ce cette par",
    "es": "el la los las del una que con para por es se su más como son está y en al lo",
    "pt": "o os as da do das dos uma que com para por é se não mais como são em no na ao",
    "it": "il lo gli della dei delle che con per una è si non più come sono nel di da anche",
    "nl": "de het een van en is dat op te met voor zijn niet aan er ook als door wordt worden",
    "pl": "się nie jest na że do przez oraz dla jak są od które który po ze to w z i",
    "cs": "je se na že pro jako jsou které který od po při také nebo ve za byl to v s z a",
    "hr": "je se na za koji koja su od kao što nije ili te biti će po uz iz u i s sa",
}
_COMMON_WORDS = {language: frozenset(words.split()) for language, words in _COMMON.items()}
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("el", re.compile("[\u0370-\u03ff]")),
)

# Words that open an English, German or Slovenian sentence: after an abbreviation that may also end one.
_OPENERS = (
    "The|A|An|This|That|These|Those|It|Its|He|She|We|You|They|In|On|At|As|For|But|And|However|Also|All|If|When|While|"
    "There|Our|Your|Their|His|Her|My|No|Not|So|Then|Now|Today|New|Users|Developers|After|Before|Since|Both|By|With|"
    "Der|Die|Das|Ein|Eine|Es|Er|Sie|Wir|Dies|Diese|Nach|Mit|Auch|To|Ta|Novosti|Na|Po|Pri|Za"
)
# Always followed by what they belong to.
_ABBREVIATIONS = (
    r"e\.g|i\.e|cf|viz|vs|approx|resp|incl|excl|esp|ver|vers|dept|est|figs?|tabs?|eqs?|secs?|chap|vol|nos?(?=\.\s?\d)|"
    r"mr|mrs|ms|mx|dr|drs|prof|rev|hon|gen|col|lt|sgt|capt|cmdr|adm|maj|gov|sen|rep|messrs|st|mt|"
    r"z\.\s?b|z\.\s?t|u\.\s?a|d\.\s?h|u\.\s?u|v\.\s?a|o\.\s?ä|i\.\s?d\.\s?r|bzw|evtl|ggf|inkl|exkl|zzgl|abzgl|bspw|vgl|"
    r"sog|mio|mrd|tsd|nr|abs|hrsg|ca|"
    r"npr|t\.\s?i|t\.\s?j|t\.\s?im|oz|mag|ing|inž|dipl|univ|pribl|pogl|tj|tzv|tzn|itn|čl|št|str|gl|ur(?=\.\s+[a-zčšž])|"
    r"np|m\.\s?in|tzw|např|"
    r"p\.\s?ej|sra?|srta|núm|pág|mme|mlle|sig|dott|avv|"
    r"т\.\s?е|им|ул|см|напр|руб|тыс|млн|млрд"
)
# These end a sentence only before something that opens one; those of a list's end before any capital.
_LISTING = "etc|usw|itd|ipd"
_ENDING = r"inc|corp|ltd|co|llc|bros|jr|sr|al|gmbh|d\.\s?o\.\s?o|s\.\s?r\.\s?o|u\.s|u\.k|u\.n|e\.u|d\.c|[ap]\.m"
_MONTHS = (
    "jan|feb|mar|apr|jun|jul|aug|sept?|oct|okt|nov|dec|dez|januar(?:ja)?|februar(?:ja)?|märz|marca|april(?:a)?|mai|maja|"
    "juni(?:ja)?|juli(?:ja)?|august|avgusta|september|septembra|oktober|oktobra|november|novembra|dezember|decembra|jänner"
)
_MASKED = re.compile(
    rf"""(?P<code>(?<!`)(`+)(?!`)[^\n]{{1,400}}?(?<!`)\2(?!`))
    |(?P<url>\bhttps?://[^\s<>"“”]{{0,2000}}[^\s<>"“”.,;:!?)\]'’])
    |(?P<quoted>“[^“”\n]{{1,300}}”|„[^„“”\n]{{1,300}}[“”]|«[^«»\n]{{1,300}}»|»[^«»\n]{{1,300}}«
        |(?<![\w"])"[^"\n]{{1,300}}"(?!\w)
        |「[^「」\n]{{1,300}}」|『[^『』\n]{{1,300}}』|\([^()\n]{{1,300}}\)|（[^（）\n]{{1,300}}）)
    |(?P<inner>(?<=[^\W_])[.!?](?=[\w]))
    |(?P<leading>(?<![\w.])\.(?=[A-Za-z]\w))
    |(?P<item>\A\s*\(?\w{{1,3}}[.)]+(?=\s))
    |(?P<clock>\b[ap]\.m\.(?=\s+(?:[A-Z]{{2,4}}\b|\()))
    |(?P<abbreviation>(?<![\w.])(?i:{_ABBREVIATIONS})\.(?=\s*\S))
    |(?P<ending>(?<![\w.])(?i:{_ENDING})\.(?=\s+(?!(?:{_OPENERS})\b)[^\W_]))
    |(?P<listing>(?<![\w.])(?i:{_LISTING})\.(?=\s+[a-zčšžäöü]))
    |(?P<ordinal>(?<![\w.,])\d{{1,2}}\.(?=\s+(?:(?i:{_MONTHS})\b
        |(?:Jahrhundert|Quartal|Platz|Auflage|Generation|Ausgabe|Mal)|[a-zčšžäöü])))
    |(?P<month>(?<![\w.])(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.(?=\s\d))
    |(?P<initial>(?<![\w.'’])(?:[A-ZČŠŽÄÖÜ]\.)+(?=\s?[A-ZČŠŽÄÖÜ](?:\.|[a-zčšžäöü]))(?!\s(?:{_OPENERS})\b))
    """,
    re.VERBOSE,
)
# "end.Today": the space after the stop was lost.
_LOST_SPACE = re.compile(rf"[a-z]{{2}}[.](?=(?:{_OPENERS})[\s,])")
_STOPS = re.compile("[.!?…。！？｡]")
_MISSED = re.compile(
    rf"(?<![\w.])(?:(?i:{_LISTING})\.\s+(?=[A-ZČŠŽÄÖÜ][a-zčšžäöü]{{2}})(?!Inc|Ltd)"
    rf"|(?:(?i:{_ENDING})|[A-Z])\.\s+(?=(?:{_OPENERS}|I)\b(?!\.)))"
    r"|[。！？｡]+[」』】）〉》”’]*(?![\s」』】）〉》”’、，,とっ然并并且说地道])(?=.)"
)
_CLOSERS = re.compile(r"(?:[\"”’»)\]」』）]+|[*_]{1,3})(?=\s|\Z)")
# What stands in lower case at the start of a sentence too: names of programs, identifiers.
LOWER_NAME = re.compile(
    r"[a-z]+[A-Z0-9]|v?\d|[a-z_]\w*(?:[._/:]+\w|\(|_)|(?:npm|pip|git|vim|curl|bash|kubectl|systemd|nginx|ffmpeg|cargo|rustc|gcc|"
    r"clang|glibc|sudo|zsh|tmux|uv|ruff|pnpm|yarn|deno|bun|esbuild|webpack|vite|dbt|etcd|redis|numpy|pandas|jq)\b"
)
_CJK_QUOTE_GOES_ON = re.compile("[。！？｡][」』”]\\s*$")


def language(text: str) -> str:
    """The ISO 639-1 code of the language that ``text`` seems to be in: ``"en"`` where nothing tells."""
    text = text[:_SEEN]
    if not text.isascii():
        letters = sum(map(str.isalpha, text)) or 1
        for code, script in _SCRIPTS:
            if len(script.findall(text)) * (10 if code == "ja" else 4) > letters:
                return code
    words = [word.lower() for word in _WORD.findall(text)]
    best, most = "en", sum(word in _COMMON_WORDS["en"] for word in words)
    for code, common in _COMMON_WORDS.items():
        count = sum(word in common for word in words)
        if count > max(most, 1):
            best, most = code, count
    return best


def sentences(text: str) -> list[str]:
    """Plain ``text`` -> its sentences in order, each on one line and stripped; nothing but white space is lost.

    Blank lines, list items and the end of the text end a sentence; other line breaks do not. Inline code between
    backticks stays whole. Takes time in proportion to the length of the text.
    """
    code = language(text)
    return [sentence for paragraph in _paragraphs(text) for sentence in split(paragraph, code)]


def split(paragraph: str, code: str) -> list[str]:
    """The sentences of one paragraph (no line breaks in it) in the language ``code``."""
    found: list[str] = []
    for segment in _segments(paragraph, code):
        if found and _goes_on(found[-1], segment):
            found[-1] += segment
        else:
            found.append(segment)
    return [sentence for segment in found if (sentence := segment.strip())]


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in text.splitlines():
        if not line.strip() or _ITEM.match(line):
            if lines:
                yield " ".join(lines)
            lines.clear()
        if line.strip():
            lines.append(line.strip())
    if lines:
        yield " ".join(lines)


def _segments(paragraph: str, code: str) -> Iterator[str]:
    """What sentencex takes for sentences, with white space; together they are the paragraph."""
    masked = _MASKED.sub(_masked, paragraph)
    start = 0  # of the segment that is not finished
    position = 0  # up to which sentencex has seen the text
    while position < len(masked):
        begin = start if position - start < PIECE else position
        end = min(len(masked), position + PIECE)
        ends = _ends(masked[begin:end], code)
        position = end
        if end < len(masked):
            ends.pop()  # the piece ends, not the sentence
        for stop in ends:
            yield paragraph[start : begin + stop]
            start = begin + stop
    if start < len(paragraph):
        yield paragraph[start:]


def _ends(masked: str, code: str) -> list[int]:
    """Where the sentences of a piece end; the last end is the end of the piece."""
    ends: list[int] = []
    position = 0
    for segment in sentencex.segment(code, masked):
        closers = _CLOSERS.match(segment) if ends and masked[position - 1] in ".!?" else None
        if closers:
            ends[-1] += closers.end()
        ends += [position + missed.end() for missed in _MISSED.finditer(segment, closers.end() if closers else 0)]
        position += len(segment)
        if not ends or position > ends[-1]:
            ends.append(position)
    return ends or [len(masked)]


def _masked(found: re.Match[str]) -> str:
    """What a match of ``_MASKED`` is replaced by: as long as it, with letters for the stops that end no sentence."""
    kind, text = found.lastgroup, found.group()
    if kind == "code":
        return "X" + "x" * (len(text) - 1)  # sentencex would leave an opening backtick with the sentence before
    if kind == "quoted":
        if text[0] in "(（":
            return "x" + _STOPS.sub("x", text[1:-1]) + "x"
        inner = text.rstrip(text[-1]).rstrip(".!?…。！？｡")
        return text[0] + _STOPS.sub("x", inner[1:]) + text[len(inner) :]
    if kind == "inner":
        at = found.start()
        lost = text == "." and at > 1 and _LOST_SPACE.match(found.string, at - 2)
        return text if lost or (text in "!?" and not found.string[at + 1].islower()) else "x"
    return _STOPS.sub("x", text)


def _goes_on(before: str, after: str) -> bool:
    """``after`` continues the sentence ``before``, although a stop stands between them."""
    end, start = before.rstrip(), after.lstrip()
    if not end or not start:
        return True
    if start[0].islower() and end[-1] in '.!?…)"”’»' and not LOWER_NAME.match(start):
        return end != before or end[-1] != "."  # no white space between: see _LOST_SPACE
    if start[0] in ",;:)]}–—":
        return True
    return bool(_CJK_QUOTE_GOES_ON.search(before)) and start[0] not in '「『“"' and not before.endswith(" ")
