"""Fetching is polite: what is sent, what comes back, and when a host is left in peace."""

import asyncio
import contextlib
import importlib.util
import sys
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from aiohttp import web

from bot.errors import FetchError
from bot.sources.http import Http, Validators
from tests.sources.loopback import Loopback, Names, get

HAS_ZSTD = sys.version_info >= (3, 14) or importlib.util.find_spec("backports.zstd") is not None


async def test_what_is_sent(site: Loopback, http: Http) -> None:
    site.page("/x", "hello")
    answer = await get(http, site.url("/x"))
    sent = site.asked[0].headers
    assert answer.text() == "hello"
    assert sent["User-Agent"] == "Briefbot/1 (+mailto:a@example.org)"
    assert sent["Accept"].startswith("text/markdown")
    assert sent["Accept-Encoding"] == "gzip, deflate, br" + (", zstd" if HAS_ZSTD else "")
    assert set(sent) == {"Host", "User-Agent", "Accept", "Accept-Encoding"}
    assert site.asked[0].path_qs == "/x"


async def test_the_address_is_sent_as_it_was_given(site: Loopback, http: Http) -> None:
    await asyncio.gather(
        *(
            get_anyhow(http, site.url(path))
            for path in ("/a%2Fb?c=%7E+d&e=a%26b", "/a/../b//c", "/ž?ž=ž#part", "/x?a=[1]&b={2}")
        )
    )
    assert {request.raw_path for request in site.asked} == {
        "/a%2Fb?c=%7E+d&e=a%26b", "/a/../b//c", "/%C5%BE?%C5%BE=%C5%BE", "/x?a=[1]&b=%7B2%7D",
    }  # fmt: skip


async def get_anyhow(http: Http, url: str) -> None:
    with contextlib.suppress(FetchError):
        await get(http, url)


async def test_a_user_agent_cannot_inject_a_header(site: Loopback) -> None:
    site.page("/x")
    async with Http(user_agent="Briefbot/1 (+a\r\nX-Evil: 1)", timeout=2) as http:
        await get(http, site.url("/x"))
    assert site.asked[0].headers["User-Agent"] == "Briefbot/1 (+aX-Evil: 1)"


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


@pytest.mark.parametrize("etag", ['"' + "a" * 2000 + '"', '"a\r\nX: 1"', '"a\0"', ""])
async def test_absurd_validators_are_not_sent(site: Loopback, http: Http, etag: str) -> None:
    site.page("/x", "hello")
    await get(http, site.url("/x"), Validators(etag, "a\nb"))
    assert not {"If-None-Match", "If-Modified-Since", "X"} & set(site.asked[0].headers)


async def test_a_304_that_nobody_asked_for_is_a_failure(site: Loopback, http: Http) -> None:
    site.page("/x", status=304)
    with pytest.raises(FetchError, match=r"\(304\)"):
        await get(http, site.url("/x"))


async def test_an_error_page_brings_no_validators(site: Loopback, http: Http) -> None:
    """It ends in an error, so there is nothing to store them from."""
    site.page("/x", "oops", status=500, headers={"ETag": '"of the error page"'})
    with pytest.raises(FetchError):
        await get(http, site.url("/x"))


async def test_what_is_new_alone_is_taken_where_it_was_asked_for(site: Loopback, http: Http) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=226, text="new", headers={"IM": "feed", "ETag": '"2"'})

    site.serve("/x", answer)
    asked = Validators('"1"')
    reply = await http.get(site.url("/x"), accept="*/*", validators=asked, allow_private=True, delta=True)
    assert reply.delta
    assert reply.validators.etag == '"2"'
    assert site.asked[0].headers["A-IM"] == "feed"
    with pytest.raises(FetchError, match=r"\(226\)"):
        await get(http, site.url("/x"), asked)
    assert "A-IM" not in site.asked[1].headers


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Cache-Control": "max-age=7200"}, 7200),
        ({"Expires": "Tue, 01 Dec 2026 13:00:00 GMT", "Date": "Tue, 01 Dec 2026 12:30:00 GMT"}, 1800),
        ({"Expires": "0"}, None),
    ],
)
async def test_how_long_an_answer_is_fresh(
    site: Loopback, http: Http, headers: dict[str, str], seconds: float | None
) -> None:
    site.page("/x", "hello", headers=headers)
    assert (await get(http, site.url("/x"))).max_age == seconds


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


@pytest.mark.parametrize("location", [{}, {"Location": ""}, {"Location": "  "}])
async def test_a_redirect_to_nowhere(site: Loopback, http: Http, location: dict[str, str]) -> None:
    site.page("/a", status=301, headers=location)
    with pytest.raises(FetchError, match="without saying where"):
        await get(http, site.url("/a"))


