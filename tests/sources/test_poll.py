"""Sources are polled into stored briefs: nothing lost, nothing twice, one never delaying another."""

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web

from bot.store import briefs
from tests.sources.loopback import Loopback
from tests.sources.pages import document, serve, story_id, story_page
from tests.sources.rig import Rig, drop

HOUR = timedelta(hours=1)


# Folders.


async def test_a_folder_from_baseline_to_news_to_edit_to_removal(rig: Rig, tmp_path: Path) -> None:
    drop(tmp_path / "in", "1.md", document(1))
    await rig.add("folder", tmp_path / "in")
    assert await rig.poll() == []
    assert await rig.titles() == {"Story number 1"}
    path = drop(tmp_path / "in", "2.md", document(2))
    assert await rig.poll() == ["Story number 2"]
    assert await rig.poll() == []
    drop(tmp_path / "in", "2.md", document(2).replace("says a thing", "says more"), age=30)
    assert await rig.poll() == []
    async with rig.database.read() as conn:
        (edited,) = [s for s in await briefs.latest(conn, limit=9) if s.brief.title == "Story number 2"]
    assert "says more" in edited.brief.sections[0].body
    assert edited.brief.sections[0].summary
    path.rename(path.with_name("renamed.md"))
    assert await rig.poll() == []
    path.with_name("renamed.md").unlink()
    assert await rig.poll() == []
    assert await rig.titles() == {"Story number 1", "Story number 2"}
    drop(tmp_path / "in", "sub/deep/3.md", document(3))
    assert await rig.poll() == ["Story number 3"]


async def test_an_edit_of_title_and_permalink_is_no_news(rig: Rig, tmp_path: Path) -> None:
    await rig.add("folder", tmp_path)
    await rig.poll()
    drop(tmp_path, "a.md", document(1, permalink="https://example.org/s/1"))
    assert await rig.poll() == ["Story number 1"]
    drop(tmp_path, "a.md", document(2, permalink="https://example.org/s/other"), age=20)
    assert await rig.poll() == []


async def test_backfill_posts_the_newest_only(rig: Rig, tmp_path: Path) -> None:
    for n in range(5):
        drop(tmp_path, f"{n}.md", document(n), age=600 - 60 * n)
    await rig.add("folder", tmp_path, backfill=2)
    assert len(await rig.poll()) == 2
    assert len(await rig.titles()) == 5


async def test_what_is_no_brief_is_set_aside_and_the_rest_goes_on(rig: Rig, tmp_path: Path) -> None:
    await rig.add("folder", tmp_path)
    await rig.poll()
    bad = {
        "empty.md": b"",
        "binary.md": bytes(range(256)),
        "prose.md": b"just words",
        "x.html": b"<html>",
        "big.md": b"# a\n" * 2_000_000,
    }
    for name, body in bad.items():
        drop(tmp_path, name, body)
    (tmp_path / "link.md").symlink_to("/etc/hostname")
    os.mkfifo(tmp_path / "fifo.md")
    drop(tmp_path, ".hidden.md", document(8))
    drop(tmp_path, "backup.md~", document(9))
    drop(tmp_path, "good.md", document(1))
    assert await rig.poll() == ["Story number 1"]
    assert await rig.titles() == {"Story number 1"}
    drop(tmp_path, "prose.md", document(2), age=20)
    assert await rig.poll() == ["Story number 2"]


