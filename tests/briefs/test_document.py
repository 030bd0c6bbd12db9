"""Brief documents: what is read, what is refused, and that writing is the inverse of reading."""

from __future__ import annotations

import re
import string
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.briefs import flattened
from bot.briefs.document import normalise, parse, write
from bot.briefs.model import Brief, Coverage, Section, SourceLink, Topic
from bot.errors import DocumentError

DATA = Path(__file__).parent.parent / "data"
REAL = (DATA / "briefs" / "brifing-pytorch-2.15.md").read_text(encoding="utf-8")
FLAT = (DATA / "briefs" / "brifing-pytorch-2.15.flattened.txt").read_text(encoding="utf-8")
SAMPLES = sorted((DATA / "documents" / "briefs").glob("*.md"))
HEADINGS = [
    "PyTorch 2.15 Core Evolution",
    "Rewritten NCCL Backend Default",
    "One-Sided Transports via NIXL",
    "FSDP2 and Pipelining Enhancements",
    "Blackwell GPU Performance Gains",
    "Apple Silicon Optimization Path",
    "AMD and Intel GPU Updates",
    "CUDA 13.2 and Python 3.15",
    "Advanced Profiling with Cuspy",
    "Expanded C++ Stable ABI",
    "Community Q&A Webinar",
    "Strategic Impact of 2.15",
]

MINIMAL = "# A title\n\nA dek.\n\n{fields}\n\n## Heading\n\nText.\n"


def with_fields(*lines: str) -> Brief:
    return parse(MINIMAL.format(fields="\n".join(lines)))


def flatten(text: str) -> str:
    return " ".join(text.split("\n"))


# -- the real brief --------------------------------------------------------------------------------------------------


def test_the_real_brief_is_read_whole() -> None:
    brief = parse(REAL)
    assert brief.title == "PyTorch 2.15 Released with Enhanced Distributed Training and Hardware Support"
    assert brief.dek.startswith("The latest PyTorch update introduces rewritten NCCL backends, Blackwell")
    assert brief.source == SourceLink("PyTorch Blog", "https://pytorch.org/blog")
    assert brief.published == date(2026, 10, 28)
    assert not isinstance(brief.published, datetime)
    assert brief.topic == Topic("Data & AI", "data-ai", "https://brifing.si/c/data-ai")
    assert brief.original is None
    assert brief.permalink == "https://brifing.si/s/65ec1f7b-3139-4187-9e0e-00061cbf856c"
    assert [section.heading for section in brief.sections] == HEADINGS
    assert brief.sections[1].body.startswith("The rewritten NCCL backend is now the default")
    assert brief.coverage == (Coverage("https://pytorch.org/blog/pytorch-2-15-release-blog/"),)
    assert brief.notice is not None
    assert brief.notice.startswith("Summary written by Brifing")
    assert brief.notice.endswith("at the link above.")
    assert brief.extra == ()
    assert brief.warnings == ()


def test_the_flattened_real_brief_is_the_same() -> None:
    brief = parse(FLAT)
    assert [section.heading for section in brief.sections] == HEADINGS
    assert brief == parse(REAL)
    assert brief.warnings


@pytest.mark.parametrize(
    "flat",
    [
        pytest.param(lambda text: re.sub(r"\s+", " ", text), id="single spaces"),
        pytest.param(lambda text: text.replace("\n", " "), id="double spaces"),
        pytest.param(lambda text: "\ufeff" + text.replace("\n", "\r\n").replace("\r\n", " ") + "\r\n", id="bom"),
        pytest.param(lambda text: text.replace("\n\n", "\r\r", 1).replace("\n", " "), id="title on its own line"),
        pytest.param(
            lambda text: re.sub(r"\n+(?!\n)", " ", text.replace("\n\n## ", "\x00", 1)).replace("\x00", "\n## "),
            id="two lines",
        ),
        pytest.param(lambda text: re.sub(r"(.{900}\S*) ", r"\1\n", re.sub(r"\s+", " ", text)), id="wrapped"),
    ],
)
def test_other_ways_to_lose_newlines(flat: Callable[[str], str]) -> None:
    assert parse(flat(REAL)) == parse(REAL)


