"""What other bots broke on, and random histories of a feed: each true item is news once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sources import identity
from bot.sources.identity import Item, Seen, Verdict

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Ledger:
    """What the store keeps of one source, so that documents can be shown one after another."""

    def __init__(self, backfill: int = 0) -> None:
        self.known: dict[bytes, int] = {}
        self.seen: dict[int, Seen] = {}
        self.oldest: datetime | None = None
        self.last_ok_at: datetime | None = None
        self.now, self.backfill = START, backfill
        self.verdicts: list[Verdict] = []

    def show(self, items: Sequence[Item], *, after: timedelta = HOUR) -> list[str]:
        """The titles that are news when the source lists these items, one poll after the last."""
        self.now += after
        first_sight = self.last_ok_at is None
        asked = identity.lookup(items)
        decisions = identity.decide(
            items,
            {key: item for key, item in self.known.items() if key in asked},
            self.seen,
            first_sight=first_sight,
            oldest=self.oldest,
            last_ok_at=self.last_ok_at,
            now=self.now,
            listed_before=sum(s.last_listed_at == self.last_ok_at for s in self.seen.values()),
            backfill=self.backfill,
        )
        assert [d.item for d in decisions] == list(items)
        for decision in decisions:
            item_id = decision.item_id
            if item_id is None and decision.verdict is not Verdict.REPEATED:
                item_id = len(self.seen)
                self.seen[item_id] = Seen(self.now, self.now)
            if item_id is not None:
                self.seen[item_id] = replace(self.seen[item_id], last_listed_at=self.now)
                for key in decision.keys:
                    assert len(key) == 16
                    self.known.setdefault(key, item_id)
        if first_sight:
            dates = [identity.moment(item.published) for item in items if item.published]
            self.oldest = min(dates, default=None)
        self.last_ok_at = self.now
        self.verdicts = [d.verdict for d in decisions]
        return [d.item.title for d in decisions if d.verdict is Verdict.NEW]


def item(n: int, **other: object) -> Item:
    usual = Item(f"g{n}", f"https://example.org/{n}", f"Title {n}", START + n * HOUR)
    return replace(usual, **other)


def items(*numbers: int) -> list[Item]:
    return [item(n) for n in numbers]


def test_first_sight_is_a_baseline_and_what_comes_later_is_news() -> None:
    ledger = Ledger()
    assert ledger.show(items(3, 2, 1)) == []
    assert ledger.verdicts == [Verdict.BASELINE] * 3
    assert ledger.show(items(4, 3, 2, 1)) == ["Title 4"]
    assert ledger.show(items(4, 3, 2, 1)) == []


@pytest.mark.parametrize("backwards", [False, True])
def test_backfill_makes_the_newest_of_the_first_sight_news(backwards: bool) -> None:
    listed = items(1, 2, 3, 4) if backwards else items(4, 3, 2, 1)
    assert set(Ledger(backfill=2).show(listed)) == {"Title 3", "Title 4"}


def test_case_1_one_repeated_or_missing_guid_leaves_the_others_alone() -> None:
    ledger = Ledger()
    a = items(3, 2, 1)
    ledger.show(a)
    again = item(4, guid="g3")
    assert ledger.show([again, *a]) == ["Title 4"]
    assert ledger.show([item(5, guid=None), again, *a]) == ["Title 5"]
    assert ledger.show([item(5, guid=None), again, *a]) == []
    assert ledger.show([item(6, guid="g3"), item(5, guid=None)]) == ["Title 6"], "the guid tells nothing apart any more"


@pytest.mark.parametrize("title", ["Title {n}", "Always the same", ""])
def test_case_2_one_guid_for_all_is_told_apart_by_link(title: str) -> None:
    def listed(*numbers: int) -> list[Item]:
        return [item(n, guid="feed", title=title.format(n=n)) for n in numbers]

    ledger = Ledger(backfill=100)
    assert len(ledger.show(listed(*range(10, 0, -1)))) == 10
    assert ledger.show(listed(*range(10, 0, -1))) == []
    assert len(ledger.show(listed(*range(11, 1, -1)))) == 1
    assert len(ledger.show(listed(12))) == 1, "also when it stands alone"
    assert ledger.show(listed(*range(12, 2, -1))) == []


def test_case_3_an_empty_guid_is_none_and_fragments_tell_apart() -> None:
    ledger = Ledger()
    ledger.show([])
    two = [item(n, guid="  ", link=f"https://example.org/a#v{n}") for n in (1, 2)]
    assert len(ledger.show(two)) == 2
    assert ledger.show(two) == []


def test_equal_links_are_told_apart_by_guid_or_title() -> None:
    ledger = Ledger()
    changelog = "https://example.org/changelog"
    ledger.show([item(n, link=changelog) for n in (2, 1)])
    assert ledger.show([item(n, link=changelog) for n in (3, 2, 1)]) == ["Title 3"]
    assert ledger.show([item(n, link=changelog, guid=None) for n in (4, 3, 2)]) == ["Title 4"]
    status = [item(n, link="https://example.org/status", title="Degraded") for n in range(4)]
    ledger = Ledger()
    ledger.show(status[:1])
    assert len(ledger.show([status[1], status[0]])) == 1
    assert len(ledger.show([status[2], status[1], status[0]])) == 1
    assert len(ledger.show([status[3], status[2]])) == 1


def test_case_4_a_date_bump_or_an_edit_is_no_news() -> None:
    ledger = Ledger()
    ledger.show(items(2, 1))
    assert ledger.show([item(2, published=ledger.now + 2 * HOUR), item(1, title="Another title")]) == []
    assert ledger.show([item(2, link="https://example.org/moved"), item(1, title="Yet another")]) == []
    assert ledger.show([item(2, guid="x", link="https://example.org/moved"), item(1, guid="y")]) == []


def test_case_5_all_guids_change() -> None:
    ledger = Ledger()
    ledger.show([item(n, guid=f"http://example.org/{n}") for n in range(40, 0, -1)])
    assert ledger.show([item(n, guid=f"https://example.org/{n}") for n in range(40, 0, -1)]) == []
    assert ledger.show([item(n, guid=f"tag:{n}") for n in range(40, 0, -1)]) == []


def test_the_domain_changes_and_with_it_guids_and_links() -> None:
    ledger = Ledger()
    ledger.show(items(*range(-1, -41, -1)))
    moved = [item(n, guid=f"https://new.example/{n}", link=f"https://new.example/{n}") for n in range(-1, -41, -1)]
    assert ledger.show(moved) == []


def test_case_6_an_old_page_slides_into_the_window() -> None:
    ledger = Ledger()
    ledger.show(items(*range(10, 0, -1)))
    old = item(0, published=START - timedelta(days=730))
    assert ledger.show([*items(*range(9, 0, -1)), old]) == []
    assert ledger.verdicts[-1] is Verdict.OLD
    assert ledger.show([*items(11, *range(9, 0, -1)), old]) == ["Title 11"]
    assert ledger.show([item(12, published=START + HOUR)]) == ["Title 12"], "late, but not older than the first sight"


def test_case_7_a_short_response_and_then_the_whole_again() -> None:
    ledger = Ledger()
    whole = items(*range(50, 0, -1))
    ledger.show(whole)
    assert ledger.show(whole[:3]) == []
    assert ledger.show([]) == []
    assert ledger.show(whole) == []


@pytest.mark.parametrize("dated", [True, False])
def test_the_first_response_was_the_short_one(dated: bool) -> None:
    whole = [replace(i, published=i.published if dated else None) for i in items(*range(50, 0, -1))]
    ledger = Ledger()
    ledger.show(whole[:3])
    assert ledger.show(whole) == []
    assert ledger.show([item(51), *whole]) == ["Title 51"]


def test_case_8_dates_of_every_kind_and_none() -> None:
    dates = [START, date(2026, 11, 1), date(2017, 9, 10), datetime(2035, 1, 1, tzinfo=UTC), None]
    listed = [item(n, published=published) for n, published in enumerate(dates)]
    assert len(Ledger(backfill=9).show(listed)) == len(dates)
    ledger = Ledger()
    ledger.show([])
    assert len(ledger.show(listed[:4])) == 4
    assert len(ledger.show(listed)) == 1


def test_case_11_what_waits_is_not_lost() -> None:
    """The decision knows no cap: all 25 are news at once; how many are read at a poll is the poller's."""
    ledger = Ledger()
    ledger.show(items(1))
    ledger.now += timedelta(hours=30)
    assert len(ledger.show(items(*range(26, 0, -1)))) == 25


