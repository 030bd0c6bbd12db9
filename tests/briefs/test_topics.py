"""A brief without a topic gets the one that its title, dek and tags tell, by whole words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.briefs.topics import TOPICS, assign, category, slug


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Data & AI", "data-ai"),
        ("  Open  Source!", "open-source"),
        ("Künstliche Intelligenz", "künstliche-intelligenz"),
        ("人工知能", "人工知能"),
        ("C++", "cpp"),
        ("C#", "csharp"),
        ("C", "c"),
        ("हिन्दी समाचार", "हिन्दी-समाचार"),
        ("", ""),
        ("&&&", ""),
        ("data-ai", "data-ai"),
    ],
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


@given(st.text(max_size=60))
def test_a_slug_is_its_own_slug(name: str) -> None:
    assert slug(slug(name)) == slug(name)


@pytest.mark.parametrize(
    ("title", "topic"),
    [
        ("vLLM 1.2 doubles throughput of mixture-of-experts models", "data-ai"),
        ("Attackers exploit a zero-day in Ivanti gateways", "security"),
        ("Worm spreads through hundreds of PyPI packages", "security"),
        ("Google Cloud outage takes down Spotify", "cloud"),
        ("AMD unveils Zen 7 processors", "hardware"),
        ("Django 6.1 released", "software"),
        ("Astronomers find water on an exoplanet", "science"),
        ("Ransomware-Angriff auf Stadtwerke", "security"),
        ("新型大模型发布", "data-ai"),
        ("삼성전자, HBM5 양산", "hardware"),
        ("В ядре Linux исправлена уязвимость", "security"),
    ],
)
def test_a_title_tells(title: str, topic: str) -> None:
    assert assign(title, "", [], "")[0][0] == topic


@pytest.mark.parametrize("title", ["He said that rain fell in Chicago", "An email from Margo", "Javanese cooking", ""])
def test_part_of_a_word_tells_nothing(title: str) -> None:
    """Hacki#272, odysseus#687: "ai" is not in "said", "go" not in "Chicago", "java" not in "Javanese"."""
    assert assign(title, "", [], "") == []


@pytest.mark.parametrize("word", ["C++", "C#", ".NET", "Node.js", "F#", "c++26"])
def test_words_with_signs_are_words(word: str) -> None:
    assert assign(f"What is new in {word}", "", [], "")[0][0] == "software"
    assert assign(f"{word}: what is new", "", [], "")[0][0] == "software"


def test_java_is_not_in_javascript() -> None:
    (one,) = assign("JavaScript", "", [], "")
    (other,) = assign("JavaScript Java", "", [], "")
    assert other[1] > one[1]


@pytest.mark.parametrize(
    ("tag", "topic"),
    [
        ("Infosec", "security"),
        ("Data & AI", "data-ai"),
        ("artificial intelligence", "data-ai"),
        ("Sport", None),
        ("", None),
    ],
)
def test_a_feed_category_names_a_topic(tag: str, topic: str | None) -> None:
    assert category(tag) == topic


def test_tags_tell_where_the_title_does_not() -> None:
    assert assign("Friday notes", "", ["Gadgets"], "")[0][0] == "hardware"


def test_the_text_tells_where_nothing_else_does() -> None:
    assert assign("Friday notes", "", [], "The ransomware gang struck again.")[0][0] == "security"


@given(st.text(max_size=300), st.text(max_size=300), st.lists(st.text(max_size=20), max_size=4), st.text(max_size=300))
def test_the_answer_is_ranked_and_known(title: str, dek: str, tags: list[str], text: str) -> None:
    found = assign(title, dek, tags, text)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert {topic for topic, _ in found} <= set(TOPICS)
    assert found == assign(title, dek, tags, text)
