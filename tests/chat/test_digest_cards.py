"""A digest's page fits every limit, says what it holds, and bears its delivery's mark."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.briefs.model import Brief, Coverage, Section, Topic
from bot.chat import digest_answers, digest_cards, ids, limits
from bot.chat.limits import walk
from bot.delivery.digests import Contents, FullPage, Page
from bot.store.briefs import StoredBrief
from bot.store.digests import Digest, Schedule
from bot.store.subscriptions import Subscription
from tests.chat import make

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
MARK = "0a1b2c3d.ffffffffffffffff"
PAGE = Page("Morning digest", date(2026, 12, 1), 7, 0, 1, (), (), 0, 0, False)


def stored(*briefs: Brief) -> tuple[StoredBrief, ...]:
    return tuple(StoredBrief(10**17 + at, brief, 1, NOW, False) for at, brief in enumerate(briefs))


def page(*briefs: Brief, **changes: object) -> FullPage:
    found = stored(*briefs)
    contents = tuple(Contents(b.brief.topic.name if b.brief.topic else "", 1, b.id) for b in found)
    made = replace(PAGE, brief_ids=tuple(b.id for b in found), contents=contents, shown=len(found))
    return FullPage(replace(made, **changes), found, found)  # type: ignore[arg-type]


def texts(view: object) -> list[str]:
    return [c["content"] for c in walk(view.to_components()) if "content" in c]  # type: ignore[attr-defined]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    st.lists(make.briefs, max_size=6),
    st.integers(0, 3),
    st.integers(0, 10**6),
    make.texts,
    st.lists(st.builds(Contents, make.texts, st.integers(1, 60), st.integers(10**17, 10**17 + 5)), max_size=60),
)
def test_any_page_fits_and_bears_its_mark(
    briefs: list[Brief], number: int, more: int, name: str, contents: list[Contents]
) -> None:
    full = page(*briefs, number=number, of=4, more=more, name=name, contents=tuple(contents), run_id=2**60)
    payload = digest_cards.render(full, MARK).payload()
    assert limits.problems(payload) == []
    assert not any(payload["allowed_mentions"].values())
    assert ids.marks(payload["components"]) == {MARK}


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.lists(make.briefs, min_size=1, max_size=digest_answers.REST))
def test_any_page_of_the_rest_fits(briefs: list[Brief]) -> None:
    view = digest_answers.rest(stored(*briefs), run_id=2**60, start=24, of=10**6, first=16)
    assert limits.problems(view) == []
    assert not ids.marks(view.to_components())


def test_a_quiet_day_is_read_at_a_glance() -> None:
    view = digest_cards.render(page(make.brief(2), make.brief(2, title="Second"), more=0), MARK).view
    assert [text.replace("\\", "") for text in texts(view)] == [
        "## Morning digest\n-# Tuesday 1 December 2026 · 2 briefs in 2 topics",
        "### Data & AI",
        f"**[PyTorch 2.15 Released with Enhanced Distributed Training]({make.PERMALINK})**\n"
        "The latest update brings rewritten backends and expanded platform support.\n-# PyTorch Blog · 2 sources",
        f"**[Second]({make.PERMALINK})**\n"
        "The latest update brings rewritten backends and expanded platform support.\n-# PyTorch Blog · 2 sources",
    ]


def test_the_first_of_several_pages_has_the_contents_and_later_ones_say_where_they_are() -> None:
    ai, none = make.brief(1), make.brief(1, topic=None, title="No topic at all")
    first = digest_cards.render(page(ai, none, of=3, shown=14, more=106), MARK).view
    head, contents = texts(first)[:2]
    assert head == "## Morning digest\n-# Tuesday 1 December 2026 · 120 briefs · the 14 that matter most are here"
    assert contents.splitlines()[0].startswith("- **Data & AI** 1 · PyTorch 2")
    assert contents.splitlines()[1] == "- **Other** 1 · No topic at all"
    later = digest_cards.render(page(ai, number=1, of=3, contents=()), MARK).view
    assert texts(later)[0] == "-# **Morning digest** · page 2 of 3"
    assert not [c for c in walk(later.to_components()) if c.get("label") == "About this digest"]


def test_the_last_page_leads_to_what_did_not_fit() -> None:
    view = digest_cards.render(page(make.brief(1), number=1, of=2, shown=7, more=1234), MARK).view
    found = {c["label"]: c["custom_id"] for c in walk(view.to_components()) if c.get("label")}
    assert found["And 1,234 more"] == f"digest:7:{MARK}:more.7"
    assert found["About this digest"] == f"digest:7:{MARK}:about"


def test_each_topic_has_its_own_box_in_its_colour() -> None:
    other = make.brief(1, topic=Topic("Security", "security"))
    view = digest_cards.render(page(make.brief(1), make.brief(1), other), MARK).view
    boxes = [c for c in view.to_components() if c["type"] == 17]
    assert [len([s for s in box["components"] if s["type"] == 9]) for box in boxes] == [2, 1]
    assert len({box["accent_color"] for box in boxes}) == 2


@pytest.mark.parametrize(
    ("brief", "said"),
    [
        (Brief(title="T", dek="The dek."), "The dek\\."),
        (
            Brief(title="T", sections=(Section("H", "", None), Section("H", "Body.", "A **summary**."))),
            "A **summary**.",
        ),
        (Brief(title="T", sections=(Section("H", "Only *a* body.", None),)), "Only *a* body."),
        (Brief(title="T"), ""),
    ],
)
def test_the_sentence_is_the_dek_or_what_carries_the_first_section(brief: Brief, said: str) -> None:
    (found,) = stored(brief)
    assert digest_cards.sentence(found, 200).replace("\\", "") == said.replace("\\", "")


def test_a_brief_that_is_gone_leaves_a_page_that_still_says_what_it_is() -> None:
    view = digest_cards.render(replace(page(number=1, of=2), briefs=()), MARK).view
    assert ids.marks(view.to_components()) == {MARK}


def test_coverage_is_counted_in_the_small_print() -> None:
    (found,) = stored(make.brief(1, coverage=(Coverage("https://a.example/"),) * 5))
    assert digest_cards.entry(found, 400).endswith("-# PyTorch Blog · 5 sources")


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        (Schedule(time(8)), "every day at 08:00 (UTC)"),
        (Schedule(time(8), frozenset(range(5)), zone="Europe/Berlin"), "on weekdays at 08:00 (Europe/Berlin)"),
        (Schedule(time(18, 5), frozenset({0, 3})), "every Monday, Thursday at 18:05 (UTC)"),
        (Schedule(time(8), monthday=1), "on day 1 of the month at 08:00 (UTC)"),
        (Schedule(time(8), monthday=31), "on day 31 of the month (its last day where it is shorter) at 08:00 (UTC)"),
        (Schedule(time(8), frozenset({4}), 13), "on day 13 of the month if that is Friday at 08:00 (UTC)"),
    ],
)
def test_a_schedule_in_words(schedule: Schedule, said: str) -> None:
    assert digest_answers.when(schedule) == said


def test_what_a_digest_gathers_in_words() -> None:
    wish = Subscription(1, "config", None, 5, "data-ai", 3, False, "digest", None, "active", None, None, NOW)
    digest = Digest(wish, "Morning", Schedule(time(8)), NOW, None, NOW, 0)
    text = digest_answers.about(digest, {3: "Wi*re"})
    assert text.replace("\\", "") == (
        "This digest gathers the topic **data-ai** and the source **Wi*re**, every day at 08:00 (UTC). "
        f"The next one is due <t:{int(NOW.timestamp())}:R>."
    )
    assert "Wi\\*re" in text
    assert "paused" in digest_answers.about(replace(digest, subscription=replace(wish, state="paused")), {})
    assert "removed" in digest_answers.about(replace(digest, subscription=replace(wish, state="removed")), {})
