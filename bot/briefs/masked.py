"""A masked link says where it goes: its label cannot be markup, a mention or another address, its target is http(s)."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from urllib.parse import unquote, urlsplit

from bot.briefs.invisible import clean

INVITE_REMOVED = "(invite removed)"

# Hosts whose every path is an invite, a gift or a server template, and Discord's own hosts with the paths that are.
INVITE_HOSTS = frozenset(
    """
    discord.gg dsc.gg invite.gg discord.me discord.io discord.li discord.link discord.gift discord.new disboard.org
    top.gg discords.com watchanimeattheoffice.com
    """.split()
)
_DISCORD_PATHS = "invite|gifts|template"
_INVITE = re.compile(
    r"(?:https?:(?:\\?/){2})?(?:www\.|ptb\.|canary\.)?"
    r"(?:discord(?:app)?\.com(?:\\?/)+(?:" + _DISCORD_PATHS + r")"
    r"|(?:discord\.(?:gg|me|io|li|link|gift|new)|dsc\.gg|invite\.gg|watchanimeattheoffice\.com\\?/invite))"
    r"(?:\\?/)+[^\s<>()\[\]\"'`*|,;]*[^\s<>()\[\]\"'`*|,;.!?:]",
    re.IGNORECASE,
)
_ADVERTS = frozenset({"disboard.org", "top.gg", "discords.com"})

# Endings of two letters and more that name files and programs at least as often as countries.
FILE_ENDINGS = frozenset(
    """
    js ts py md rs sh go pl so cc cs hs rb kt ml vb mm ps as io.js txt json yaml yml toml html htm css cpp hpp java
    swift php exe dll zip gz pdf png jpg jpeg gif svg rst tsx jsx vue lock conf cfg ini log sql csv xml wasm
    """.split()
)
# Endings of names in the DNS that are longer than a country's two letters; the rest of 1,400 is rarely seen.
DOMAIN_ENDINGS = frozenset(
    """
    com org net edu gov mil int info biz name pro mobi asia tel jobs travel museum coop aero cat post xxx arpa onion
    app dev cloud tech online site website web shop store blog news live world today page link click top xyz club
    vip win bid loan men icu cyou buzz rest monster fun space email support security bank finance money pay cash
    credit exchange trade trading capital fund market agency company digital media network systems solutions
    software host hosting group global help guru life ltd one wiki zone social chat games game video stream download
    studio design art academy school university education science health care dental doctor clinic law legal eu
    berlin london nyc google apple amazon microsoft youtube example test invalid local localhost internal lan corp
    home
    """.split()
)
_DOMAIN = re.compile(
    r"((?:[^\W_](?:[\w-]{0,62}[^\W_])?\.)+(?:xn--[a-z0-9-]+|[^\W\d_]{2,24})|\d+(?:\.\d+){3}|localhost)\.?(?::\d+)?(?:[/?#]\S*)?",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(r"(?:\b[a-z][a-z0-9+.-]{0,20}://|\bwww\.)\S{1,500}", re.IGNORECASE)
_LONGEST_DOMAIN = 300  # 253 is the most that DNS allows
_EDGES = re.compile(r"\W*+(.*\w/?|)", re.DOTALL)

# Backslashes are shown inside a masked link's label (discord/discord-api-docs#6185), so what would be markup there
# is replaced by its nearest likeness.
_LABEL_LIKENESS = str.maketrans({"[": "(", "]": ")", "*": "∗", "`": "'", "\\": "∖"})
_LABEL_RULES = (
    (re.compile(r"_(?![A-Za-z0-9])|_(?=_)|(?<=_)_"), "ˍ"),
    (re.compile(r"~(?=~)|(?<=~)~"), "∼"),
    (re.compile(r"\|(?=\|)|(?<=\|)\|"), "∣"),
    (re.compile(r"<(?=\S)"), "‹"),
    (re.compile(r"(?<=\S)>"), "›"),
    (re.compile(r"@(?=everyone|here)", re.IGNORECASE), "＠"),
    (re.compile(r"(?<![\w:]):(?=[\w+-]+:(?!\w))"), "꞉"),
)
_UNSAFE_IN_URL = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}*()\[\]]|~~|__|@(?=everyone|here)", re.IGNORECASE)


def safe_url(url: str | None, *, masked: bool = True) -> str | None:
    """``url`` as it can stand in Discord Markdown, or None where it must not be linked.

    None: not http(s), no host, credentials in it, a Discord invite, too odd to parse. What would end the link or be
    markup is percent-encoded, which leaves the address the same; ``masked=False`` leaves round and square brackets
    alone, for an address that is shown.
    """
    if not url:
        return None
    url = clean(url).strip()
    if re.match(r"https?:", url, re.IGNORECASE) is None:
        return None
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return None
    if not host or parts.scheme.lower() not in ("http", "https") or "@" in parts.netloc or "\\" in parts.netloc:
        return None
    if not url[len(parts.scheme) :].startswith("://") or re.search(r"[\s<>\"`*(){}|^]", parts.netloc):
        return None
    if is_invite(url):
        return None

    def encode(match: re.Match[str]) -> str:
        found = match.group()
        if not masked and found in "()":
            return found
        return "".join(f"%{byte:02X}" for byte in found.encode())

    start = len(parts.scheme) + 3 + len(parts.netloc)
    path = _UNSAFE_IN_URL.sub(encode, url[start:])
    path = _INVITE.sub(lambda match: match.group().replace("/", "%2F"), path)
    safe = parts.scheme.lower() + "://" + parts.netloc + path
    return None if _INVITE.search(safe) else safe


def is_invite(url: str) -> bool:
    """``url`` (with or without its scheme) leads into a Discord server, or gives a gift or a template."""
    address = unicodedata.normalize("NFKC", unquote(url)).strip().replace("\\", "/")
    address = re.sub(r"^[a-z]+:/*", "", address, flags=re.IGNORECASE).lower()
    host, _, path = address.partition("/")
    host = host.rpartition("@")[2].partition(":")[0].rstrip(".")
    host = re.sub(r"^(?:www|ptb|canary)\.", "", host)
    path = path.lstrip("/")
    if host in ("discord.com", "discordapp.com"):
        return re.match(rf"(?:{_DISCORD_PATHS})/", path) is not None
    if host == "watchanimeattheoffice.com":
        return path.startswith("invite/")
    return host in INVITE_HOSTS - _ADVERTS and bool(path)


def without_invites(text: str) -> str:
    """``text`` with every Discord invite in it, with or without a scheme, replaced by ``(invite removed)``."""
    return _INVITE.sub(INVITE_REMOVED, text)


def safe_label(label: str) -> str:
    """Plain text as it can stand in a masked link's label: one line, markup and mentions replaced by likenesses."""
    label = without_invites(" ".join(clean(label).split()))
    label = label.translate(_LABEL_LIKENESS)
    for pattern, likeness in _LABEL_RULES:
        label = pattern.sub(likeness, label)
    return label


