"""The text of a document whose bytes, headers and prolog may all disagree."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

_IN_DOCUMENT = (
    re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})", re.ASCII),
    re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE | re.ASCII),
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What is called by these names on the web is the second (https://encoding.spec.whatwg.org/#names-and-labels).
_MEANT = {
    "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
_ONE_BYTE = ("cp125", "cp874", "iso8859", "koi8", "mac")
_NO_CHARSET = {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "utf-7", "undefined", "mbcs", "oem"}


def decode(body: bytes, charset: str | None) -> str:
    """The text of a document whose server named ``charset`` (or None): byte-order mark, then header, then document.

    UTF-8 where none of them names anything that fits. Never raises. One bad byte is replaced and changes nothing else:
    what is mostly UTF-8 is not taken for a one-byte charset, which fits everything.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    if body[:4] in (b"<\0?\0", b"\0<\0?"):
        return body.decode("utf-16-le" if body[0] else "utf-16-be", "replace")
    named = list(dict.fromkeys(_named(body[:2048], charset))) or ["utf-8"]
    if named == ["utf-8"] or body.isascii():
        return body.decode(named[0], "replace")
    reading = body.decode("utf-8", "replace")
    bad = reading.count("\ufffd")
    good = len(reading) - len(reading.encode("ascii", "ignore")) - bad
    if bad <= good if "utf-8" in named else named[0].startswith(_ONE_BYTE) and good >= 3 and bad * 10 <= good:
        return reading  # nothing else looks like UTF-8 by chance
    return body.decode(next((name for name in named if _fits(body, name)), named[0]), "replace")


def _named(head: bytes, charset: str | None) -> Iterator[str]:
    """The charsets that header and document name, as Python names them; what is none is left out."""
    said = [charset, *(m[1].decode("ascii") for p in _IN_DOCUMENT if (m := p.search(head)))]
    for name in said:
        try:
            known = codecs.lookup(name.strip() if name else "").name
            "".encode(known)  # codecs that make no text, such as hex, refuse this
        except (LookupError, ValueError):
            continue
        # ASCII is what nobody set, and says nothing that UTF-8 does not; text without a NUL is not in UTF-16 or 32.
        wide = known.startswith(("utf-16", "utf-32"))
        if known in _NO_CHARSET or known == "ascii" or (wide and b"\0" not in head):
            continue
        yield _MEANT.get(known, known)


def _fits(body: bytes, name: str) -> bool:
    try:
        body.decode(name)
    except ValueError:
        return False
    return True
