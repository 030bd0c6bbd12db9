"""Feeds are read whatever their dialect, charset and faults; what is no feed says what it is."""

import json
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import SourceError
from bot.sources.charset import decode
from bot.sources.feed import Entry, Feed, from_json, parse, plain, to_json

NOW = "2026-12-01T12:00:00+00:00"
URL = "https://example.org/feed"


def read(body: str | bytes, charset: str | None = None) -> Feed:
    return parse(body.encode() if isinstance(body, str) else body, url=URL, charset=charset, now=NOW)


def rss(items: str, channel: str = "") -> str:
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>{channel}{items}</channel></rss>'


def only(feed: Feed) -> Entry:
    (entry,) = feed.entries
    return entry


@pytest.mark.parametrize(
    "body",
    [
        rss("<item><title>One</title><link>https://example.org/1</link><guid>g1</guid></item>"),
        '<rss version="0.91"><channel><title>T</title><item><title>One</title><link>https://example.org/1</link>'
        "</item></channel></rss>",
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
        '<channel rdf:about="x"><title>T</title></channel><item rdf:about="https://example.org/1"><title>One</title>'
        "<link>https://example.org/1</link></item></rdf:RDF>",
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>g1</id><title>One</title>'
        '<link href="/1"/></entry></feed>',
        '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>T</title><entry><id>g1</id><title>One</title>'
        '<link rel="alternate" type="text/html" href="https://example.org/1"/></entry></feed>',
        '{"version":"https://jsonfeed.org/version/1","title":"T","items":[{"id":"g1","title":"One","url":"/1"}]}',
        '\ufeff{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"id":7,"title":"One",'
        '"url":"https://example.org/1"}]}',
    ],
)
def test_every_dialect_gives_the_same_entry(body: str) -> None:
    feed = read(body)
    entry = only(feed)
    assert (feed.title, entry.title, entry.link) == ("T", "One", "https://example.org/1")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "empty"),
        ("<!DOCTYPE html><html></html>", "web page"),
        ("<html><body>x", "web page"),
        ("{}", "no JSON Feed"),
        ('{"items": 5}', "no JSON Feed"),
        ("[1,2]", "no JSON Feed"),
        ("{nonsense", "not valid JSON"),
        ("just text", "not a feed"),
        ("<kml><Document/></kml>", "not a feed"),
        ("{" * 100_000, "not valid JSON"),
        (rss("<item " + " ".join(f"a{n}='1'" for n in range(20_000)) + "/>"), "more than 64 kB"),
    ],
)
def test_what_is_no_feed_says_what_it_is(body: str, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        read(body)


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("AT&T buys R&D", "AT&T buys R&D"),
        ("AT&amp;T", "AT&T"),
        ("&lt;b&gt;Bold&lt;/b&gt; move", "Bold move"),
        ("<![CDATA[<b>Bold</b> & more]]>", "Bold & more"),
        ("Caf&amp;eacute;", "Café"),
        ("a &lt; b and c &gt; d", "a < b and c > d"),
        ("  two\n  lines ", "two lines"),
        ("?a=1&b=2", "?a=1&b=2"),
        ("Vec&lt;T&gt; and map&lt;string, int&gt;", "Vec<T> and map<string, int>"),
        ("Emoji 😀 עברית", "Emoji 😀 עברית"),
    ],
)
def test_titles_are_plain_text(markup: str, title: str) -> None:
    assert only(read(rss(f"<item><title>{markup}</title><guid>1</guid></item>"))).title == title


def test_undeclared_entities_are_read() -> None:
    assert only(read(rss("<item><title>Caf&eacute;&nbsp;x</title><guid>1</guid></item>"))).title == "Café x"


@pytest.mark.parametrize(
    ("parts", "link"),
    [
        ("<guid>1</guid>", None),
        ("<guid isPermaLink='false'>https://example.org/1</guid>", None),
        ("<guid>https://example.org/1</guid>", "https://example.org/1"),
        ("<guid>urn:x:1</guid>", None),
        ("<guid>g</guid><link>javascript:alert(1)</link>", None),
        ("<guid>g</guid><link>mailto:a@example.org</link>", None),
        ("<guid>g</guid><link>/a?b=1&amp;c=2#v1</link>", "https://example.org/a?b=1&c=2#v1"),
        ("<guid>g</guid><link>  https://example.org/x\n</link>", "https://example.org/x"),
    ],
)
def test_a_link_is_an_address_or_nothing(parts: str, link: str | None) -> None:
    assert only(read(rss(f"<item><title>x</title>{parts}</item>"))).link == link


def test_an_empty_guid_is_none() -> None:
    items = "".join(f'<item><title>v{n}</title><link>/a#v{n}</link><guid isPermaLink="false"/></item>' for n in (1, 2))
    feed = read(rss(items))
    assert [e.guid for e in feed.entries] == [None, None]
    assert [e.link for e in feed.entries] == ["https://example.org/a#v1", "https://example.org/a#v2"]


def test_a_guid_does_not_change_with_the_address_of_the_feed() -> None:
    body = rss("<item><title>x</title><guid>17</guid></item>").encode()
    guids = {only(parse(body, url=url, now=NOW)).guid for url in ("http://a.example/f", "https://b.example/f")}
    assert guids == {"17"}


def test_one_bad_byte_changes_one_character() -> None:
    """Peers: RSStT#391, MonitoRSS#151; feedparser alone re-reads the whole feed as ISO-8859-2."""
    clean = rss("".join(f"<item><title>Новость {n}</title><guid>g{n}</guid></item>" for n in range(3)))
    dirty = clean.encode().replace("Новость 1".encode(), "Новос".encode() + b"\xd0" + "ть 1".encode())
    want, got = read(clean), read(dirty)
    assert [e.guid for e in got.entries] == [e.guid for e in want.entries]
    assert got.entries[0].title == want.entries[0].title
    assert got.entries[2].title == want.entries[2].title


