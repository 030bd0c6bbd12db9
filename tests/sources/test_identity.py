"""An item is told once, whatever its source does to its guid, link, title and date."""

import random
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sources.identity import FLOOD, Item, Seen, Verdict, canonical, decide, is_news, keys

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Source:
    """A source as the poller keeps it: what was seen, by which keys, and when."""

    def __init__(self, backfill: int = 0) -> None:
        self.known: dict[bytes, int] = {}
        self.seen: dict[int, Seen] = {}
        self.items: dict[int, Item] = {}
        self.backfill = backfill
        self.oldest: datetime | None = None
        self.last_ok_at: datetime | None = None
        self.now = START

    def poll(self, *items: Item, after: timedelta = HOUR) -> list[str]:
        """The titles that are news."""
        self.now += after
        decisions = decide(
            items,
            self.known,
            self.seen,
            first_sight=self.last_ok_at is None,
            oldest=self.oldest,
            last_ok_at=self.last_ok_at,
            now=self.now,
            listed_before=sum(seen.last_listed_at == self.last_ok_at for seen in self.seen.values()),
            backfill=self.backfill,
        )
        if self.last_ok_at is None:
            dates = [i.published for i in items if isinstance(i.published, datetime)]
            self.oldest = min(dates, default=None)
        for d in decisions:
            if d.verdict is Verdict.REPEATED:
                continue
            item_id = d.item_id if d.item_id is not None else len(self.items) + 1
            self.items.setdefault(item_id, d.item)
            first = self.seen[item_id].first_seen_at if item_id in self.seen else self.now
            self.seen[item_id] = Seen(first, self.now)
            for key in d.keys:
                self.known.setdefault(key, item_id)
        self.last_ok_at = self.now
        self.verdicts = [d.verdict for d in decisions]
        return [d.item.title for d in decisions if d.verdict is Verdict.NEW]


def item(n: int, **changes: object) -> Item:
    published = START - timedelta(days=30) + timedelta(days=n)
    values = {"guid": f"g{n}", "link": f"https://example.org/{n}", "title": f"t{n}", "published": published}
    return Item(**{**values, **changes})  # type: ignore[arg-type]


def test_first_sight_is_a_baseline_and_backfill_takes_the_newest() -> None:
    assert Source().poll(*map(item, range(10))) == []
    assert Source(backfill=3).poll(*map(item, range(10))) == ["t7", "t8", "t9"]
    undated = [item(n, published=None) for n in range(5)]
    assert Source(backfill=2).poll(*undated) == ["t3", "t4"]  # a listing stands oldest first


def test_case_1_a_guid_used_again_flips_nothing() -> None:
    """MonitoRSS, FreshRSS#5909."""
    source = Source()
    a = [item(n) for n in (1, 2, 3)]
    assert source.poll(*a) == []
    again = item(4, guid="g3")
    assert source.poll(*a, again) == ["t4"]
    assert source.poll(*a, again) == []
    assert source.poll(*a, item(5, guid=None)) == ["t5"]
    assert source.poll(*a, item(5, guid=None)) == []


def test_case_2_one_guid_for_all() -> None:
    """miniflux#4197."""
    source = Source()
    source.poll(item(0))
    ten = [item(n, guid="same") for n in range(1, 11)]
    assert len(source.poll(*ten)) == 10
    assert source.poll(*ten) == []


def test_case_3_empty_guids_and_links_that_differ_after_the_fragment() -> None:
    """feedjira#462, FreshRSS#5329."""
    source = Source()
    source.poll(item(0))
    two = [Item(None, f"https://example.org/a#v{n}", f"v{n}") for n in (1, 2)]
    assert source.poll(*two) == ["v1", "v2"]
    assert source.poll(*two) == []


def test_case_4_a_bumped_date_or_an_edit_is_no_news() -> None:
    """FeedCord#67, maubot#35."""
    source = Source()
    source.poll(item(1))
    assert source.poll(item(1, published=START + HOUR)) == []
    assert source.poll(item(1, title="edited", published=START + 9 * HOUR)) == []
    assert source.poll(item(1, link="https://example.org/moved", title="again")) == []


