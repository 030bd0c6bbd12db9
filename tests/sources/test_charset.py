"""Header, prolog and bytes may disagree; one bad byte changes nothing but itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sources.charset import decode

RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю"
PROLOG = '<?xml version="1.0" encoding="%s"?>'


@pytest.mark.parametrize(
    "header", [None, "utf-8", "UTF8", "windows-1251", "koi8-r", "no-such", "hex", "utf-7", "utf-16"]
)
@pytest.mark.parametrize("declared", [None, "utf-8", "windows-1251"])
def test_one_bad_byte_in_utf_8_is_one_mark(header: str | None, declared: str | None) -> None:
    text = (PROLOG % declared if declared else "") + RUSSIAN
    body = text.encode().replace("булок".encode(), "бул".encode() + b"\xd0" + "ок".encode())
    assert decode(body, header) == text.replace("булок", "бул\ufffdок")


@pytest.mark.parametrize("header", [None, "utf-8", "windows-1251", "nonsense"])
def test_the_prolog_is_right_where_the_header_is_absent_or_wrong(header: str | None) -> None:
    text = PROLOG % "windows-1251" + RUSSIAN
    assert decode(text.encode("cp1251"), header) == text


@pytest.mark.parametrize(
    ("text", "encoding", "header"),
    [
        (RUSSIAN, "koi8-r", "koi8-r"),
        ("日本語のテキスト", "shift_jis", "Shift_JIS"),
        ("日本語のテキスト", "iso2022_jp", "iso-2022-jp"),
        ("日本語のテキスト", "euc_jp", "euc-jp"),
        ("联通", "gbk", "gb2312"),
        ("“quoted” – 5 €", "cp1252", "ISO-8859-1"),
        ("한국어", "cp949", "euc-kr"),
        ("x ž", "utf-16", None),
        ("x ž", "utf-32", "utf-8"),
        ("x ž", "utf-8-sig", "latin-1"),
        ("<?xml version='1.0'?>ž", "utf-16-le", None),
        ("<?xml version='1.0'?>ž", "utf-16-be", "utf-8"),
        ("<?xml version='1.0' encoding='utf-16'?>ž", "utf-8", None),
        ("<meta http-equiv=content-type content='text/html; charset=windows-1250'>ž", "cp1250", None),
        (RUSSIAN, "utf-8", "iso-8859-1"),
    ],
)
def test_what_is_meant_is_read(text: str, encoding: str, header: str | None) -> None:
    assert decode(text.encode(encoding), header) == text


@given(
    st.binary(max_size=200), st.none() | st.text(max_size=20) | st.sampled_from(["utf-16", "punycode", "idna", "gbk"])
)
def test_nothing_raises(body: bytes, header: str | None) -> None:
    assert isinstance(decode(body, header), str)
    assert isinstance(decode(b"<?xml encoding='utf-7'?>" + body, header), str)