@pytest.mark.parametrize(
    "location", ["end", "/end", "./x/../end", "?", "//127.0.0.1:{port}/end", "/end#part", "/a b", "/\u017e", "/%C5%BE"]
)
async def test_redirects_lead_where_they_say(site: Loopback, http: Http, location: str) -> None:
    site.redirect("/a", location.format(port=site.port))
    for path in ("/end", "/a b", "/\u017e"):
        site.page(path, "here")
    if location == "?":
        with pytest.raises(FetchError, match="in a circle"):
            await get(http, site.url("/a"))
    else:
        assert (await get(http, site.url("/a"))).text() == "here"


async def test_gone_counts_only_for_the_address_itself(site: Loopback, http: Http) -> None:
    site.page("/gone", status=410)
    site.redirect("/moved", "/gone", 301)
    site.redirect("/borrowed", "/gone", 302)
    for path, permanent in (("/gone", True), ("/moved", True), ("/borrowed", False)):
        with pytest.raises(FetchError) as caught:
            await get(http, site.url(path))
        assert caught.value.permanent == permanent


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


async def test_a_hold_may_be_a_date_and_ends(site: Loopback) -> None:
    now, clock = datetime.now(UTC), [1000.0]
    then = format_datetime(now + timedelta(minutes=5), usegmt=True)
    site.page("/busy", status=503, headers={"Retry-After": then, "Date": format_datetime(now, usegmt=True)})
    site.page("/x", "hello")
    async with Http(user_agent="x", timeout=2, clock=lambda: clock[0]) as http:
        with pytest.raises(FetchError) as caught:
            await get(http, site.url("/busy"))
        assert caught.value.retry_after == 300
        with pytest.raises(FetchError, match="asked not to be asked again for 5 min") as caught:
            await get(http, site.url("/x"))
        assert caught.value.retry_after == 300
        assert caught.value.status is None
        clock[0] += 301
        assert (await get(http, site.url("/x"))).text() == "hello"
        http.hold(site.url("/"), 60)
        with pytest.raises(FetchError, match="for 60 s"):
            await get(http, site.url("/x"))
    assert site.hits("/x") == 1


@pytest.mark.parametrize("asked", ["-5", "garbage", "", "0"])
async def test_nonsense_holds_nothing(site: Loopback, http: Http, asked: str) -> None:
    site.page("/busy", status=429, headers={"Retry-After": asked})
    site.page("/x", "hello")
    with pytest.raises(FetchError) as caught:
        await get(http, site.url("/busy"))
    assert not caught.value.retry_after
    assert (await get(http, site.url("/x"))).text() == "hello"


async def test_an_absurd_wait_is_a_week(site: Loopback, http: Http) -> None:
    site.page("/busy", status=429, headers={"Retry-After": "99999999999"})
    with pytest.raises(FetchError) as caught:
        await get(http, site.url("/busy"))
    assert caught.value.retry_after == 7 * 86400


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "no such page"),
        (403, "does not let the bot in"),
        (410, "gone for good"),
        (500, "server failed"),
        (418, "refused"),
        (401, "login"),
        (429, "fewer requests"),
        (451, "legal"),
        (204, "without a page"),
        (206, "no page"),
        (202, "no page"),
        (300, "redirects without"),
    ],
)
async def test_a_bad_status_is_said_in_words(site: Loopback, http: Http, status: int, words: str) -> None:
    site.page("/x", status=status)
    with pytest.raises(FetchError, match=words) as caught:
        await get(http, site.url("/x"))
    assert caught.value.status == status
    assert caught.value.permanent == (status == 410)


@pytest.mark.parametrize("headers", [{"Server": "cloudflare"}, {"CF-Mitigated": "challenge"}])
async def test_a_bot_filter_is_named(site: Loopback, http: Http, headers: dict[str, str]) -> None:
    site.page("/x", status=403, headers=headers)
    with pytest.raises(FetchError, match=r"Cloudflare.*let this bot's User-Agent in"):
        await get(http, site.url("/x"))


async def test_waiting_for_a_turn_costs_no_time_of_the_fetch(site: Loopback) -> None:
    async def slow(request: web.Request) -> web.Response:
        await asyncio.sleep(0.05)
        return web.Response(text="x")

    site.serve("/x", slow)
    async with Http(user_agent="x", timeout=0.3) as http:
        await asyncio.gather(*(get(http, site.url("/x")) for _ in range(20)))
    assert site.hits("/x") == 20


async def test_connections_are_bounded_over_all_hosts() -> None:
    at_once = most = 0

    async def slow(request: web.Request) -> web.Response:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0.02)
        at_once -= 1
        return web.Response(text="x")

    names = Names({f"{n}.example.com": ["127.0.0.1"] for n in range(12)})
    async with Loopback() as site, Http(user_agent="x", timeout=2, connections=3, resolver=names) as http:
        site.serve("/x", slow)
        await asyncio.gather(*(get(http, site.url("/x", host)) for host in names.table))
    assert most == 3


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
