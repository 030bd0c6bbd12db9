"""How much of what people would keep a condensed section keeps, beside the first sentence, in one run.

``--data DIR`` is a folder of ``NAME.jsonl`` files; each line has ``text``, ``heading``, ``title``, ``limit`` and
``refs`` (summaries by people). The sets used while developing are research data with their own licences and are not
part of this project; without them nothing is measured, and that is said.

F is the mean of ROUGE-1, -2 and -L F (times 100), the best over the references: words in lower case, CJK by character,
no stemming, so that figures are comparable within a run only. ``facts`` is the share of the numbers, identifiers and
names of a reference, as far as the text has them, that the result keeps. ``cut`` is the share of results that end in
an ellipsis. ``a second`` is sections per CPU second.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from bot.briefs.condense import condense
from bot.briefs.salience import facts
from bot.briefs.sentences import sentences
from bot.briefs.shortening import shorten

_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


@dataclass(frozen=True, slots=True)
class Sample:
    """A section with what people wrote for it."""

    text: str
    heading: str
    title: str
    limit: int
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over the samples of a set: ROUGE F and shares in 0..1, characters, sections per CPU second."""

    rouge: tuple[float, float, float]
    facts: float
    cut: float
    length: float
    speed: float

    @property
    def f(self) -> float:
        """The mean of ROUGE-1, -2 and -L F."""
        return sum(self.rouge) / 3


def ours(sample: Sample) -> str:
    """What Briefbot shows."""
    return condense(sample.text, heading=sample.heading or None, title=sample.title, limit=sample.limit)


def lead(sample: Sample) -> str:
    """The first sentence, cut between words."""
    return shorten(next(iter(sentences(sample.text)), ""), sample.limit)


def lead_filled(sample: Sample) -> str:
    """The beginning of the text, cut between words: as long as the limit lets it be."""
    return shorten(" ".join(sample.text.split()), sample.limit)


METHODS: dict[str, Callable[[Sample], str]] = {"briefbot": ours, "lead": lead, "lead filled": lead_filled}


def rouge(reference: str, result: str) -> tuple[float, float, float]:
    """ROUGE-1, ROUGE-2 and ROUGE-L F of ``result`` against one reference, each in 0..1."""
    wanted, got = _words(reference), _words(result)
    pairs = [list(pairwise(words)) for words in (wanted, got)]
    common = _longest_common(wanted, got)
    return (
        _f(_overlap(wanted, got), len(wanted), len(got)),
        _f(_overlap(*pairs), len(pairs[0]), len(pairs[1])),
        _f(common, len(wanted), len(got)),
    )


def facts_kept(text: str, references: Sequence[str], result: str) -> tuple[int, int]:
    """How many of the facts of a reference that stand in ``text`` stand in ``result`` too, and how many there are."""
    best = (0, 0)
    for reference in references:
        there = [fact for fact in facts(reference) if fact.lower() in text.lower()]
        kept = sum(fact.lower() in result.lower() for fact in there)
        if there and (not best[1] or kept / len(there) > best[0] / best[1]):
            best = (kept, len(there))
    return best


def measure(method: Callable[[Sample], str], samples: Sequence[Sample]) -> Figures:
    """The figures of one method on one set."""
    started = time.process_time()
    results = [method(sample) for sample in samples]
    spent = time.process_time() - started
    best = [
        max((rouge(reference, result) for reference in sample.references), key=sum)
        for sample, result in zip(samples, results, strict=True)
    ]
    kept = [facts_kept(s.text, s.references, result) for s, result in zip(samples, results, strict=True)]
    count = len(samples)
    return Figures(
        rouge=(sum(f[0] for f in best) / count, sum(f[1] for f in best) / count, sum(f[2] for f in best) / count),
        facts=sum(k for k, _ in kept) / max(1, sum(n for _, n in kept)),
        cut=sum(result.endswith("…") for result in results) / count,
        length=sum(map(len, results)) / count,
        speed=count / max(spent, 1e-9),
    )


def read(path: Path) -> list[Sample]:
    """The samples of a file. ValueError or KeyError for a line that is none."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [Sample(row["text"], row["heading"], row["title"], row["limit"], tuple(row["refs"])) for row in rows]


def main(arguments: Sequence[str]) -> int:
    """Prints a line a method and set. 0 when something was measured or nothing was there to measure, 2 for bad data."""
    options = argparse.ArgumentParser(prog="python -m benchmarks condense", description=(__doc__ or "").split("\n")[0])
    options.add_argument("--data", type=Path, help="folder of NAME.jsonl files")
    folder: Path | None = options.parse_args(list(arguments)).data
    files = sorted(folder.glob("*.jsonl")) if folder else []
    if not files:
        print(f"SKIPPED: no *.jsonl in {folder}" if folder else "SKIPPED: no data; name its folder with --data DIR")
        return 0
    print(
        f"{'set':10} {'n':>4}  {'method':12} {'F':>5} {'R1':>5} {'R2':>5} {'RL':>5} {'facts':>6} {'cut':>6} {'chars':>5} {'a second':>9}"
    )
    for path in files:
        try:
            samples = read(path)
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"{path} is not a set of samples: {error!r}")
            return 2
        for name, method in METHODS.items() if samples else ():
            figures = measure(method, samples)
            parts = " ".join(f"{100 * part:5.1f}" for part in (figures.f, *figures.rouge))
            print(
                f"{path.stem[:10]:10} {len(samples):4}  {name:12} {parts} {figures.facts:6.1%} {figures.cut:6.1%} "
                f"{figures.length:5.0f} {figures.speed:9,.0f}",
                flush=True,
            )
    return 0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _overlap(one: Sequence[Any], other: Sequence[Any]) -> int:
    return (Counter(one) & Counter(other)).total()


def _f(common: int, wanted: int, got: int) -> float:
    return 2 * common / (wanted + got) if wanted + got else 0.0


def _longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    row = [0] * (len(other) + 1)
    for word in one:
        corner = 0
        for at, candidate in enumerate(other, 1):
            corner, row[at] = row[at], corner + 1 if word == candidate else max(row[at], row[at - 1])
    return row[-1]
