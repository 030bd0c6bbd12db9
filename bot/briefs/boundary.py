"""Where a heading ends and its text begins, when only a space stands between them.

Every space is a candidate. A candidate's score is the sum of the weights of what can be seen there: how long the
heading would be, how its last words and the text's first words are written, whether the text opens like a sentence,
which words return. Headings of one document are written alike, so the style (Title Case or Sentence case) is chosen
for all of them together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from bot.briefs.boundary_weights import WEIGHTS

WINDOW = 28  # words in which the heading must end
_AHEAD = 60  # words of the text that are compared with the heading

# Closed-class words, lower case, of the languages that are written with spaces. STARTERS open sentences (articles,
# pronouns, determiners, conjunctions of time); LINKS tie words together and never end a heading; VERBS are finite
# auxiliaries and their kin, which make a sentence of what stands around them.
STARTERS = frozenset(
    ["the", "a", "an", "this", "these", "those", "that", "it", "its", "we", "you", "they", "he", "she", "our", "your", "their", "there", "here", "each", "every", "all", "some", "any", "both", "most", "many", "several", "no", "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "new", "not", "if", "when", "while", "since", "after", "before", "during", "once", "until", "although", "though", "because", "as", "in", "on", "at", "by", "with", "from", "for", "to", "what", "how", "why", "who", "where", "which", "to", "according", "instead", "also", "more", "additionally", "furthermore", "meanwhile", "however", "currently", "today", "now", "under", "only", "unlike", "despite", "between", "among", "over", "about", "through", "without", "within", "der", "die", "das", "ein", "eine", "einer", "dies", "diese", "dieser", "dieses", "es", "wir", "sie", "er", "ihr", "man", "alle", "jede", "jeder", "mit", "nach", "bei", "im", "am", "vom", "zum", "zur", "in", "auf", "seit", "laut", "wenn", "während", "um", "aus", "neu", "neue", "nun", "jetzt", "künftig", "auch", "nicht", "kein", "keine", "unter", "durch", "le", "la", "les", "l'", "un", "une", "des", "ce", "cet", "cette", "ces", "il", "elle", "ils", "elles", "on", "nous", "vous", "tous", "toutes", "chaque", "avec", "après", "selon", "depuis", "dans", "en", "pour", "sur", "si", "lorsque", "pendant", "c'est", "plus", "aucun", "aucune", "désormais", "el", "los", "las", "lo", "unos", "unas", "este", "esta", "estos", "estas", "esto", "ese", "esa", "ello", "nosotros", "ellos", "su", "sus", "cada", "todos", "todas", "con", "según", "desde", "para", "por", "sobre", "cuando", "mientras", "tras", "si", "aunque", "ahora", "además", "no", "o", "os", "as", "um", "uma", "uns", "umas", "este", "esta", "estes", "estas", "isto", "isso", "esse", "essa", "eles", "elas", "nós", "seu", "sua", "cada", "todos", "todas", "com", "segundo", "desde", "em", "no", "na", "nos", "nas", "para", "por", "sobre", "quando", "enquanto", "após", "se", "embora", "agora", "não", "il", "lo", "gli", "i", "uno", "questo", "questa", "questi", "queste", "esso", "essa", "noi", "loro", "ogni", "tutti", "con", "dopo", "secondo", "dal", "per", "se", "quando", "nel", "nella", "de", "het", "een", "dit", "deze", "die", "er", "wij", "ze", "zij", "hun", "elke", "alle", "met", "na", "volgens", "sinds", "als", "terwijl", "bij", "op", "den", "det", "en", "ett", "denna", "detta", "dessa", "vi", "han", "hon", "de", "alla", "med", "efter", "enligt", "från", "när", "om", "på", "för", "et", "denne", "dette", "disse", "alle", "ved", "ten", "ta", "to", "te", "ci", "się", "w", "we", "z", "ze", "na", "po", "od", "dla", "przez", "jeśli", "gdy", "nowy", "nowa", "nowe", "wszystkie", "każdy", "według", "tento", "tato", "toto", "ve", "v", "s", "na", "po", "pro", "podle", "pokud", "když", "nový", "nová", "nové", "в", "во", "на", "с", "со", "по", "для", "от", "из", "при", "после", "как", "если", "когда", "это", "этот", "эта", "эти", "он", "она", "оно", "они", "мы", "вы", "все", "каждый", "новый", "новая", "новые", "теперь", "также", "не", "согласно", "у", "за", "до", "к", "о", "об", "через", "у", "з", "зі", "на", "для", "від", "після", "якщо", "коли", "це", "цей", "ця", "ці", "він", "вона", "вони", "ми", "ви", "всі", "нова", "новий", "нові", "тепер", "bir", "bu", "şu", "o", "yeni", "her", "tüm", "için", "ile", "sonra", "göre", "eğer", "artık", "acest", "această", "aceste", "un", "o", "noi", "pentru", "în", "cu", "după", "dacă", "când", "toate", "ini", "itu", "yang", "sebuah", "para", "kami", "anda", "untuk", "dengan", "pada", "dalam", "setelah", "jika", "ketika", "semua", "ο", "η", "το", "οι", "τα", "ένα", "μια", "αυτό", "αυτή", "αυτός", "στο", "στη", "για", "με", "από", "αν", "όταν", "tämä", "nämä", "se", "ne", "uusi", "kun", "jos", "myös", "ja", "في", "على", "من", "إلى", "عن", "مع", "بعد", "قبل", "هذا", "هذه", "ذلك", "تلك", "هو", "هي", "هم", "نحن", "لا", "لم", "لن", "قد", "إذا", "عند", "يمكن", "تم", "كما", "وفق", "در", "این", "آن", "با", "از", "به", "برای", "پس", "اگر", "هر", "ما", "شما", "של", "את", "הוא", "היא", "הם", "אנחנו", "זה", "זו", "אלה", "על", "עם", "אחרי", "לפי", "כאשר", "אם", "כל", "यह", "ये", "इस", "इन", "वह", "एक", "हम", "आप", "अब", "जब", "यदि", "के"]
)
LINKS = frozenset(
    ["a", "an", "the", "of", "in", "on", "at", "by", "for", "to", "with", "from", "and", "or", "nor", "but", "as", "via", "vs", "vs.", "versus", "per", "into", "onto", "over", "under", "between", "through", "against", "about", "within", "without", "is", "are", "than", "that", "your", "our", "its", "their", "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "und", "oder", "von", "vom", "zu", "zum", "zur", "im", "am", "an", "auf", "in", "mit", "für", "bei", "nach", "aus", "über", "le", "la", "les", "un", "une", "des", "de", "du", "et", "ou", "à", "au", "aux", "en", "dans", "pour", "par", "sur", "avec", "sans", "d'", "l'", "vers", "chez", "que", "votre", "vos", "el", "los", "las", "un", "una", "unos", "y", "o", "e", "de", "del", "al", "en", "con", "por", "para", "sin", "sobre", "entre", "que", "tu", "su", "o", "os", "as", "um", "uma", "e", "ou", "de", "do", "da", "dos", "das", "em", "no", "na", "nos", "nas", "com", "por", "para", "sem", "sobre", "ao", "à", "que", "seu", "sua", "il", "lo", "la", "i", "gli", "le", "un", "uno", "una", "e", "o", "di", "del", "della", "dei", "delle", "da", "dal", "in", "nel", "nella", "con", "per", "su", "tra", "fra", "che", "de", "het", "een", "en", "of", "van", "in", "op", "met", "voor", "bij", "naar", "uit", "aan", "te", "och", "eller", "av", "i", "på", "med", "för", "till", "från", "en", "ett", "den", "det", "og", "eller", "av", "i", "på", "med", "for", "til", "fra", "en", "et", "ved", "i", "oraz", "lub", "w", "we", "z", "ze", "na", "do", "od", "dla", "po", "przez", "o", "a", "v", "ve", "s", "na", "pro", "k", "ke", "od", "po", "a", "nebo", "и", "или", "в", "во", "на", "с", "со", "к", "ко", "у", "о", "об", "от", "до", "из", "за", "по", "для", "при", "без", "под", "над", "між", "та", "і", "й", "або", "у", "в", "на", "з", "зі", "до", "від", "для", "ve", "veya", "ile", "için", "bir", "și", "sau", "de", "la", "în", "cu", "pe", "din", "pentru", "dan", "atau", "di", "ke", "dari", "untuk", "dengan", "pada", "yang", "και", "ή", "του", "της", "των", "το", "τη", "στο", "στη", "με", "για", "από", "ja", "tai", "في", "على", "من", "إلى", "عن", "مع", "و", "أو", "بين", "در", "از", "به", "با", "برای", "و", "یا", "که", "של", "את", "על", "עם", "או", "ב", "ו", "के", "का", "की", "में", "से", "और", "या", "को", "पर"]
)
VERBS = frozenset(
    ["is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "will", "would", "can", "could", "may", "might", "must", "should", "shall", "isn't", "aren't", "doesn't", "don't", "won't", "can't", "now", "also", "ist", "sind", "war", "waren", "wird", "werden", "wurde", "wurden", "hat", "haben", "hatte", "kann", "können", "soll", "sollen", "muss", "müssen", "darf", "will", "bietet", "gibt", "est", "sont", "était", "a", "ont", "avait", "sera", "seront", "peut", "peuvent", "doit", "doivent", "permet", "fait", "n'est", "es", "son", "era", "está", "están", "fue", "fueron", "ha", "han", "había", "será", "serán", "puede", "pueden", "debe", "permite", "se", "é", "são", "era", "está", "estão", "foi", "foram", "tem", "têm", "há", "será", "serão", "pode", "podem", "deve", "permite", "è", "sono", "era", "ha", "hanno", "sarà", "può", "possono", "deve", "viene", "permette", "is", "zijn", "was", "heeft", "hebben", "wordt", "worden", "kan", "kunnen", "moet", "zal", "är", "var", "har", "kan", "ska", "blir", "får", "måste", "er", "var", "har", "kan", "skal", "blir", "må", "vil", "jest", "są", "był", "była", "ma", "mają", "może", "mogą", "został", "została", "je", "jsou", "byl", "má", "může", "lze", "был", "была", "было", "были", "есть", "может", "могут", "будет", "будут", "стал", "стала", "стало", "является", "позволяет", "є", "був", "була", "може", "можуть", "буде", "este", "sunt", "a", "au", "poate", "pot", "va", "vor", "adalah", "akan", "dapat", "telah", "bisa", "olabilir", "oldu", "edildi", "vardır", "είναι", "έχει", "μπορεί", "on", "ovat", "كان", "كانت", "است", "شد", "می\u200cشود", "می\u200cتواند", "هستند", "يكون", "है", "हैं", "था", "गया", "सकते", "סיפקה", "יש", "היה"]
)
_ABBREVIATIONS = frozenset(["vs.", "inc.", "corp.", "co.", "ltd.", "no.", "st.", "dr.", "mr.", "mrs.", "ms.", "jr.", "sr.", "u.s.", "u.k.", "e.g.", "i.e.", "v.", "vol.", "z.b.", "dr"])

_CJK = re.compile("[぀-ヿ㐀-鿿豈-﫿ｦ-ﾟ々〆]")
_HANGUL = re.compile("[가-힣]")
_STOP = re.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*$")
_OPEN, _CLOSE = "([{“«「『（【《", ")]}”»」』）】》"
_EDGE = "\"'`*_“”‘’«»„()[]{}<>,;:.!?…¡¿،؛。、，：；！？「」『』（）【】《》"
_HANGUL_PARTICLE = re.compile("[가-힣A-Za-z0-9](?:은|는|이|가|을|를|의|에|에서|으로|로|과|와)$")
_HANGUL_TOPIC = re.compile("[가-힣A-Za-z0-9](?:은|는|이|가)$")
_IDENTIFIER = re.compile(r"[a-z0-9][A-Z]|[._/:\\^@$~=+][^\W_]|[^\W_]_|::|\(\)|^[-.@#$/][a-z]|^`")


@lru_cache(maxsize=65536)
def _bare(word: str) -> str:
    """The word without the punctuation around it, lower case, at most 40 characters."""
    return word[:80].strip(_EDGE).casefold()[:40]


@lru_cache(maxsize=65536)
def _shape(word: str) -> str:
    """How a word is written: one of cap, caps, mixed, ident, lower, number, cjk, other (script without case), mark."""
    core = word[:80].strip(_EDGE.replace("`", ""))
    if not core:
        return "mark"
    if core[0].isdecimal() and not _CJK.search(core):
        return "number" if not any(c.isalpha() for c in core) else "mixed"
    if _CJK.search(core):
        return "cjk"
    if _IDENTIFIER.search(core.rstrip("'’s")):
        return "ident" if core[0].islower() or not core[0].isalpha() else "mixed"
    letters = [c for c in core if c.isalpha()]
    if not letters:
        return "mark"
    if letters[0].lower() == letters[0].upper():
        return "other"
    if letters[0].islower():
        return "lower"
    if len(letters) > 1 and all(c.isupper() for c in letters):
        return "caps"
    return "mixed" if any(c.isdecimal() for c in core) else "cap"


_UNSAYABLE = re.compile(
    r"[bcdfghjklmnpqrstvwxz]{4}|(?:bc|cb|cd|ct|dp|fs|gc|gd|gp|js|lx|mk|nf|np|nv|pg|pk|px|qt|sq|tf|vm|xf)"
    r"|.*(?:tc|gd|db|fs|ql|js|tl|vm|pm|bm|hp|[bcdfghjklmnpqrstvwxz]{5})$"
)


def _unsayable(word: str) -> bool:
    """Whether a lower-case word cannot be said aloud: names of programs (``rustc``, ``bcachefs``) often cannot."""
    return word.isascii() and _UNSAYABLE.match(word) is not None


def _tail(word: str) -> str:
    end = word[-1:]
    if not end:
        return ""
    if _STOP.search(word):
        if word.casefold() in _ABBREVIATIONS or re.fullmatch(r"(?:\w\.)+", word):
            return "abbr"
        return "stop" if end not in "?!？！؟" else "ask"
    return "comma" if end in ",;，、；،؛" else "colon" if end in ":：" else "dash" if word in ("-", "–", "—", "|", "/", "&", "+", "→") else ""


class Place:
    """What is known of the whole document: which word pairs stand in it, and how it writes its words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.pairs = Counter((_bare(a), _bare(b)) for a, b in zip(words, words[1:], strict=False) if not _tail(a))
        self.starts = {_bare(b) for a, b in zip(words, words[1:], strict=False) if _tail(a) == "stop"} | {_bare(w) for w in words[:1]}
        self.lower = Counter(_bare(w) for w in words if _shape(w) == "lower")
        self.names = Counter(
            _bare(w)
            for before, w in zip(words, words[1:], strict=False)
            if _shape(before) == "lower" and _shape(w) == "cap" and not _tail(before)
        )


