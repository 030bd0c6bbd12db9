"""The text of a document whose bytes, headers and prolog may all disagree."""

from __future__ import annotations

import contextlib
import re

_IN_DOCUMENT = (
    re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})"),
    re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE),
)
_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def decode(body: bytes, charset: str | None) -> str:
    """The text of a document whose server named ``charset`` (or None): byte-order mark, then the first of header and
    document that fits, then UTF-8.

    Never raises; one bad byte is replaced and changes nothing else. feedparser alone takes a whole feed for ISO-8859-2.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    if body[:4] in (b"<\0?\0", b"\0<\0?"):
        return body.decode("utf-16-le" if body[0] else "utf-16-be", "replace")
    head = body[:2048]
    named = [charset, *(m[1].decode("ascii") for p in _IN_DOCUMENT if (m := p.search(head)))]
    for name in (*filter(None, named), "utf-8"):
        with contextlib.suppress(LookupError, ValueError):  # UnicodeDecodeError is a ValueError
            return body.decode(name)
    # Nothing fits wholly: the reading with the fewest marks, UTF-8 first.
    readings = [body.decode("utf-8", "replace")]
    for name in filter(None, named):
        with contextlib.suppress(LookupError, ValueError):
            readings.append(body.decode(name, "replace"))
    return min(readings, key=lambda reading: reading.count("\ufffd"))
