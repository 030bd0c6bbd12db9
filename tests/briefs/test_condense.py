"""A section becomes the sentence that carries it: read as a reader would, and then what Markdown and limits do to it."""

import time
from pathlib import Path

import pytest

from bot.briefs.condense import condense, condensed
from bot.briefs.document import parse
from bot.briefs.model import Brief, Section
from bot.briefs.trimming import trimmed, without_connective

DOCUMENT = Path(__file__).parent.parent / "data" / "briefs" / "brifing-pytorch-2.15.md"


def told(body: str, *, heading: str | None = None, title: str = "", limit: int = 240) -> str:
    return condense(body, heading=heading, title=title, limit=limit)


# -- The real brief, each section read by a person -------------------------------------------------------------------

SUMMARIES = {
    "PyTorch 2.15 Core Evolution": "PyTorch 2.15 marks a significant shift from research-oriented roots toward a unified, "
    "hardware-agnostic production platform.",
    "Rewritten NCCL Backend Default": "The rewritten NCCL backend is now the default for all nccl process groups, "
    "replacing the legacy implementation.",
    "One-Sided Transports via NIXL": "The torch.distributed module now features a Python transport API for one-sided "
    "data movement, debuting with the NIXL backend.",
    "FSDP2 and Pipelining Enhancements": "FSDP2 now offers granular control over precision and memory, allowing users to "
    "keep sensitive parameters like MoE router gates in fp32 while training the rest in bf16.",
    "Blackwell GPU Performance Gains": "The release introduces faster 4-bit (NVFP4) LLM decoding on NVIDIA Blackwell GPUs "
    "by folding scalar dequantization factors directly into GEMM kernels.",
    "Apple Silicon Optimization Path": "Apple Silicon support expands with native FP8 support and faster decode-specific "
    "kernels. The introduction of public torch.mps.Stream APIs brings Apple Silicon closer to CUDA-like control over "
    "stream management and tensor recording.",
    "AMD and Intel GPU Updates": "AMD support now includes FlyDSL kernels for gfx950 and Tensor Data Mover for gfx1250, "
    "alongside ROCm 10.0 wheels. Intel XPU development is simplified through new free-function SYCL kernel support, "
    "replacing verbose functor-based models.",
    "CUDA 13.2 and Python 3.15": "The default PyTorch wheel now targets CUDA 13.2, with experimental CUDA 13.4 wheels "
    "available for Linux and Windows, including support for NVIDIA Rubin GPUs. PyTorch 2.15 adds support for Python 3.15, "
    "including free-threaded builds.",
    "Advanced Profiling with Cuspy": "Kernel attribution for CUDA graphs has been enhanced through the renamed Cuspy "
    "monitor. With record_py_stacks enabled, users can now view the specific Python launch stack for each node in a trace.",
    "Expanded C++ Stable ABI": "The C++ stable ABI has been expanded to include torch::stable::sort, and more c10/util "
    "components have moved into header-only paths. load_inline can now generate pybind11 modules that are safe for "
    "import on free-threaded Python builds.",
    "Community Q&A Webinar": "Meta engineers Tristan Rice, Natalia Gimelshein, Huy Do, and Jane Xu will host a Q&A "
    "webinar on November 5, 2026, at 11 AM PT to discuss the 2.15 release.",
    "Strategic Impact of 2.15": "PyTorch 2.15 solidifies the framework's role as a production-grade, hardware-agnostic "
    "engine for large-scale AI.",
}


def test_every_section_of_the_real_brief_says_what_matters_in_it() -> None:
    brief = condensed(parse(DOCUMENT.read_text("utf-8")))
    assert {section.heading: section.summary for section in brief.sections} == SUMMARIES


@pytest.mark.parametrize("limit", [240, 200, 160, 120])
def test_in_the_real_brief_nothing_that_fits_is_cut(limit: int) -> None:
    brief = parse(DOCUMENT.read_text("utf-8"))
    for section in condensed(brief, limit).sections:
        assert section.summary is not None
        assert len(section.summary) <= limit
        if limit >= 160:
            assert section.summary.endswith("."), section.summary