def test_case_5_all_guids_change() -> None:
    """fornever.me#3: http to https, and guids made anew, links and titles kept."""
    source = Source()
    source.poll(*(item(n, guid=f"http://example.org/{n}") for n in range(28)))
    assert source.poll(*(item(n, guid=f"https://example.org/{n}") for n in range(28))) == []
    assert source.poll(*(item(n, guid=f"new-{n}") for n in range(28))) == []
    assert source.poll(*(item(n, guid=f"n{n}", link=f"https://new.example.org/{n}") for n in range(28))) == []


def test_case_6_an_old_page_that_slides_into_the_list() -> None:
    """hookshot#768."""
    source = Source()
    ten = [item(n) for n in range(10, 0, -1)]
    source.poll(*ten)
    ancient = item(0, published=START - timedelta(days=730))
    assert source.poll(*ten[1:], ancient) == []
    assert source.poll(item(11), *ten[1:], ancient) == ["t11"]


def test_case_7_a_short_answer_then_the_whole_one() -> None:
    """hookshot PR#315."""
    source = Source()
    fifty = [item(n) for n in range(50)]
    source.poll(*fifty)
    assert source.poll(*fifty[:3]) == []
    assert source.poll() == []
    assert source.poll(*fifty) == []


def test_case_11_what_is_known_stays_known() -> None:
    source = Source()
    source.poll(item(0))
    many = [item(n, published=None) for n in range(1, 26)]
    assert len(source.poll(item(0), *many[:4])) == 4
    assert len(source.poll(item(0), *many, after=timedelta(days=1))) == 21
    assert source.poll(item(0), *many) == []


def test_session_ids_in_links() -> None:
    """rssguard#343: every link is new at every poll, and there are no guids."""
    source = Source()
    for n in range(3):
        listed = [Item(None, f"https://example.org/{i}?PHPSESSID={n}{i}&utm_source=x{n}", f"t{i}") for i in range(5)]
        assert source.poll(*listed) == []
    strange = [Item(None, f"https://example.org/{i}/{random.random()}", f"t{i}") for i in range(5)]
    assert source.poll(*strange) == []


def test_a_weekly_column_is_news_each_week() -> None:
    source = Source()
    source.poll(item(1, title="This week in Rust", published=START))
    new = item(2, title="This week in Rust", published=START + timedelta(days=7))
    assert source.poll(new, item(1, title="This week in Rust", published=START)) == ["This week in Rust"]
    later = item(3, title="This week in Rust", published=START + timedelta(days=14))
    assert source.poll(later) == ["This week in Rust"]
    assert source.poll(later) == []


def test_links_that_all_lead_to_the_front_page() -> None:
    source = Source()
    source.poll(item(1, link="https://example.org/"))
    assert source.poll(item(2, link="https://example.org/")) == ["t2"]
    assert source.poll(item(3, link="https://example.org/"), item(2, link="https://example.org")) == ["t3"]


def test_an_entry_that_stands_twice_is_one() -> None:
    source = Source()
    source.poll(item(0))
    assert source.poll(item(1), item(1)) == ["t1"]
    assert Verdict.REPEATED in source.verdicts


@pytest.mark.parametrize("dated", [True, False])
def test_a_source_that_renames_all_it_has_is_no_flood(dated: bool) -> None:
    source = Source()
    old = [item(n) if dated else item(n, published=None) for n in range(20)]
    source.poll(*old)
    renamed = [
        item(n, guid=f"x{n}", link=f"https://example.org/x/{n}", title=f"New title {n}")
        if dated
        else item(n, guid=f"x{n}", link=f"https://example.org/x/{n}", title=f"New title {n}", published=None)
        for n in range(20)
    ]
    assert source.poll(*renamed) == []
    assert source.verdicts == [Verdict.FLOOD] * 20
    assert source.poll(*renamed) == []


def test_a_busy_feed_is_no_renamed_one() -> None:
    source = Source()
    source.poll(*(item(n, published=START) for n in range(20)))
    fresh = [item(n, published=source.now + timedelta(minutes=n)) for n in range(100, 120)]
    assert len(source.poll(*fresh)) == 20