@pytest.mark.parametrize("charset", [None, "utf-8", "us-ascii", "nonsense-1", "windows-1251"])
def test_the_prolog_goes_over_a_header_that_does_not_fit(charset: str | None) -> None:
    body = (
        '<?xml version="1.0" encoding="windows-1251"?>' + rss("<item><title>Привет</title><guid>1</guid></item>")[21:]
    )
    assert only(read(body.encode("windows-1251"), charset)).title == "Привет"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_byte_order_marks(encoding: str) -> None:
    body = '<?xml version="1.0"?>' + rss("<item><title>Привет</title><guid>1</guid></item>")[21:]
    assert only(read(body.encode(encoding))).title == "Привет"


def test_a_cut_off_document_keeps_its_whole_entries_and_says_so() -> None:
    body = rss("".join(f"<item><title>n{n}</title><guid>g{n}</guid></item>" for n in range(3)))
    for end in range(body.index("<guid>g2"), body.index("</guid></item></channel>")):
        feed = read(body[:end])
        assert feed.truncated
        assert [e.title for e in feed.entries] == ["n0", "n1"]
    assert not read(body).truncated


@given(st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_cut_anywhere_no_entry_is_nameless_or_invented(end: int) -> None:
    whole = rss("".join(f"<item><title>n{n}</title><link>https://example.org/{n}</link></item>" for n in range(5)))
    try:
        feed = read(whole[:end])
    except SourceError:
        return
    assert set(feed.entries) <= set(read(whole).entries)


def test_six_mixed_dates() -> None:
    """Horizon#156, MonitoRSS#23: one odd date spoils neither itself nor the others."""
    dates = [
        "Sun, 10 Sep 2017 13:55:00",
        "2017-09-10T13:55:00+02:00",
        "2017-09-10",
        "31 Feb 2026 10:00:00 GMT",
        "Mon, 31 Dec 2035 10:00:00 GMT",
        "",
    ]
    items = "".join(f"<item><guid>{n}</guid><title>x</title><pubDate>{d}</pubDate></item>" for n, d in enumerate(dates))
    assert [e.published for e in read(rss(items)).entries] == [
        datetime(2017, 9, 10, 13, 55, tzinfo=UTC),
        datetime(2017, 9, 10, 11, 55, tzinfo=UTC),
        date(2017, 9, 10),
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("channel", "seconds"),
    [
        ("", None),
        ("<ttl>90</ttl>", 5400),
        ("<ttl>soon</ttl>", None),
        ("<sy:updatePeriod xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'>daily</sy:updatePeriod>", 86400),
        (
            "<sy:updatePeriod xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'>daily</sy:updatePeriod>"
            "<sy:updateFrequency xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'>4</sy:updateFrequency>",
            21600,
        ),
    ],
)
def test_what_a_feed_asks_for_between_polls(channel: str, seconds: float | None) -> None:
    assert read(rss("<item><guid>1</guid><title>x</title></item>", channel)).ttl == seconds


def test_pictures_and_their_texts() -> None:
    feed = read(
        '<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>'
        '<item><guid>1</guid><media:content url="https://example.org/a.jpg" type="image/jpeg"/></item>'
        '<item><guid>2</guid><enclosure url="/b.png" type="image/png" length="1"/></item>'
        '<item><guid>3</guid><description>&lt;p&gt;&lt;img alt="A &amp;amp; B" src="/c.gif"&gt;</description></item>'
        '<item><guid>4</guid><enclosure url="/x.mp3" type="audio/mpeg" length="1"/></item></channel></rss>'
    )
    found = [(e.image, e.image_alt) for e in feed.entries]
    assert found == [
        ("https://example.org/a.jpg", None),
        ("https://example.org/b.png", None),
        ("https://example.org/c.gif", "A & B"),
        (None, None),
    ]


def test_wrong_types_in_a_json_feed_cost_only_their_item() -> None:
    items = [5, None, {"id": []}, {"id": "a", "title": 5, "url": {}}, {"id": "b", "title": "B", "tags": 5, "author": 7}]
    feed = read(json.dumps({"items": items}))
    assert [e.guid for e in feed.entries] == ["a", "b"]


def test_the_newest_two_hundred_are_kept_whichever_end_they_are_at() -> None:
    def items(numbers: range) -> str:
        return "".join(
            f"<item><guid>{n}</guid><pubDate>{date.fromordinal(736000 + n):%Y-%m-%d}</pubDate></item>" for n in numbers
        )

    for numbers in (range(300), range(299, -1, -1)):
        kept = {int(e.guid or "") for e in read(rss(items(numbers))).entries}
        assert kept == set(range(100, 300))


@given(st.binary(max_size=400))
@settings(max_examples=100, deadline=None)
def test_no_bytes_raise_anything_else(body: bytes) -> None:
    try:
        feed = read(b"<rss><channel>" + body)
    except SourceError:
        return
    assert from_json(json.loads(json.dumps(to_json(feed)))) == feed


@given(st.text(max_size=80), st.sampled_from(["utf-8", "utf-16", "windows-1252", "x", None]))
def test_decoding_never_fails(text: str, charset: str | None) -> None:
    assert isinstance(decode(text.encode("utf-8", "replace"), charset), str)


@given(st.text(max_size=200))
def test_a_title_is_one_line(markup: str) -> None:
    assert plain(markup) == " ".join(plain(markup).split())
