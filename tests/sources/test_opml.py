"""Lists of feeds come in and go out as OPML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import SourceError
from bot.sources.opml import Listed, read, write

NESTED = """<?xml version="1.0"?><opml version="2.0"><body>
<outline text="A &amp; B" type="rss" xmlUrl="https://a.example.org/feed"/>
<outline text="Folder"><outline title="C" xmlUrl="https://c.example.org/feed"/>
<outline text="again" xmlUrl="https://a.example.org/feed"/><outline text="bad" xmlUrl="javascript:alert(1)"/>
<outline text="inside" xmlUrl="http://127.0.0.1/feed"/></outline></body></opml>"""


def test_a_list_with_folders_repeats_and_what_cannot_be_polled() -> None:
    found = read(NESTED)
    assert [(f.title, f.url, f.refused is None) for f in found] == [
        ("A & B", "https://a.example.org/feed", True),
        ("C", "https://c.example.org/feed", True),
        ("bad", "javascript:alert(1)", False),
        ("inside", "http://127.0.0.1/feed", False),
    ]


@pytest.mark.parametrize(
    "text", ["", "nonsense", "<html></html>", "<opml/>", "{}", "<opml><body><outline text='x'/></body></opml>"]
)
def test_what_lists_nothing_says_so(text: str) -> None:
    with pytest.raises(SourceError, match="lists no feeds"):
        read(text)


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE o [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + NESTED.replace(
        "Folder", "&b;"
    )
    assert [f.title for f in read(bomb)][:2] == ["A & B", "C"]


@given(st.lists(st.tuples(st.text(max_size=20), st.integers(0, 99)), min_size=1, max_size=8, unique_by=lambda p: p[1]))
def test_what_is_written_reads_back(feeds: list[tuple[str, int]]) -> None:
    pairs = [(title, f"https://example.org/{n}?a=1&b=2") for title, n in feeds]
    assert [f.url for f in read(write(pairs))] == [url for _, url in pairs]


def test_titles_survive() -> None:
    assert read(write([("<\"&'> čšž 日本", "https://example.org/")])) == [
        Listed("<\"&'> čšž 日本", "https://example.org/")
    ]
