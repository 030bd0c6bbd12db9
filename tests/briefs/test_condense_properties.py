"""Whatever a body holds, what is told of it stands in it: in order, uncut, on one line, within the limit."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.briefs import inline
from bot.briefs.condense import condense
from bot.briefs.inline import Kind
from bot.briefs.prose import readings, written
from bot.briefs.sentences import sentences
from bot.briefs.text import plain

WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
NUMBER = re.compile(r"\d(?:[\d.,:]*\d)?")
MARKS = {Kind.OPEN, Kind.CLOSE, Kind.LINK, Kind.IMAGE, Kind.BLOCK, Kind.BREAK}

MARKDOWN = st.lists(
    st.sampled_from(
        [
            "Word",
            "a",
            "kernel",
            " ",
            " ",
            ". ",
            ", ",
            "! ",
            "? ",
            "\n",
            "\n\n",
            "- ",
            "1. ",
            "> ",
            "# ",
            "## ",
            "*",
            "**",
            "_",
            "`",
            "``",
            "```\n",
            "`x_y`",
            "[",
            "](",
            ")",
            "](https://a.b/c)",
            "![",
            "|",
            "|-|-|\n",
            "<b>",
            "</b>",
            "<br>",
            "&amp;",
            "\\",
            "~~",
            "||",
            "3,117",
            "2.15",
            "1.32–1.34x",
            "https://a.b/c_d",
            "e.g. ",
            "U.S. ",
            "(",
            ")",
            '"',
            "“",
            "”",
            "é",
            "中文",
            "。",
            "日本",
            "한국어",
            "עברית",
            "🎉",
            "\u202e",
            "\x00",
            "---\n",
            "===\n",
            "[1]: https://a.b\n",
            "[^1]",
            "<sup>2</sup>",
        ]
    ),
    max_size=50,
).map("".join)
BODIES = st.one_of(MARKDOWN, st.text(max_size=200))
LIMITS = st.integers(1, 300)

SUBJECTS = ["The kernel", "Chrome 150", "`sched_ext`", "The team", "PyTorch 2.15", "It", "Users of the API", "AMD"]
VERBS = ["adds 3,117 commits", "does not run on macOS", "allows faster builds", "drops Python 3.10", "supports gfx950"]
ENDS = [
    "",
    ", which lets hosts call it",
    ", reducing memory by 12 %",
    ", including Linux and Windows",
    ", after consent was given",
    ", unless a flag is set",
    ", according to Example",
    ", and the tools use it",
    " (CK)",
    " (only in beta)",
    ", not including drivers",
    ", if 2 cores are there",
    ", making it possible, in theory, to wait",
]
STARTS = ["", "However, ", "Additionally, ", "In this paper, ", "If asked, ", "Without a flag, "]
SENTENCES = st.lists(
    st.tuples(*map(st.sampled_from, (STARTS, SUBJECTS, VERBS, ENDS, ENDS))).map(
        lambda parts: f"{parts[0]}{parts[1]} {''.join(parts[2:])}."
    ),
    min_size=1,
    max_size=6,
)
# What no sentence may lose: negations, conditions, exceptions, times, sources.
BINDING = {"not", "no", "unless", "if", "only", "after", "without", "according", "flag", "consent"}


def is_subsequence(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(word in rest for word in part)


@settings(max_examples=100, deadline=None)
@given(BODIES, LIMITS)
def test_the_result_is_one_line_within_the_limit_and_there_where_words_are(body: str, limit: int) -> None:
    result = condense(body, heading=None, title="", limit=limit)
    assert len(result) <= limit
    assert len(result.splitlines()) <= 1
    assert result == result.strip()
    assert bool(result) >= bool(WORD.search(plain(body)))
    assert condense(body, heading=None, title="", limit=limit) == result


@settings(max_examples=100, deadline=None)
@given(BODIES, LIMITS)
def test_no_markup_but_whole_code_spans_is_in_the_result(body: str, limit: int) -> None:
    result = condense(body, heading=None, title="", limit=limit)
    tokens = inline.parse(result)
    assert not [token for token in tokens if token.kind in MARKS]
    code = {token.raw for token in tokens if token.kind is Kind.CODE}
    assert all(any(span in reading.text for reading in readings(body)) for span in code)


@settings(max_examples=100, deadline=None)
@given(BODIES, LIMITS)
def test_words_and_numbers_are_the_source_s_in_its_order(body: str, limit: int) -> None:
    said = [reading.text for reading in readings(body)]
    result = inline.words(inline.parse(condense(body, heading=None, title="", limit=limit)))
    whole = " ".join(inline.words(inline.parse(written(line))) for line in said)
    if not WORD.search(whole):
        whole = plain(body)
    assert is_subsequence(
        [word.lower() for word in WORD.findall(result)], [word.lower() for word in WORD.findall(whole)]
    )
    assert set(NUMBER.findall(result)) <= set(NUMBER.findall(whole))


@settings(max_examples=100, deadline=None)
@given(SENTENCES, st.integers(20, 260))
def test_a_sentence_loses_nothing_that_binds(source: list[str], limit: int) -> None:
    body = " ".join(source)
    result = condense(body, heading="Kernel", title="News", limit=limit)
    for sentence in sentences(result):
        if sentence.endswith("…"):
            continue
        part = WORD.findall(sentence.lower())
        origins = [WORD.findall(s.lower()) for s in sentences(body) if is_subsequence(part, WORD.findall(s.lower()))]
        assert any(not (set(origin) - set(part)) & BINDING for origin in origins), sentence


@settings(max_examples=60, deadline=None)
@given(SENTENCES)
def test_a_sentence_that_fits_is_whole_but_for_its_connective(source: list[str]) -> None:
    wholes = sentences(" ".join(source))
    wholes += [re.sub(r"^(?:However|Additionally|In this paper), ", "", whole) for whole in wholes]
    kept = {whole.lower() for whole in wholes}
    result = condense(" ".join(source), heading="Kernel", title="News", limit=600)
    assert all(sentence.lower() in kept for sentence in sentences(result)) or result.lower() in kept


@settings(max_examples=100, deadline=None)
@given(BODIES)
def test_a_reading_is_written_so_that_it_reads_the_same(body: str) -> None:
    for reading in filter(lambda reading: WORD.search(reading.text), readings(body)):
        assert [again.text for again in readings(written(reading.text))] == [reading.text]
