"""Which addresses may be fetched: everything that can be told without asking DNS, and every address that DNS gives.

A list with holes, a check before a second look-up, a redirect that is not checked: so peers failed (feeds.md, section 5).
``check_url`` judges what is written; ``is_blocked`` judges the IP address of each connection just before it is made.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from urllib.parse import SplitResult, urlsplit

from bot.errors import UnsafeURL

LONGEST = 2048
# Web servers live on 80, 443 and on ports that no other service claims. These are claimed (IANA registry, and the lists
# that browsers refuse: https://fetch.spec.whatwg.org/#port-blocking) by databases, mail, remote shells and the like.
WEB_PORTS = {80, 443}
CLAIMED_PORTS = frozenset(
    {
        1080, 1099, 1194, 1352, 1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2222, 2375, 2376, 2377, 2379, 2380,
        2483, 2484, 3128, 3260, 3306, 3389, 3632, 3659, 4045, 4190, 4369, 4444, 4505, 4506, 4848, 5000, 5060, 5061, 5432,
        5433, 5555, 5601, 5671, 5672, 5900, 5901, 5984, 5985, 5986, 6000, 6379, 6380, 6443, 6566, 6665, 6666, 6667, 6668,
        6669, 6679, 6697, 7000, 7001, 7077, 7199, 7474, 7687, 8009, 8086, 8125, 8300, 8301, 8500, 8600, 8983, 9000, 9042,
        9092, 9100, 9160, 9200, 9300, 9418, 9999, 10000, 10050, 10051, 10080, 10250, 10255, 11211, 15672, 16379, 26257,
        27017, 27018, 27019, 28015, 28017, 50000, 50070, 61613, 61616,
    }
)  # fmt: skip
# Names that resolve inside a network, or only there (RFC 6761, 6762, 7686, 8375, 9476; ICANN on .internal).
PRIVATE_SUFFIXES = (
    "localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "onion",
    "test", "invalid", "alt", "in-addr.arpa", "ip6.arpa",
)  # fmt: skip
# Public by number, private by use: Azure's wire server, which every virtual machine there trusts.
_METADATA = {ipaddress.ip_address("168.63.129.16")}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_BLOCKED_V4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
            "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
            "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        ),
    )
)  # fmt: skip
# Only 2000::/3 is routed on the internet (IANA IPv6 Address Space); these parts of it are not, or wrap an IPv4 address.
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_BLOCKED_V6 = tuple(map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16")))

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def check_url(url: str) -> None:
    """Refuse an address that must not be fetched, as far as that can be told without DNS. Raises UnsafeURL."""
    parts, host = _parts(url)
    if (reason := _private(host)) is not None:
        raise UnsafeURL(url, reason, "Only addresses on the public internet are fetched")
    _check_port(url, parts)


def is_private(url: str) -> bool:
    """Whether an address is refused only because its host lies in a private network (or is special)."""
    try:
        _, host = _parts(url)
    except UnsafeURL:
        return False
    return _private(host) is not None


def check_allowed(url: str) -> None:
    """As ``check_url``, for an address whose private host and port somebody allowed. Raises UnsafeURL."""
    _parts(url)


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of an address that was checked."""
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or (443 if parts.scheme == "https" else 80)