def test_writing_the_real_brief_gives_its_document_back() -> None:
    assert write(parse(REAL)) == REAL.replace("/ —", "/") + ("" if REAL.endswith("\n") else "\n")


# -- headings of flattened briefs ------------------------------------------------------------------------------------


def test_every_sample_is_read_and_written_without_loss() -> None:
    for path in SAMPLES:
        brief = parse(path.read_text(encoding="utf-8"))
        assert brief.sections
        assert brief.coverage
        assert brief.notice
        assert brief.warnings == ()
        assert parse(write(brief)) == brief


def test_flattened_samples_keep_their_headings() -> None:
    """The bar is what was measured, so that a change that loses headings is seen; the misses are genuine ambiguities."""
    titles = headings = total = 0
    for path in SAMPLES:
        text = path.read_text(encoding="utf-8")
        whole, flat = parse(text), parse(flatten(text))
        assert len(whole.sections) == len(flat.sections), path.name
        assert replace(flat, title="", dek="", sections=()) == replace(whole, title="", dek="", sections=()), path.name
        titles += whole.title == flat.title
        total += len(whole.sections)
        headings += sum(a == b for a, b in zip(whole.sections, flat.sections, strict=True))
    assert titles / len(SAMPLES) >= 0.95
    assert headings / total >= 0.98


def hostile_briefs() -> list[tuple[str, str, list[tuple[str, str]]]]:
    briefs: list[tuple[str, str, list[tuple[str, str]]]] = []
    for text in (DATA / "documents" / "headings.txt").read_text(encoding="utf-8").splitlines():
        if text.startswith("# "):
            briefs.append((text[2:], "", []))
        elif text.startswith("> "):
            briefs[-1] = (briefs[-1][0], text[2:], briefs[-1][2])
        elif text:
            heading, _, body = text.partition(" | ")
            briefs[-1][2].append((heading, body))
    return briefs


def test_hostile_headings_in_many_languages() -> None:
    """Written to be hard: bodies that open with a name, a number or a program, headings of one word, 20 languages.

    The weights were fitted on these briefs too; held out, 91 % of their headings are found.
    """
    found = total = 0
    for title, dek, sections in hostile_briefs():
        text = f"# {title} {dek} - **Source:** X " + " ".join(f"## {heading} {body}" for heading, body in sections)
        brief = parse(text)
        assert len(brief.sections) == len(sections)
        found += sum(section.heading == heading for section, (heading, _) in zip(brief.sections, sections, strict=True))
        total += len(sections)
    assert found / total >= 0.88


@pytest.mark.parametrize(
    ("heading", "body"),
    [
        ("One-Sided Transports via NIXL", "The torch.distributed module gains a transport API for one-sided moves."),
        ("Community Q&A Webinar", "Meta engineers will host a webinar on November 5."),
        ("Rust 1.95 and Cargo", "Rust 1.95 stabilises async closures, and Cargo resolves features faster."),
        ("What Changes for U.S. Users", "The company will ask users in the U.S. to confirm their age."),
        ("Licensing: The Fine Print", "The new terms forbid resale, and they apply from May."),
        ("Why Now?", "The market has grown threefold since 2024, and rivals are close."),
    ],
)
def test_one_flattened_section(heading: str, body: str) -> None:
    other = "## Early Market Reaction The market was calm, and analysts expect little change this year."
    brief = parse(
        f"# New Release Arrives With Many Changes The release is large. - **Source:** X ## {heading} {body} {other}"
    )
    assert brief.sections[0] == Section(heading, body)


def test_cjk_heading_and_body_are_parted_by_their_space() -> None:
    brief = parse(
        "# 新芯片发布 性能提升三成。 - **Source:** X ## 性能表现 新芯片的功耗下降百分之十五,跑分超过一万。 ## 上市时间 手机将于九月上市。"
    )
    assert [section.heading for section in brief.sections] == ["性能表现", "上市时间"]
    assert brief.title == "新芯片发布"


