"""Briefs about the same news are one story; siblings, successors and reruns are not."""

import itertools
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.briefs.document import parse
from bot.briefs.model import Brief, Coverage, SourceLink
from bot.briefs.stories import THRESHOLD, same_story

CASES = Path(__file__).parent.parent / "data" / "documents" / "briefs"
# The groups of the 67 case briefs that tell one story, by the numbers of their files.
STORIES = [{1, 2, 3}, {7, 8}, {10, 11}, {13, 14}, {17, 18}, {19, 20}, {22, 23}, {27, 28}, {31, 32}, {46, 47}]


def brief(title: str, *, dek: str = "", day: int = 1, source: str = "A", **more: object) -> Brief:
    return Brief(title, dek, SourceLink(source), date(2026, 11, day), **more)  # type: ignore[arg-type]


def cases() -> dict[int, Brief]:
    return {int(path.name[:3]): parse(path.read_text("utf-8")) for path in sorted(CASES.glob("[0-9]*.md"))}


def test_the_case_briefs_group_as_labelled() -> None:
    found = cases()
    assert len(found) == 67
    for (n, a), (m, b) in itertools.combinations(found.items(), 2):
        same = any({n, m} <= story for story in STORIES)
        assert (same_story(a, b) >= THRESHOLD) == same, (a.title, b.title)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Python 3.15.0 released", "Python 3.14.9 released"),
        ("Google fixes Chrome zero-day CVE-2026-7777", "Google fixes Chrome zero-day CVE-2026-9001"),
        ("PyTorch 2.15 released", "PyTorch 2.15.1 released"),
    ],
)
def test_titles_with_other_versions_are_other_stories(one: str, other: str) -> None:
    assert same_story(brief(one, source="A"), brief(other, source="B")) == 0


def test_the_same_address_is_the_same_story() -> None:
    a = brief("One title", original="https://www.example.org/a?utm_source=x")
    b = brief("Quite another", day=20, source="B", coverage=(Coverage("http://example.org/a/"),))
    assert same_story(a, b) == 1


def test_a_front_page_is_nobodys_story() -> None:
    a, b = (brief(t, source=t, original="https://example.org/") for t in ("Alpha beta gamma", "Delta epsilon zeta"))
    assert same_story(a, b) < THRESHOLD


def test_a_monthly_column_under_one_title_is_not_one_story() -> None:
    a, b = brief("This week in Rust", day=1, source="A"), brief("This week in Rust", day=28, source="B")
    assert same_story(a, b) < THRESHOLD


def test_one_source_does_not_tell_a_story_twice_unless_nearly_the_same() -> None:
    found = cases()
    a, b = found[46], found[47]
    assert THRESHOLD <= same_story(a, b) < 0.8
    assert same_story(a, replace(b, source=a.source)) < THRESHOLD
    assert same_story(a, replace(a, permalink=None, original=None, coverage=(), title=a.title + "!")) == 1


words = st.text(st.sampled_from("abcXYZ 0189.-é深度 "), max_size=60)


@given(st.tuples(words, words), st.tuples(words, words), st.integers(1, 28), st.integers(1, 28))
def test_symmetric_and_between_0_and_1(one: tuple[str, str], other: tuple[str, str], day: int, later: int) -> None:
    a, b = brief(one[0], dek=one[1], day=day), brief(other[0], dek=other[1], day=later, source="B")
    assert same_story(a, b) == pytest.approx(same_story(b, a))
    assert 0 <= same_story(a, b) <= 1
