"""What a server's answer means for a source, in one plain sentence with what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

AGAIN = "It is tried again later"
_LET_IN = "Ask the site's owner to let this bot's User-Agent in"

_WORDS = {
    204: ("the server answered without a page (204)", AGAIN),
    401: ("it wants a login (401)", "Use an address that is open to everybody"),
    402: ("it wants to be paid (402)", "Use an address that is open to everybody"),
    403: ("the server does not let the bot in (403)", _LET_IN),
    404: ("there is no such page (404)", "Check the address; it is tried again later"),
    406: ("it cannot be had in a form the bot reads (406)", "Check the address"),
    407: ("a proxy on the way wants a login (407)", "Check the network of this machine"),
    410: ("it is gone for good (410)", "Remove the source or give its new address"),
    425: ("the server is not ready (425)", AGAIN),
    429: ("the server wants fewer requests (429)", AGAIN),
    451: ("it is withheld for legal reasons (451)", "Use another source"),
    503: ("the server is overloaded or under repair (503)", AGAIN),
    504: ("the server's own source did not answer in time (504)", AGAIN),
}


def words(status: int, headers: Mapping[str, str]) -> tuple[str, str]:
    """Reason and remedy for a status that brings no page."""
    if status in (403, 503) and _is_cloudflare(headers):
        return f"a bot filter (Cloudflare) turned the bot away ({status})", _LET_IN
    if status in _WORDS:
        return _WORDS[status]
    if status >= 500:
        return f"the server failed ({status})", AGAIN
    if status >= 400:
        return f"the server refused ({status})", "Check the address"
    if status >= 300:
        return f"it redirects without saying where ({status})", "Open the address in a browser and use where it ends"
    return f"the server's answer is no page ({status})", AGAIN


def _is_cloudflare(headers: Mapping[str, str]) -> bool:
    return "cf-mitigated" in headers or "cloudflare" in headers.get("Server", "").casefold()


def certificate(problem: str) -> str:
    """What is wrong with a TLS connection, from the library's own message."""
    text = problem.casefold()
    for mark, said in (
        ("not yet valid", "its certificate is not valid yet"),
        ("expired", "its certificate has expired"),
        ("hostname mismatch", "its certificate is for another name"),
        ("ip address mismatch", "its certificate is for another name"),
        ("doesn't match", "its certificate is for another name"),
        ("self-signed", "its certificate is self-signed"),
        ("self signed", "its certificate is self-signed"),
        ("unable to get", "its certificate's issuer is not known"),
        ("wrong version", "it does not speak TLS there"),
        ("record layer", "it does not speak TLS there"),
        ("unsupported protocol", "it speaks only outdated TLS"),
        ("handshake failure", "it speaks no TLS that is safe"),
    ):
        if mark in text:
            return said
    return "its certificate is not valid" if "certificate" in text else "the TLS handshake failed"


def span(seconds: float) -> str:
    """A length of time in round words: ``90 s``, ``12 min``, ``5 h``."""
    if seconds >= 5400:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{max(1.0, seconds):.0f} s"
