"""Whatever a server sends, a fetch ends in bounded time and memory, with one plain sentence."""

import asyncio
import gzip
import importlib.util
import resource
import sys
import tracemalloc
import zlib

import brotli
import pytest
from aiohttp import web

from bot.errors import FetchError
from bot.sources.http import Http
from tests.sources.loopback import Loopback, Names, get, raw_server

HAS_ZSTD = sys.version_info >= (3, 14) or importlib.util.find_spec("backports.zstd") is not None


async def test_redirects_are_bounded(site: Loopback, http: Http) -> None:
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")
    for n in range(9):
        site.redirect(f"/{n}", f"/{n + 1}")
    with pytest.raises(FetchError, match="in a circle"):
        await get(http, site.url("/a"))
    with pytest.raises(FetchError, match="more than 5 redirects"):
        await get(http, site.url("/0"))


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


def bombs(size: int) -> dict[str, bytes]:
    """Zeros, a MB at a time, packed by each way that is asked for."""
    million = bytes(1_000_000)
    gz, df, br = zlib.compressobj(wbits=31), zlib.compressobj(), brotli.Compressor(quality=5, lgwin=24)
    packed = {
        "gzip": b"".join([*(gz.compress(million) for _ in range(size)), gz.flush()]),
        "deflate": b"".join([*(df.compress(million) for _ in range(size)), df.flush()]),
        "br": b"".join([*(br.process(million) for _ in range(size)), br.finish()]),
    }
    if HAS_ZSTD:
        from bot.sources.unpack import _ZSTD

        zs = _ZSTD.ZstdCompressor()
        packed["zstd"] = b"".join([*(zs.compress(million) for _ in range(size)), zs.flush()])
    return packed


async def test_bombs_cost_little(site: Loopback) -> None:
    """Packed small: refused at the usual bound of 5 MB, for less than 20 MB of memory."""
    packed = bombs(100)
    async with Http(user_agent="x", timeout=5) as http:
        for encoding, body in packed.items():
            site.page(f"/{encoding}", body, headers={"Content-Encoding": encoding})
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            tracemalloc.start()
            with pytest.raises(FetchError, match=r"larger than 5 MB|cannot be unpacked \(br\)"):
                await get(http, site.url(f"/{encoding}"))
            traced = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            resident = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
            assert max(traced, resident) < 20e6, encoding


@pytest.mark.skipif(not HAS_ZSTD, reason="no zstd here")
async def test_a_huge_zstd_window_is_refused(site: Loopback, http: Http) -> None:
    """A frame may claim a window of gigabytes; RFC 9659 allows 8 MB on the web."""
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([(28 - 10) << 3]) + b"\x01\x00\x00"
    site.page("/x", frame, headers={"Content-Encoding": "zstd"})
    with pytest.raises(FetchError, match="cannot be unpacked"):
        await get(http, site.url("/x"))


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
async def test_packed_bodies_are_unpacked(site: Loopback, http: Http, encoding: str) -> None:
    raw = "čšž".encode()
    packed = {"gzip": gzip.compress(raw, mtime=0), "br": brotli.compress(raw), "deflate": zlib.compress(raw)}[encoding]
    site.page("/x", packed, headers={"Content-Encoding": encoding})
    assert (await get(http, site.url("/x"))).text() == "čšž"


@pytest.mark.parametrize(
    ("headers", "body", "words"),
    [
        ({"Content-Encoding": "gzip"}, b"this is not gzip", "unpacked"),
        ({"Content-Encoding": "gzip"}, gzip.compress(b"x" * 1000, mtime=0)[:-4], "cut off"),
        ({"Content-Encoding": "br"}, brotli.compress(b"x" * 1000)[:-1], "cut off"),
        ({"Content-Encoding": "deflate"}, zlib.compress(b"x" * 1000)[:-1], "cut off"),
        ({"Content-Encoding": "gzip"}, gzip.compress(b"", mtime=0) * 5000, "unpacked"),
        ({"Content-Encoding": "gzip, gzip"}, gzip.compress(gzip.compress(b"x", mtime=0)), "not asked for"),
        ({"Content-Encoding": "compress"}, b"x", "not asked for"),
        ({}, b"x" * 100_001, "larger than"),
    ],
)
async def test_bad_bodies(site: Loopback, http: Http, headers: dict[str, str], body: bytes, words: str) -> None:
    site.page("/x", body, headers=headers)
    with pytest.raises(FetchError, match=words):
        await get(http, site.url("/x"))


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "without an answer"),
        (b"nonsense\r\n\r\n", "not proper HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut", "cut off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "cut off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab", "cut off|not proper HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n", "larger than"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "not proper HTTP"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 65536 + b"\r\n\r\n", "headers are too large|not proper HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10_000 + b"\r\n", "headers are too large|not proper HTTP"),
        (b"HTTP/1.1 200 OK\r\nX: y", "without an answer|not proper HTTP"),
    ],
)
async def test_broken_answers(http: Http, raw: bytes, words: str) -> None:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()

    async with raw_server(serve) as port:
        with pytest.raises(FetchError, match=words):
            await get(http, f"http://127.0.0.1:{port}/")


async def test_an_endless_body_stops_at_the_bound(http: Http) -> None:
    sent = 0

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
            await writer.drain()
            sent += 4096

    async with raw_server(serve) as port:
        with pytest.raises(FetchError, match=r"larger than 0\.1 MB"):
            await get(http, f"http://127.0.0.1:{port}/")
    assert sent < 10_000_000


async def test_many_large_headers_that_sites_do_send(http: Http, site: Loopback) -> None:
    site.page("/x", "hello", headers={"Content-Security-Policy": "x" * 12_000, **{f"X-{n}": "y" for n in range(80)}})
    assert (await get(http, site.url("/x"))).text() == "hello"


async def test_a_closed_port_and_an_unknown_name() -> None:
    async with Http(user_agent="x", timeout=2, resolver=Names({})) as http:
        with pytest.raises(FetchError, match=r"127\.0\.0\.1 refuses connections"):
            await get(http, "http://127.0.0.1:1/")
        with pytest.raises(FetchError, match="no host nowhere"):
            await http.get("http://nowhere.example.com/", accept="*/*")


async def test_a_look_up_that_never_ends_is_cut_off() -> None:
    async with Http(user_agent="x", timeout=0.2, resolver=Names({"slow.example.com": ["never"]})) as http:
        with pytest.raises(FetchError, match="no whole answer within"):
            await http.get("http://slow.example.com/", accept="*/*")
