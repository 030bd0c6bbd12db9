"""Which addresses may be fetched: everything that can be told without asking DNS, and every address that DNS gives.

A list with holes, a check before a second look-up, a redirect that is not checked: so other programs failed.
``check_url`` judges what is written; ``is_blocked`` judges the IP address of each connection just before it is made.
``place`` takes an address apart once, and what is sent is put together from its parts: no second reading can differ.

Ports, for what members give: 80, 443, and those from 1024 on which no other service claims. Hosts: names of at least two
parts, and IP addresses in their one usual spelling (``127.1``, ``0x7f000001`` and ``2130706433`` are refused, whatever they
stand for).
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote

import idna

from bot.errors import UnsafeURL

LONGEST = 2048
_WEB_PORTS = {"http": 80, "https": 443}
# Claimed by mail, databases, remote shells and the like: https://fetch.spec.whatwg.org/#port-blocking, and the IANA
# registry for servers that act on the first line they are sent.
_CLAIMED_PORTS = frozenset(
    {
        1080, 1099, 1194, 1352, 1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2222, 2375, 2376, 2377, 2379, 2380,
        2483, 2484, 3128, 3260, 3306, 3389, 3632, 3659, 4045, 4190, 4222, 4369, 4444, 4505, 4506, 4848, 5000, 5060, 5061,
        5432, 5433, 5555, 5601, 5671, 5672, 5900, 5901, 5902, 5903, 5984, 5985, 5986, 6000, 6379, 6380, 6443, 6566, 6665,
        6666, 6667, 6668, 6669, 6679, 6697, 7000, 7001, 7077, 7199, 7474, 7687, 8009, 8086, 8125, 8300, 8301, 8500, 8529,
        8600, 8983, 9000, 9042, 9092, 9100, 9160, 9200, 9300, 9418, 9999, 10000, 10050, 10051, 10080, 10250, 10255, 11211,
        15672, 16379, 26257, 26379, 27017, 27018, 27019, 28015, 28017,
    }
)  # fmt: skip
# Names that resolve inside one network (RFC 6761, 6762, 8375; ICANN on .internal), or always to an address spelled in them.
_PRIVATE_SUFFIXES = (
    "localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa", "test",
    "svc", "cluster", "consul", "docker", "in-addr.arpa", "ip6.arpa", "nip.io", "sslip.io", "localtest.me", "lvh.me",
)  # fmt: skip
_NOT_IN_DNS = ("onion", "i2p", "alt", "invalid")  # RFC 7686, 9476, 6761
# IANA IPv4 special-purpose registry, multicast, and one that is public by number and private by use: Azure's wire
# server, which every virtual machine there trusts.
_BLOCKED_V4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
            "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
            "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
            "240.0.0.0/4",
        ),
    )
)  # fmt: skip
# Only 2000::/3 is routed on the internet (IANA IPv6 address space); these parts of it are not, or wrap an IPv4 address.
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_BLOCKED_V6 = tuple(
    map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"))
)
# What an IPv4 address looks like to a host that has IPv6 alone (RFC 6052): judged by the address inside.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

_SHAPE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#]*))?([^#]*)", re.DOTALL)
_PRINTABLE = re.compile(r"[!-~]*")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_HTTPS = "Use an http or https address"
_SPELLING = "Check its spelling"
_PLAIN = "Write it in plain letters"


@dataclass(frozen=True, slots=True)
class Place:
    """An http(s) address taken apart: host in lower case, ASCII, without brackets; target is path and query, escaped."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> tuple[str, int]:
        """Host and port."""
        return self.host, self.port

    @property
    def netloc(self) -> str:
        """Host and, where it is not the scheme's own, port, as they stand in an address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _WEB_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The address in ASCII, without a fragment: what is sent, and nothing else."""
        return f"{self.scheme}://{self.netloc}{self.target}"


def check_url(url: str) -> None:
    """Refuse an address that must not be fetched, as far as that can be told without DNS. Raises UnsafeURL."""
    check_public(place(url))


def check_public(at: Place) -> None:
    """As ``check_url``, for an address that was taken apart. Raises UnsafeURL."""
    if (reason := _private(at.host)) is not None:
        raise UnsafeURL(at.url, reason, "Only addresses on the public internet are fetched")
    if at.port not in _WEB_PORTS.values() and (at.port < 1024 or at.port in _CLAIMED_PORTS):
        remedy = "Use port 80, 443 or one above 1024 meant for the web"
        raise UnsafeURL(at.url, f"port {at.port} is not a web server's", remedy)


def is_private(url: str) -> bool:
    """Whether an address is well-formed http(s) and refused because its host lies in a private network (or is special)."""
    try:
        return _private(place(url).host) is not None
    except UnsafeURL:
        return False


