"""What must not be fetched is refused before a byte is sent, however it is written."""

import ipaddress
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UnsafeURL
from bot.sources.address import check_url, is_blocked, is_private, place

HOSTILE = json.loads((Path(__file__).parent.parent / "data" / "hostile.json").read_text("utf-8"))["entries"]
URLS = [entry for entry in HOSTILE if entry["kind"] == "url"]


def allowed(url: str) -> bool:
    try:
        check_url(url)
    except UnsafeURL as error:
        return not error.reason
    return True


@pytest.mark.parametrize("entry", URLS, ids=lambda e: e["id"])
def test_every_verdict_is_right(entry: dict[str, str]) -> None:
    assert allowed(entry["input"]) == (entry["expect"] == "allow"), entry["why"]


@pytest.mark.parametrize(
    "url",
    [
        "http://0177.0.0.1/", "http://0x7f.0.0.1/", "http://0x7f000001/", "http://017700000001/", "http://127.0.1/",
        "http://0/", "http://[::]/", "http://[::1]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/",
        "http://[::ffff:10.0.0.1]/", "http://[2002:7f00:1::]/", "http://169.254.169.254/latest", "http://172.16.0.1/",
        "http://printer/", "http://router.lan/", "http://metadata.google.internal/", "http://x.onion/",
        "http://LOCALHOST/", "http://localhost.localdomain/", "http://example.com:22/", "http://example.com:25/",
        "http://example.com:3306/", "http://example.com:/@127.0.0.1:6379\\", "http://[::1", "http://]/", "http://@/",
        "http://a:b@c:d@example.com/", "http://example.com@127.0.0.1/", "gopher://example.com/", "//example.com/x",
        "example.com", "", " ", "http://", "https://?q", "http://-a.example.com/", "http://a..example.com/",
        "http://example.com:+80/", "http://example.com:80:80/", "http://example.com:８０/", "http://example.com:443a/",
        "http:example.com", "http:/example.com/", "http:\\\\example.com", "hhttp://example.com/", "localhost:8000",
        "http://%6c%6f%63alhost/", "http://127.0.0.1%2f.example.com/", "http://127%2e0.0.1/", "http://[v1.x]/",
        "http://[::1]x/", "http://x[::1]/", "http://[::1%eth0]/", "http://[0:0:0:0:0:ffff:7f00:1]/", "http://[::7f00:1]/",
        "http://ｌocalhost/", "http://ⓛocalhost/", "http://loc\u00adalhost/", "http://\u212aernel.org/", "http://💩.la/",
        "http://example.com\t/", " http://example.com/", "http://example.com/\n", "http://example.com/a b",
        "http://example.com/\udc80", "http://a.svc.cluster.local/", "http://host.docker.internal/", "http://nas.home.arpa/",
        "http://x.i2p/", "http://127.0.0.1.nip.io/", "http://" + "a." * 127 + "com/", "http://xn--a.xn--b-/",
        "http://exa\u200bmple.com/", "http://example.com/\u202e", "http://example\uff0ecom/", "http://256.1.1.1/",
    ],
)  # fmt: skip
def test_others_of_the_kind_are_refused(url: str) -> None:
    assert not allowed(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/", "http://example.com", "https://example.com./feed?x=1&y=2#z", "https://example.com:8443/",
        "HTTPS://EXAMPLE.COM/Feed", "https://xn--mnchen-3ya.example.com/", "https://例え.jp/フィード", "https://8.8.8.8/",
        "https://sub_domain.example.com/", "https://11.0.0.1/", "https://local.example.com/", "https://example.com:80/",
    ],
)  # fmt: skip
def test_ordinary_addresses_are_allowed(url: str) -> None:
    assert allowed(url)


@pytest.mark.parametrize(
    ("url", "private"),
    [
        ("http://127.0.0.1:8000/x", True),
        ("http://localhost/x", True),
        ("http://10.1.2.3:6379/", True),
        ("http://intranet/", True),
        ("https://example.com/", False),
        ("ftp://127.0.0.1/", False),
        ("http://user@127.0.0.1/", False),
        ("nonsense", False),
        ("http://x.onion/", False),
        ("http://999.1.1.1/", False),
        ("http://127.1/", False),
        ("http://nas.local:8096/feed", True),
        ("http://[::1]:8000/", True),
        ("http://8.8.8.8:22/", False),
        ("http://127.0.0.1:0/", False),
    ],
)
def test_private_is_well_formed_and_refused_for_its_host_alone(url: str, private: bool) -> None:
    assert is_private(url) == private


