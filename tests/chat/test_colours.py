"""A topic's colour never changes."""

from bot.briefs.model import Topic
from bot.chat import colours


def test_known_topics_have_a_colour_of_their_own() -> None:
    assert len({colours.accent(Topic(slug, slug)) for slug in colours.KNOWN}) == len(colours.KNOWN)


def test_unknown_topics_keep_theirs() -> None:
    assert colours.accent(Topic("Ceramics", "ceramics")) == colours.accent(
        Topic("Keramik", "ceramics", "https://x.example")
    )
    assert colours.accent(Topic("Ceramics", "ceramics")) == 0x38A3A5
    assert len({colours.accent(Topic(str(n), str(n))) for n in range(200)}) == len(set(colours.OTHERS))


def test_without_a_topic_it_is_grey() -> None:
    assert colours.accent(None) == colours.NEUTRAL
