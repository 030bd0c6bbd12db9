"""One brief is one message that reads well and breaks no limit, whatever the brief holds."""

import re
from datetime import UTC, date, datetime
from typing import Any

import discord
import pytest
import simcord
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.briefs.model import Brief, Section, Topic
from bot.chat import cards, colours, ids, limits
from tests.chat.make import BODY, NASTY, PERMALINK, brief, briefs

MARK = "0badcafe.1f"
FORMATS = ["card", "compact", "embed"]


def payload(what: Brief, format: str = "card", role_id: int | None = None) -> dict[str, Any]:
    return cards.render(what, brief_id=7, format=format, mark=MARK, role_id=role_id).payload()


def texts(message: dict[str, Any]) -> str:
    shown = [c["content"] for c in limits.walk(message["components"]) if c["type"] == limits.TEXT_DISPLAY]
    for embed in message.get("embeds", ()):
        shown += [embed.get("title", ""), embed.get("description", ""), embed.get("footer", {}).get("text", "")]
    return "\n".join(shown)


def parts(message: dict[str, Any], kind: int) -> list[Any]:
    return [c for c in limits.walk(message["components"]) if c["type"] == kind]


def labels(message: dict[str, Any]) -> list[str]:
    return [c["label"] for c in parts(message, limits.BUTTON)]


def test_a_card_has_title_dek_a_line_a_section_foot_menu_and_buttons() -> None:
    found = payload(brief(3))
    assert found["flags"] == 32768
    assert found["allowed_mentions"] == {"parse": []}
    [container] = found["components"]
    assert container["accent_color"] == colours.KNOWN["data-ai"]
    shown = texts(found)
    assert shown.startswith(
        f"## [PyTorch 2.15 Released with Enhanced Distributed Training]({PERMALINK})\nThe latest update"
    )
    assert len(re.findall(r"^- \*\*Rewritten backend \d\*\* \S", shown, re.MULTILINE)) == 3
    source, topic = "[PyTorch Blog](https://pytorch.org/blog)", "[Data & AI](https://brifing.si/c/data-ai)"
    assert shown.endswith(f"-# {source} · {topic} · 28 October 2026 · 2 sources")
    [select] = parts(found, limits.STRING_SELECT)
    assert select["placeholder"] == "Read a section in full"
    assert [(o["label"], o["value"]) for o in select["options"]] == [
        (f"Rewritten backend {n + 1}", str(n)) for n in range(3)
    ]
    assert labels(found) == ["Sources", "Original article", "Read on brifing.si"]


def test_a_datetime_is_a_timestamp_and_a_date_is_a_day() -> None:
    moment = datetime(2026, 10, 28, 9, 30, tzinfo=UTC)
    assert f"<t:{int(moment.timestamp())}:D>" in texts(payload(brief(published=moment)))
    assert "28 October 2026" in texts(payload(brief(published=date(2026, 10, 28))))
    assert payload(brief(published=moment), "embed")["embeds"][0]["timestamp"] == moment.isoformat()
    assert "28 October 2026" in payload(brief(), "embed")["embeds"][0]["footer"]["text"]


def test_a_summary_that_fits_is_shown_as_it_is() -> None:
    section = Section("Speed", BODY, "It dumps *diagnostic* data when a collective hangs.")
    shown = texts(payload(brief(sections=(section,))))
    assert "**Speed** It dumps *diagnostic* data when a collective hangs." in shown


def test_one_section_stands_without_a_bullet() -> None:
    assert "\n- " not in texts(payload(brief(1)))
    assert "\n**Rewritten backend 1** " in "\n" + texts(payload(brief(1)))


def test_room_that_short_sections_leave_goes_to_long_ones() -> None:
    long = "The compiler now " + "folds scalar factors into kernels and " * 5 + "wins."
    some = [Section(f"Short {n}", "It is faster.", "It is faster.") for n in range(12)]
    some += [Section(f"Long {n}", long, long) for n in range(8)]
    shown = texts(payload(brief(sections=tuple(some))))
    assert shown.count(long) == 8  # 4000 / 20 would not have been enough for one of them


def test_many_sections_lead_with_sentences_and_name_the_rest() -> None:
    found = payload(brief(40, body=BODY * 2))
    shown = texts(found)
    sentences = len(re.findall(r"^- \*\*", shown, re.MULTILINE))
    also = re.search(r"^-# \*\*Also in this brief:\*\* (.*)$", shown, re.MULTILINE)
    assert also
    assert 12 <= sentences < 40
    assert also[1].startswith(f"Rewritten backend {sentences + 1} · ")
    named = also[1].count(" · ") + 1
    more = re.search(r"… and (\d+) more$", also[1])
    assert sentences + named + (int(more[1]) if more else 0) == 40
    assert limits.problems(found) == []
    first, second = parts(found, limits.STRING_SELECT)
    assert first["placeholder"] == "Read a section in full: sections 1–25"
    assert second["placeholder"] == "Read a section in full: sections 26–40"
    assert [o["value"] for s in (first, second) for o in s["options"]] == [str(n) for n in range(40)]
    assert second["options"][0]["label"] == "26. Rewritten backend 26"