def test_only_summaries_are_filled() -> None:
    brief = Brief("Title", dek="Dek", sections=(Section("H", "One sentence here."), Section(None, "")))
    done = condensed(brief)
    assert [section.summary for section in done.sections] == ["One sentence here.", ""]
    assert [(s.heading, s.body) for s in done.sections] == [(s.heading, s.body) for s in brief.sections]
    assert (done.title, done.dek) == (brief.title, brief.dek)


# -- Which sentence --------------------------------------------------------------------------------------------------


def test_the_heading_tells_which_sentence_carries_the_section() -> None:
    body = (
        "Many teams met in Ljubljana last week to talk about build systems and their history. "
        "The new linker halves the time that incremental builds of large workspaces take. "
        "Coffee was served in the afternoon and everybody enjoyed the weather outside."
    )
    assert told(body, heading="New linker for incremental builds", title="Builds", limit=150) == (
        "The new linker halves the time that incremental builds of large workspaces take."
    )


@pytest.mark.parametrize(
    "opening", ["It", "This", "They", "These updates", "Those", "Such a change", "Its authors", "Both"]
)
def test_a_sentence_that_points_back_is_not_taken_where_another_stands_alone(opening: str) -> None:
    body = f"Talks were held on Monday. {opening} makes the scheduler of Kernel 6.18 faster on 128 cores in every test."
    assert told(body, heading="Kernel 6.18 scheduler", limit=95) == "Talks were held on Monday."


@pytest.mark.parametrize("opening", ["This release", "This version", "In this article, a patch"])
def test_what_points_at_the_brief_itself_stands_alone(opening: str) -> None:
    sentence = f"{opening} makes the scheduler of Kernel 6.18 faster on 128 cores in every test."
    result = told(f"Talks were held on Monday. {sentence}", heading="Kernel 6.18 scheduler", limit=100)
    assert result.removesuffix(".")[-60:] == sentence.removesuffix(".")[-60:]


def test_the_only_sentence_is_taken_even_if_it_points_back() -> None:
    assert told("It is faster now.") == "It is faster now."


@pytest.mark.parametrize(
    "opening", ["Additionally", "Furthermore", "However", "Conversely", "In addition", "As a result"]
)
def test_an_opening_connective_is_left_out(opening: str) -> None:
    body = f"People talked a lot. {opening}, support for Python 3.10 has been dropped from the wheels."
    assert told(body, heading="Python 3.10", limit=70) == "Support for Python 3.10 has been dropped from the wheels."


def test_a_name_in_lower_case_stays_so_after_a_connective() -> None:
    assert without_connective("However, support is gone.").text == "Support is gone."
    assert without_connective("But Windows is left out.").text == "Windows is left out."
    assert without_connective("But it is left out.").text == "But it is left out."
    assert without_connective("Additionally, npm caches metadata.").text == "npm caches metadata."
    assert without_connective("Also, load_inline is safe.").text == "load_inline is safe."


def test_furniture_and_lead_ins_carry_nothing() -> None:
    body = "Photo by Jane Doe / Example Agency in Berlin\n\nThe highlights of Kernel 6.18 are:\n\n- Faster boot on old laptops."
    assert told(body, heading="Kernel 6.18") == "Faster boot on old laptops."


# -- One sentence, or two --------------------------------------------------------------------------------------------


def test_a_short_sentence_takes_one_with_facts_along() -> None:
    body = "Kernel 6.18 is out. It fixes 1,204 bugs in 37 drivers."
    assert told(body, heading="Kernel 6.18") == body


def test_a_second_sentence_without_facts_stays_away() -> None:
    body = "Kernel 6.18 is out for everybody now. Many people are very happy about that and say so."
    assert told(body, heading="Kernel 6.18") == "Kernel 6.18 is out for everybody now."


def test_a_long_sentence_stays_alone() -> None:
    first = "Kernel 6.18 replaces the whole scheduler of the last twenty years with one that knows which cores share a cache."
    assert told(f"{first} GCC 16 is needed.", heading="Kernel 6.18 scheduler", limit=150) == first


def test_chinese_sentences_are_joined_without_a_space_and_korean_ones_with_one() -> None:
    assert (
        told("新版本2.15今天发布。它支持CUDA 13.2和Python 3.15。")
        == "新版本2.15今天发布。它支持CUDA 13.2和Python 3.15。"
    )
    korean = "SK하이닉스는 16단 HBM5 양산을 시작했다. 대역폭은 초당 4테라바이트다."
    assert told(korean) == korean