def test_guids_that_are_positions_in_the_list() -> None:
    def listed(*numbers: int) -> list[Item]:
        return [item(n, guid=str(position)) for position, n in enumerate(numbers, 1)]

    ledger = Ledger()
    ledger.show(listed(5, 4, 3, 2, 1))
    for newest in range(6, 12):
        window = range(newest, newest - 5, -1)
        assert ledger.show(listed(*window)) == [f"Title {newest}"]
        assert ledger.show(listed(*window)) == []


def test_every_link_has_a_new_session_each_time() -> None:
    for guid in (None, "kept"):
        ledger = Ledger()
        for visit in range(3):
            session = [
                item(n, guid=guid and f"{guid}{n}", link=f"https://example.org/{n}?PHPSESSID={visit}{n}&visit={visit}")
                for n in range(30, 0, -1)
            ]
            assert ledger.show(session) == []


def test_a_weekly_column_is_news_each_week_and_a_retitled_copy_is_not() -> None:
    ledger = Ledger()

    def column(week: int) -> Item:
        return item(week, title="Security updates for Friday", published=START + timedelta(days=7 * week))

    ledger.show([column(0)])
    for week in range(1, 4):
        assert len(ledger.show([column(week)], after=timedelta(days=7))) == 1
        assert ledger.show([column(week), column(week - 1)], after=HOUR) == []