def candidates(words: Sequence[str]) -> range:
    """The lengths in words that the heading may have."""
    return range(1, min(len(words), WINDOW) + 1)


def _bucket(value: int, edges: Sequence[int]) -> str:
    return next((str(edge) for edge in edges if value <= edge), "more")


_CASED = ("cap", "caps", "mixed")
_BLOCK = re.compile(r"(?:[-*+•|>]|#{1,6}|\d{1,2}[.)])$|```|~~~|!\[|\|")


def features(words: Sequence[str], cut: int, place: Place) -> tuple[dict[str, float], dict[str, float]]:
    """What can be seen if the heading is ``words[:cut]``: what counts always, and what counts by style."""
    f: dict[str, float] = {}
    by_style: dict[str, float] = {}

    def add(name: str, value: float = 1.0) -> None:
        f[name] = f.get(name, 0.0) + value

    def sty(name: str, value: float = 1.0) -> None:
        by_style[name] = by_style.get(name, 0.0) + value

    head, body = words[:cut], words[cut : cut + _AHEAD]
    shapes = [_shape(w) for w in head]
    bares = [_bare(w) for w in head]
    size = sum(map(len, head))
    cjk = "cjk" in shapes
    last, prev, tail = head[-1], shapes[-1], _tail(head[-1])
    if cjk:
        add("cjk_size_" + _bucket(size, (2, 4, 8, 14, 20, 30)))
        add("cjk_word", cut - 1)
    else:
        (add if "other" in shapes else sty)(("other_size_" if "other" in shapes else "size_") + _bucket(cut, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17)))
    if tail:
        add("tail_" + tail)
    if bares[-1] in LINKS and prev in ("lower", "other"):
        add("dangling")
    for k in range(cut):
        shape, bare = shapes[k], bares[k]
        if k < cut - 1 and (mark := _tail(head[k])):
            add("inner_" + mark)
        if not k:
            continue
        if shape == "lower" and bare not in LINKS and bare not in STARTERS:
            sty("lower_in")
        elif shape == "cap":
            run = k > 1 and shapes[k - 1] in _CASED and not _tail(head[k - 1])
            sty("starter_in" if bare in STARTERS else "cap_run_in" if run else "cap_in")
            if bare in place.lower and bare not in STARTERS:
                sty("common_in")
        if bare in VERBS and shape in ("lower", "other"):
            add("verb_in")
        if shape == "other":
            if bare in STARTERS:
                add("other_starter_in")
            if _HANGUL.search(head[k]):
                add("hangul_particle_in", _HANGUL_PARTICLE.search(bare) is not None)
                add("hangul_verb_in", bare.endswith(("다", "요")))
    text = " ".join(head)
    if any(text.count(o) != text.count(c) for o, c in zip(_OPEN, _CLOSE, strict=True)) or any(
        text.count(mark) % 2 for mark in ('"', "`", "**")
    ):
        add("unbalanced")
    if not body:
        add("empty")
        if tail == "stop":
            add("empty_stop")
        return f, by_style
    first, shape, bare = body[0], _shape(body[0]), _bare(body[0])
    after = _shape(body[1]) if len(body) > 1 else "end"
    sty("open_" + shape)
    if shape in _CASED:
        sty(("from_first_" if cut == 1 else "from_") + prev)
    if shape == "number" and prev in _CASED:
        add("name_number")
    if shape == "cap":
        if bare in STARTERS:
            sty("starter")
        else:
            if bare in place.lower:
                sty("common")
            if bare in place.names:
                sty("name")
    elif shape == "lower":
        if bare in LINKS:
            add("opens_link")
        if bare in VERBS:
            add("opens_verb")
        if _unsayable(bare):
            add("unsayable")
        if bare in place.starts:
            add("lower_starts")
    elif shape == "other":
        if bare in STARTERS:
            add("other_starter")
        if bare in LINKS:
            add("other_link")
        if bare in VERBS:
            add("other_verb")
    if after in ("lower", "end"):
        sty("then_lower")
    if shape in _CASED:
        run = next((k for k, w in enumerate(body[1:6]) if _shape(w) not in _CASED or _tail(body[k])), 5)
        sty("run_" + _bucket(run, (0, 1, 2)))
    if prev in _CASED and cut > 2 and bares[-2] in LINKS:
        sty("link_name")
    if first[0] in "\"“«„「『([（【`*":
        add("opens_mark")
    if _BLOCK.match(first):
        add("block")
    verb = next((k for k, w in enumerate(body[:9]) if k and _bare(w) in VERBS and _shape(w) in ("lower", "other")), 9)
    sty("verb_at_" + _bucket(verb, (1, 2, 4, 8)))
    sty("lower_run", sum(1 for w in body[1:7] if _shape(w) == "lower") / 6)
    end = next((k for k, w in enumerate(body) if _tail(w) in ("stop", "ask")), len(body))
    add("sentence_" + _bucket(end, (1, 3, 5)))
    if after == "lower" and len(body[1]) > 3 and _bare(body[1]) not in LINKS and body[1].endswith(("s", "ed")):
        sty("verblike")
    names = {b for b in bares if len(b) > 1 and b not in LINKS and b not in STARTERS}
    if bare and bare == bares[0]:
        add("repeat_first")
        if len(body) > 1 and cut > 1 and _bare(body[1]) == bares[1]:
            add("repeat_two")
    elif bare in names:
        add("repeat_open")
    elif len(body) > 1 and bare in STARTERS and _bare(body[1]) in names:
        add("repeat_second")
    rest = {_bare(w) for w in body}
    back = sum(1 for b in names if b in rest)
    add("back", min(back, 3))
    add("gone", min(len(names) - back, 3))
    # Two words that stand together elsewhere belong together here.
    if not tail and place.pairs[(bares[-1], bare)] > 1:
        add("cuts_pair")
    if cut > 1 and not _tail(head[-2]) and place.pairs[(bares[-2], bares[-1])] > 1:
        add("keeps_pair")
    if len(body) > 1 and not _tail(first) and place.pairs[(bare, _bare(body[1]))] > 1:
        add("opens_pair")
    if _HANGUL.search("".join(body[:3])):
        add("hangul_topic", any(_HANGUL_TOPIC.search(_bare(w)) is not None for w in body[:3]))
        add("hangul_dangling", _HANGUL_PARTICLE.search(bares[-1]) is not None)
        add("hangul_opens", _HANGUL.search(first) is not None)
    if cjk or shape == "cjk":
        add(f"{'cjk' if prev == 'cjk' else 'latin'}_{'cjk' if shape == 'cjk' else 'latin'}")
        if first[0] in "はがをにでとのもや的和与與及中":
            add("opens_particle")
        if last[-1] in "はがをにでとのもや的和与與及在将將从從":
            add("cjk_dangling")
        add("cjk_mark_in", sum(text.count(c) for c in "，。、；,"))
        if len(last) > 4 and re.search("[はがを](?!.{0,2}$)", last):
            add("cjk_particle_in")
        if any(mark in "".join(body[:2]) for mark in "は、，,。"):
            add("cjk_sentence")
    return f, by_style