@pytest.mark.parametrize(("n", "groups"), [(51, 3), (625, 25), (626, 2), (10_000, 16)])
def test_very_many_sections_are_picked_by_groups(n: int, groups: int) -> None:
    found = payload(brief(n))
    [select] = parts(found, limits.STRING_SELECT)
    assert len(select["options"]) == groups
    assert select["options"][0]["label"] == ("Sections 1–25" if n <= 625 else "Sections 1–625")
    assert select["options"][-1]["value"].endswith(f"-{n}")
    assert limits.problems(found) == []


def test_headings_of_three_hundred_characters_are_shortened() -> None:
    heading = "An unusually long heading that never comes to an end " * 6
    found = payload(brief(12, heading=heading + "{}"))
    shown = [h for h in re.findall(r"\*\*(.+?)\*\*", texts(found)) if h != "Also in this brief:"]
    assert len(shown) == 12
    assert all(len(h) <= 100 and h.endswith("…") for h in shown)
    assert all(len(o["label"]) <= 100 for o in parts(found, limits.STRING_SELECT)[0]["options"])


def test_sections_without_headings_are_a_list_of_sentences() -> None:
    some = (
        Section(None, "It is faster. More follows."),
        Section(None, "# It is smaller."),
        Section("", "- It is free."),
    )
    found = payload(brief(sections=some))
    lines = [line for line in texts(found).split("\n") if line.startswith("- ")]
    assert len(lines) == 3
    assert not any(line.startswith(("- #", "- -")) for line in lines)
    assert parts(found, limits.STRING_SELECT)[0]["options"][0]["label"].startswith("It is faster")


def test_a_bare_brief_is_a_message_too() -> None:
    for format in FORMATS:
        found = payload(Brief("Only a title"), format)
        assert limits.problems(found) == []
        assert "Only a title" in texts(found)
        assert ids.marks(found["components"]) == {MARK}


def test_no_sections_but_a_dek() -> None:
    found = payload(Brief("A title", "And what it is about."))
    assert texts(found) == "## A title\nAnd what it is about."
    assert labels(found) == ["About"]


def test_a_blank_title_is_replaced_by_what_names_the_brief() -> None:
    assert "What it is about" in texts(payload(Brief(" \u2800\u3164", "What it is about.")))
    assert "example.com" in texts(payload(Brief("\u200b", permalink="https://example.com/a")))
    assert "28 October 2026" in texts(payload(Brief("", published=date(2026, 10, 28))))
    assert "without a title" in texts(payload(Brief("")))


def test_a_dek_that_repeats_the_title_is_left_out() -> None:
    assert texts(payload(Brief("Same words", "same words"))) == "## Same words"


def test_a_long_address_does_not_eat_the_room() -> None:
    long = "https://example.com/" + "a" * 400
    found = payload(brief(permalink=long, original=None))
    assert long not in texts(found)
    assert [b["url"] for b in parts(found, limits.BUTTON) if b["style"] == 5] == [long]
    too_long = "https://example.com/" + "a" * 900
    assert labels(payload(brief(permalink=too_long, original=None))) == ["Sources"]
    assert f"]({too_long})" in texts(payload(brief(permalink=too_long, original=None), "compact"))


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/s/1",
        "https://user:pw@example.com/",
        "javascript:alert(1)",
        "https://exa mple.com/",
        "https://[::1]/",
        "https://discord.gg/abcdef",
        "//example.com/",
        "https://example.com:99999/",
    ],
)
def test_a_button_has_only_an_address_that_discord_takes(url: str) -> None:
    for format in FORMATS:
        found = payload(brief(permalink=url, original=url), format)
        assert not [b for b in parts(found, limits.BUTTON) if b["style"] == 5]
        assert all("url" not in embed for embed in found.get("embeds", ()))


def test_a_buttons_address_is_ascii() -> None:
    found = payload(brief(permalink="https://münchen.example/größe?q=ä%20b", original=None))
    [url] = [b["url"] for b in parts(found, limits.BUTTON) if b["style"] == 5]
    assert url == "https://xn--mnchen-3ya.example/gr%C3%B6%C3%9Fe?q=%C3%A4%20b"


def test_one_button_where_original_and_permalink_are_the_same() -> None:
    assert labels(payload(brief(original=PERMALINK))) == ["Sources", "Read on brifing.si"]


def test_compact_is_title_dek_and_link() -> None:
    found = payload(brief(), "compact")
    shown = texts(found)
    assert shown.startswith(
        f"### [PyTorch 2.15 Released with Enhanced Distributed Training]({PERMALINK})\nThe latest update"
    )
    assert "Rewritten" not in shown.replace("rewritten backends", "")
    assert labels(found) == ["Read here", "Original article", "Read on brifing.si"]
    assert not parts(found, limits.STRING_SELECT)