def test_an_item_comes_back_after_a_long_time() -> None:
    ledger = Ledger()
    ledger.show(items(2, 1))
    ledger.show(items(2), after=timedelta(days=400))
    assert ledger.show(items(2, 1), after=timedelta(days=400)) == []


def test_only_a_title() -> None:
    ledger = Ledger()
    bare = [item(n, guid=None, link=None) for n in (3, 2, 1)]
    ledger.show(bare[1:])
    assert ledger.show(bare) == ["Title 3"]
    assert ledger.show(bare) == []
    assert ledger.show([Item(None, None, "")]) == [""], "nothing to tell it by: the poller's to leave out"


@pytest.mark.parametrize("dates", ["old", "none", "bumped to one moment before the last poll"])
def test_a_flood_is_told_and_not_posted(dates: str) -> None:
    ledger = Ledger()
    ledger.show(items(*range(40, 0, -1)), after=timedelta(days=3))
    moment = {"old": START - HOUR, "none": None}.get(dates, ledger.now - HOUR)
    renamed = [item(n, guid=f"new {n}", link=f"https://new.example/p{n}", title=f"New {n}") for n in range(40, 0, -1)]
    renamed = [replace(i, published=moment and moment + n * timedelta(seconds=1)) for n, i in enumerate(renamed)]
    ledger.oldest = START - timedelta(days=1)
    assert ledger.show(renamed) == []
    assert set(ledger.verdicts) == {Verdict.FLOOD}
    assert ledger.show([item(99, published=ledger.now), *renamed]) == ["Title 99"]


def test_what_is_dated_as_news_is_posted_in_a_flood_too() -> None:
    ledger = Ledger()
    ledger.show(items(*range(0, -10, -1)))
    renamed = [item(n, guid=f"new {n}", link=f"https://new.example/p{n}", title=f"New {n}") for n in range(0, -10, -1)]
    assert ledger.show([item(99, published=ledger.now + HOUR / 2), *renamed]) == ["Title 99"]


def test_a_flood_of_new_dates_under_known_titles() -> None:
    ledger = Ledger()
    ledger.show(items(*range(0, -10, -1)))
    rebuilt = [
        item(n, guid=f"new {n}", link=f"https://new.example/p{n}", published=START + 9 * HOUR)
        for n in range(0, -10, -1)
    ]
    assert ledger.show(rebuilt, after=10 * HOUR) == []


def test_a_busy_feed_after_an_outage_is_no_flood() -> None:
    ledger = Ledger()
    ledger.show(items(*range(0, -40, -1)))
    later = [item(n, published=ledger.now + n * HOUR) for n in range(40, 0, -1)]
    assert len(ledger.show(later, after=timedelta(days=2))) == 40
    undated = [replace(item(n), published=None) for n in range(80, 40, -1)]
    assert len(ledger.show(undated, after=timedelta(days=2))) == 40


def test_any_number_of_files_may_come_at_once() -> None:
    ledger = Ledger()
    files = [Item(f"{n}.md", None, f"{n}.md", version=f"{n}") for n in range(40)]
    ledger.show([])
    assert len(ledger.show(files)) == 40
    assert ledger.show(files) == []
    changed = replace(files[0], version="other")
    assert ledger.show([changed, *files[1:]]) == []
    assert ledger.verdicts == [Verdict.CHANGED] + [Verdict.KNOWN] * 39
    ledger.show([changed])
    assert ledger.verdicts == [Verdict.KNOWN]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://Example.org/a", "https://example.ORG:443/a"),
        ("http://example.org:80/a/", "https://example.org/a"),
        ("https://example.org/a?utm_source=x&id=1&fbclid=y", "https://example.org/a?id=1"),
        ("https://example.org/a;jsessionid=1F?gclid=2", "https://example.org/a"),
        ("  https://example.org/a ", "https://example.org/a"),
    ],
)
def test_links_that_mean_one_page(one: str, other: str) -> None:
    assert identity.canonical(one) == identity.canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a#v1", "https://example.org/a#v2"),
        ("https://example.org/a?id=1", "https://example.org/a?id=2"),
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org:8443/a", "https://example.org/a"),
    ],
)
def test_links_that_do_not(one: str, other: str) -> None:
    assert identity.canonical(one) != identity.canonical(other)


