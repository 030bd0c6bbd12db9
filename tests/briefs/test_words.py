"""The reading of words: names stay whole, what is written in several ways becomes one, and nothing typed is an error."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.briefs.words import MAX_WITHOUT, MAX_WORDS, Term, normal, parse, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "c++"),
        ("C++20", "c++ 20"),
        ("C#", "c#"),
        ("node.js", "NodeJS"),
        ("Next.js", "nextjs"),
        (".NET 10", ".net 10"),
        ("ASP.NET", "asp.net"),
        ("k8s", "Kubernetes"),
        ("v1.36", "1.36"),
        ("Straße", "strasse"),
        ("„Wort“", '"Wort"'),
        ("ﬁle", "file"),
        ("ＡＩ", "ai"),
        ("data\u00adbase", "database"),
    ],
)
def test_what_means_the_same_is_the_same(one: str, other: str) -> None:
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C"), ("C#", "C"), ("C++", "C#"), ("F#", "F"), (".net", "net"), ("2.15", "2.1"), ("go", "gol")],
)
def test_what_differs_stays_apart(one: str, other: str) -> None:
    assert words(one) != words(other)


def test_every_cjk_character_stands_apart() -> None:
    assert words("大模型AI量産") == ("大", "模", "型", "ai", "量", "産")


@pytest.mark.parametrize(
    ("asked", "terms", "without"),
    [
        ("pytorch backend", [("pytorch",), ("backend",)], []),
        ('"rewritten backend" nccl', [("rewritten", "backend"), ("nccl",)], []),
        ("pytorch -azure", [("pytorch",)], [("azure",)]),
        ('pytorch -"google cloud"', [("pytorch",)], [("google", "cloud")]),
        ("pytorch -.net", [("pytorch",)], [("dotnet",)]),
        ("2.15.1", [("2", "15", "1")], []),
        ("CVE-2026-1234", [("cve", "2026", "1234")], []),
        ('"unclosed phrase', [("unclosed", "phrase")], []),
        ("“curly quotes”", [("curly", "quotes")], []),
        ('- " -- "" ()', [], []),
        ("AND OR NOT NEAR(", [("and",), ("or",), ("not",), ("near",)], []),
    ],
)
def test_the_grammar(asked: str, terms: list[tuple[str, ...]], without: list[tuple[str, ...]]) -> None:
    wish = parse(asked)
    assert [term.words for term in wish.terms] == terms
    assert [term.words for term in wish.without] == without


@pytest.mark.parametrize(
    ("asked", "goes_on"), [("pyt", True), ("pyt ", False), ('"pyt"', False), ("pyt -x", False), ("", False)]
)
def test_the_last_word_may_be_unfinished(asked: str, goes_on: bool) -> None:
    assert parse(asked).open is goes_on


def test_stop_words_say_nothing_unless_quoted() -> None:
    assert Term(("the",)).says_nothing
    assert not Term(("the",), quoted=True).says_nothing


@given(st.text(max_size=400))
@example("\ud800")
@example("İ" * 300)
@example('"-"-"' * 80)
def test_any_text_is_read(asked: str) -> None:
    wish = parse(asked)
    assert len(wish.terms) <= MAX_WORDS
    assert len(wish.without) <= MAX_WITHOUT
    for term in wish.terms + wish.without:
        assert term.words
        assert all('"' not in word and word.strip() for word in term.words)


@given(st.text(max_size=200))
def test_normal_text_stays_normal(text: str) -> None:
    once = words(text)
    assert words(" ".join(once)) == tuple(word for part in once for word in words(part))
    assert isinstance(normal(normal(text)), str)