def test_credentials_are_not_repeated() -> None:
    with pytest.raises(UnsafeURL) as caught:
        check_url("https://me:secret@example.com/")
    assert "secret" not in str(caught.value) + caught.value.url


@pytest.mark.parametrize(
    "url", ["https://a:secret@[::1", "https://me:secret\\@example.com/", "https://me:secret@ex ample.com/"]
)
def test_credentials_are_not_repeated_in_a_broken_address_either(url: str) -> None:
    with pytest.raises(UnsafeURL) as caught:
        check_url(url)
    assert "secret" not in str(caught.value) + caught.value.url


@given(st.ip_addresses())
def test_nothing_that_is_not_global_passes(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if ip in ipaddress.ip_network("64:ff9b::/96"):
        assert is_blocked(str(ip)) == is_blocked(str(ipaddress.IPv4Address(ip.packed[12:])))
    elif not ip.is_global or ip.is_multicast or ip.is_reserved:
        assert is_blocked(str(ip))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_an_ipv6_one_is_judged_like_it_or_never_reached(ip: ipaddress.IPv4Address) -> None:
    """Only 64:ff9b::/96 is of use: it is how a host without IPv4 reaches the public part of it."""
    for prefix in ("::ffff:", "::", "::ffff:0:", "64:ff9b:1::", "2002:"):
        assert is_blocked(
            prefix + str(ip) if prefix != "2002:" else f"2002:{ip.packed[:2].hex()}:{ip.packed[2:].hex()}::"
        )
    assert is_blocked(f"64:ff9b::{ip}") == is_blocked(str(ip))


@given(st.integers(0, 2**32 - 1))
def test_an_address_is_taken_in_its_usual_spelling_alone(number: int) -> None:
    ip = ipaddress.IPv4Address(number)
    a, b, c, d = ip.packed
    odd = {
        str(number),
        hex(number),
        oct(number).replace("o", ""),
        f"{a}.{number & 0xFFFFFF}",
        f"0x{a:x}.0{b:o}.{c}.{d}",
        f"{ip}.",
    }
    odd |= {f"{a}.{b}.{c}.0{d}", f"{ip}.1", "".join(chr(0xFF10 + int(x)) if x.isdigit() else x for x in str(ip))}
    assert not any(allowed(f"http://{s}/") or is_private(f"http://{s}/") for s in odd)
    assert allowed(f"http://{ip}/") == (not is_blocked(str(ip)))


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("HTTP://EXAMPLE.com.:80/A?b=C#d", "http://example.com/A?b=C"),
        ("https://example.com", "https://example.com/"),
        ("https://example.com?x=ž", "https://example.com/?x=%C5%BE"),
        ("https://münchen.example.com:8443/ü%2f%7E", "https://xn--mnchen-3ya.example.com:8443/%C3%BC%2f%7E"),
        ("https://faß.example.com/", "https://xn--fa-hia.example.com/"),
        ("https://[2606:4700:0:0::1111]/", "https://[2606:4700::1111]/"),
        ("https://example.com/a'(b)<c>|\"{d}", "https://example.com/a'(b)%3Cc%3E%7C%22%7Bd%7D"),
    ],
)
def test_what_is_sent_is_what_was_checked(url: str, sent: str) -> None:
    assert place(url).url == sent
    assert place(sent).url == sent


def test_the_private_host_of_an_allowed_source_may_have_any_port() -> None:
    assert place("http://10.1.2.3:6379/").origin == ("10.1.2.3", 6379)


@given(st.text(max_size=80))
def test_no_text_raises_anything_else(text: str) -> None:
    for url in (text, f"http://{text}", f"https://{text}.example.com/{text}", f"http://[{text}]/"):
        allowed(url)
        is_private(url)
