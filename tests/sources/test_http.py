"""Fetching is polite, guarded and bounded, against a real server on loopback."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from typing import Any

import brotli
import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from bot.errors import FetchError, UnsafeURL
from bot.sources.http import Http, Response, Validators
from tests.sources.loopback import Loopback


class Names(AbstractResolver):
    """A resolver that answers from a table; a list is used up one look-up at a time, the last for ever."""

    def __init__(self, table: dict[str, list[str]]) -> None:
        self.table = table

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        answers = self.table.get(host)
        if not answers:
            raise OSError(f"no {host}")
        address = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ResolveResult(hostname=host, host=address, port=port, family=2, proto=0, flags=0)]

    async def close(self) -> None:
        pass


@pytest.fixture
async def site() -> AsyncIterator[Loopback]:
    async with Loopback() as loopback:
        yield loopback


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    async with Http(user_agent="Briefbot/1 (+mailto:a@example.org)", timeout=2, max_bytes=100_000) as client:
        yield client


async def get(http: Http, url: str, validators: Validators | None = None) -> Response:
    return await http.get(url, accept="text/markdown, */*;q=0.5", validators=validators, allow_private=True)


async def test_what_is_sent(site: Loopback, http: Http) -> None:
    site.page("/x", "hello")
    answer = await get(http, site.url("/x"))
    sent = site.asked[0].headers
    assert answer.text() == "hello"
    assert sent["User-Agent"] == "Briefbot/1 (+mailto:a@example.org)"
    assert sent["Accept"].startswith("text/markdown")
    assert {"gzip", "br"} <= {e.strip() for e in sent["Accept-Encoding"].split(",")}
    assert not {"Cookie", "Referer", "Authorization"} & set(sent)
    assert site.asked[0].path_qs == "/x"


@pytest.mark.parametrize(
    "given",
    [{"ETag": 'W/"a b\\"c"'}, {"Last-Modified": "some day, 99 Foo"}, {"ETag": '"1"', "Last-Modified": "x"}],
)
async def test_validators_come_back_byte_for_byte(site: Loopback, http: Http, given: dict[str, str]) -> None:
    site.page("/x", "hello", headers={**given, "Cache-Control": "max-age=7200"})
    first = await get(http, site.url("/x"))
    again = await get(http, site.url("/x"), first.validators)
    assert again.not_modified
    assert not again.body
    assert again.validators == first.validators
    assert again.max_age == 7200


async def test_a_304_may_bring_new_validators(site: Loopback, http: Http) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=304, headers={"ETag": '"new"'})

    site.serve("/x", answer)
    again = await get(http, site.url("/x"), Validators('"old"', "then"))
    assert again.validators == Validators('"new"', "then")


async def test_absurd_validators_are_not_kept(site: Loopback, http: Http) -> None:
    site.page("/x", "hello", headers={"ETag": '"' + "a" * 2000 + '"'})
    assert (await get(http, site.url("/x"))).validators == Validators()


async def test_cookies_are_neither_kept_nor_sent(site: Loopback, http: Http) -> None:
    site.page("/x", "hello", headers={"Set-Cookie": "a=b"})
    await get(http, site.url("/x"))
    await get(http, site.url("/x"))
    assert "Cookie" not in site.asked[1].headers


@pytest.mark.parametrize(
    ("hops", "permanent"),
    [([301], "/end"), ([308, 301], "/end"), ([302], None), ([301, 302], "/hop1"), ([302, 301], None), ([307], None)],
)
async def test_only_what_moved_for_good_is_told(
    site: Loopback, http: Http, hops: list[int], permanent: str | None
) -> None:
    paths = [*(f"/hop{n}" for n in range(len(hops))), "/end"]
    for path, target, status in zip(paths, paths[1:], hops, strict=False):
        site.redirect(path, target, status)
    site.page("/end", "here")
    answer = await get(http, site.url("/hop0"))
    assert answer.url == site.url("/end")
    assert answer.permanent_url == (permanent and site.url(permanent))


async def test_redirects_are_bounded(site: Loopback, http: Http) -> None:
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")
    for n in range(9):
        site.redirect(f"/{n}", f"/{n + 1}")
    with pytest.raises(FetchError, match="in a circle"):
        await get(http, site.url("/a"))
    with pytest.raises(FetchError, match="more than 5 redirects"):
        await get(http, site.url("/0"))


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://example.com/", "http://[", "http://10.0.0.1/", "http://u:p@example.com/"]
)
async def test_a_redirect_is_checked_like_an_address(site: Loopback, http: Http, target: str) -> None:
    site.redirect("/a", target)
    with pytest.raises(UnsafeURL):
        await get(http, site.url("/a"))


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


@pytest.mark.parametrize("status", [429, 503])
async def test_retry_after_holds_the_whole_host(site: Loopback, http: Http, status: int) -> None:
    site.page("/busy", status=status, headers={"Retry-After": "120"})
    site.page("/other", "x")
    with pytest.raises(FetchError) as caught:
        await get(http, site.url("/busy"))
    assert caught.value.retry_after == 120
    with pytest.raises(FetchError, match="asked not to be asked again for 2 min"):
        await get(http, site.url("/other"))
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "no such page"),
        (403, "does not let the bot in"),
        (410, "gone for good"),
        (500, "server failed"),
        (418, "refused"),
    ],
)
async def test_a_bad_status_is_said_in_words(site: Loopback, http: Http, status: int, words: str) -> None:
    site.page("/x", status=status)
    with pytest.raises(FetchError, match=words) as caught:
        await get(http, site.url("/x"))
    assert caught.value.status == status
    assert caught.value.permanent == (status == 410)


async def test_at_most_two_connections_to_a_host(site: Loopback, http: Http) -> None:
    at_once = most = 0

    async def slow(request: web.Request) -> web.Response:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.02)
        at_once -= 1
        return web.Response(text="x")

    site.serve("/x", slow)
    await asyncio.gather(*(get(http, site.url("/x")) for _ in range(10)))
    assert most == 2


@pytest.mark.parametrize("where", ["headers", "body", "hang"])
async def test_a_drip_is_cut_off(site: Loopback, where: str) -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        if where == "headers":
            assert request.transport
            request.transport.write(b"HTTP/1.1 200 OK\r\n")
            for n in range(100):
                request.transport.write(f"X-{n}: y\r\n".encode())
                await asyncio.sleep(0.05)
        answer = web.StreamResponse()
        await answer.prepare(request)
        for _ in range(100):
            if where == "body":
                await answer.write(b"x")
            await asyncio.sleep(0.05)
        return answer

    site.serve("/x", drip)
    async with Http(user_agent="x", timeout=0.3) as http:
        start = asyncio.get_running_loop().time()
        with pytest.raises(FetchError, match=r"no whole answer within 0\.3 s"):
            await get(http, site.url("/x"))
        assert asyncio.get_running_loop().time() - start < 2


def zstd_bomb() -> bytes:
    from backports import zstd

    return zstd.compress(b"\0" * 300_000_000)


def bombs() -> dict[str, bytes]:
    def brotli_bomb() -> bytes:
        packer = brotli.Compressor()
        return b"".join([*(packer.process(b"\0" * 1_000_000) for _ in range(300)), packer.finish()])

    packer = zlib.compressobj(wbits=31)
    return {
        "gzip": b"".join([*(packer.compress(b"\0" * 1_000_000) for _ in range(300)), packer.flush()]),
        "br": brotli_bomb(),
        "zstd": zstd_bomb(),
    }


async def test_bombs_cost_little(site: Loopback, http: Http) -> None:
    """300 MB packed small: refused at the bound, for less than 20 MB of memory."""
    for encoding, body in bombs().items():
        site.page(f"/{encoding}", body, headers={"Content-Encoding": encoding})
        tracemalloc.start()
        with pytest.raises(FetchError, match=r"larger than 0\.1 MB"):
            await get(http, site.url(f"/{encoding}"))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20e6, encoding


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
async def test_packed_bodies_are_unpacked(site: Loopback, http: Http, encoding: str) -> None:
    raw = "čšž".encode()
    packed = {"gzip": gzip.compress(raw), "br": brotli.compress(raw), "deflate": zlib.compress(raw)}[encoding]
    site.page("/x", packed, headers={"Content-Encoding": encoding})
    assert (await get(http, site.url("/x"))).text() == "čšž"


@pytest.mark.parametrize(
    ("headers", "body", "words"),
    [
        ({"Content-Encoding": "gzip"}, b"this is not gzip", "unpacked"),
        ({"Content-Encoding": "gzip, gzip"}, gzip.compress(gzip.compress(b"x")), "packed twice"),
        ({}, b"x" * 100_001, "larger than"),
    ],
)
async def test_bad_bodies(site: Loopback, http: Http, headers: dict[str, str], body: bytes, words: str) -> None:
    site.page("/x", body, headers=headers)
    with pytest.raises(FetchError, match=words):
        await get(http, site.url("/x"))


@pytest.mark.parametrize("raw", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut"])
async def test_broken_answers(http: Http, raw: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        with pytest.raises(FetchError, match="cut off|not proper HTTP"):
            await get(http, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")


async def test_a_closed_port_and_an_unknown_name() -> None:
    async with Http(user_agent="x", timeout=2, resolver=Names({})) as http:
        with pytest.raises(FetchError, match="does not take connections"):
            await get(http, "http://127.0.0.1:1/")
        with pytest.raises(FetchError, match="no host nowhere"):
            await http.get("http://nowhere.example.com/", accept="*/*")


async def test_tls_where_there_is_none(site: Loopback, http: Http) -> None:
    with pytest.raises(FetchError, match="no secure connection"):
        await get(http, site.url("/x").replace("http:", "https:"))


async def test_a_name_that_leads_to_a_private_address(site: Loopback) -> None:
    async with Http(user_agent="x", timeout=2, resolver=Names({"evil.example.com": ["127.0.0.1"]})) as http:
        with pytest.raises(UnsafeURL, match=r"evil\.example\.com leads to 127\.0\.0\.1"):
            await http.get(site.url("/x", "evil.example.com"), accept="*/*")
    assert not site.asked


async def test_rebinding_is_judged_by_what_is_dialled(site: Loopback) -> None:
    """Public at the first look-up, private at the second, after a redirect."""
    site.page("/x", "secret")
    names = Names({"a.example.com": ["127.0.0.1"], "b.example.com": ["93.184.215.14", "127.0.0.1"]})
    async with Http(user_agent="x", timeout=2, resolver=names) as http:
        await names.resolve("b.example.com")
        with pytest.raises(UnsafeURL, match="leads to"):
            await http.get(site.url("/x", "b.example.com"), accept="*/*")
    assert not site.asked


async def test_a_private_host_that_was_allowed_by_name(site: Loopback) -> None:
    site.page("/x", "hello")
    async with Http(user_agent="x", timeout=2, resolver=Names({"wiki.example.com": ["127.0.0.1"]})) as http:
        assert (await get(http, site.url("/x", "wiki.example.com"))).text() == "hello"


@pytest.mark.parametrize(
    ("body", "header", "text"),
    [
        ("ž".encode(), "text/plain", "ž"),
        ("ž".encode("cp1250"), "text/plain; charset=windows-1250", "ž"),
        (b"\xef\xbb\xbfx", "text/plain; charset=latin-1", "x"),
        ("x".encode("utf-16"), "text/plain", "x"),
        (b"a\xffb " + "ž".encode(), "text/plain; charset=utf-8", "a\ufffdb ž"),
        ("<meta charset=windows-1250>ž".encode("cp1250"), "text/html", "<meta charset=windows-1250>ž"),
        (b"x", "text/plain; charset=no-such", "x"),
    ],
)
async def test_text(site: Loopback, http: Http, body: bytes, header: str, text: str) -> None:
    site.page("/x", body, headers={"Content-Type": header})
    assert (await get(http, site.url("/x"))).text() == text