def is_blocked(address: str) -> bool:
    """Whether an IP address lies anywhere but on the public internet; what is no address is blocked too."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    if isinstance(ip, ipaddress.IPv6Address):
        if ip not in _NAT64:  # mapped addresses (::ffff:0:0/96) lie outside 2000::/3: no public name needs them
            return ip not in _GLOBAL_V6 or any(ip in network for network in _BLOCKED_V6)
        ip = ipaddress.IPv4Address(ip.packed[12:])
    return any(ip in network for network in _BLOCKED_V4)


def place(url: str) -> Place:
    """Take a well-formed http(s) address apart. Raises UnsafeURL for anything else; a private host is well-formed."""
    if not isinstance(url, str) or not url.strip():
        raise UnsafeURL("", "the address is empty", "Give an address with https://")
    if len(url) > LONGEST:
        raise UnsafeURL(url[:80] + "…", f"the address is longer than {LONGEST} characters", "Use a shorter one")
    if not _PRINTABLE.fullmatch(url) and any(unicodedata.category(c) in _BLANKS for c in url):
        shown = "".join(c if unicodedata.category(c) not in _BLANKS else "\ufffd" for c in url)
        raise UnsafeURL(
            _without_credentials(shown), "the address has blanks or control characters in it", "Copy it again"
        )
    if "\\" in url:
        reason = "the address has a backslash in it, which programs read differently"
        raise UnsafeURL(_without_credentials(url), reason, "Write / instead")
    if (shape := _SHAPE.match(url)) is None or (shape[2] is None and re.match(r"[\w.-]+:\d{1,5}(?:[/?#]|$)", url)):
        raise UnsafeURL(_without_credentials(url), "the address has no https:// before it", "Write https://host/path")
    scheme, authority, target = shape[1].lower(), shape[2], shape[3]
    if scheme not in _WEB_PORTS:
        raise UnsafeURL(_without_credentials(url), f"{scheme[:40]}: addresses are not fetched", _HTTPS)
    if not authority:
        raise UnsafeURL(url, "the address has no host", "Write https://host/path")
    if "@" in authority:
        reason = "the address has a user name or password in it, which would be stored and shown"
        raise UnsafeURL(_without_credentials(url), reason, "Use an address that needs none")
    host, port = _host_and_port(url, authority)
    target = quote(target, safe="/?:@!$&'()*+,;=%~[]")
    return Place(
        scheme, host, _WEB_PORTS[scheme] if port is None else port, target if target[:1] == "/" else "/" + target
    )


_BLANKS = {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"}


def _host_and_port(url: str, authority: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]{0,5}))?", authority)
    if found is None:
        raise UnsafeURL(url, "the address's host or port is not well-formed", _SPELLING)
    port = int(found[2]) if found[2] else None
    if port is not None and not 0 < port < 65536:
        raise UnsafeURL(url, f"there is no port {port}", "Leave the port out")
    if found[1].startswith("["):
        return _ipv6(url, found[1][1:-1]), port
    return _name(url, found[1]), port


def _ipv6(url: str, literal: str) -> str:
    try:
        if "%" in literal:  # a zone is a name inside one machine
            raise ValueError
        return str(ipaddress.IPv6Address(literal))
    except ValueError:
        raise UnsafeURL(url, "the IPv6 address is not well-formed", "Use the host's name") from None


def _name(url: str, written: str) -> str:
    """A host's name in lower case and ASCII, or an IPv4 address in its usual spelling."""
    if any(not c.isascii() and (c in "\u3002\uff61" or unicodedata.normalize("NFKC", c).isascii()) for c in written):
        raise UnsafeURL(url, "the host is written with look-alike letters, digits or dots", _PLAIN)
    try:
        name = written if written.isascii() else idna.encode(written[:254], uts46=True).decode("ascii")
    except UnicodeError:
        raise UnsafeURL(
            url, "the host is not a valid international name", "Use the form that begins with xn--"
        ) from None
    name = name.lower()
    dotless = name.removesuffix(".")
    labels = dotless.split(".")
    if len(dotless) > 253 or not all(0 < len(label) < 64 for label in labels):
        raise UnsafeURL(url, "the host has a part that is empty or longer than 63 characters", _SPELLING)
    if not all(_LABEL.fullmatch(label) for label in labels):
        raise UnsafeURL(url, "the host has characters that no host name has", _SPELLING)
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            remedy = "Write it as four numbers with dots, or use the host's name"
            raise UnsafeURL(url, "the host is an IP address in an unusual spelling", remedy) from None
    if labels[-1] in _NOT_IN_DNS:
        raise UnsafeURL(
            url, f".{labels[-1]} names cannot be reached from here", "Use an address on the public internet"
        )
    return dotless


def _private(host: str) -> str | None:
    """Why a host is not on the public internet, or None."""
    if ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]):
        return f"{host} is not a public IP address" if is_blocked(host) else None
    if "." not in host or any(f".{host}".endswith(f".{suffix}") for suffix in _PRIVATE_SUFFIXES):
        return f"{host} is a name inside a private network"
    return None


def _without_credentials(url: str) -> str:
    return re.sub(r"//[^/?#]*@", "//", url)