# -- What does not fit -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "form"),
    [
        (
            "The runtime now offers a Python transport API for moving data, replacing the legacy implementation.",
            "The runtime now offers a Python transport API for moving data.",
        ),
        (
            "The default wheel now uses CUDA 13.2 on Linux and Windows, including drivers, tools and samples.",
            "The default wheel now uses CUDA 13.2 on Linux and Windows.",
        ),
        (
            "Go 1.24 introduces a new compiler directive for exports, which lets hosts call functions by their names.",
            "Go 1.24 introduces a new compiler directive for exports.",
        ),
        (
            "The team has moved its long short-term memory network (LSTM) into the core library this week.",
            "The team has moved its long short-term memory network into the core library this week.",
        ),
    ],
)
def test_a_sentence_that_is_too_long_loses_what_only_adds(sentence: str, form: str) -> None:
    assert told(sentence, limit=len(form)) == form
    assert told(sentence, limit=len(sentence)) == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        # a condition, a time, an exception, a negation, a hedge, a source
        "Chrome allows pages to talk to USB devices, after the user has given consent to it.",
        "The kernel drops the old driver for these cards, unless the flag is set at boot.",
        "The wheels are built for Linux and Windows, excluding builds for older Macs.",
        "The API is stable for all of the extensions, which may not use it yet.",
        "The fix is available in all stable channels, starting in version 80.",
        "The bug affects all users of the library, which researchers said was rare.",
        "The new flag is available to everybody (only in beta builds of the browser).",
        "The new option is there for everybody (enable it in the flags first).",
        "The new service is free (for students) and can be used by everyone.",
        "The approach models a Markov (Decision) Process and solves it.",
        "The price rises to $20 (from $10) for all of the users in the EU.",
        # an insertion up to its closing comma, and the last part of a list
        "The API allows sites, particularly identity providers, to signal a status of login.",
        "The model includes finding tables, reading cells, and writing them to files.",
        "The library uses arrays, including views, and calls them tensors for short.",
        # a colon must not become a stop
        "The media features of this release include several, which are these:",
        # what is left would be no sentence
        "Cloud Migration, a preliminary prototype of the tool, including samples.",
        "As we make plans for the release of the new APIs, including Topics, we want feedback.",
        "For developers who use the API, including those on Windows, nothing changes.",
        # the rest is negated
        "The tool does not read any files, including those of the user.",
    ],
)
def test_what_binds_is_never_left_out(sentence: str) -> None:
    assert [form.text for form in trimmed(sentence)] == []


def test_a_parenthesis_goes_only_where_the_text_around_it_stays_well_formed() -> None:
    assert not list(trimmed("We study the kernel, CK, (also called the process kernel), and it is new."))
    assert not list(trimmed("Support has arrived in Opera (& Opera Mobile) 12.1 for all of the users."))


def test_where_nothing_fits_the_cut_is_between_words_and_says_so() -> None:
    body = "Kernel developers replaced the scheduler and 3,117 other things on thirty-seven architectures at once"
    assert told(body, limit=60) == "Kernel developers replaced the scheduler and 3,117 other…"
    assert told(body, limit=49) == "Kernel developers replaced the scheduler…"


def test_a_sentence_that_fits_is_preferred_to_one_that_is_cut() -> None:
    body = (
        "Kernel developers replaced the scheduler and three thousand other things on thirty-seven architectures at once "
        "and nobody noticed. Kernel 6.18 boots in 2 seconds."
    )
    assert told(body, heading="Kernel 6.18", limit=60) == "Kernel 6.18 boots in 2 seconds."


@pytest.mark.parametrize("limit", range(1, 40))
def test_tiny_limits_cut_no_word_number_link_or_code(limit: int) -> None:
    whole = {"Kernel", "1,234,567", "https://example.com/a/b", "`kernel.sched`", "is", "faster."}
    for body in (
        " ".join(sorted(whole)),
        "1,234,567 `kernel.sched`",
        "`kernel.sched` is",
        "https://example.com/a/b is",
    ):
        result = told(body, limit=limit)
        assert result
        assert len(result) <= limit
        assert set(result.removesuffix("…").split()) <= whole | {"faster"}


