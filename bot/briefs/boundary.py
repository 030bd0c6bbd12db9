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

WINDOW = 28  # words in which the heading must end
_AHEAD = 60  # words of the text that are compared with the heading

# Closed-class words, lower case, of the languages that are written with spaces. STARTERS open sentences (articles,
# pronouns, determiners, conjunctions of time); LINKS tie words together and never end a heading; VERBS are finite
# auxiliaries and their kin, which make a sentence of what stands around them.
STARTERS = frozenset(
    """
    the a an this these those that it its we you they he she our your their there here each every all some any both most
    many several no none one two three new not if when while since after before during once until although though because
    as in on at by with from for to what how why who where which to according instead also more additionally furthermore
    meanwhile however currently today now under only unlike despite between among over about through without within
    der die das ein eine einer dies diese dieser dieses es wir sie er ihr man alle jede jeder mit nach bei im am vom zum zur
    in auf seit laut wenn während um aus neu neue nun jetzt künftig auch nicht kein keine unter durch
    le la les l' un une des ce cet cette ces il elle ils elles on nous vous tous toutes chaque avec après selon depuis dans
    en pour sur si lorsque pendant c'est plus aucun aucune désormais
    el los las lo unos unas este esta estos estas esto ese esa ello nosotros ellos su sus cada todos todas con según desde
    para por sobre cuando mientras tras si aunque ahora además no
    o os as um uma uns umas este esta estes estas isto isso esse essa eles elas nós seu sua cada todos todas com segundo
    desde em no na nos nas para por sobre quando enquanto após se embora agora não
    il lo gli i uno questo questa questi queste esso essa noi loro ogni tutti con dopo secondo dal per se quando nel nella
    de het een dit deze die er wij ze zij hun elke alle met na volgens sinds als terwijl bij op
    den det en ett denna detta dessa vi han hon de alla med efter enligt från när om på för et denne dette disse alle ved
    ten ta to te ci się w we z ze na po od dla przez jeśli gdy nowy nowa nowe wszystkie każdy według
    tento tato toto ve v s na po pro podle pokud když nový nová nové
    в во на с со по для от из при после как если когда это этот эта эти он она оно они мы вы все каждый новый новая новые
    теперь также не согласно у за до к о об через
    у з зі на для від після якщо коли це цей ця ці він вона вони ми ви всі нова новий нові тепер
    bir bu şu o yeni her tüm için ile sonra göre eğer artık
    acest această aceste un o noi pentru în cu după dacă când toate
    ini itu yang sebuah para kami anda untuk dengan pada dalam setelah jika ketika semua
    ο η το οι τα ένα μια αυτό αυτή αυτός στο στη για με από αν όταν
    tämä nämä se ne uusi kun jos myös ja
    في على من إلى عن مع بعد قبل هذا هذه ذلك تلك هو هي هم نحن لا لم لن قد إذا عند يمكن تم كما وفق
    در این آن با از به برای پس اگر هر ما شما
    של את הוא היא הם אנחנו זה זו אלה על עם אחרי לפי כאשר אם כל
    यह ये इस इन वह एक हम आप अब जब यदि के
    """.split()
)
LINKS = frozenset(
    """
    a an the of in on at by for to with from and or nor but as via vs vs. versus per into onto over under between through
    against about within without is are than that your our its their
    der die das den dem des ein eine einen einem einer und oder von vom zu zum zur im am an auf in mit für bei nach aus über
    le la les un une des de du et ou à au aux en dans pour par sur avec sans d' l' vers chez que votre vos
    el los las un una unos y o e de del al en con por para sin sobre entre que tu su
    o os as um uma e ou de do da dos das em no na nos nas com por para sem sobre ao à que seu sua
    il lo la i gli le un uno una e o di del della dei delle da dal in nel nella con per su tra fra che
    de het een en of van in op met voor bij naar uit aan te
    och eller av i på med för till från en ett den det og eller av i på med for til fra en et ved
    i oraz lub w we z ze na do od dla po przez o a v ve s na pro k ke od po a nebo
    и или в во на с со к ко у о об от до из за по для при без под над між та і й або у в на з зі до від для
    ve veya ile için bir și sau de la în cu pe din pentru dan atau di ke dari untuk dengan pada yang
    και ή του της των το τη στο στη με για από ja tai
    في على من إلى عن مع و أو بين در از به با برای و یا که של את על עם או ב ו के का की में से और या को पर
    """.split()
)
VERBS = frozenset(
    """
    is are was were be been has have had do does did will would can could may might must should shall isn't aren't doesn't
    don't won't can't now also
    ist sind war waren wird werden wurde wurden hat haben hatte kann können soll sollen muss müssen darf will bietet gibt
    est sont était a ont avait sera seront peut peuvent doit doivent permet fait n'est
    es son era está están fue fueron ha han había será serán puede pueden debe permite se
    é são era está estão foi foram tem têm há será serão pode podem deve permite
    è sono era ha hanno sarà può possono deve viene permette
    is zijn was heeft hebben wordt worden kan kunnen moet zal
    är var har kan ska blir får måste er var har kan skal blir må vil
    jest są był była ma mają może mogą został została je jsou byl má může lze
    был была было были есть может могут будет будут стал стала стало является позволяет є був була може можуть буде
    este sunt a au poate pot va vor adalah akan dapat telah bisa olabilir oldu edildi vardır είναι έχει μπορεί on ovat
    كان كانت است شد می‌شود می‌تواند هستند يكون है हैं था गया सकते סיפקה יש היה
    """.split()
)
_ABBREVIATIONS = frozenset("vs. inc. corp. co. ltd. no. st. dr. mr. mrs. ms. jr. sr. u.s. u.k. e.g. i.e. v. vol. z.b. dr".split())

