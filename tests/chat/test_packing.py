"""Sections share the room that a message leaves them."""

import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.briefs.model import Section
from bot.chat import limits, packing
from tests.chat.make import BODY, brief, briefs


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(briefs, st.integers(-10, 4096))
def test_it_fits_the_room(what: object, room: int) -> None:
    packed = packing.pack(what, room)  # type: ignore[arg-type]
    text = "\n".join(filter(None, (packed.text(), packed.also)))
    assert limits.characters(text) <= max(0, room)
    assert len(packed.lines) <= len(what.sections)  # type: ignore[attr-defined]
    assert all("\n" not in line for line in packed.lines)


def test_all_sections_are_there_while_a_sentence_fits() -> None:
    assert len(packing.pack(brief(12), 4000).lines) == 12
    assert packing.pack(brief(12), 4000).also == ""


def test_sections_keep_their_order() -> None:
    what = brief(20, body=BODY * 3)
    lines = packing.pack(what, 3500).lines
    assert [line.split("**")[1] for line in lines] == [s.heading for s in what.sections[: len(lines)]]


def test_a_section_without_words_takes_no_line_and_is_no_end() -> None:
    some = (Section("One", "It is fast."), Section(None, "  "), Section("Empty", ""), Section("Two", "It is small."))
    assert packing.pack(brief(sections=some), 3000).lines == (
        "**One** It is fast.",
        "**Empty**",
        "**Two** It is small.",
    )


def test_twins_are_told_apart() -> None:
    """Equal sections are two sections."""
    packed = packing.pack(brief(sections=(Section("Same", BODY * 3),) * 60), 3000)
    named = packed.also.count("Same")
    more = int(packed.also.rpartition("and ")[2].split()[0]) if "more" in packed.also else 0
    assert len(packed.lines) + named + more == 60


def test_what_is_cut_ends_between_words() -> None:
    what = brief(sections=(Section("H", "The " + "wonderful " * 60 + "end."),))
    [line] = packing.pack(what, 200).lines
    assert line.endswith(("wonderful…", "end."))


def test_ten_thousand_sections_take_no_time() -> None:
    what = brief(10_000, body=BODY * 3)
    start = time.perf_counter()
    packed = packing.pack(what, 3800)
    assert time.perf_counter() - start < 2
    assert "more" in packed.also