def test_flattened_lists_and_code_do_not_break_anything() -> None:
    brief = parse(
        "# T Dek. - **Source:** X ## Install ```sh pip install x ## not a heading ``` Then run it. ## Steps - one - two ## End"
    )
    assert len(brief.sections) == 3
    assert "## not a heading" in brief.sections[0].body
    assert brief.sections[1] == Section("Steps", "- one\n- two")
    assert brief.sections[2] == Section("End", "")


def test_flattened_text_under_no_heading_and_several_sources() -> None:
    brief = parse(
        "# T Dek. - **Source:** X - **On Site:** https://x.si/s/1 Some text before. ## Head The text is here. "
        "## Sources covering this story - https://a.example/1 — First - https://b.example/2 - [C](https://c.example) — --- _N._"
    )
    assert brief.sections[0] == Section(None, "Some text before.")
    assert brief.coverage == (
        Coverage("https://a.example/1", "First"),
        Coverage("https://b.example/2"),
        Coverage("https://c.example", "C"),
    )
    assert brief.permalink == "https://x.si/s/1"
    assert brief.notice == "N."


# -- fields ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bullet", ["-", "*", "+"])
@pytest.mark.parametrize(
    "label", ["**Source:**", "**Source**:", "Source:", "__Source:__", "**source:**", "**Source：**"]
)
def test_labels_in_every_dress(bullet: str, label: str) -> None:
    assert with_fields(f"{bullet} {label} [Blog](https://x.si/b)").source == SourceLink("Blog", "https://x.si/b")


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("[a](https://x.si/p)", "https://x.si/p"),
        ('[a](https://x.si/p "title")', "https://x.si/p"),
        ("[a](<https://x.si/p q>)", "https://x.si/p%20q"),
        ("[a](https://x.si/p_(q))", "https://x.si/p_(q)"),
        ("[a [b] c](https://x.si/p)", "https://x.si/p"),
        ("<https://x.si/p>", "https://x.si/p"),
        ("< https://x.si/p >", "https://x.si/p"),
        ("https://x.si/p", "https://x.si/p"),
        ("https://x.si/p.", "https://x.si/p"),
        ("(https://x.si/p)", "https://x.si/p"),
        ("**https://x.si/p**", "https://x.si/p"),
        ("https://x.si/p_(q)", "https://x.si/p_(q)"),
        ("see https://x.si/p for more", "https://x.si/p"),
        ("[a][ref]", "https://x.si/ref?a=1&b=2"),
        ("[ref][]", "https://x.si/ref?a=1&b=2"),
        ("[ref]", "https://x.si/ref?a=1&b=2"),
        ("[a](https://x.si/?a=1&amp;b=2)", "https://x.si/?a=1&b=2"),
        ("https://xn--bcher-kva.example/ü", "https://xn--bcher-kva.example/ü"),
        ("javascript:alert(1)", None),
        ("[a](javascript:alert(1))", None),
        ("[a](/relative)", None),
        ("https://", None),
        ("", None),
        ("—", None),
    ],
)
def test_links_in_every_form(value: str, url: str | None) -> None:
    text = MINIMAL.format(fields=f"- **On Anything:** {value}") + "\n[ref]: https://x.si/ref?a=1&b=2 'title'\n"
    assert parse(text).permalink == url


def test_references_in_bodies_become_inline() -> None:
    brief = parse(
        "# T\n\nD\n\n## H\n\nSee [this][1] and [that]. `[1]` [no]\n\n[1]: https://x.si/1\n[that]: <https://x.si/2>\n"
    )
    assert brief.sections[0].body == "See [this](<https://x.si/1>) and [that](<https://x.si/2>). `[1]` [no]"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-10-28", date(2026, 10, 28)),
        ("2026-10-28T14:30:00Z", datetime(2026, 10, 28, 14, 30, tzinfo=UTC)),
        ("2026-10-28T14:30:00+02:00", datetime(2026, 10, 28, 14, 30, tzinfo=timezone(timedelta(hours=2)))),
        ("2026-10-28 14:30", datetime(2026, 10, 28, 14, 30, tzinfo=UTC)),
        ("2026-10-28T14:30:00.123456", datetime(2026, 10, 28, 14, 30, 0, 123456, tzinfo=UTC)),
        ("*2026-10-28*", date(2026, 10, 28)),
    ],
)
def test_dates(value: str, expected: date) -> None:
    brief = with_fields(f"- **Published:** {value}")
    assert brief.published == expected
    assert type(brief.published) is type(expected)
    assert brief.warnings == ()


