"""An address tells what kind of source it is."""

import pytest

from bot.errors import SourceError
from bot.sources.discover import Found, discover
from bot.sources.http import Http
from bot.sources.sandbox import Sandbox
from tests.sources.loopback import Loopback
from tests.sources.pages import document, serve, story_id, story_page

FEED = "<rss version='2.0'><channel><title>The Feed</title><item><title>x</title><guid>1</guid></item></channel></rss>"
HTML = {"Content-Type": "text/html"}


async def look(site: Loopback, path: str) -> Found:
    async with Http(user_agent="test", timeout=2) as http, Sandbox() as sandbox:
        return await discover(http, sandbox, site.url(path), allow_private=True)


@pytest.mark.parametrize("form", ["html", "markdown", "rss", "json"])
async def test_a_topic_page(site: Loopback, form: str) -> None:
    serve(site, [1, 2], form=form)
    assert await look(site, "/c/cloud") == Found("site", site.url("/c/cloud"))


@pytest.mark.parametrize("kind", ["text/markdown", "text/html"])
async def test_a_brief(site: Loopback, kind: str) -> None:
    path = f"/s/{story_id(1)}"
    body = document(1) if kind == "text/markdown" else story_page(1, site.url(path))
    site.page(path, body, headers={"Content-Type": kind})
    assert await look(site, path) == Found("brief", site.url(path), "Story number 1")


async def test_a_document_anywhere(site: Loopback) -> None:
    site.page("/x.md", document(1), headers={"Content-Type": "text/plain"})
    assert (await look(site, "/x.md")).kind == "brief"


async def test_a_feed(site: Loopback) -> None:
    site.page("/feed", FEED, headers={"Content-Type": "text/plain"})
    assert await look(site, "/feed") == Found("feed", site.url("/feed"), "The Feed")


async def test_a_page_that_names_its_feed(site: Loopback) -> None:
    head = (
        '<link rel="stylesheet" href="/a.css"><link rel="alternate" type="application/rss+xml" href="/gone">'
        "<link href='feed?a=1&amp;b=2' type='application/atom+xml' rel='alternate'>"
    )
    site.page("/blog/", f"<html><head>{head}</head><body><h1>Blog</h1><h2>Post</h2></body></html>", headers=HTML)
    site.page("/blog/feed?a=1&b=2", FEED, headers={"Content-Type": "application/xml"})
    assert await look(site, "/blog/") == Found("feed", site.url("/blog/feed?a=1&b=2"), "The Feed")


@pytest.mark.parametrize(
    ("body", "words"),
    [("<html><body>nothing</body></html>", "web page, not a feed"), ("", "empty"), ("words", "not a feed")],
)
async def test_nothing_that_can_be_polled(site: Loopback, body: str, words: str) -> None:
    site.page("/x", body, headers=HTML if body.startswith("<") else {"Content-Type": "text/plain"})
    with pytest.raises(SourceError, match=words):
        await look(site, "/x")