def score(seen: tuple[Mapping[str, float], Mapping[str, float]], style: str, *, title: bool) -> float:
    """How well a candidate fits a title or a heading of the style."""
    prefix = "t:" if title else ""
    return sum(v * WEIGHTS.get(prefix + name, 0.0) for name, v in seen[0].items()) + sum(
        v * WEIGHTS.get(prefix + style + name, 0.0) for name, v in seen[1].items()
    )


def split(opening: str, sections: Sequence[str]) -> list[tuple[str, str]]:
    """(heading, text) of the opening, whose heading is the title and whose text the dek, and then of each section."""
    texts = [opening, *sections]
    parts = [text.split(" ") if text else [] for text in texts]
    place = Place([word for words in parts for word in words])
    best: dict[str, tuple[float, list[int]]] = {"T": (WEIGHTS.get("Tprior", 0.0), []), "S": (0.0, [])}
    for number, words in enumerate(parts):
        seen = [features(words, cut, place) for cut in candidates(words)]
        for style, (total, cuts) in best.items():
            scores = [score(one, style, title=number == 0) for one in seen]
            cuts.append(scores.index(max(scores)) + 1 if scores else 0)
            best[style] = (total + max(scores, default=0.0), cuts)
    cuts = max(best.values(), key=lambda pair: pair[0])[1]
    return [(" ".join(words[:cut]), " ".join(words[cut:])) for words, cut in zip(parts, cuts, strict=True)]