@pytest.mark.parametrize(
    "value",
    [
        "yesterday",
        "2026-02-30",
        "2026-13-01",
        "0000-00-00",
        "28/10/2026",
        "2026-10-28T25:00:00Z",
        "9999-12-31T23:59:59-14:00",
        "٢٠٢٦-١٠-٢٨",
    ],
)
def test_unreadable_dates_are_none_with_a_warning(value: str) -> None:
    brief = with_fields(f"- **Published:** {value}")
    assert brief.published is None
    assert len(brief.warnings) == 1
    assert brief.extra == (("Published", value),)


def test_fields_may_miss_come_in_any_order_and_be_unknown() -> None:
    brief = with_fields(
        "- **Tema:** [Podatki](https://x.si/c/podatki)",
        "- **On Somewhere Else:** https://x.si/s/1",
        "- **Reading time:** 4 minutes",
        "- **Source:** Jane Doe",
        "- **Source:** Second",
    )
    assert brief.permalink == "https://x.si/s/1"
    assert brief.source == SourceLink("Jane Doe")
    assert brief.topic is None
    assert brief.published is None
    assert brief.extra == (
        ("Tema", "[Podatki](https://x.si/c/podatki)"),
        ("Reading time", "4 minutes"),
        ("Source", "Second"),
    )
    assert len(brief.warnings) == 3
    assert parse(write(brief)) == brief


def test_a_field_on_two_lines_and_loose_lists() -> None:
    brief = with_fields(
        "- **Source:**", "  [Blog](https://x.si)", "", "- **Published:** 2026-01-02", "", "Text under no heading."
    )
    assert brief.source == SourceLink("Blog", "https://x.si")
    assert brief.published == date(2026, 1, 2)
    assert brief.sections[0] == Section(None, "Text under no heading.")


@pytest.mark.parametrize(
    ("value", "topic"),
    [
        ("[Data & AI](https://brifing.si/c/data-ai)", Topic("Data & AI", "data-ai", "https://brifing.si/c/data-ai")),
        (
            "[Data & AI](https://brifing.si/c/podatki?x=1)",
            Topic("Data & AI", "podatki", "https://brifing.si/c/podatki?x=1"),
        ),
        ("[数据](https://x.si/c/%E6%95%B0)", Topic("数据", "数", "https://x.si/c/%E6%95%B0")),
        ("[Data & AI](https://brifing.si/t/9)", Topic("Data & AI", "data-ai", "https://brifing.si/t/9")),
        ("Data & AI", Topic("Data & AI", "data-ai")),
        ("Umetna inteligenca", Topic("Umetna inteligenca", "umetna-inteligenca")),
        ("数据与人工智能", Topic("数据与人工智能", "数据与人工智能")),
        ("Énergie & Été", Topic("Énergie & Été", "énergie-été")),
        ("&", Topic("&", "topic")),
    ],
)
def test_topics(value: str, topic: Topic) -> None:
    assert with_fields(f"- **Topic:** {value}").topic == topic


