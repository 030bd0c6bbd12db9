"""HTML is shown in Discord as a browser would show it, as far as Discord can; an article falls into its sections."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.briefs import tree
from bot.briefs.article import html_to_discord, html_to_text, sections_from_html
from bot.briefs.text import neutralise, plain

CASES = json.loads((Path(__file__).parent.parent / "data" / "html_to_discord.json").read_text("utf-8"))
BASE = "https://ex.org/dir/page"

quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case):
    shown = html_to_discord(case["html"], case["base"])
    if case["accept"]:
        assert shown in case["accept"]
    assert all(wanted in shown for wanted in case["must"])
    assert not any(banned in shown for banned in case["must_not"])


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # emphasis
        ("<p>test1 <strong>test2</strong> test3 <code>test4</code>.</p>", "test1 **test2** test3 `test4`."),
        ("<b>foo </b>bar", "**foo** bar"),
        ("<b>a</b><b>b</b>", "**ab**"),
        ("<b>a</b><i>b</i>", "**a**_b_"),
        ("<i>a</i><b>b</b>", "_a_**b**"),
        ("<b><strong>x</strong></b> <u><u>y</u></u>", "**x** __y__"),
        ("<b></b>x<b> </b>y", "x y"),
        ("<b><p>a</p><p>b</p></b>", "**a**\n\n**b**"),
        ("<p>unclosed <b>bold <i>both", "unclosed **bold *both***"),
        ("<em>a<br>b</em>", "*a\nb*"),
        ("<s>a</s><del>b</del> <ins>c</ins> <mark>d</mark>", "~~ab~~ __c__ d"),
        # code
        ("<kbd>Ctrl</kbd>+<kbd>C</kbd> <samp>out</samp>", "`Ctrl`+`C` `out`"),
        ("<code>`</code> <code> </code> <code>a\n  b</code>", "`` ` `` `a b`"),
        ("<pre>\n  x\n\n\ty\n</pre>", "```\n  x\n\n\ty\n```"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<div class='highlight-source-rust'><pre>fn</pre></div>", "```rust\nfn\n```"),
        ("<b><code><pre>x</pre></code> y</b>z", "```\nx\n```\n\n**y**z"),
        ("<code><a href='https://e.x'>f()</a></code>", "`f()`"),
        # links
        ('text <a href="https://example.com/">link</a> more', "text [link](https://example.com/) more"),
        ('<a href="/x">a</a> <a href="//o.org/y">b</a> <a href="../z?q=1&amp;r=2">c</a>',
         "[a](https://ex.org/x) [b](https://o.org/y) [c](https://ex.org/z?q=1&r=2)"),
        ('<a href="data:text/html,x">d</a> <a href="">e</a> <a href="#f">f</a> <a href="mailto:a@b.c">m</a>', "d e f m"),
        ('<a href="https://e.x"><b>b</b></a> <a href="https://e.x">a <b>b</b></a>', "**[b](https://e.x)** [a b](https://e.x)"),
        ('x<a href="https://e.x"> sp </a>z <a href="https://e.x"></a>', "x [sp](https://e.x) z"),
        ('<a href="https://evil.example">https://bank.example</a>', "<https://evil.example>"),
        ('<a href="https://discord.gg/abc">Join</a>', "Join"),
        ('<a href="https://e.x"><h3>T</h3><p>text</p></a>', "### [T](https://e.x)\n\n[text](https://e.x)"),
        ("see https://e.x/a_b<b>bold</b>", "see <https://e.x/a_b>**bold**"),
        ("<base href='https://o.org/d/'><a href='x'>t</a>", "[t](https://o.org/d/x)"),
        # lists
        ("<ol><li>a<ol><li>b</li></ol></li><li>c</li></ol>", "1. a\n  1. b\n2. c"),
        ("<ol><li value=5>a</li><li>b</li></ol>", "5. a\n6. b"),
        ("<ol reversed><li>a</li><li>b</li></ol>", "2. a\n1. b"),
        ("<ul><li><p>a</p><p>b</p></li>\n<li><p>c</p></li></ul>", "- a\n  b\n- c"),
        ("<ul><li></li><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b"),
        ("<ul><li><ul><li>a</li></ul></li></ul>", "  - a"),
        ("<li>x</li><li>y</li>", "- x\n- y"),
        ("<ul><li>a<pre>x</pre></li><li>b</li></ul>", "- a\n```\nx\n```\n- b"),
        ("<ul><li><h2>H</h2>text</li></ul>", "- **H**\n  text"),
        ("<dl><dt>T</dt><dd>D</dd><dt>U</dt><dd>E</dd></dl>", "**T**\nD\n\n**U**\nE"),
        # blocks
        ("<h1>A <b>b</b> <a href='#x'>#</a></h1><h2></h2><h5>E <b>x</b></h5>", "# A b\n\n**E x**"),
        ("<h2><a href='/x'>T</a></h2>", "## [T](https://ex.org/x)"),
        ("<blockquote><p>a</p><p>b</p><blockquote>c</blockquote></blockquote><p>d</p>", "> a\n> \n> b\n> \n> c\n\nd"),
        ("<blockquote>a<br>b</blockquote><blockquote>c</blockquote>", "> a\n> b\n\n> c"),
        ("<blockquote><ul><li>x</li></ul><pre>c\nd</pre></blockquote>", "> - x\n> \n> ```\n> c\n> d\n> ```"),
        ("a<br><br>b<br>", "a\n\nb"),
        ("<details><summary>S</summary>body</details>", "**S**\n\nbody"),
        ("<figure><img src=i.png alt='A cat'><figcaption>cap</figcaption></figure>",
         "[A cat](https://ex.org/dir/i.png)\n\n*cap*"),
        ("a<img src=x alt='😄'> <img src=t.gif width=1 alt=t><img src=data:x alt='IMG_1.png'>b", "a😄 b"),
        ("<p>x<sup>2</sup> 1<sup>st</sup><sup><a href='#fn1'>1</a></sup> CO<sub>2</sub></p>", "x² 1st¹ CO₂"),
        ("<q>quo</q> <abbr title=x>ab</abbr>", "“quo” ab"),
        ("<p>a&nbsp;&nbsp;b</p><p>&nbsp;</p><p>c</p>", "a b\n\nc"),
        ("<div>a</div><div>b</div>c<p>d</p>e", "a\n\nb\n\nc\n\nd\n\ne"),
        ("<p hidden>a</p><p style='display: none'>b</p><noscript>c</noscript><template>d</template>e", "e"),
        ("x<![CDATA[ <b>y</b> ]]>z<!-- c -->w", "x **y** zw"),
        # tables
        ("<table><tr><td>one</td></tr><tr><td>two</td></tr></table>", "one\n\ntwo"),
        ("<table><tr><th>日本</th><th>x</th></tr><tr><td>a</td><td>1</td></tr></table>", "```\n日本  x\na     1\n```"),
        ("<table><tr><th>N</th><th>L</th></tr><tr><td>a</td><td><a href=https://e.x>l</a></td></tr></table>",
         "**N · L**\n- a · [l](https://e.x)"),
        ("<table><tr><td>x<ul><li>a</li></ul></td><td>y</td></tr></table>", "x\n\n- a\n\ny"),
        # text that would be markup
        ("<p># x</p><p>&gt; q</p><p>-# s</p><p>&gt;&gt;&gt; r</p>", "\\# x\n\n\\> q\n\n\\-# s\n\n\\>>> r"),
        ("a<br># b<br>- c", "a\n\\# b\n\\- c"),
        ("foo_bar __init__ :smile: `x` ||y||", "foo_bar \\_\\_init\\_\\_ \\:smile: \\`x\\` \\|\\|y\\|\\|"),
        ("&amp;lt;p&amp;gt; &#42;y&#42; &copy;", "&lt;p&gt; \\*y\\* ©"),
        # mentions
        ("@everyone @here &lt;@123&gt; &lt;@&amp;1&gt; &lt;#1&gt; &lt;t:1:R&gt; &lt;:a:1&gt; &lt;/x:1&gt;",
         "＠everyone ＠here <\\@123> <\\@&1> <\\#1> <t\\:1:R> <\\:a:1> <\\/x:1>"),
        ("&lt;<span>@123&gt;</span> join discord.gg/abc", "<\\@123> join (invite removed)"),
        # next to nothing
        ("", ""), (" ", ""), ("<", "<"), ("<p", ""), ("<!-- x", ""), ("a < b > c", "a < b > c"), ("<br><hr>", ""),
        ("\ud800a\x00b", "\ufffdab"),
        ('<?xml version="1.0" encoding="utf-16"?><p>x</p>', "x"),
    ],
)  # fmt: skip
def test_html_to_discord(html, expected):
    assert html_to_discord(html, BASE) == expected


def test_a_wide_table_becomes_lines():
    wide = "w " * 40
    shown = html_to_discord(f"<table><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>{wide}</td></tr></table>", BASE)
    assert shown == f"**a · b**\n- x · {wide.strip()}"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("Vec&lt;T&gt; and <b>bold</b>&nbsp;&amp; more", "Vec<T> and bold & more"),
        ("Vec<T> in Rust, a < b", "Vec<T> in Rust, a < b"),
        ("<script>alert(1)</script><img src=x onerror=alert(1)>", ""),
        ("&lt;@everyone&gt; &amp;lt;b&amp;gt;", "<@everyone> &lt;b&gt;"),
        ("one<br>two\n three", "one two three"),
        ("a<!-- x -->b", "a b"),
        ("\u3164\u2800", ""),
    ],
)
def test_html_to_text(html, expected):
    assert html_to_text(html) == expected


# -- sections --------------------------------------------------------------------------------------------------------


def test_sections_by_heading():
    html = (
        "<h1>Title</h1><p>Lead.</p><h2>One &amp; <i>two</i></h2><p>A <b>bold</b> word.</p><ul><li>x</li></ul>"
        "<h2>Empty</h2><h3>Deep</h3><pre>code</pre>"
    )
    assert sections_from_html(html, BASE, "Title") == (
        (None, "Lead."),
        ("One & two", "A **bold** word.\n\n- x"),
        ("Deep", "```\ncode\n```"),
    )


def test_paragraphs_are_sections_where_there_are_no_headings():
    long, short = "word " * 40, "Short one."
    sections = sections_from_html(f"<p>{long}</p><p>{long}</p><ul><li>a</li></ul><p>{short}</p>", BASE)
    assert sections == ((None, long.strip()), (None, f"{long.strip()}\n\n- a\n\n{short}"))


def test_bold_lines_are_headings_where_there_are_no_others():
    html = "<p><strong>Why</strong></p><p>Because.</p><p><b>A sentence in bold.</b></p><p><b>How</b></p><p>So.</p>"
    assert sections_from_html(html, BASE) == (("Why", "Because.\n\n**A sentence in bold.**"), ("How", "So."))


def test_html_that_was_escaped_twice_is_read_once_more():
    assert sections_from_html("&lt;h2&gt;A&lt;/h2&gt;&lt;p&gt;b &amp;amp; c&lt;/p&gt;", BASE) == (("A", "b & c"),)
    assert not tree.is_escaped_twice("<p>&lt;p&gt;</p>")


def test_what_html_wrote_out_survives_in_a_body():
    ((_, body),) = sections_from_html("<p>&amp;lt;b&amp;gt; &lt;b&gt;x&lt;/b&gt; &amp;amp;</p>", BASE)
    assert plain(body) == "&lt;b&gt; <b>x</b> &amp;"
    assert neutralise(body) == body


PIECES = """<p> </p> <div> </div> <b> </b> <i> </i> <a|href="/x"> <a|href="javascript:x"> </a> <ul> </ul> <ol> <li> </li>
<h1> </h1> <h4> </h4> <pre> </pre> <code> </code> <blockquote> </blockquote> <table> <tr> <td> </td> </table> <br> <hr>
<sup> </sup> <q> </q> <img|alt=pic|src=i> <script> </script> <!-- --> &lt; &amp; &#64;everyone <dl> <dt> <dd> <summary>
* _ ` ``` ~~ || [ ] ( \\ # - > word Foo 3.14 日本 😀 https://e.x/a_b <@1> @here discord.gg/x""".replace("\n", " ")
soup = st.lists(
    st.sampled_from(
        [piece.replace("|", " ") for piece in PIECES.split() if piece != "||"] + [" ", "\n", "\t", "||", "\u200b"]
    ),
    max_size=30,
).map("".join)
CHIP = re.compile(r"<(?:@[!&]?\d|#\d|/\w+:|:\w+:|a:\w|t:-?\d|id:\w)|@(?:everyone|here)|discord\.gg/\w", re.IGNORECASE)


@quick
@given(soup)
def test_any_soup_is_harmless_and_bodies_stay_as_they_are(html):
    shown = html_to_discord(html, BASE)
    assert not CHIP.search(re.sub(r"\\.", "E", shown))
    assert not re.search(r"(?<!\\)\]\((?!https?://)", re.sub(r"`[^`]*`", "", shown))
    assert shown.count("```") % 2 == 0
    assert "\n\n\n" not in re.sub(r"```.*?```", "", shown, flags=re.DOTALL)
    for _, body in sections_from_html(html, BASE):
        assert body.strip()
        assert plain(neutralise(body)).split() == plain(body).split()


@quick
@given(st.text(max_size=80))
def test_never_raises(text):
    html_to_discord(text, text)
    sections_from_html(text, "")
    html_to_text(text)


N = 100_000
BOMBS = {
    "div": "<div>" * N + "x" + "</div>" * N + "after",
    "bold": "<b>" * N + "x",
    "lists": "<ul><li>" * (N // 2) + "x",
    "quotes": "<blockquote>" * N + "x",
    "tables": "<table><tr><td>" * (N // 3) + "x",
    "links": "<a href=/x>" * N + "x",
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(40_000)) + ">x</p>",
    "quoted attributes": "<p " + " ".join(f'a{n}="<>"' for n in range(40_000)) + ">x</p>",
    "stray quote": "<p ' " + " ".join(f"a{n}" for n in range(40_000)) + ">x</p>",
    "open tags": "<a " * N + "x",
    "open quotes": "<a ='" * N + "x",
    "comments": "<!--" * N + "x",
    "cells": "<table><tr>" + "<td>a" * 30_000,
    "paragraphs": "<p>x" * 50_000,
    "megabytes": "<p>" + "x" * 6_000_000,
}


@pytest.mark.parametrize("html", BOMBS.values(), ids=BOMBS.keys())
def test_hostile_html_ends_soon(html):
    started = time.process_time()
    shown = html_to_discord(html, BASE)
    html_to_text(html)
    assert time.process_time() - started < 5
    assert len(shown) <= tree.LONGEST


@pytest.mark.parametrize("tag", ["div", "b", "blockquote", "span", "ul"])
def test_nothing_is_lost_at_any_depth(tag):
    shown = html_to_discord(f"<{tag}>" * 5_000 + "inside" + f"</{tag}>" * 5_000 + "<p>after</p>", BASE)
    assert "inside" in shown
    assert shown.endswith("after")
