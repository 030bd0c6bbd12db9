"""Nothing private is reached, by no path: names, literals, redirects, rebinding, lent connections; and TLS is checked."""

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest
from aiohttp.abc import ResolveResult

from bot.errors import FetchError, UnsafeURL
from bot.sources.http import Http
from tests.sources.loopback import Loopback, Names, get, raw_server

TLS = Path(__file__).parent.parent / "data" / "tls"


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "//10.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://example.com:22/",
        "file:///etc/passwd",
        "ftp://example.com/",
        "http://[",
        "http://10.0.0.1/",
        "http://u:p@example.com/",
        "http://a\\@b/",
    ],
)
async def test_a_redirect_is_checked_like_an_address(site: Loopback, http: Http, target: str) -> None:
    site.redirect("/a", target)
    with pytest.raises(UnsafeURL, match="it redirects to"):
        await get(http, site.url("/a"))


async def test_a_redirect_never_leads_out_of_tls() -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 301 Moved\r\nLocation: http://tls.example.com/a\r\nContent-Length: 0\r\n\r\n")

    async with raw_server(serve, serving("good")) as port, trusting("good") as http:
        with pytest.raises(UnsafeURL, match="from https to http"):
            await get(http, f"https://tls.example.com:{port}/a")


async def test_what_was_allowed_holds_for_that_host_and_port_alone(site: Loopback, http: Http) -> None:
    async with Loopback() as other:
        other.page("/x", "secret")
        site.redirect("/other-port", other.url("/x"))
        site.redirect("/other-name", site.url("/x", "localhost"))
        site.page("/x", "hello")
        for path in ("/other-port", "/other-name"):
            with pytest.raises(UnsafeURL):
                await get(http, site.url(path))
        assert not other.asked
        assert not site.hits("/x")


async def test_a_connection_that_was_allowed_is_not_lent_to_others(site: Loopback) -> None:
    """The first request leaves an open connection to the name's private address behind."""
    site.page("/x", "secret")
    async with Http(user_agent="x", timeout=2, resolver=Names({"wiki.example.com": ["127.0.0.1"]})) as http:
        await get(http, site.url("/x", "wiki.example.com"))
        with pytest.raises(UnsafeURL):
            await http.get(site.url("/x", "wiki.example.com"), accept="*/*")
    assert site.hits("/x") == 1


def serving(name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / f"{name}.pem")
    return context


def trusting(name: str | None, **names: str) -> Http:
    context = ssl.create_default_context(cafile=TLS / f"{name}.pem" if name else None)
    table = {f"{host}.example.com": ["127.0.0.1"] for host in ("tls", "old", "other")}
    return Http(user_agent="x", timeout=2, resolver=Names(table), tls=context)


@pytest.mark.parametrize(
    ("served", "trusted", "host", "words"),
    [
        ("good", "good", "tls", None),
        ("good", None, "tls", "self-signed"),
        ("good", "good", "other", "for another name"),
        ("expired", "expired", "old", "has expired"),
    ],
)
async def test_certificates(served: str, trusted: str | None, host: str, words: str | None) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        await writer.drain()

    async with raw_server(serve, serving(served)) as port, trusting(trusted) as http:
        url = f"https://{host}.example.com:{port}/"
        if words is None:
            assert (await get(http, url)).text() == "hello"
        else:
            with pytest.raises(FetchError, match=f"no secure connection.*{words}"):
                await get(http, url)


async def test_tls_where_there_is_none(site: Loopback, http: Http) -> None:
    with pytest.raises(FetchError, match="no secure connection"):
        await get(http, site.url("/x").replace("http:", "https:"))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0"])
async def test_a_name_that_leads_to_a_private_address(site: Loopback, address: str) -> None:
    async with Http(user_agent="x", timeout=2, resolver=Names({"evil.example.com": [address]})) as http:
        with pytest.raises(UnsafeURL, match=rf"evil\.example\.com leads to {address}"):
            await http.get(site.url("/x", "evil.example.com"), accept="*/*")
    assert not site.asked


async def test_a_literal_never_reaches_the_resolver(site: Loopback, http: Http) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "127.1", "0x7f000001"):
        with pytest.raises(UnsafeURL):
            await http.get(site.url("/x", host), accept="*/*")
    assert not site.asked


async def test_rebinding_is_judged_by_what_is_dialled(site: Loopback) -> None:
    """The name was public when somebody looked, and is private when it is fetched."""
    site.page("/x", "secret")
    names = Names({"b.example.com": ["93.184.215.14", "127.0.0.1"]})
    async with Http(user_agent="x", timeout=2, resolver=names) as http:
        assert (await names.resolve("b.example.com"))[0]["host"] == "93.184.215.14"
        for _ in range(2):
            with pytest.raises(UnsafeURL, match="leads to"):
                await http.get(site.url("/x", "b.example.com"), accept="*/*")
    assert not site.asked


async def test_a_redirect_to_a_name_that_leads_to_a_private_address(site: Loopback) -> None:
    async with (
        Loopback() as inside,
        Http(user_agent="x", timeout=2, resolver=Names({"evil.example.com": ["127.0.0.1"]})) as http,
    ):
        site.redirect("/a", inside.url("/secret", "evil.example.com"), 301)
        with pytest.raises(UnsafeURL, match="leads to"):
            await get(http, site.url("/a"))
        assert not inside.asked


async def test_of_several_addresses_only_public_ones_are_dialled(site: Loopback) -> None:
    class Both(Names):
        async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
            return [*await super().resolve("one", port), *await super().resolve("two", port)]

    async with Http(user_agent="x", timeout=2, resolver=Both({"one": ["127.0.0.1"], "two": ["10.0.0.1"]})) as http:
        with pytest.raises(UnsafeURL, match="leads to"):
            await http.get(site.url("/x", "mixed.example.com"), accept="*/*")
    assert not site.asked


async def test_a_private_host_that_was_allowed_by_name(site: Loopback) -> None:
    site.page("/x", "hello")
    async with Http(user_agent="x", timeout=2, resolver=Names({"wiki.example.com": ["127.0.0.1"]})) as http:
        assert (await get(http, site.url("/x", "wiki.example.com"))).text() == "hello"
