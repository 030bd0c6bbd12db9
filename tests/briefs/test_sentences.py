"""A text is a list of sentences, whatever dots technical words, times and languages put into it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.briefs.sentences import language, sentences

SPACED = [
    ["Kernel 6.18 is out.", "It fixes 1,204 bugs."],
    ["Upgrade to 3.14.2 first.", "Version 3.13 is no longer built."],
    ["The .NET 11 runtime starts faster.", ".NET 10 stays supported."],
    ["Call torch.mps.Stream from Python.", "Then wait for it."],
    ["Call queue.Close() last.", "Nothing may follow."],
    ["It needs Node.js 26 or Next.js 17.", "Deno works as well."],
    ["ASP.NET Core got smaller.", "Blazor did not."],
    ["The talk starts at 11 a.m. PT on Friday.", "Bring questions."],
    ["Doors open at 9 a.m.", "The talk starts later."],
    ["Several tools (e.g. ruff, uv) are in Rust.", "They start quickly."],
    ["Some tools, e.g. Ruff, are in Rust.", "They start quickly."],
    ["Example Inc. said so on Monday.", "Its shares rose."],
    ["The buyer is Example Inc.", "The price is $4.1 billion."],
    ["It runs on Linux, macOS, etc.", "Windows comes later."],
    ["The U.S. Department of Energy paid.", "The U.K. did not."],
    ["Dr. Ada B. Example of St. Ives spoke.", "Prof. Li answered."],
    ["See Fig. 3, Sec. 4.2 and no. 7.", "The rest is in the appendix."],
    ["Work by Example et al. shows it.", "We confirm it."],
    ["Read https://example.com/a.b?c=d.", "Then decide."],
    ["Run `make test. now!` twice.", "Then `git push`."],
    ["The API changed.", "`KeyboardEvent`s have a key.", "`fetch` rejects."],
    ["Wait... what happened?", "Nothing!", "Really."],
    ["It grew… and grew.", "Then it stopped."],
    ['He wrote "It works! I tried." and left.', "Nobody replied."],
    ['"It works."', "She left."],
    ["It works (it is new. Really.) on Linux.", "Try it."],
    ["The update is live.", "iOS gets it first.", "npm follows."],
    ["The loop is gone.", "torch.compile does the rest."],
    ["Plan B is vitamin C.", "I agree."],
    ["It was shipped on Oct. 28, 2026.", "The next is due in Jan. 2027."],
    ["CVE-2026-1234 scores 9.8.", "Patch v2.3.0-rc.1 now."],
    # German
    ["Die Version 2.15 unterstützt u. a. AMD, z. B. gfx950.", "Sie erscheint am 5. November 2026."],
    ["Der Umsatz stieg im 3. Quartal auf ca. 1,2 Mio. Euro.", "Das sind 12 % mehr."],
    ["„Das ist gut.“", "So sagte es Dr. Beispiel."],
    # Slovenian
    ["Srečanje bo 5. novembra ob 11. uri.", "Vodil ga bo mag. Novak."],
    ["Podprte so npr. kartice AMD, Intel itd.", "Novosti je več."],
    ["Podjetje Primer d.o.o. je objavilo t. i. povzetek.", "Na voljo je brezplačno."],
    # others
    ["La version 2.15 est sortie.", "Mme. Exemple l'a dit à 11 h."],
    ["La versión llega hoy.", "¿Qué cambia?", "¡Casi todo!"],
    ["Версия 2.15 вышла 28 октября 2026 г. и поддерживает CUDA 13.2.", "Поддержки Python 3.10 больше нет."],
    ["مرحبا بالعالم.", "هل يعمل؟", "نعم."],
    ["यह नया है।", "यह तेज़ है।"],
    ["대역폭은 초당 4테라바이트다.", "내년부터 공급한다."],
]
UNSPACED = [
    ["新版本今天发布。", "它支持 CUDA 13.2！", "你准备好了吗？"],
    ["他说：“很好。我们继续。”然后离开了。", "会议结束。"],
    ["PyTorch 2.15がリリースされました。", "CUDA 13.2に対応しています。"],
    ["彼は「完成した。すごい！」と言った。", "会議は終わった。"],
]


@pytest.mark.parametrize("expected", SPACED, ids=lambda case: case[0][:40])
def test_a_text_with_spaces_is_split_where_its_sentences_end(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize("expected", UNSPACED, ids=lambda case: case[0][:20])
def test_chinese_and_japanese_need_no_space(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


def test_blank_lines_and_list_items_end_a_sentence_and_wrapped_lines_do_not() -> None:
    text = "A heading\n\nIt is wrapped\nover lines. And goes on.\n- one item\n- two items\n  wrapped\n2) three"
    assert sentences(text) == [
        "A heading",
        "It is wrapped over lines.",
        "And goes on.",
        "- one item",
        "- two items wrapped",
        "2) three",
    ]


def test_a_lost_space_after_a_stop_is_seen() -> None:
    assert sentences("The first part ended.The second began.") == ["The first part ended.", "The second began."]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\t\n "])
def test_nothing_has_no_sentences(text: str) -> None:
    assert sentences(text) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The kernel is out and it is fast.", "en"),
        ("Die neue Version ist da und sie ist schnell.", "de"),
        ("Nova različica je na voljo in prinaša podporo za kartice.", "sl"),
        ("La nouvelle version est sortie avec plus de choses pour les gens.", "fr"),
        ("新版本今天发布。", "zh"),
        ("新しいバージョンです。", "ja"),
        ("새로운 버전이다.", "ko"),
        ("Новая версия вышла.", "ru"),
        ("", "en"),
        ("Rust 1.95", "en"),
    ],
)
def test_the_language_is_told_by_its_commonest_words(text: str, code: str) -> None:
    assert language(text) == code


PIECES = st.lists(
    st.sampled_from(
        [
            "Word",
            "word",
            " ",
            ". ",
            "! ",
            "? ",
            "… ",
            ".",
            "e.g.",
            "U.S.",
            "`a. B`",
            '"',
            "“",
            "”",
            "(",
            ")",
            "。",
            "「",
            "」",
            "3.14",
            "\n",
            "\n\n",
            "- ",
            "https://a.b/c. ",
            "`",
            "``",
            "*",
            "Inc. The",
            "etc.",
            "5. november",
            "\xa0",
            "é",
            "中",
        ]
    ),
    max_size=40,
).map("".join)


@given(st.one_of(st.text(max_size=300), PIECES))
def test_nothing_is_lost_but_white_space(text: str) -> None:
    found = sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() and sentence and "\n" not in sentence for sentence in found)
    assert sentences(text) == found


@pytest.mark.parametrize(
    "unit",
    [
        "“",
        "(",
        '"',
        "`",
        "`` ` ",
        ".",
        "a. ",
        "e.g. ",
        "。",
        "「",
        "U.S. ",
        "A.",
        '"Hi. ',
        "([“",
        "https://",
        " ",
        "a",
        "\n",
    ],
)
def test_hostile_text_takes_time_in_proportion_to_its_length(unit: str) -> None:
    text = "x" + unit * (50_000 // len(unit)) + "x"
    started = time.process_time()
    sentences(text)
    assert time.process_time() - started < 3