def is_blocked(address: str) -> bool:
    """Whether an IP address lies anywhere but on the public internet; what is no address is blocked too."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    return _is_blocked(ip)


def _is_blocked(ip: Address) -> bool:
    if ip in _METADATA:
        return True
    if isinstance(ip, ipaddress.IPv4Address):
        return any(ip in network for network in _BLOCKED_V4)
    # Mapped and translated addresses reach IPv4 hosts: both forms are refused, as no public name needs them.
    return ip in _NAT64 or ip not in _GLOBAL_V6 or any(ip in network for network in _BLOCKED_V6)


def _parts(url: str) -> tuple[SplitResult, str]:
    """The parts of a well-formed http(s) address and its host in lower case; UnsafeURL for anything else."""
    if not isinstance(url, str) or not url.strip():
        raise UnsafeURL(str(url), "the address is empty", "Give an address with https://")
    if len(url) > LONGEST:
        raise UnsafeURL(url[:80] + "…", f"the address is longer than {LONGEST} characters", "Use a shorter one")
    if any(ord(c) <= 32 or ord(c) == 127 or unicodedata.category(c) in ("Cc", "Cf", "Zs", "Zl", "Zp") for c in url):
        raise UnsafeURL(url, "the address has blanks or control characters in it", "Copy it again without them")
    if "\\" in url:
        raise UnsafeURL(url, "the address has a backslash in it, which programs read differently", "Write / instead")
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise UnsafeURL(url, "the address is not well-formed", "Copy it again from the browser") from None
    if parts.scheme not in ("http", "https"):
        named = (
            f"{parts.scheme}: addresses are not fetched" if parts.scheme else "the address has no https:// before it"
        )
        raise UnsafeURL(url, named, "Use an http or https address")
    if not parts.netloc or not host:
        raise UnsafeURL(url, "the address has no host", "Write https://host/path")
    if "@" in parts.netloc:
        reason = "the address has a user name or password in it, which would be stored and shown"
        raise UnsafeURL(_without_credentials(url), reason, "Use an address that needs none")
    if port == 0:
        raise UnsafeURL(url, "there is no port 0", "Leave the port out")
    return parts, _check_host(url, host, bracketed="[" in parts.netloc)


def _check_host(url: str, host: str, *, bracketed: bool) -> str:
    if bracketed:
        if "%" in host or not _is_ipv6(host):
            raise UnsafeURL(url, "the IPv6 address is not well-formed", "Use the host's name")
        return host
    name = host.rstrip(".") if not host.endswith("..") else host
    folded = unicodedata.normalize("NFKC", name)
    if folded != unicodedata.normalize("NFC", name) and (set(folded) - set(name)) & set("0123456789./:@?#%[]\\"):
        raise UnsafeURL(url, "the host is written with look-alike digits or dots", "Write it in plain letters")
    if any(c in "\u3002\uff0e\uff61\u2024" for c in name) or "%" in name:
        raise UnsafeURL(url, "the host is written with look-alike dots or escapes", "Write it in plain letters")
    try:
        ascii_name = name if name.isascii() else name.encode("idna").decode("ascii")
    except UnicodeError:
        raise UnsafeURL(url, "the host is not a valid name", "Check its spelling") from None
    labels = ascii_name.split(".")
    if len(ascii_name) > 253 or any(not 0 < len(label) <= 63 for label in labels):
        raise UnsafeURL(url, "the host has a part that is empty or longer than 63 characters", "Check its spelling")
    if any(not re.fullmatch(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?", label, re.IGNORECASE) for label in labels):
        raise UnsafeURL(url, "the host has characters that no host name has", "Check its spelling")
    return ascii_name.casefold()


def _is_ipv6(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).version == 6
    except ValueError:
        return False


def _private(host: str) -> str | None:
    """Why a host is not on the public internet, or None."""
    if ":" in host or re.fullmatch(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+))*", host):
        ip = _literal(host)
        if ip is None:
            return f"{host} is not a valid IP address"
        return f"{host} is {'' if str(ip) == host else f'{ip}, '}not a public IP address" if _is_blocked(ip) else None
    if "." not in host:
        return f"{host} is a name inside a private network"
    if any(host == suffix or host.endswith(f".{suffix}") for suffix in PRIVATE_SUFFIXES):
        return f"{host} is a name inside a private network"
    if re.fullmatch(r"(0x[0-9a-f]*|\d+)", host.rpartition(".")[2]):
        return f"{host} is not a valid IP address"
    return None


def _literal(host: str) -> Address | None:
    """The IP address that a resolver makes of a host of digits: also of 127.1, 2130706433, 0x7f.1 and 0177.0.0.1."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def _check_port(url: str, parts: SplitResult) -> None:
    port = parts.port
    if port is None or port in WEB_PORTS:
        return
    if port < 1024 or port in CLAIMED_PORTS:
        raise UnsafeURL(
            url, f"port {port} is not a web server's", "Use port 80, 443 or one above 1024 meant for the web"
        )


def _without_credentials(url: str) -> str:
    return re.sub(r"//[^/?#]*@", "//", url)