def test_no_room_is_no_text() -> None:
    assert told("Words.", limit=0) == told("Words.", limit=-3) == ""


# -- Markdown --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("The **new** _kernel_ is ~~not~~ [faster](https://example.com/x).", "The new kernel is not faster."),
        ("Run `make -j 8` now.", "Run `make -j 8` now."),
        ("Use ``a ` b`` here.", "Use ``a ` b`` here."),
        ("The <b>kernel</b> &amp; the <code>sched_ext</code> class.", "The kernel & the `sched_ext` class."),
        ("It costs 2 * 3 * 4 euros and snake_case_name stays.", "It costs 2 * 3 * 4 euros and snake_case_name stays."),
        (r"A literal \*star\* stays one.", r"A literal \*star\* stays one."),
        ("A wrapped\nparagraph\nis one line.", "A wrapped paragraph is one line."),
        ("- **Boot**: two times faster\n", "Boot: two times faster"),
        ("- [x] Boot is faster now.", "Boot is faster now."),
        ("> The kernel is faster, they wrote.", "The kernel is faster, they wrote."),
        ("### A heading\n\nThe kernel is faster.", "The kernel is faster."),
        ("```sh\nmake\n```\nThe kernel is faster.", "The kernel is faster."),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nThe kernel is faster.", "The kernel is faster."),
        ("![a picture](x.png)\n\nThe kernel is faster.", "The kernel is faster."),
        ("See <https://example.com/a_b_c>.", "See https://example.com/a_b_c."),
        ("It is 10<sup>6</sup> times faster.", "It is 10^6 times faster."),
        ("It is faster.[^1]\n\n[^1]: On one machine.", "It is faster."),
        ("The kernel ([docs][1]) is faster.\n\n[1]: https://example.com", "The kernel (docs) is faster."),
        # where there is nothing else
        ("```sh\nmake install\n```", "`make install`"),
        ("### Only a heading", "Only a heading"),
        ("![a picture of a kernel](x.png)", "a picture of a kernel"),
        ("| Board | RAM |\n|---|---|\n| Pi 6 | 16 GB |", "Pi 6 | 16 GB"),
        ("1\\. Not a list", "1\\. Not a list"),
        ("", ""),
        ("***", ""),
        ("<!-- nothing -->", ""),
    ],
)
def test_the_result_is_one_line_of_plain_markdown(body: str, expected: str) -> None:
    assert told(body) == expected


def test_the_words_of_a_list_are_sentences() -> None:
    body = "- Boot takes 2 seconds on a Pi 6.\n- The installer knows Slovenian.\n- Old icons are gone."
    assert told(body, heading="Boot time", limit=60) == "Boot takes 2 seconds on a Pi 6."


@pytest.mark.parametrize(
    "sentence",
    [
        "Die neue Version 2.15 unterstützt z. B. AMD-Karten.",
        "Nova različica 2.15 podpira npr. kartice AMD.",
        "تدعم النسخة 2.15 بطاقات AMD الجديدة.",
        "גרסה 2.15 תומכת בכרטיסים חדשים.",
        "संस्करण 2.15 नया है।",
        "เวอร์ชัน 2.15 รองรับการ์ดใหม่",
    ],
)
def test_any_language_goes(sentence: str) -> None:
    assert told(sentence) == sentence
    assert 0 < len(told(sentence, limit=12)) <= 12


# -- Hostile bodies --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "a",
        "`",
        "[",
        "(",
        '"',
        "“",
        "*a ",
        "_a_ ",
        "> ",
        "- a\n",
        "|a|b|\n|-|-|\n",
        "```\nx\n",
        "<b>",
        "&amp;",
        "。",
        "It is good, making x. ",
        "It is a, which is b, and c, ",
        "http://a.b/c ",
        "\x00",
        "\ud800 ",
        "\u202ea ",
        "a\u0301",
        "# a\n",
    ],
)
def test_five_megabytes_of_anything_end_soon(unit: str) -> None:
    body = unit * (5_000_000 // len(unit))
    started = time.process_time()
    result = told(body, heading="H", title="T")
    assert time.process_time() - started < 3
    assert len(result) <= 240
    assert "\n" not in result
