"""A word that is not there is taken for the nearest ones that are: up to two slips of a finger, and never in a number."""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST = 4  # letters; a shorter word is nearly every other one


def slips(word: str) -> int:
    """How many letters may be wrong, missing, too many or swapped: 0, 1 or 2."""
    if len(word) < SHORTEST or any(char.isdigit() for char in word):
        return 0
    return 1 if len(word) <= 5 else 2


def pairs(word: str) -> set[str]:
    """The pairs of neighbouring letters, begin and end included: what is cheap to compare first."""
    framed = f"^{word}$"
    return {framed[at : at + 2] for at in range(len(framed) - 1)}


def least_shared(word: str) -> int:
    """How many pairs a word within reach has in common at least: a slip spoils at most three."""
    return max(1, len(pairs(word)) - 3 * slips(word))


def distance(one: str, other: str, most: int) -> int:
    """Letters wrong, missing, too many or neighbours swapped; ``most`` + 1 where there are more."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return min(last[-1], most + 1)


def nearest(word: str, known: Iterable[str], count: int) -> list[str]:
    """The known words within ``slips`` of it, nearest first; those with the same first letter before others."""
    most = slips(word)
    if not most:
        return []
    found = [(distance(word, other, most), other[:1] != word[:1], other) for other in known]
    return [other for gap, _, other in sorted(found) if 0 < gap <= most][:count]