@pytest.mark.parametrize(
    ("line", "item"),
    [
        ("- https://x.si/1", Coverage("https://x.si/1")),
        ("- https://x.si/1 —", Coverage("https://x.si/1")),
        ("- <https://x.si/1>", Coverage("https://x.si/1")),
        ("- [Title](https://x.si/1) — Publisher", Coverage("https://x.si/1", "Title")),
        ("- https://x.si/1 — A title", Coverage("https://x.si/1", "A title")),
        ("- A title — https://x.si/1", Coverage("https://x.si/1", "A title")),
        ("- A title (https://x.si/1)", Coverage("https://x.si/1", "A title")),
        ("- [https://x.si/1](https://x.si/1) — A title", Coverage("https://x.si/1", "A title")),
        ("- The Daily Planet", Coverage(None, "The Daily Planet")),
        ("1. https://x.si/1", Coverage("https://x.si/1")),
        ("https://x.si/1", Coverage("https://x.si/1")),
    ],
)
def test_coverage(line: str, item: Coverage) -> None:
    brief = parse(f"# T\n\nD\n\n## H\n\nText.\n\n## Sources covering this story\n\n{line}\n\n—\n\n---\n\n_Notice._\n")
    assert brief.coverage == (item,)
    assert brief.notice == "Notice."
    assert len(brief.sections) == 1


# -- sections --------------------------------------------------------------------------------------------------------


def test_code_lists_subheadings_and_setext_stay_in_the_body() -> None:
    body = (
        "Intro  \nline\n\n```markdown\n## not a heading\n---\n\\## kept\n```\n\n- one\n  - two\n\n~~~\n```\n## nor this\n~~~\n\n"
        "### Sub\n\nSetext\n------\n\nMore\n\n    ## indented code\n\n> ## quoted\n\n| a |\n|---|"
    )
    brief = parse(f"# T\n\nD\n\n## H\n\n{body}\n\n## Next\n\nText\n")
    assert brief.sections == (Section("H", body), Section("Next", "Text"))
    assert parse(write(brief)) == brief
    assert body in write(brief)


def test_a_fence_that_never_closes_swallows_nothing() -> None:
    brief = parse("# T\n\nD\n\n## A\n\n```py\ncode\n\n## B\n\nText\n")
    assert [section.heading for section in brief.sections] == ["A", "B"]
    assert parse(write(brief)) == brief


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="crlf"),
        pytest.param(lambda text: text.replace("\n", "\r"), id="cr"),
        pytest.param(lambda text: "\ufeff" + text, id="bom"),
        pytest.param(lambda text: "\n\n" + text + "\n\n\n", id="blank lines"),
        pytest.param(lambda text: text.replace("## ", "##   ").replace("\n\n## A", " \n\n## A"), id="spaces"),
        pytest.param(lambda text: re.sub(r"(?m)^## (.*)$", r"## \1 ##", text, count=12), id="closed headings"),
        pytest.param(lambda text: text.replace("\n\n", "\n"), id="no blank lines"),
        pytest.param(lambda text: "---\nlayout: brief\n---\n" + text, id="front matter"),
    ],
)
def test_other_line_ends_and_dress(change: Callable[[str], str]) -> None:
    assert replace(parse(change(REAL)), extra=()) == parse(REAL)


def test_nfd_cjk_and_rtl() -> None:
    text = "# Cafe\u0301 news\n\nA\u030angstro\u0308m\n\n## 概要\n\n本文です。\n\n## عنوان\n\nنص عربي\u200f هنا.\n"
    brief = parse(text)
    assert (brief.title, brief.dek) == ("Café news", "Ångström")
    assert brief.sections == (Section("概要", "本文です。"), Section("عنوان", "نص عربي\u200f هنا."))


def test_setext_title_and_front_matter() -> None:
    assert parse("Title\n=====\n\nDek\n\n## H\n\nText\n").title == "Title"
    brief = parse('---\ntitle: "From front"\ndescription: The dek\ndate: 2026-01-02\nweight: 3\n---\n\n## H\n\nText\n')
    assert (brief.title, brief.dek, brief.published) == ("From front", "The dek", date(2026, 1, 2))
    assert brief.extra == (("Weight", "3"),)


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "part", "line", "reason"),
    [
        ("", "document", 1, "empty"),
        (" \n\ufeff\n", "document", 1, "empty"),
        ("<!DOCTYPE html><html><body># x</body></html>", "document", 1, "HTML"),
        ("\n<html>\n</html>", "document", 1, "HTML"),
        ('<?xml version="1.0"?><rss></rss>', "document", 1, "XML"),
        ('{"title": "x"}', "document", 1, "JSON"),
        ('[{"title": "x"}]', "document", 1, "JSON"),
        ("# T\nab\0cd", "document", 2, "binary"),
        ("\ufffd\ufffd\x01\x02PNG\ufffd\ufffd", "document", 1, "binary"),
        ("Just text.\n\nMore.", "title", 1, "no title"),
        ("\n\n## H\n\nText", "title", 3, "no title"),
        ("# \n\n## H\n\nText", "title", 1, "empty"),
        ("# T\n\nDek\n", "sections", 4, "no section"),
        ("# T\n\nDek\n\n## Sources covering this story\n\n- https://x.si\n", "sections", 8, "no section"),
    ],
)
def test_what_is_not_a_brief_says_why(text: str, part: str, line: int, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason) as caught:
        parse(text)
    assert (caught.value.part, caught.value.line) == (part, line)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("brief", [Brief(title=" \n"), Brief(title="T")])