def shown_address(label: str) -> str | None:
    """The address that a label looks like, if it looks like one: a URL in it, or nothing but a domain name."""
    label = unicodedata.normalize("NFKC", label).replace("。", ".").strip()
    explicit = _EXPLICIT.search(label)
    if explicit:
        return explicit.group().rstrip(".,:;\"'!?)]»›>")
    if len(label) > _LONGEST_DOMAIN:
        return None
    edges = _EDGES.match(label)
    bare = edges[1] if edges else ""
    found = _DOMAIN.fullmatch(bare)
    if found is None:
        return None
    ending = found[1].rpartition(".")[2].lower()
    known = ending in DOMAIN_ENDINGS or ending.startswith("xn--") or ending.isdigit() or not ending.isascii()
    return bare if known or (len(ending) == 2 and ending not in FILE_ENDINGS) else None


def is_deceptive(label: str, url: str) -> bool:
    """``label`` looks like an address, and not like that of ``url``."""
    address = shown_address(label)
    if address is None:
        return False
    scheme, mark, rest = address.rpartition("://")
    if mark and scheme.lower() not in ("http", "https"):
        return True
    shown = re.match(r"([^/?#\\]*)(.*)", rest, re.DOTALL)
    target = urlsplit(url)
    if shown is None or "@" in shown[1]:
        return True
    pretended, real = _bare_host(shown[1].partition(":")[0]), _bare_host(target.hostname or "")
    if real != pretended and not ("." in pretended and real.endswith("." + pretended)):
        return True
    path = shown[2].rstrip("/")
    if not path or path.endswith(("…", "...")):
        return False
    return unquote(path) != unquote(url.partition(target.netloc)[2].rstrip("/"))


def _bare_host(host: str) -> str:
    host = host.lower().rstrip(".")
    with contextlib.suppress(UnicodeError):
        host = host.encode("idna").decode("ascii")
    return host.removeprefix("www.")
