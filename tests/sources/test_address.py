"""What must not be fetched is refused before a byte is sent, however it is written."""

import ipaddress
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import UnsafeURL
from bot.sources.address import check_url, is_blocked, is_private

HOSTILE = json.loads((Path(__file__).parent.parent / "data" / "hostile.json").read_text("utf-8"))["entries"]
URLS = [entry for entry in HOSTILE if entry["kind"] == "url"]


def allowed(url: str) -> bool:
    try:
        check_url(url)
    except UnsafeURL as error:
        assert error.reason
        return False
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
    ],
)
def test_private_is_well_formed_and_refused_for_its_host_alone(url: str, private: bool) -> None:
    assert is_private(url) == private


def test_credentials_are_not_repeated() -> None:
    with pytest.raises(UnsafeURL) as caught:
        check_url("https://me:secret@example.com/")
    assert "secret" not in str(caught.value) + caught.value.url


@given(st.ip_addresses())
def test_nothing_that_is_not_global_passes(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if not ip.is_global or ip.is_multicast or ip.is_reserved:
        assert is_blocked(str(ip))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_inside_an_ipv6_one_is_never_reached(ip: ipaddress.IPv4Address) -> None:
    for prefix in ("::ffff:", "::", "64:ff9b::", "64:ff9b:1::"):
        assert is_blocked(prefix + str(ip))


@given(st.integers(0, 2**32 - 1))
def test_every_spelling_of_an_address_gets_the_same_verdict(number: int) -> None:
    ip = ipaddress.IPv4Address(number)
    a, b, c, d = ip.packed
    spellings = {str(number), hex(number), f"{a}.{number & 0xFFFFFF}", f"0x{a:x}.0{b:o}.{c}.{d}", str(ip)}
    assert len({allowed(f"http://{s}/") for s in spellings}) == 1


@given(st.text(max_size=80))
def test_no_text_raises_anything_else(text: str) -> None:
    for url in (text, f"http://{text}", f"https://{text}.example.com/{text}", f"http://[{text}]/"):
        allowed(url)
        is_private(url)