_CJK = re.compile("[぀-ヿ㐀-鿿豈-﫿ｦ-ﾟ々〆]")
_HANGUL = re.compile("[가-힣]")
_STOP = re.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*$")
_OPEN, _CLOSE = "([{“«「『（【《", ")]}”»」』）】》"
_EDGE = "\"'`*_“”‘’«»„()[]{}<>,;:.!?…¡¿،؛。、，：；！？「」『』（）【】《》"
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


def _legal(word: str) -> bool:
    """Whether a lower-case Latin word could be said aloud: program names (``rustc``, ``bcachefs``) often cannot."""
    return not re.match(r"[bcdfghjklmnpqrstvwxz]{4}|bc|cb|cd|ct|dp|fs|gc|gd|gp|js|lx|mk|nf|np|nv|pg|pk|px|qt|sq|tf|vm|xf|zs", word) and not re.search(
        r"tc$|gd$|db$|fs$|ql$|js$|[bcdfghjklmnpqrstvwxz]{5}|tl$|vm$|pm$|bm$|hp$", word
    )


def _tail(word: str) -> str:
    end = word[-1:]
    if _STOP.search(word):
        if word.casefold() in _ABBREVIATIONS or re.fullmatch(r"(?:\w\.)+", word):
            return "abbr"
        return "stop" if end not in "?!？！؟" else "ask"
    return "comma" if end in ",;，、；،؛" else "colon" if end in ":：" else "dash" if word in ("-", "–", "—", "|", "/", "&", "+", "→") else ""


class Place:
    """What is known of the whole document: which word pairs stand in it, and which words it writes in lower case."""

    def __init__(self, words: Sequence[str]) -> None:
        self.pairs = Counter(zip(words, words[1:], strict=False))
        self.lower = Counter(_bare(w) for w in words if _shape(w) == "lower")
        self.caps = Counter(_bare(w) for p, w in zip(words, words[1:], strict=False) if _shape(p) == "lower" and _shape(w) == "cap" and not _tail(p))


def candidates(words: Sequence[str]) -> range:
    return range(1, min(len(words), WINDOW) + 1)


