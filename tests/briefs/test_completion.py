"""Completion from memory: the newest first, words in any order, typos mended, and quick with 100,000 titles."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.briefs import spelling
from bot.briefs.completion import Titles

TITLES = [
    (1, "PyTorch 2.15 Released with Enhanced Distributed Training"),
    (2, "Kubernetes 1.36 arrives"),
    (3, "Café Müller opens in Düsseldorf"),
    (4, "PyTorch 2.15.1 fixes a hang"),
    (5, "深度求索发布开源大模型"),
    (6, "Node.js 26 is out"),
]


@pytest.mark.parametrize(
    ("typed", "ids"),
    [
        ("pyt", [4, 1]),
        ("pytorhc", [4, 1]),
        ("pytroch hang", [4]),
        ("hang pyto", [4]),
        ("kubrnet", [2]),
        ("k8s", [2]),
        ("cafe mull", [3]),
        ("大模型", [5]),
        ("nodejs", [6]),
        ("2.15.1", [4, 1]),  # the last number may go on: 1 is the beginning of 15
        ("xyzzyx", []),
        ("", [6, 5, 4]),
    ],
)
def test_titles_are_found(typed: str, ids: list[int]) -> None:
    assert [id for id, _ in Titles(TITLES).complete(typed, 3)] == ids


@given(st.text(max_size=120), st.integers(1, 25))
@settings(max_examples=60)
def test_whatever_is_typed_is_answered(typed: str, count: int) -> None:
    found = Titles(TITLES).complete(typed, count)
    assert len(found) <= count
    assert all((id, title) in TITLES for id, title in found)


def test_a_title_that_comes_later_is_found_and_one_that_is_there_stays() -> None:
    titles = Titles(TITLES)
    assert titles.complete("rust", 5) == []
    titles.add(7, "Rust 2.0")
    titles.add(7, "Another name")
    assert titles.complete("rus", 5) == [(7, "Rust 2.0")]
    assert len(titles) == 7


@given(st.text("abcde", min_size=1, max_size=9), st.text("abcde", min_size=1, max_size=9))
def test_the_distance_is_a_distance(one: str, other: str) -> None:
    most = 3
    there, back = spelling.distance(one, other, most), spelling.distance(other, one, most)
    assert there == back
    assert (there == 0) == (one == other)
    assert spelling.distance(one, other, 20) == there or there == most + 1


def test_one_swap_is_one_slip_and_numbers_are_never_mended() -> None:
    assert spelling.distance("pytorhc", "pytorch", 2) == 1
    assert spelling.nearest("2025", ["2026"], 3) == []
    assert spelling.nearest("gfx1250", ["gfx1251"], 3) == []
    assert spelling.nearest("abc", ["abd"], 3) == []


def test_a_hundred_thousand_titles_are_answered_within_50_ms() -> None:
    chance = random.Random(7)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    vocabulary = ["".join(chance.choices(letters, k=chance.randint(3, 10))) for _ in range(20_000)]
    titles = Titles()
    for id in range(100_000):
        common = (vocabulary[int(chance.paretovariate(0.6)) % 20_000] for _ in range(3))
        titles.add(id, f"{' '.join(common)} {vocabulary[id % 20_000]}{' PyTorch' if id % 1000 == 0 else ''}")
    slowest = 0.0
    for typed in ("", "e", "py", "pytorhc", "t a", "zzzzqqqq", f"{vocabulary[1]} {vocabulary[2][:2]}", "kubernetse"):
        titles.complete(typed, 25)
        begun = time.process_time()
        titles.complete(typed, 25)
        slowest = max(slowest, time.process_time() - begun)
    assert slowest < 0.05
    assert len(titles.complete("pytorhc", 25)) == 25