def test_a_brief_no_document_reads_to_is_not_written(brief: Brief) -> None:
    with pytest.raises(DocumentError):
        write(brief)


# -- round trip ------------------------------------------------------------------------------------------------------

PIECES = [
    "#", "##", "## x", "# x", "###", "---", "- ", "* ", "***", "___", "_x_", "**x**", "**Source:** x", "- **Source:** y",
    "- Topic: z", "```", "~~~", "```sh", "````", "\\", "\\## x", "\\\\---", "[a]: https://x.si", "[a][b]", "[a](b)", "](", "<", ">",
    "|", "1. x", "—", "Sources covering this story", "\n", "\n\n", "\r\n", " ", "  ", "\t", "    ", "text", "é", "e\u0301", "数据",
    "اللغة", "\u200b", "\u2028", "\x85", "\x07", "\ud800", "\xa0", "\u3000", "https://x.si/a_(b)?c&amp;d", ":", "`", "_", "*", "&", "=",
    "===", "\ufeff", "On X", "…", "🎉",
]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=7).map("\n".join),
    st.text(max_size=30),
)
URLS = st.one_of(
    st.sampled_from(
        [
            "https://x.si/p",
            "https://x.si/c/data-ai",
            "https://x.si/c/%E6%95%B0_x",
            "https://x.si/a b",
            "javascript:x",
            "x",
        ]
    ),
    st.text(alphabet=string.ascii_letters + "()[]<>*_.,;:!?&='\"\\ -—|", max_size=15).map(
        lambda tail: "https://x.si/" + tail
    ),
)
TIMES = st.one_of(
    st.none(),
    st.dates(),
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),
    st.datetimes(
        min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1), timezones=st.just(timezone(timedelta(minutes=-95)))
    ),
)
BRIEFS = st.builds(
    Brief,
    title=TEXTS,
    dek=TEXTS,
    source=st.none() | st.builds(SourceLink, TEXTS, st.none() | URLS),
    published=TIMES,
    topic=st.none() | st.builds(Topic, TEXTS, TEXTS, st.none() | URLS),
    permalink=st.none() | URLS,
    original=st.none() | URLS,
    sections=st.lists(st.builds(Section, st.none() | TEXTS, TEXTS, st.none() | TEXTS), min_size=1, max_size=4).map(
        tuple
    ),
    coverage=st.lists(st.builds(Coverage, st.none() | URLS, st.none() | TEXTS), max_size=3).map(tuple),
    notice=st.none() | TEXTS,
    extra=st.lists(st.tuples(TEXTS, TEXTS), max_size=3).map(tuple),
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(BRIEFS)
@example(
    Brief("C #", sections=(Section("# #", "## a\n```\n## b"), Section("Sources covering this story", "- https://x.si")))
)
@example(Brief("T", sections=(Section("a", "x\n---\n_y_"),)))
@example(Brief("T", sections=(Section("a", "x\n---\n_y_"),), notice="_*"))
@example(Brief("T ## x", dek="- **Source:** x ## y", sections=(Section(None, "- **Topic:** x\ny"), Section(None, ""))))
@example(Brief("T", sections=(Section("a", "```\nx"), Section("b", "```\ny"))))
def test_parse_is_the_inverse_of_write(brief: Brief) -> None:
    normal = normalise(brief)
    assert normalise(normal) == normal
    if not normal.title:
        return
    text = write(brief)
    assert not flattened.is_flattened(text)
    assert parse(text) == normal
    assert write(parse(text)) == text


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.one_of(
            TEXTS,
            st.sampled_from(["\n# T\n", "\n## H\n", "\n- **Source:** [x](https://x.si)\n", " ## H Text is here. "]),
        ),
        max_size=15,
    )
)
def test_any_text_is_read_or_refused_and_what_is_read_stays(parts: list[str]) -> None:
    try:
        brief = parse("".join(parts))
    except DocumentError:
        return
    assert normalise(brief) == brief
    assert parse(write(brief)) == brief