def test_undated_items_after_a_long_gap_are_believed() -> None:
    source = Source()
    source.poll(*(item(n, published=None) for n in range(20)))
    fresh = [item(n, published=None) for n in range(100, 120)]
    assert len(source.poll(*fresh, after=timedelta(days=2))) == 20


def test_few_unknown_items_are_never_taken_for_a_flood() -> None:
    source = Source()
    source.poll(*(item(n) for n in range(20)))
    assert len(source.poll(*(item(n, published=None) for n in range(100, 100 + FLOOD - 1)))) == FLOOD - 1


def test_a_version_that_changes_is_read_again() -> None:
    source = Source()
    file = Item("a.md", None, "a.md", version="1")
    source.poll(file)
    assert source.poll(file) == []
    assert source.verdicts == [Verdict.KNOWN]
    source.poll(Item("a.md", None, "a.md", version="2"))
    assert source.verdicts == [Verdict.CHANGED]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://Example.org:80/a", "https://example.org/a", True),
        ("https://example.org/a/", "https://example.org/a", True),
        ("https://example.org/a?utm_source=x&b=1&fbclid=2", "https://example.org/a?b=1", True),
        ("https://example.org/a;jsessionid=1F", "https://example.org/a", True),
        ("https://example.org/a#v1", "https://example.org/a#v2", False),
        ("https://example.org/a?id=1", "https://example.org/a?id=2", False),
        ("https://example.org:8443/a", "https://example.org/a", False),
        ("https://example.org/A", "https://example.org/a", False),
    ],
)
def test_canonical_links(one: str, other: str, same: bool) -> None:
    assert (canonical(one) == canonical(other)) == same


def test_a_date_is_news_for_its_whole_day() -> None:
    assert is_news(date(2026, 1, 1), START + 5 * HOUR)
    assert not is_news(date(2025, 12, 31), START + 5 * HOUR)
    assert not is_news(None, START)


@given(
    st.lists(
        st.builds(Item, st.none() | st.text(max_size=3), st.none() | st.text(max_size=9), st.text(max_size=3)),
        max_size=8,
    )
)
def test_any_document_has_keys_and_nothing_raises(items: list[Item]) -> None:
    found = keys(items)
    assert [len(k) for ks in found for k in ks] == [16] * sum(map(len, found))
    assert keys(items) == found


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_every_true_item_is_told_once(chance: random.Random) -> None:
    """Edits, date bumps, guid changes, re-orders, short answers, repeats and re-appearances of a random feed.

    At each poll an item keeps at least one of the things it is known by (link or guid and title); what is listed is
    any part of the feed; one to three new items come.
    """
    source = Source()
    feed: dict[int, Item] = {n: item(n) for n in range(8)}
    source.poll(*feed.values())
    told: list[int] = []
    number = 8
    for _ in range(12):
        for _ in range(chance.randint(1, 3)):
            feed[number] = item(number, published=source.now)
            number += 1
        fresh = [n for n in feed if n >= 8 and n not in told]
        older = [n for n in feed if n not in fresh]
        chance.shuffle(older)
        older = older[: chance.randint(0, len(older))]
        for n in older:
            old, change = feed[n], chance.randrange(9)
            if change == 0:
                feed[n] = Item(f"guid-{chance.random()}", old.link, old.title, old.published)
            elif change == 1:
                feed[n] = Item(old.guid, old.link, f"{old.title}!", old.published)
            elif change == 2:
                feed[n] = Item(old.guid, f"https://example.org/{n}/{chance.random()}", old.title, old.published)
            elif change == 3:
                feed[n] = Item(old.guid, old.link, old.title, source.now)
            elif change == 4:
                feed[n] = Item(None, old.link, old.title, old.published)
        listed = fresh + older
        chance.shuffle(listed)
        if listed and chance.random() < 0.3:
            listed.append(listed[0])
        by_title = {feed[n].title: n for n in feed}
        news = [by_title[title] for title in source.poll(*(feed[n] for n in listed))]
        assert sorted(news) == sorted(fresh)
        told += news