def features(words: Sequence[str], cut: int, place: Place, style: str) -> dict[str, float]:
    """What can be seen if the heading is ``words[:cut]``. ``style`` is "T" (Title Case) or "S" (Sentence case)."""
    f: dict[str, float] = {}

    def add(name: str, value: float = 1.0) -> None:
        f[name] = f.get(name, 0.0) + value

    head, body = words[:cut], words[cut : cut + _AHEAD]
    shapes = [_shape(w) for w in head]
    cjk = sum(len(w) for w in head if _shape(w) == "cjk")
    if cjk:
        size = sum(map(len, head))
        add("cjk_len" + ("2" if size <= 2 else "4" if size <= 4 else "8" if size <= 8 else "14" if size <= 14 else "20" if size <= 20 else "30" if size <= 30 else "+"))
        add("cjk_words", cut - 1)
    else:
        add("len" + (str(cut) if cut <= 8 else "10" if cut <= 10 else "13" if cut <= 13 else "17" if cut <= 17 else "+"))
    last = head[-1]
    tail = _tail(last)
    if tail:
        add("tail_" + tail)
    low = _bare(last)
    if low in LINKS and shapes[-1] in ("lower", "other"):
        add("dangling")
    for w, s, k in zip(head, shapes, range(cut), strict=True):
        b = _bare(w)
        inside = k and k < cut
        if k < cut - 1:
            t = _tail(w)
            if t:
                add("inner_" + t)
        if inside:
            if s == "lower" and b not in LINKS and b not in STARTERS:
                add(style + "lower_in")
            if s == "cap":
                if b in STARTERS:
                    add(style + "Starter_in")
                else:
                    add(style + "cap_in")
                    if style == "S" and place.lower[b]:
                        add("Scommon_cap_in")
        if k and s in ("lower", "other") and b in VERBS:
            add("verb_in")
        if s == "other" and k and b in STARTERS:
            add("ostarter_in")
        if _HANGUL.search(w):
            if k < cut and len(w) > 1 and w[-1] in "은는이가을를":
                add("kparticle_in")
            if w[-1] in "다요" and len(w) > 1:
                add("kverb_in")
    text = " ".join(head)
    for o, c in zip(_OPEN, _CLOSE, strict=True):
        if text.count(o) != text.count(c):
            add("unbalanced")
            break
    if text.count('"') % 2 or text.count("`") % 2 or text.count("**") % 2:
        add("unbalanced")
    if not body:
        add("empty")
        if _tail(words[-1]) == "stop":
            add("empty_stop")
        return f
    first = body[0]
    shape, bare = _shape(first), _bare(first)
    nxt = _shape(body[1]) if len(body) > 1 else "end"
    add(f"{style}open_{shape}")
    if shape in ("cap", "caps", "mixed", "number", "ident"):
        add(f"{style}after_{shapes[-1]}")
    if cjk or shape == "cjk":
        add(f"x_{shapes[-1]}_{shape}")
    if shape == "cap" and bare in STARTERS:
        add(style + "Starter")
    if shape == "other" and bare in STARTERS:
        add("ostarter")
    if shape in ("lower",) and bare in LINKS:
        add("lower_link")
    if shape in ("lower",) and bare in VERBS:
        add("lower_verb")
    if shape == "other" and bare in LINKS:
        add("olink")
    if shape == "other" and bare in VERBS:
        add("overb")
    if shape == "lower" and not _legal(bare):
        add("odd_lower")
    if shape == "cap" and bare not in STARTERS:
        if place.lower[bare]:
            add(style + "common_cap")
        if place.caps[bare]:
            add(style + "proper_cap")
    if nxt == "lower" or nxt == "end":
        add(style + "then_lower")
    if first[0] in "\"“«„「『([（【`*" :
        add("opens_mark")
    if first in ("-", "*", "+", "•", "```", "###", "|", ">") or re.fullmatch(r"\d{1,2}[.)]", first) or first.startswith(("```", "~~~", "![")):
        add("block")
    # a sentence soon shows a finite verb, and goes on in lower case
    seen = 9
    for k, w in enumerate(body[:9]):
        b = _bare(w)
        if k and b in VERBS and _shape(w) in ("lower", "other"):
            seen = k
            break
        if _tail(w) in ("stop", "ask"):
            break
    add("verb_at_" + ("2" if seen <= 2 else "4" if seen <= 4 else "8" if seen <= 8 else "no"))
    run = 0
    for w in body[1:7]:
        if _shape(w) == "lower":
            run += 1
    add(style + "lower_run", run / 6)
    end = next((k for k, w in enumerate(body) if _tail(w) in ("stop", "ask")), len(body))
    add("sentence_" + ("1" if end < 2 else "3" if end < 4 else "ok"))
    if nxt == "lower" and (body[1].endswith(("s", "ed")) and len(body[1]) > 3) and _bare(body[1]) not in LINKS:
        add("verblike2")
    elif len(body) > 2 and _shape(body[2]) == "lower" and body[2].endswith(("s", "ed")) and len(body[2]) > 3:
        add("verblike3")
    # words that return
    content = [_bare(w) for w in head]
    names = {b for b in content if len(b) > 1 and b not in LINKS and b not in STARTERS}
    if bare and bare == content[0]:
        add("repeat_first")
        if len(body) > 1 and cut > 1 and _bare(body[1]) == content[1]:
            add("repeat_two")
    elif bare in names:
        add("repeat_open")
    elif len(body) > 1 and bare in STARTERS and _bare(body[1]) in names:
        add("repeat_second")
    rest = {_bare(w) for w in body}
    back = sum(1 for b in names if b in rest or (len(b) > 5 and any(r.startswith(b[:-2]) for r in rest)))
    if names:
        add("back", back)
        add("gone", len(names) - back)
    if place.pairs[(last, first)] > 1:
        add("pair", min(place.pairs[(last, first)] - 1, 3))
    if _HANGUL.search(first):
        if any(len(w) > 1 and w.rstrip(",")[-1] in "은는이가" for w in body[:3]):
            add("ktopic")
        if first[-1] in "은는이가":
            add("ktopic1")
    elif any(_HANGUL.search(w) and w[-1] in "은는이가" for w in body[:2]):
        add("ktopic")
    if cjk or shape == "cjk":
        if re.search("[、，,。は]", "".join(body[:3])):
            add("cjk_sentence")
        if any(c in last for c in "，。、；"):
            add("cjk_comma_in")
        if re.search("は|が|を(?!.{0,3}$)", last[:-1]) and len(last) > 12:
            add("cjk_particle_in")
    return f


def score(seen: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(value * weights.get(name, 0.0) for name, value in seen.items())