async def test_a_partial_write_is_not_read_early(rig: Rig, tmp_path: Path) -> None:
    await rig.add("folder", tmp_path)
    await rig.poll()
    path = tmp_path / "slow.md"
    whole = document(1)
    path.write_text(whole[: len(whole) // 2])
    source = await rig.source("folder")
    await rig.poller._poll(source)
    assert not rig.news
    path.write_text(whole)
    await rig.poller._poll(source)
    assert not rig.news
    assert await rig.poll() == ["Story number 1"]  # a poll that waits looks again


async def test_a_folder_that_goes_away_and_comes_back(rig: Rig, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    drop(folder, "1.md", document(1))
    await rig.add("folder", folder)
    await rig.poll()
    folder.rename(tmp_path / "away")
    await rig.poll()
    assert "no such folder" in ((await rig.source("folder")).reason or "")
    (tmp_path / "away").rename(folder)
    drop(folder, "2.md", document(2))
    assert await rig.poll() == ["Story number 2"]
    assert (await rig.source("folder")).failures == 0


# Sites.


@pytest.mark.parametrize("form", ["html", "markdown", "rss", "json"])
@pytest.mark.parametrize("stories", ["markdown", "html"])
async def test_a_topic_page_in_every_form(rig: Rig, site: Loopback, form: str, stories: str) -> None:
    serve(site, [2, 1], form=form, stories=stories)
    await rig.add("site", site.url("/c/cloud"))
    assert await rig.poll() == []
    assert await rig.titles() == {"Story number 1", "Story number 2"}
    serve(site, [4, 3, 2, 1], form=form, stories=stories)
    assert await rig.poll() == ["Story number 3", "Story number 4"]
    assert await rig.poll() == []
    async with rig.database.read() as conn:
        (stored,) = [s for s in await briefs.latest(conn, limit=9) if s.brief.title == "Story number 4"]
    brief = stored.brief
    assert brief.permalink == site.url(f"/s/{story_id(4)}")
    assert brief.dek == "What story 4 is about."
    assert brief.source
    assert (brief.source.name, brief.source.url) == ("Example", "https://example.org")
    assert brief.topic
    assert (brief.topic.name, brief.topic.slug) == ("Cloud", "cloud")
    assert str(brief.published) == "2026-11-30"
    assert [s.heading for s in brief.sections] == ["First part", "Second part"]
    assert brief.sections[0].body == "The first part of story 4 says a thing. It says another thing too."
    assert [c.url for c in brief.coverage] == ["https://news.example.org/4"]


async def test_stories_are_asked_for_as_markdown_first(rig: Rig, site: Loopback) -> None:
    serve(site, [1])
    await rig.add("site", site.url("/c/cloud"))
    await rig.poll()
    (asked,) = [r for r in site.asked if r.path.startswith("/s/")]
    assert asked.headers["Accept"].startswith("text/markdown")


async def test_a_page_that_names_its_markdown(rig: Rig, site: Loopback) -> None:
    serve(site, [1], stories="html")
    path = f"/s/{story_id(1)}"
    link = '<link rel="alternate" type="text/markdown" href="/raw/1.md">'
    page = story_page(1, site.url(path)).replace("</title>", f"</title>{link}")
    site.page(path, page, headers={"Content-Type": "text/html"})
    site.page("/raw/1.md", document(7), headers={"Content-Type": "text/markdown"})
    await rig.add("site", site.url("/c/cloud"))
    await rig.poll()
    assert await rig.titles() == {"Story number 7"}


async def test_missing_permalink_and_topic_come_from_the_addresses(rig: Rig, site: Loopback) -> None:
    serve(site, [1])
    path = f"/s/{story_id(1)}"
    site.page(path, document(1, topic=False), headers={"Content-Type": "text/markdown"})
    await rig.add("site", site.url("/c/cloud"))
    await rig.poll()
    async with rig.database.read() as conn:
        (stored,) = await briefs.latest(conn, limit=9)
    assert stored.brief.permalink == site.url(path)
    assert stored.brief.topic
    assert stored.brief.topic.slug == "cloud"


async def test_a_story_that_fails_is_tried_again_even_under_a_304(rig: Rig, site: Loopback) -> None:
    serve(site, [1], etag='"1"')
    await rig.add("site", site.url("/c/cloud"))
    await rig.poll()
    serve(site, [3, 2, 1], etag='"2"')
    good = site.pages[f"/s/{story_id(2)}"]
    site.page(f"/s/{story_id(2)}", "broken", status=500)
    assert await rig.poll() == ["Story number 3"]
    site.pages[f"/s/{story_id(2)}"] = good
    assert await rig.poll() == ["Story number 2"]
    assert [r.headers.get("If-None-Match") for r in site.asked if r.path == "/c/cloud"][-1] == '"2"'
    assert await rig.poll() == []


async def test_a_story_that_never_works_is_set_aside(rig: Rig, site: Loopback) -> None:
    serve(site, [1])
    await rig.add("site", site.url("/c/cloud"))
    await rig.poll()
    serve(site, [3, 2, 1])
    site.page(f"/s/{story_id(2)}", "<html><body>not a story</body></html>", headers={"Content-Type": "text/html"})
    site.page(f"/s/{story_id(3)}", status=404)
    for _ in range(9):
        assert await rig.poll() == []
    asked = len(site.asked)
    await rig.poll()
    assert len(site.asked) == asked + 1  # the page alone


async def test_many_stories_are_read_in_turns_and_none_is_lost(rig: Rig, site: Loopback) -> None:
    serve(site, [1], etag='"1"')
    await rig.add("site", site.url("/c/cloud"))
    await rig.poll()
    serve(site, list(range(120, 0, -1)), etag='"2"')
    found: list[str] = []
    for _ in range(4):
        found += await rig.poll(timedelta(days=3))
    assert len(found) == len(set(found)) == 119


@pytest.mark.parametrize("status", [404, 500, 410, 200])
async def test_a_page_that_fails(rig: Rig, site: Loopback, status: int) -> None:
    site.page(
        "/c/cloud", "<html>an error page</html>", status=status, headers={"Content-Type": "text/html", "ETag": '"e"'}
    )
    await rig.add("site", site.url("/c/cloud"))
    await rig.poll()
    source = await rig.source("site")
    assert source.reason
    assert source.etag is None
    assert source.state == ("disabled" if status == 410 else "active")
    serve(site, [1])
    await rig.poll(timedelta(days=2))
    assert await rig.titles() == (set() if status == 410 else {"Story number 1"})


async def test_a_host_that_asks_for_peace_gets_it_from_all_its_sources(rig: Rig, site: Loopback) -> None:
    site.page("/a", status=429, headers={"Retry-After": "7200"})
    await rig.add("site", site.url("/a"), name="a")
    await rig.poll()
    serve(site, [1])
    await rig.add("site", site.url("/c/cloud"), name="b")
    await rig.poll(timedelta(minutes=1))
    waiting = await rig.source("b")
    assert not site.hits("/c/cloud")
    assert waiting.failures == 0
    assert timedelta(hours=1) < waiting.next_poll_at - rig.now <= timedelta(hours=2)
    assert (await rig.source("a")).next_poll_at - rig.now > timedelta(hours=1)


async def test_failures_back_off(rig: Rig, site: Loopback) -> None:
    site.page("/c/cloud", status=500)
    await rig.add("site", site.url("/c/cloud"))
    waits = []
    for _ in range(6):
        await rig.poll()
        waits.append((await rig.source("site")).next_poll_at - rig.now)
    assert waits == [n * HOUR for n in (1, 2, 4, 8, 16, 24)]


async def test_one_document_by_its_address(rig: Rig, site: Loopback) -> None:
    site.page("/s/x", document(1), headers={"Content-Type": "text/markdown"})
    await rig.add("brief", site.url("/s/x"), backfill=1)
    assert await rig.poll() == ["Story number 1"]
    site.page("/s/x", document(1).replace("says a thing", "says more"), headers={"Content-Type": "text/markdown"})
    assert await rig.poll() == []
    async with rig.database.read() as conn:
        (stored,) = await briefs.latest(conn, limit=9)
    assert "says more" in stored.brief.sections[0].body


async def test_the_same_brief_by_two_sources_is_one_and_told_to_both(rig: Rig, site: Loopback) -> None:
    serve(site, [1])
    await rig.add("site", site.url("/c/cloud"), name="a")
    await rig.add("site", site.url("/c/cloud?x"), name="b")
    await rig.poll()
    serve(site, [2, 1])
    assert await rig.poll() == ["Story number 2"] * 2
    assert len(await rig.titles()) == 2


# Feeds.


def rss(*numbers: int, body: str = "<h2>What</h2><p>Entry says a thing.</p><h2>Why</h2><p>Because of it.</p>") -> str:
    items = "".join(
        f"<item><title>Entry {n} of Kubernetes</title><link>https://example.org/{n}</link><guid>g{n}</guid>"
        f"<pubDate>{datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=n):%a, %d %b %Y %H:%M:%S} GMT</pubDate>"
        f"<description><![CDATA[{body}]]></description></item>"
        for n in numbers
    )
    return (
        f"<rss version='2.0'><channel><title>The Feed</title><link>https://example.org/</link>{items}</channel></rss>"
    )


async def test_a_feed_from_baseline_to_news(rig: Rig, site: Loopback) -> None:
    site.page("/feed", rss(2, 1), headers={"Content-Type": "application/rss+xml", "ETag": '"1"'})
    await rig.add("feed", site.url("/feed"))
    assert await rig.poll() == []
    site.page("/feed", rss(400, 399, 2, 1), headers={"Content-Type": "application/rss+xml", "ETag": '"2"'})
    assert await rig.poll() == ["Entry 399 of Kubernetes", "Entry 400 of Kubernetes"]
    assert await rig.poll() == []
    async with rig.database.read() as conn:
        (stored,) = [s for s in await briefs.latest(conn, limit=9) if "400" in s.brief.title]
    brief = stored.brief
    assert [(s.heading, s.body) for s in brief.sections] == [("What", "Entry says a thing."), ("Why", "Because of it.")]
    assert brief.sections[0].summary == "Entry says a thing."
    assert brief.source
    assert (brief.source.name, brief.permalink) == ("The Feed", "https://example.org/400")
    assert brief.topic
    assert brief.topic.slug == "cloud"


async def test_a_feed_of_two_hundred_loses_none_under_a_304(rig: Rig, site: Loopback) -> None:
    site.page("/feed", rss(*range(200, 0, -1)), headers={"Content-Type": "application/rss+xml", "ETag": '"1"'})
    await rig.add("feed", site.url("/feed"), backfill=100)
    assert await rig.poll() == [f"Entry {n} of Kubernetes" for n in range(101, 201)]
    assert len(await rig.titles()) == 200
    assert await rig.poll() == []


async def test_a_cut_off_feed_keeps_no_validators(rig: Rig, site: Loopback) -> None:
    whole = rss(3, 2, 1)
    site.page("/feed", whole[:-40], headers={"Content-Type": "application/rss+xml", "ETag": '"cut"'})
    await rig.add("feed", site.url("/feed"), backfill=9)
    assert await rig.poll() == ["Entry 2 of Kubernetes", "Entry 3 of Kubernetes"]
    assert (await rig.source("feed")).etag is None
    site.page("/feed", whole, headers={"Content-Type": "application/rss+xml", "ETag": '"whole"'})
    await rig.poll()
    assert len(await rig.titles()) == 3


async def test_a_hostile_feed_costs_its_own_poll_alone(rig: Rig, site: Loopback) -> None:
    rig.sandbox.seconds = 0.5
    hostile = "<rss><channel><item><title>x</title><author>" + "a" * 60_000 + "</author></item></channel></rss>"
    site.page("/bad", hostile, headers={"Content-Type": "application/rss+xml"})
    site.page("/good", rss(1), headers={"Content-Type": "application/rss+xml"})
    await rig.add("feed", site.url("/bad"), name="bad")
    await rig.add("feed", site.url("/good"), name="good", backfill=1)
    assert await rig.poll() == ["Entry 1 of Kubernetes"]
    assert "longer than 0.5 s" in ((await rig.source("bad")).reason or "")


@pytest.mark.parametrize(
    ("body", "kind", "sections", "dek"),
    [
        ("Just a teaser of one line.", "dek", 0, "Just a teaser of one line."),
        (
            "<p>" + "A long paragraph about things. " * 20 + "</p><p>" + "Another one follows here. " * 20 + "</p>",
            "text",
            2,
            "",
        ),
    ],
)
async def test_entries_without_headings(
    rig: Rig, site: Loopback, body: str, kind: str, sections: int, dek: str
) -> None:
    site.page("/feed", rss(1, body=body), headers={"Content-Type": "application/rss+xml"})
    await rig.add("feed", site.url("/feed"))
    await rig.poll()
    async with rig.database.read() as conn:
        (stored,) = await briefs.latest(conn, limit=9)
    assert len(stored.brief.sections) == sections
    assert stored.brief.dek == dek
    assert all(s.heading is None and s.summary for s in stored.brief.sections)


# The poller itself.


async def test_a_hanging_source_delays_no_other(rig: Rig, site: Loopback, tmp_path: Path) -> None:
    async def hang(request: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    site.serve("/hang", hang)
    await rig.add("site", site.url("/hang"), name="hangs")
    await rig.add("folder", tmp_path)
    await rig.poller.tick()
    async with asyncio.timeout(0.9):
        while (await rig.source("folder")).last_ok_at is None:  # noqa: ASYNC110  the store has no event for it
            await asyncio.sleep(0.01)
    assert (await rig.source("hangs")).last_ok_at is None
    await rig.poller.tick()  # it is not begun a second time
    assert site.hits("/hang") == 1


async def test_stop_ends_at_once(rig: Rig, site: Loopback) -> None:
    async def hang(request: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    site.serve("/hang", hang)
    await rig.add("site", site.url("/hang"))
    await rig.poller.tick()
    await asyncio.sleep(0.05)
    async with asyncio.timeout(0.5):
        await rig.poller.stop()


async def test_a_failure_inside_the_transaction_loses_nothing(rig: Rig, site: Loopback) -> None:
    serve(site, [1], etag='"1"')
    await rig.add("site", site.url("/c/cloud"))
    await rig.poll()
    serve(site, [3, 2, 1], etag='"2"')
    rig.fail_once = True
    assert await rig.poll() == []
    assert (await rig.source("site")).etag == '"1"'
    assert sorted(await rig.poll()) == ["Story number 2", "Story number 3"]


async def test_a_restart_polls_only_what_is_due(rig: Rig, site: Loopback) -> None:
    serve(site, [1])
    await rig.add("site", site.url("/c/cloud"))
    await rig.poll()
    rig.start()
    asked = len(site.asked)
    await rig.poll(timedelta(minutes=1))
    assert len(site.asked) == asked


async def test_polls_spread_over_their_interval(rig: Rig, site: Loopback) -> None:
    serve(site, [1], etag='"1"')
    for n in range(12):
        await rig.add("site", site.url(f"/c/cloud?{n}"), name=f"s{n}")
    await rig.poll()
    due = {(await rig.source(f"s{n}")).next_poll_at for n in range(12)}
    assert max(due) - min(due) > timedelta(minutes=2)
    assert all(HOUR <= at - rig.now <= HOUR * 1.1 for at in due)