def test_an_embed_is_an_ordinary_message() -> None:
    found = payload(brief(), "embed")
    assert "flags" not in found
    [embed] = found["embeds"]
    assert embed["title"] == "PyTorch 2.15 Released with Enhanced Distributed Training"
    assert embed["url"] == PERMALINK
    assert embed["author"] == {"name": "PyTorch Blog", "url": "https://pytorch.org/blog"}
    assert embed["color"] == colours.KNOWN["data-ai"]
    assert embed["description"].count("\n- **") == 12
    assert embed["footer"]["text"] == "Data & AI · 28 October 2026 · 2 sources"
    assert [c["type"] for c in found["components"]] == [limits.ACTION_ROW, limits.ACTION_ROW]


@pytest.mark.parametrize("format", FORMATS)
def test_only_the_chosen_role_is_mentioned(format: str) -> None:
    role = 123456789012345678
    found = payload(brief(title=NASTY[0]), format, role)
    assert found["allowed_mentions"] == {"parse": [], "roles": [role]}
    if format == "embed":
        assert found["content"] == f"<@&{role}>"
    else:
        assert found["components"][0] == {"type": 10, "content": f"<@&{role}>"}
    assert "content" not in payload(brief(), format)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_bears_the_mark(format: str) -> None:
    for n in (0, 1, 60):
        assert ids.marks(payload(brief(n), format)["components"]) == {MARK}
    assert ids.marks(cards.render(brief(), brief_id=0, format=format, mark="").payload()["components"]) == set()


@pytest.mark.parametrize(
    "wrong", [{"format": "poem"}, {"mark": "a:b"}, {"mark": "a" * 26}, {"brief_id": -1}, {"brief_id": 2**63}]
)
def test_what_cannot_be_asked_for(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"format|custom_id"):
        cards.render(brief(), **({"brief_id": 1, "format": "card", "mark": ""} | wrong))


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_hostile_comes_through(format: str) -> None:
    hostile = " ".join(NASTY[:6])
    some = (Section(hostile, hostile), Section(None, hostile), Section("x", "y", hostile))
    what = brief(title=hostile, dek=hostile, topic=Topic(hostile, "x"), sections=some)
    shown = texts(payload(what, format))
    if format == "embed":
        shown = shown.rpartition("\n")[0]  # no Markdown in a footer
    assert not re.search(r"@(everyone|here)|[^\\]<[@#]?[&!]?\d{15}|discord\.gg/|javascript:|\]\(<", shown)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b]", shown)
    for line in shown.split("\n")[2:]:
        assert not re.match(r"(- )?(#|>|- #|1\. )", line), line


@pytest.mark.parametrize("text", [text for text in NASTY if len(text) > 200], ids=lambda text: text[:6])
@pytest.mark.parametrize("n", [1, 12, 40])
def test_long_texts_of_every_script_are_valid(text: str, n: int) -> None:
    what = brief(n, title=text, dek=text, heading=text.replace("{", "")[:300] + "{}", body=text)
    for format in FORMATS:
        found = payload(what, format)
        assert limits.problems(found) == []
        assert len(texts(found)) > 60


def test_chinese_fills_the_message_up_to_its_bytes() -> None:
    found = payload(brief(40, heading="模型架构{}", body=NASTY[6].replace("。", ",")))
    size = limits.count(found)
    assert limits.problems(found) == []
    assert size.bytes > 8000
    assert len(re.findall(r"^- \*\*", texts(found), re.MULTILINE)) >= 10


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(briefs, st.sampled_from(FORMATS), st.sampled_from([None, 123456789012345678]))
def test_any_brief_fits_every_limit(what: Brief, format: str, role_id: int | None) -> None:
    found = payload(what, format, role_id)
    assert limits.problems(found) == []
    assert ids.marks(found["components"]) == {MARK}
    assert texts(found).strip()
    for component in limits.walk(found["components"]):
        if url := component.get("url"):
            assert re.fullmatch(r"https?://[a-z0-9.-]+(:\d+)?[!-~]*", url)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("role_id", [None, 123456789012345678])
async def test_the_payload_is_what_goes_over_the_wire(format: str, role_id: int | None) -> None:
    client = discord.Client(intents=discord.Intents(guilds=True), allowed_mentions=discord.AllowedMentions.none())
    async with simcord.run(client) as env:
        channel = env.create_guild().create_text_channel("briefs")
        rendered = cards.render(brief(30), brief_id=7, format=format, mark=MARK, role_id=role_id)
        target = client.get_channel(channel.id)
        assert isinstance(target, discord.TextChannel)
        await target.send(**rendered.arguments(), nonce=MARK)
        sent = dict(env.http_requests[-1].json)
        assert sent.pop("nonce") == MARK
        assert sent.pop("enforce_nonce") is True
        assert sent.pop("tts") is False
        assert rendered.content or sent.pop("content") is None  # discord.py writes null where there is none
        assert sent == rendered.payload()
        assert not client._connection._view_store._views  # nothing waits for clicks for the life of the process
