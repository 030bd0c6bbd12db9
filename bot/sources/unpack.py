"""Packed bodies are unpacked piece by piece, so that a bomb costs one piece and a cut-off stream is noticed.

aiohttp can unpack too; here the end of the stream is asked for (a gzip, br or zstd body that was cut off between two
whole chunks looks complete to it), the zstd window is bounded, and ``Accept-Encoding`` says exactly what is understood.
"""

from __future__ import annotations

import contextlib
import importlib
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import brotli  # type: ignore[import-untyped]  # it ships no types

PIECE = 2**16
_GZIP = b"\x1f\x8b"
_MOST_MEMBERS = 100  # one gzip body may hold several; many tiny ones are an attack
_ZSTD_WINDOW = 23  # log2 of bytes: 8 MB, the most that RFC 9659 allows on the web
# The decoder fills a 16 MB window before it gives out anything; with much more beside it a bomb would cost over 20 MB.
# What packs pages on the fly uses far smaller windows (nginx 512 kB), and a smaller window is allocated for smaller files.
_MOST_OF_WIDE_BROTLI = 2_000_000


class UnpackError(ValueError):
    """A body is not packed as its headers say, or was cut off; the message says which."""


class _Codec(Protocol):
    """``process`` gives at most about ``PIECE`` bytes; it is called with b"" until it ``wants`` more."""

    def process(self, data: bytes) -> bytes: ...
    def wants(self) -> bool: ...
    def ended(self) -> bool: ...


class _Zlib:
    def __init__(self, window: int) -> None:
        self._window, self._members = window, 1
        self._stream = zlib.decompressobj(wbits=window)
        self._rest = b""

    def process(self, data: bytes) -> bytes:
        data = self._rest + data
        if self._stream.eof:
            if not data.startswith(_GZIP) or self._window <= zlib.MAX_WBITS:
                self._rest = data if data == _GZIP[:1] else b""  # padding after the end
                return b""
            self._members += 1
            if self._members > _MOST_MEMBERS:
                raise zlib.error("too many members")
            self._stream = zlib.decompressobj(wbits=self._window)
        out = self._stream.decompress(data, PIECE)
        self._rest = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
        return out

    def wants(self) -> bool:
        return not self._rest or (self._stream.eof and self._rest == _GZIP[:1])

    def ended(self) -> bool:
        return self._stream.eof


class _Deflate:
    """The zlib format, or bare deflate, which some servers send under the same name; the first byte tells them apart."""

    def __init__(self) -> None:
        self._inner: _Zlib | None = None

    def process(self, data: bytes) -> bytes:
        if self._inner is None:
            if not data:
                return b""
            self._inner = _Zlib(zlib.MAX_WBITS if data[0] & 15 == 8 else -zlib.MAX_WBITS)
        return self._inner.process(data)

    def wants(self) -> bool:
        return self._inner is None or self._inner.wants()

    def ended(self) -> bool:
        return self._inner is not None and self._inner.ended()


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._empty = True
        self._wide, self._made = False, -1

    def process(self, data: bytes) -> bytes:
        if self._stream.is_finished():
            return b""
        if self._made < 0 and data:  # RFC 7932, 9.1: the first four bits tell the widest window
            self._wide, self._made = data[0] & 15 == 15, 0
        out = bytes(self._stream.process(data, output_buffer_limit=PIECE))
        self._empty = not out
        self._made += len(out)
        if self._wide and self._made > _MOST_OF_WIDE_BROTLI:
            raise brotli.error("too large for its window")
        return out

    def wants(self) -> bool:  # it accepts more while it still holds back some of what it made
        return bool(self._stream.is_finished() or (self._empty and self._stream.can_accept_more_data()))

    def ended(self) -> bool:
        return bool(self._stream.is_finished())


def _zstd_module() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    return None


_ZSTD = _zstd_module()


class _Zstd:
    def __init__(self) -> None:
        self._members, self._rest = 0, b""
        self._begin()

    def _begin(self) -> None:
        self._members += 1
        if self._members > _MOST_MEMBERS:
            raise _ZSTD.ZstdError("too many frames")
        self._stream = _ZSTD.ZstdDecompressor(options={_ZSTD.DecompressionParameter.window_log_max: _ZSTD_WINDOW})

    def process(self, data: bytes) -> bytes:
        data, self._rest = self._rest + data, b""
        if self._stream.eof:
            if not data:
                return b""
            self._begin()
        out = bytes(self._stream.decompress(data, PIECE))
        if self._stream.eof:
            self._rest = self._stream.unused_data
        return out

    def wants(self) -> bool:
        return not self._rest and bool(self._stream.eof or self._stream.needs_input)

    def ended(self) -> bool:
        return bool(self._stream.eof)


_CODECS: dict[str, Callable[[], _Codec]] = {
    "gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
    "x-gzip": lambda: _Zlib(zlib.MAX_WBITS | 16),
    "deflate": _Deflate,
    "br": _Brotli,
    **({"zstd": _Zstd} if _ZSTD is not None else {}),
}
_BROKEN: tuple[type[Exception], ...] = (zlib.error, brotli.error, *((_ZSTD.ZstdError,) if _ZSTD is not None else ()))
ACCEPT_ENCODING = ", ".join(name for name in _CODECS if name != "x-gzip")


class Unpacker:
    """Undoes one Content-Encoding: feed it what arrives, then ``close`` it. Raises UnpackError."""

    def __init__(self, content_encoding: str) -> None:
        self._name = content_encoding.strip().lower()
        self._fed = False
        if self._name in ("", "identity"):
            self._codec: _Codec | None = None
        elif self._name in _CODECS:
            self._codec = _CODECS[self._name]()
        else:
            raise UnpackError(f"its body is packed in a way that was not asked for ({self._name[:40]})")

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The next pieces, each of about ``PIECE`` bytes at the most; stop asking and no more is unpacked."""
        if self._codec is None:
            yield data
            return
        self._fed = self._fed or bool(data)
        try:
            while True:
                if piece := self._codec.process(data):
                    yield piece
                data = b""
                if self._codec.wants():
                    return
        except _BROKEN:
            raise UnpackError(f"its body cannot be unpacked ({self._name})") from None

    def close(self) -> None:
        """Say that nothing more comes; an empty body is whole."""
        if self._codec is not None and self._fed and not self._codec.ended():
            raise UnpackError(f"the answer was cut off in the middle ({self._name})")
