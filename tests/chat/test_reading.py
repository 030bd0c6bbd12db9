"""A section is read whole, page by page; a menu leads to every section; the sources are all named."""

import asyncio
import time

import pytest
from hypothesis import HealthCheck, given, settings

from bot.briefs.model import Brief, Coverage, Section
from bot.briefs.text import plain
from bot.chat import limits, reading
from bot.chat.ids import Address
from bot.chat.items import Question
from tests.chat.make import BODY, NASTY, brief, briefs

ADDRESS = Address(7, "", "sections", (0, 1))


def ask(what: Brief, *values: str) -> object:
    return asyncio.run(reading.choose(Question(ADDRESS, what, values)))


def text(view: object) -> str:
    components = limits.walk(view.to_components())  # type: ignore[attr-defined]
    return "\n".join(c["content"] for c in components if c["type"] == limits.TEXT_DISPLAY)


def test_a_section_is_there_in_full() -> None:
    shown = text(ask(brief(3), "1"))
    assert shown.startswith(f"### Rewritten backend 2\n{BODY}\n-# [PyTorch 2.15")
    assert shown.endswith("section 2 of 3")


def test_a_long_section_loses_nothing() -> None:
    body = "\n\n".join(f"Paragraph {n} says that {BODY}" for n in range(60))
    found = reading.pages(Section("Long", body))
    assert len(found) > 3
    assert " ".join(plain("\n\n".join(found)).split()) == " ".join(plain(body).split())


def test_code_stays_code_over_pages() -> None:
    found = reading.pages(Section("Code", "```python\n" + "\n".join(f"print({n})" for n in range(900)) + "\n```"))
    assert len(found) > 2
    assert all(page.startswith("```python\n") and page.endswith("```") for page in found)


@pytest.mark.parametrize("body", ["", "  \n", "\u200b"])
def test_an_empty_section_says_so(body: str) -> None:
    assert "no text of its own" in text(ask(brief(sections=(Section("Empty", body),)), "0"))
    assert "In short." in text(ask(brief(sections=(Section("Empty", body, "In short."),)), "0"))


@pytest.mark.parametrize("value", ["99", "-1", "1 ", "a", "", "3-2", "99-120", "1-", "1-2-3", "٣", "9" * 30])
def test_forged_values_get_a_sentence(value: str) -> None:
    assert ask(brief(3), value) == reading.NO_SECTION


def test_no_value_or_two_get_a_sentence() -> None:
    assert ask(brief(3)) == reading.NO_SECTION
    assert ask(brief(3), "1", "2") == reading.NO_SECTION


@pytest.mark.parametrize("n", [1, 25, 26, 50, 51, 200, 10_000])
def test_menus_lead_to_every_section(n: int) -> None:
    what = brief(n)
    reached: set[int] = set()

    def follow(options: list[dict[str, str]]) -> None:
        for option in options:
            if "-" not in option["value"]:
                reached.add(int(option["value"]))
                continue
            view = ask(what, option["value"])
            assert limits.problems(view) == []  # type: ignore[arg-type]
            [select] = [c for c in limits.walk(view.to_components()) if c["type"] == limits.STRING_SELECT]  # type: ignore[attr-defined]
            follow(select["options"])

    for item in reading.menus(what, ADDRESS):
        follow(item.to_component_dict()["options"])  # type: ignore[arg-type]
    assert reached == set(range(n))


def test_pages_turn_over_to_the_next_section() -> None:
    what = brief(2, body=BODY * 40)
    seen, address = [], Address(7, "", "page", (0, 0))
    for _ in range(20):
        view = asyncio.run(reading.turn(Question(address, what)))
        seen.append(text(view))
        buttons = [c for c in limits.walk(view.to_components()) if c["type"] == limits.BUTTON]  # type: ignore[union-attr]
        following = [b for b in buttons if b["label"].startswith("Next")]
        if not following:
            break
        number = following[0]["custom_id"].rpartition("page.")[2].split(".")
        address = Address(7, "", "page", (int(number[0]), int(number[1])))
    assert len(seen) == 2 * len(reading.pages(what.sections[0]))
    assert len(set(seen)) == len(seen)
    last = asyncio.run(reading.turn(Question(Address(7, "", "page", (0, reading.LAST_PAGE)), what)))
    assert text(last) == seen[len(seen) // 2 - 1]


@pytest.mark.parametrize("numbers", [(), (0,), (2, 0), (0, 0, 0), (999_999_999, 0)])
def test_forged_pages_get_a_sentence(numbers: tuple[int, ...]) -> None:
    assert asyncio.run(reading.turn(Question(Address(7, "", "page", numbers), brief(2)))) == reading.NO_SECTION


def test_sources_are_named_and_linked() -> None:
    coverage = (
        Coverage("https://pytorch.org/blog/pytorch-2-15-release-blog/"),
        Coverage("https://www.phoronix.com/news/PyTorch-2.15", "PyTorch 2.15 on Phoronix"),
        Coverage(None, "Somebody"),
        Coverage("https://example.com/" + "a" * 200, None),
        Coverage("javascript:alert(1)", "@everyone"),
    )
    shown = text(asyncio.run(reading.sources(Question(ADDRESS, brief(coverage=coverage)))))
    assert (
        "- [pytorch.org/blog/pytorch-2-15-release-blog](https://pytorch.org/blog/pytorch-2-15-release-blog/)" in shown
    )
    assert "- [PyTorch 2.15 on Phoronix](https://www.phoronix.com/news/PyTorch-2.15)" in shown
    assert "\n- Somebody" in shown
    assert "[example.com/…](https://example.com/aaa" in shown
    assert "javascript:" not in shown
    assert "@everyone" not in shown
    assert "Summary written from the original reporting." in shown


def test_many_sources_are_counted() -> None:
    what = brief(coverage=tuple(Coverage(f"https://example.com/{n}", "T" * 90) for n in range(300)))
    shown = text(asyncio.run(reading.sources(Question(ADDRESS, what))))
    listed = shown.count("\n- ")
    assert listed >= 10
    assert f"… and {300 - listed} more" in shown


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(briefs)
def test_any_brief_can_be_opened(what: Brief) -> None:
    assert limits.problems(asyncio.run(reading.sources(Question(ADDRESS, what)))) == []  # type: ignore[arg-type]
    for at in {0, len(what.sections) - 1}:
        if what.sections:
            assert limits.problems(ask(what, str(at))) == []  # type: ignore[arg-type]
            last = asyncio.run(reading.turn(Question(Address(7, "", "page", (at, reading.LAST_PAGE)), what)))
            assert limits.problems(last) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("nasty", [text for text in NASTY if len(text) > 200], ids=lambda text: text[:6])
def test_long_bodies_of_every_script_are_valid(nasty: str) -> None:
    what = brief(1, body=nasty * 5)
    n = len(reading.pages(what.sections[0]))
    for page in range(n):
        view = asyncio.run(reading.turn(Question(Address(7, "", "page", (0, page)), what)))
        assert limits.problems(view) == []  # type: ignore[arg-type]


def test_a_megabyte_is_opened_in_time() -> None:
    start = time.perf_counter()
    assert len(reading.pages(Section("Huge", (BODY + "\n\n") * 5000))) > 300
    assert time.perf_counter() - start < 8
