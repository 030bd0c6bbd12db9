"""A story's page is read whatever its markup, and its links are found in time whatever the page holds."""

import time

import pytest

from bot.briefs.model import Brief, Coverage, SourceLink, Topic
from bot.sources.site import from_html, story_links
from tests.sources.loopback import Loopback
from tests.sources.pages import document, serve
from tests.sources.rig import Rig

PAGE = "https://example.org/c/cloud"
STORY = "/s/65ec1f7b-3139-4187-9e0e-00061cbf856c"
URL = f"https://example.org{STORY}"


@pytest.mark.parametrize(
    "text",
    [
        f'<a href="{STORY}">x</a>',
        f"<a href={STORY}>x</a>",
        f"[x]({STORY})",
        f"<link>{URL}</link>",
        f"<loc>http://EXAMPLE.org:80{STORY.upper().replace('/S/', '/s/')}</loc>",
        f"//example.org{STORY}?utm_source=rss#comments",
        f'{{"url": "https:\\/\\/example.org\\/s\\/{STORY[3:]}"}}',
        f"https&#58;//example.org{STORY}",
        f"/login?next={STORY} {STORY} {URL}",
    ],
)
def test_a_story_link_in_every_form(text: str) -> None:
    (link,) = story_links(text, PAGE)
    assert link.casefold().replace(":80", "").removeprefix("http").removeprefix("s") == URL.removeprefix("https")


@pytest.mark.parametrize(
    "text",
    [
        f"https://elsewhere.org{STORY}",
        f"https://example.org.elsewhere.org{STORY}",
        f"https://example.org:8443{STORY}",
        f"{STORY}0",
        "/s/not-an-id",
        f"http://[{STORY}",
    ],
)
def test_what_is_no_story_of_the_site(text: str) -> None:
    assert story_links(text, PAGE) in ([], [URL])
    assert not any("elsewhere" in link or "8443" in link for link in story_links(text, PAGE))


@pytest.mark.parametrize("piece", ["//", "//a", "/a", STORY[:-1], STORY, "/a" * 150 + STORY, "//" * 150 + STORY])
def test_a_hostile_page_costs_little(piece: str) -> None:
    began = time.perf_counter()
    story_links(piece * (4_000_000 // len(piece)), PAGE)
    assert time.perf_counter() - began < 3


FIELDS = {
    "definitions": """<dl><dt>Source</dt><dd><a href="https://p.org">P</a></dd><dt>Published:</dt><dd><time
        datetime="2026-10-28">28 Oct</time></dd><dt>Topic</dt><dd><a href="/c/cloud">Cloud</a></dd></dl>""",
    "list": """<ul><li><strong>Source:</strong> <a href="https://p.org">P</a></li><li><b>Published:</b> 2026-10-28</li>
        <li><b>Topic:</b> <a href="/c/cloud">Cloud</a></li></ul>""",
    "lines": """<p>Source: <a href="https://p.org">P</a></p><p>Published: 2026-10-28</p>
        <p>Topic: <a href="/c/cloud">Cloud</a></p>""",
    "table": """<table><tr><th>Source</th><td><a href="https://p.org">P</a></td></tr><tr><th>Published</th>
        <td>2026-10-28</td></tr><tr><th>Topic</th><td><a href="/c/cloud">Cloud</a></td></tr></table>""",
}
SECTIONS = """<section><h2>One</h2><p>Body <a href="/x">one</a>.</p><ul><li>a</li><li>b</li></ul></section>
    <section><h2>Two</h2><p>Body two.</p></section><section><h2>Sources covering this story</h2><ul>
    <li><a href="https://n.org/1">N one</a></li></ul></section>"""


def check(brief: Brief) -> None:
    assert (brief.title, brief.dek, brief.permalink) == ("The title", "The dek.", URL)
    assert brief.source == SourceLink("P", "https://p.org")
    assert str(brief.published) == "2026-10-28"
    assert brief.topic == Topic("Cloud", "cloud", "https://example.org/c/cloud")
    assert [s.heading for s in brief.sections] == ["One", "Two"]
    assert brief.sections[0].body == "Body [one](https://example.org/x).\n\n- a\n- b"
    assert brief.coverage == (Coverage("https://n.org/1", "N one"),)


@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize("main", ["article", "main", "div"])
@pytest.mark.parametrize("dek", ['<p class="dek">The dek.</p>', "<p>The dek.</p>"])
def test_a_story_page_in_several_markups(fields: str, main: str, dek: str) -> None:
    page = f"""<!doctype html><html><head><title>The title | Site</title></head><body><nav><a href="/">Home</a></nav>
        <{main}><h1>The title</h1>{dek}{FIELDS[fields]}{SECTIONS}</{main}></body></html>"""
    check(from_html(page, URL))


async def test_an_edit_and_its_undoing_are_both_taken(rig: Rig, site: Loopback) -> None:
    await rig.add("brief", site.url("/brief"), backfill=1)
    seen = []
    for version in ("first", "second", "first", "second"):
        etag = f'"{version}"'
        site.page("/brief", document(1).replace("says a thing", f"says {version}"), headers={"ETag": etag})
        seen.append(await rig.poll())
        async with rig.database.read() as conn:
            (stored,) = await briefs_of(conn)
        assert version in stored.sections[0].body
    assert seen == [["Story number 1"], [], [], []]


async def briefs_of(conn: object) -> list[Brief]:
    from bot.store import briefs

    return [s.brief for s in await briefs.latest(conn, limit=9)]  # type: ignore[arg-type]


async def test_a_page_that_is_no_brief_is_set_aside(rig: Rig, site: Loopback) -> None:
    site.page("/c/cloud", f'<a href="{STORY}">', headers={"Content-Type": "text/html"})
    site.page(STORY, "<!doctype html><h1>Not found</h1><p>Sorry.</p>", headers={"Content-Type": "text/html"})
    await rig.add("site", site.url("/c/cloud"))
    assert await rig.poll() == []
    assert (await rig.source("site")).failures == 0
    assert await rig.titles() == set()


async def test_backfill_takes_the_top_of_the_page(rig: Rig, site: Loopback) -> None:
    serve(site, [9, 8, 7, 6])
    await rig.add("site", site.url("/c/cloud"), backfill=2)
    assert await rig.poll() == ["Story number 8", "Story number 9"]
