"""The words around the sections are bounded, harmless and say what is meant."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.chat import limits, wording
from tests.chat.make import NASTY, moments, texts, urls


@given(texts, st.integers(0, 300))
def test_what_is_fitted_fits(text: str, limit: int) -> None:
    assert limits.characters(wording.fit(text, limit)) <= limit
    assert limits.characters(wording.escaped(text, limit)) <= limit


@given(texts)
def test_a_sentence_is_one_line_and_no_block(text: str) -> None:
    shown = wording.sentence(text)
    assert "\n" not in shown
    assert not shown.startswith(("# ", "## ", "-# ", "> ", ">>> ", "- ", "* ", "```"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A plain sentence.", "A plain sentence."),
        ("With `code` and **bold**.", "With `code` and **bold**."),
        ("12. März 2027: es beginnt.", "12\\. März 2027: es beginnt."),
        ("# It is\nsmaller", "It is smaller"),
        ("- [x](https://x.example) it", "x it"),
    ],
)
def test_sentences_keep_their_marks(text: str, shown: str) -> None:
    assert wording.sentence(text) == shown


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        (None, ""),
        (" \u2800 ", ""),
        ("asyncio", "asyncio"),
        ("`asyncio` changes", "`asyncio` changes"),
        ("**Bold** heading", "Bold heading"),
        ("__init__ and *args", "\\_\\_init\\_\\_ and \\*args"),
        ("*" * 400, ""),
    ],
)
def test_headings(heading: str | None, shown: str) -> None:
    assert wording.heading(heading) == shown


def test_labels_are_plain() -> None:
    assert wording.label("**@everyone** [x](https://x.example) discord.gg/abc", 80) == "＠everyone x (invite removed)"


@pytest.mark.parametrize(
    ("published", "shown"),
    [
        (None, ""),
        (date(2026, 3, 1), "1 March 2026"),
        (datetime(2026, 3, 1, 12, tzinfo=UTC), "<t:1772366400:D>"),
        (datetime(2026, 3, 1, 14, tzinfo=timezone(timedelta(hours=2))), "<t:1772366400:D>"),
        (datetime(2026, 3, 1, 12), "1 March 2026"),
    ],
)
def test_moments(published: date | datetime | None, shown: str) -> None:
    assert wording.moment(published) == shown


@given(moments)
def test_any_moment_can_be_said(published: date | datetime | None) -> None:
    assert len(wording.moment(published)) < 40


@given(urls)
def test_a_buttons_address_is_short_and_ascii(url: str | None) -> None:
    shown = wording.button_url(url)
    assert shown is None or (shown.isascii() and len(shown) <= limits.BUTTON_URL and " " not in shown)
    assert shown is None or wording.button_url(shown) == shown
    assert shown is None or len(wording.site(shown)) <= 40


@given(st.sampled_from(NASTY), urls)
def test_links_do_not_eat_the_room(name: str, url: str | None) -> None:
    assert len(wording.short_link(name, url)) < 2 * wording.NAME + 2 * wording.LINKED_URL