# -- bounds ----------------------------------------------------------------------------------------------------------

BIG = 300_000


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * BIG, id="brackets"),
        pytest.param(
            "# T\n\n" + "[" * BIG + "\n\n- **Source:** " + "[" * BIG + "\n\n## H\n\n" + "[a](" * (BIG // 4), id="links"
        ),
        pytest.param("#" * BIG, id="hashes"),
        pytest.param("# " + "# " * (BIG // 2), id="spaced hashes"),
        pytest.param("# T\n\n" + " -" * (BIG // 2), id="dashes"),
        pytest.param("# T " + "- **" * (BIG // 4), id="bold bullets"),
        pytest.param("# T\n\n## H\n\n" + "**" * (BIG // 2), id="stars"),
        pytest.param("# T\n\n## H\n\n" + "```a\n" * (BIG // 5), id="fences"),
        pytest.param("# T ## " + "```a ~~~b " * (BIG // 10), id="flat fences"),
        pytest.param("# T\n\n## H\n\n" + "---\n_x_\n" * (BIG // 8), id="rules"),
        pytest.param("# T - **Source:** " + "x ## " * 2_000, id="flat empty sections"),
        pytest.param("# T\n\n" + "- **a:** " + "*" * BIG + "\n\n## H\n\nx", id="field of stars"),
        pytest.param("# T\n\n- **On X:** https://x.si/" + ")" * BIG + "\n\n## H\n\nx", id="address of brackets"),
        pytest.param("# T\n\n## H\n\n" + "[a]: " * (BIG // 5), id="definitions"),
        pytest.param("# T\n\n## Sources\n\n" + "- \n" * (BIG // 3) + "x\n\n## H\n\nx", id="empty items"),
        pytest.param("# " + "a" * BIG + " ## " + "b" * BIG + " - **Topic:** c", id="long words"),
        pytest.param("# T\n" + "\\" * BIG + "## x\n## H\n" + "\\" * BIG, id="backslashes"),
        pytest.param("# T\n" + "=" * BIG + "\n## H\n" + "\t" * BIG + "x", id="blanks"),
    ],
)
def test_adversarial_text_takes_bounded_time(text: str) -> None:
    begin = time.process_time()
    try:
        brief = parse(text)
    except DocumentError:
        pass
    else:
        assert parse(write(brief)) == brief
    assert time.process_time() - begin < 3


def test_thousands_of_flattened_sections() -> None:
    body = "The body of the section is long and talks about Things and People in Large Numbers."
    text = "# A Title The dek is here. - **Source:** X " + " ".join(
        f"## Heading Number {n} {body}" for n in range(3_000)
    )
    begin = time.process_time()
    assert len(parse(text).sections) == 3_000
    assert time.process_time() - begin < 6


def test_five_megabytes_and_ten_thousand_sections() -> None:
    body = "A sentence of a body that goes on for a while, with `code` and a [link](https://x.si). " * 6
    text = "# T\n\nDek\n\n" + "".join(f"## Heading {n}\n\n{body}\n\n- one\n- two\n\n" for n in range(10_000))
    assert len(text) > 5_000_000
    tracemalloc.start()
    begin = time.process_time()
    brief = parse(text)
    spent = time.process_time() - begin
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(brief.sections) == 10_000
    assert spent < 10
    assert peak < 12 * len(text)
