"""Briefs for the tests of what is shown, and the strategies that make any brief."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

from hypothesis import strategies as st

from bot.briefs.model import Brief, Coverage, Section, SourceLink, Topic

PERMALINK = "https://brifing.si/s/65ec1f7b-3139-4187-9e0e-00061cbf856c"
BODY = (
    "The rewritten backend is now the default for all process groups, replacing the legacy one. It dumps diagnostic "
    "data when a collective hangs. Users can go back with an environment variable."
)


def brief(n: int = 12, *, heading: str = "Rewritten backend {}", body: str = BODY, **changes: object) -> Brief:
    """A brief as most are, with so many sections."""
    fields: dict[str, object] = {
        "title": "PyTorch 2.15 Released with Enhanced Distributed Training",
        "dek": "The latest update brings rewritten backends and expanded platform support.",
        "source": SourceLink("PyTorch Blog", "https://pytorch.org/blog"),
        "published": date(2026, 10, 28),
        "topic": Topic("Data & AI", "data-ai", "https://brifing.si/c/data-ai"),
        "permalink": PERMALINK,
        "original": "https://pytorch.org/blog/pytorch-2-15",
        "sections": tuple(Section(heading.format(at + 1), body) for at in range(n)),
        "coverage": (Coverage("https://pytorch.org/blog/pytorch-2-15"), Coverage(None, "Phoronix")),
        "notice": "_Summary written from the original reporting._",
    }
    return Brief(**{**fields, **changes})  # type: ignore[arg-type]


NASTY = [
    "@everyone @here <@123456789012345678> <@&123456789012345678> <#123456789012345678> </run:1234567890123456>",
    "**bold *both** _under_ __line__ ~~gone~~ ||spoiler|| `code` ``` not closed",
    "# one\n## two\n-# small\n> quote\n>>> rest\n- list\n1. list",
    "[https://bank.example](https://evil.example) [x](<https://evil.example>) [a](javascript:alert(1)) ](https://x.example)",
    "https://discord.gg/abcdef discord.com/invite/abc https://evil.example/@everyone",
    "‮gpj.exe ⁦b⁩ ​ ⠀ㅤ Z̷̡̢̛̛͎̗͔̟̯̦͕̠͙̦̼̍̀̃̏́̀̃̏́̀̃̏́",
    "深度求索发布开源大模型,推理成本降低六成。采用混合专家架构,总参数量达到一万亿。" * 20,
    "إطلاق نموذج لغوي عربي مفتوح المصدر بقدرات متقدمة. " * 30,
    "👩‍👩‍👧‍👦🇸🇮🏳️‍🌈🧑🏽‍💻" * 60,
    "\\" * 300,
    "*" * 500,
    "word " * 900,
    "x" * 4000,
    "```python\n" + "print('hello')\n" * 200 + "```",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    " \t\n\u200b",
    "\ud800 lone \x00 control",
]

texts = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=200),
    st.lists(st.sampled_from(NASTY), min_size=1, max_size=3).map(" ".join),
    st.builds(lambda text, n: text * n, st.text(min_size=1, max_size=30), st.integers(1, 200)),
)
urls = st.one_of(
    st.none(),
    st.sampled_from(
        [
            PERMALINK,
            "https://example.com/" + "a" * 600,
            "https://example.com/" + "(_*" * 200,
            "http://localhost:8000/s/1",
            "http://127.0.0.1:8000/s/1",
            "https://münchen.example/größe?q=ä b",
            "https://user:pw@example.com/",
            "javascript:alert(1)",
            "https://discord.gg/abcdef",
            "https://[::1]/",
            "https://" + "a" * 300 + ".example/",
            "//example.com",
            "https://exa mple.com/",
            "",
        ]
    ),
    st.text(max_size=60).map(lambda text: "https://example.com/" + text),
    st.text(max_size=60),
)
zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.one_of(
    st.none(),
    st.dates(),
    st.datetimes(timezones=st.just(UTC)),
    st.datetimes(timezones=zones),
    st.sampled_from([datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]),
)
sections = st.builds(Section, st.none() | texts, texts, st.none() | texts)
briefs = st.builds(
    Brief,
    title=texts,
    dek=texts,
    source=st.none() | st.builds(SourceLink, texts, urls),
    published=moments,
    topic=st.none() | st.builds(Topic, texts, st.text(max_size=20), urls),
    permalink=urls,
    original=urls,
    sections=st.one_of(
        st.lists(sections, max_size=6).map(tuple),
        st.builds(lambda some, n: tuple(some) * n, st.lists(sections, min_size=1, max_size=4), st.integers(1, 200)),
    ),
    coverage=st.builds(
        lambda some, n: tuple(some) * n,
        st.lists(st.builds(Coverage, urls, st.none() | texts), max_size=3),
        st.integers(1, 30),
    ),
    notice=st.none() | texts,
)
