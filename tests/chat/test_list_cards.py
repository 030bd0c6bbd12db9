"""A page of a list is inside every limit, whatever its briefs and topics are called."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.briefs.model import Topic
from bot.chat import limits, list_cards
from bot.store.briefs import StoredBrief, TopicCount
from bot.store.lists import KeptList
from tests.chat import make

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def kept(kind: str, *entries: int | str, title: str = "### Title") -> KeptList:
    return KeptList(1, 2, kind, title, entries)


@given(
    texts=st.lists(make.texts, min_size=1, max_size=5),
    url=st.sampled_from([None, make.PERMALINK, make.PERMALINK + "x" * 400]),
)
@settings(max_examples=60, deadline=None)
def test_briefs_fit(texts: list[str], url: str | None) -> None:
    found = [
        StoredBrief(n, make.brief(1, title=t, dek=t, permalink=url, topic=Topic(t, "x")), 1, NOW, False)
        for n, t in enumerate(texts)
    ]
    view = list_cards.briefs(kept("briefs", *range(12)), found, 0, share=True)
    assert limits.problems(view) == []


@given(texts=st.lists(make.texts, min_size=10, max_size=10))
@settings(max_examples=40, deadline=None)
def test_topics_fit(texts: list[str]) -> None:
    shown = [(n, TopicCount(Topic(t, t[:50] or "x"), 10**6, NOW), make.brief(1, title=t)) for n, t in enumerate(texts)]
    view = list_cards.topics(kept("topics", *(f"t{n}" for n in range(25))), shown, 1, follow=True)
    assert limits.problems(view) == []


def test_a_card_has_its_button_unless_that_would_be_too_much() -> None:
    for sections in (1, 12, 60, 700):
        stored = StoredBrief(1, make.brief(sections), 1, NOW, False)
        view = list_cards.card(kept("card", 1), stored, share=True)
        assert limits.problems(view) == []
        labels = [c.get("label") for c in limits.walk(view.to_components())]
        assert "Share in channel" in labels


def test_pages_are_counted() -> None:
    assert list_cards.pages(kept("briefs")) == 1
    assert list_cards.pages(kept("briefs", *range(5))) == 1
    assert list_cards.pages(kept("briefs", *range(6))) == 2
    assert list_cards.on_page(kept("briefs", *range(6)), 1) == (5, (5,))
    assert list_cards.pages(kept("topics", *map(str, range(11)))) == 2
