"""Brief documents, and a brief site that serves them as HTML, Markdown and feeds."""

from __future__ import annotations

import html
import json
import uuid

from tests.sources.loopback import Loopback


def story_id(n: int) -> str:
    """The id of a story."""
    return str(uuid.UUID(int=0x1234_0000 + n))


def document(n: int, *, topic: bool = True, permalink: str | None = None, published: str = "2026-11-30") -> str:
    """A small brief document."""
    lines = [f"# Story number {n}", "", f"What story {n} is about.", "", "- **Source:** [Example](https://example.org)"]
    lines.append(f"- **Published:** {published}")
    if topic:
        lines.append("- **Topic:** [Cloud](https://example.org/c/cloud)")
    if permalink:
        lines.append(f"- **On Example:** {permalink}")
    lines += ["", "## First part", "", f"The first part of story {n} says a thing. It says another thing too."]
    lines += ["", "## Second part", "", f"The second part of story {n} goes on. And it ends."]
    lines += ["", "## Sources covering this story", "", f"- https://news.example.org/{n}", ""]
    return "\n".join(lines)


def story_page(n: int, url: str) -> str:
    """The same brief as a web page."""
    return f"""<!doctype html><html><head><title>Story number {n} | Example</title></head><body><nav><a href="/">Home</a></nav>
    <article><header><h1>Story number {n}</h1><p class="dek">What story {n} is about.</p></header>
    <ul><li><strong>Source:</strong> <a href="https://example.org">Example</a></li>
    <li><strong>Published:</strong> <time datetime="2026-11-30">30 November</time></li>
    <li><strong>Topic:</strong> <a href="https://example.org/c/cloud">Cloud</a></li>
    <li><strong>On Example:</strong> <a href="{url}">{url}</a></li></ul>
    <section><h2>First part</h2><p>The first part of story {n} says a thing. It says another thing too.</p></section>
    <section><h2>Second part</h2><p>The second part of story {n} goes on. And it ends.</p></section>
    <section><h2>Sources covering this story</h2><ul><li><a href="https://news.example.org/{n}">https://news.example.org/{n}</a>
    </li></ul></section></article><footer>Imprint</footer></body></html>"""


def list_page(site: Loopback, numbers: list[int], form: str) -> tuple[str, str]:
    """A topic page, newest first as ``numbers`` are: its body and content type."""
    links = [site.url(f"/s/{story_id(n)}") for n in numbers]
    if form == "html":
        items = "".join(f'<li><a href="/s/{story_id(n)}">Story {n}</a></li>' for n in numbers)
        return f"<!doctype html><html><body><ul>{items}</ul><a href='/c/cloud'>x</a></body></html>", "text/html"
    if form == "markdown":
        return "# Cloud\n\n" + "\n".join(f"- [Story]({link})" for link in links), "text/markdown"
    if form == "json":
        return json.dumps({"items": [{"url": link} for link in links]}).replace("/", "\\/"), "application/json"
    entries = "".join(f"<item><link>{html.escape(link)}</link></item>" for link in links)
    return f'<?xml version="1.0"?><rss version="2.0"><channel>{entries}</channel></rss>', "application/rss+xml"


def serve(site: Loopback, numbers: list[int], *, form: str = "html", stories: str = "markdown", etag: str = "") -> None:
    """Serve a topic page and its stories."""
    body, kind = list_page(site, numbers, form)
    site.page("/c/cloud", body, headers={"Content-Type": kind, **({"ETag": etag} if etag else {})})
    for n in numbers:
        path = f"/s/{story_id(n)}"
        if stories == "markdown":
            site.page(path, document(n, permalink=site.url(path)), headers={"Content-Type": "text/markdown"})
        else:
            site.page(path, story_page(n, site.url(path)), headers={"Content-Type": "text/html; charset=utf-8"})