texts = st.text(max_size=30) | st.sampled_from(
    ["", "https://", "http://[", "http://a:b/", "tag:x", "g", "\0", "\ud800"]
)
anything = st.builds(
    Item,
    guid=st.none() | texts,
    link=st.none() | texts,
    title=texts,
    published=st.none() | st.dates() | st.datetimes(timezones=st.just(UTC)),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(anything, max_size=8), max_size=4))
def test_hostile_items_are_decided_and_never_news_again_unchanged(documents: list[list[Item]]) -> None:
    ledger = Ledger()
    for document in documents:
        ledger.show(document)
        told = [i for i in document if i.title.split() or (i.guid or "").strip() or (i.link or "").strip()]
        assert ledger.show(told) == []


SHAPES = ("guid and link", "link", "guid", "title")


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, list[list[tuple[int, Item]]]]:
    """How many items there were at first sight, and a feed's documents, each entry with the number of its true item."""
    shape = draw(st.sampled_from(SHAPES))
    undated = draw(st.booleans())  # then few items, as many at once without dates are taken for a flood
    window, published, there_first = draw(st.integers(3, 12)), 0, 0
    now = START
    stands: dict[int, Item] = {}
    before: set[int] = set()
    documents = []
    for round_ in range(draw(st.integers(2, 8))):
        now += HOUR
        news = draw(st.integers(0, 3)) if not undated else draw(st.integers(0, min(1, there_first + 4 - published)))
        for _ in range(news if round_ else draw(st.integers(1, 10))):
            published += 1
            guid, link = f"g{published}", f"http://example.org/{published}"
            stands[published] = Item(
                guid if "guid" in shape else None,
                link if "link" in shape else None,
                f"Title {published}",
                draw(st.sampled_from([None if undated else now, now - HOUR / 2, (now - HOUR / 2).date()]))
                if round_
                else START + published * HOUR / 60,
            )
        listed = sorted(stands, reverse=True)[:window]
        # Truncations and short responses, pages that come and go.
        cut = not (undated and round_ == 0) and draw(st.booleans())
        listed = listed[: draw(st.integers(0 if round_ else 1, len(listed)))] if cut else listed
        hidden = draw(st.sets(st.sampled_from(listed), max_size=2)) if cut and listed and round_ else set()
        listed = [n for n in listed if n not in hidden]
        for n in sorted(before & set(listed)):
            was = stands[n]
            match draw(st.integers(0, 5)):
                case 0 if shape != "title":
                    stands[n] = replace(was, title=f"{was.title} (updated)")
                case 1 if was.guid:
                    stands[n] = replace(was, guid=f"{was.guid}'")
                case 2 if was.guid and was.link:
                    stands[n] = replace(was, link=f"{was.link}-moved")
                case 3 if was.link:
                    stands[n] = replace(was, link=was.link.replace("http:", "https:"))
            if draw(st.integers(0, 3)) == 0:
                stands[n] = replace(stands[n], published=now)
        if draw(st.booleans()):
            listed = draw(st.permutations(listed))
        entries = [(n, stands[n]) for n in listed]
        if entries and draw(st.booleans()):
            n, entry = draw(st.sampled_from(entries))
            if entry.link and draw(st.booleans()):
                entry = replace(entry, link=f"{entry.link}?utm_source=rss")
            entries.insert(draw(st.integers(0, len(entries))), (n, entry))
        before |= set(listed)
        documents.append(entries)
        there_first = there_first or published
    return there_first, documents


@settings(max_examples=100, deadline=None)
@given(histories())
def test_each_true_item_is_news_once(history: tuple[int, list[list[tuple[int, Item]]]]) -> None:
    there_first, documents = history
    ledger = Ledger()
    at_first = {n for n, _ in documents[0]}
    told: list[int] = []
    for document in documents:
        ledger.show([entry for _, entry in document])
        told += [n for (n, _), v in zip(document, ledger.verdicts, strict=True) if v is Verdict.NEW]
    assert len(told) == len(set(told)), "an item was news twice"
    assert not at_first.intersection(told), "the baseline was news"
    assert {n for document in documents for n, _ in document if n > there_first} <= set(told), "an item was missed"
