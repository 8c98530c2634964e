"""Read a file, compressed or not, as blocks of whole lines.

The block reader handles the irregularities of real files for all text formats: gzip and zstd, a
limit on the decompressed size, byte-order marks and UTF-16, carriage returns as line ends, endless
lines, invalid bytes. An invalid line is repaired and recorded as a fault with its number, so that
the rows around it can be read.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO

import numpy as np
import zstandard

from ...errors import FormatError, InputError

BLOCK = 16 << 20  # malloc reuses blocks of this size; larger ones are mapped anew each time
MAX_LINE = 1 << 20
_HEAD = 256 << 10
# A log compresses by a factor of 5 to 30, a decompression bomb by 1,000.
FREE_EXPANSION, MOST_RATIO = 1 << 30, 100
_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


@dataclass(frozen=True, repr=False)
class LineBlock:
    """Whole lines: their bytes (UTF-8), the number of the first, and faults by line number."""

    data: bytes
    first_line: int
    faults: dict[int, str]

    @cached_property
    def object_starts(self) -> int:
        """The number of lines that begin with a brace; counting takes time."""
        return self.data.count(b"\n{") + self.data.startswith(b"{")

    @cached_property
    def may_be_nested(self) -> bool:
        """Whether a line has a second brace; without one there is no object in an object."""
        return self.data.count(b"{") > self.object_starts

    def lines(self) -> int:
        """Count the lines, including a last one without a line end."""
        ends = np.count_nonzero(np.frombuffer(self.data, dtype=np.uint8) == ord("\n"))
        return int(ends) + (not self.data.endswith(b"\n"))


@dataclass
class TextFile:
    """A text file, compressed or not.

    Attributes:
        advance: Receives the number of bytes on disk after each read.
        lone_cr: Allows carriage returns as line ends, if the first line has them. Set it only if
            the first line is a header and not the row of a user.
        marked: Whether a byte-order mark may set the encoding. Unset it if the first bytes may be
            the query of a user, which must not change how other rows are read.
    """

    path: Path
    encoding: str = "utf-8"
    max_decompressed_size: int | None = None
    advance: Callable[[int], None] = field(default=lambda _: None, repr=False)
    sha256: str = ""
    lone_cr: bool = False
    marked: bool = True
    _used: str = field(default="utf-8", repr=False)

    def head(self) -> bytes:
        """Return the first lines, in UTF-8 and with normal line ends."""
        text = self.start()
        return text[: text.rfind(b"\n") + 1] or text

    def start(self) -> bytes:
        """Return the beginning of the text, which may end within a line."""
        copy = TextFile(  # without `advance`: these bytes are read again later
            self.path,
            self.encoding,
            self.max_decompressed_size,
            lone_cr=self.lone_cr,
            marked=self.marked,
        )
        return next(copy.iter_text(_HEAD), b"")

    def blocks(self) -> Iterator[LineBlock]:
        """Read the file once, from its first line to its last."""
        line = 1
        for data, too_long in _split_lines(self.iter_text(BLOCK)):
            if too_long:
                yield LineBlock(b"\n", line, {line: f"line longer than {MAX_LINE >> 20} MB"})
                line += 1
            else:
                block = repair(LineBlock(data, line, {}), self._used)
                yield block
                line += block.lines()

    def iter_text(self, size: int) -> Iterator[bytes]:
        """Yield the decompressed bytes as UTF-8, in chunks of about this size."""
        chunks = self._limit(self._decompress(size))
        first = next(chunks, b"")
        marked = next((name for bom, name in _BOMS.items() if first.startswith(bom)), None)
        self._used = (marked if self.marked else None) or self.encoding
        texts = _to_utf8(_chain(first, chunks), self._used, self.path)
        first = next(texts, b"").removeprefix(codecs.BOM_UTF8)
        start = first[:_HEAD]
        has_lone_cr = self.lone_cr and b"\r" in start[:-1] and b"\n" not in start
        for text in _chain(first, texts):
            yield text.replace(b"\r", b"\n") if has_lone_cr else text

    def _decompress(self, size: int) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                raw = _HashedFile(file, self.advance)
                yield from _DECOMPRESSORS.get(self.path.suffix.lower(), _plain)(raw, size)
                self.sha256 = raw.digest.hexdigest()
        except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
            raise InputError(
                f"the packed file is damaged or cut off ({error})",
                where=self.path,
                hint="copy or download it again; nothing of it was used",
            ) from error
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", where=self.path) from error

    def _limit(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        is_compressed, total = self.path.suffix.lower() in _DECOMPRESSORS, 0
        for chunk in chunks:
            total += len(chunk)
            if is_compressed:
                self.check_expansion(total)
            yield chunk

    def check_expansion(self, total: int) -> None:
        """Raise an error if a compressed file expands to too many bytes."""
        compressed = self.path.stat().st_size
        limit = self.max_decompressed_size or max(FREE_EXPANSION, MOST_RATIO * compressed)
        if total > limit:
            raise InputError(
                f"expands to more than {limit:,} bytes from {compressed:,}",
                where=self.path,
                hint="if this file can be trusted, raise the limit with `max_decompressed_size`",
            )


class _HashedFile:
    """A file that hashes the bytes read and reports their number."""

    def __init__(self, file: IO[bytes], advance: Callable[[int], None]) -> None:
        self.file, self.advance, self.digest = file, advance, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.digest.update(data)
        self.advance(len(data))
        return data


def _plain(file: _HashedFile, size: int) -> Iterator[bytes]:
    while chunk := file.read(size):
        yield chunk


def _gzip(file: _HashedFile, size: int) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:  # type: ignore[call-overload]
        while chunk := unpacked.read(size):
            yield chunk


def _zstd(file: _HashedFile, size: int) -> Iterator[bytes]:
    # Small pieces, so that the output of one piece stays small.
    frame, pending, waiting = zstandard.ZstdDecompressor().decompressobj(), 0, []
    data = b""
    while piece := (data or file.read(2048)):
        waiting.append(frame.decompress(piece))
        pending += len(waiting[-1])
        data = frame.unused_data if frame.eof else b""
        if frame.eof and (data or (data := file.read(2048))):
            frame = zstandard.ZstdDecompressor().decompressobj()
        if pending >= size:
            yield b"".join(waiting)
            pending, waiting = 0, []
    if not frame.eof:
        raise EOFError("it ends inside a frame")
    yield b"".join(waiting)


_DECOMPRESSORS: dict[str, Callable[[_HashedFile, int], Iterator[bytes]]] = {
    ".gz": _gzip,
    ".zst": _zstd,
    ".zstd": _zstd,
}


# The first bytes of compressed files; no text begins with them.
_COMPRESSED_STARTS = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xfd7zXZ\0", b"7z\xbc\xaf")


def compressed_suffix(start: bytes) -> str:
    """Return the ending of the name of a compressed file that begins so; empty for any other.

    >>> compressed_suffix(b"user,query")
    ''
    """
    if start.startswith(b"\x1f\x8b"):
        return ".gz"
    return ".zst" if start.startswith(b"\x28\xb5\x2f\xfd") else ""


def check_unpacked(path: Path) -> None:
    """Raise an error for a compressed file whose name does not end accordingly."""
    if path.suffix.lower() in _DECOMPRESSORS:
        return
    try:
        with path.open("rb") as file:
            start = file.read(10)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    if start.startswith(_COMPRESSED_STARTS) or start[:3] + start[4:10] == b"BZh1AY&SY":
        raise FormatError(
            "this is a packed file",
            where=path,
            hint="gzip and zstd are read where the name ends in .gz or .zst, Excel files where it "
            "ends in .xlsx; unpack anything else",
        )


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _to_utf8(chunks: Iterable[bytes], encoding: str, path: Path) -> Iterator[bytes]:
    """Convert bytes of any encoding to UTF-8."""
    decoder = _get_decoder(encoding, path)
    if codecs.lookup(encoding).name == "utf-8":
        yield from chunks
        return
    try:
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
        yield decoder.decode(b"", True).encode("utf-8", "surrogatepass")
    except UnicodeError as error:
        raise FormatError(
            f"this is not valid {encoding}",
            where=path,
            hint='for UTF-16 without a byte-order mark: `encoding="utf-16-le"` or utf-16-be',
        ) from error


# Stateful encodings: a character changes how all following ones are read, even in other rows.
_STATEFUL = ("iso2022", "hz", "utf-7")


def _get_decoder(encoding: str, path: Path) -> codecs.IncrementalDecoder:
    try:
        is_stateful = codecs.lookup(encoding).name.startswith(_STATEFUL)
        "a".encode(encoding)  # raises for rot13 and the like, which are not text encodings
        decoder = codecs.getincrementaldecoder(encoding)(_HALF)
        decoder.decode(b"a")
        decoder.reset()
    except (LookupError, ValueError) as error:
        raise FormatError(
            f'unknown encoding "{encoding}"', where=path, hint="for example utf-16 or latin-1"
        ) from error
    if is_stateful:
        raise FormatError(
            f"{encoding} is not read: a row could change how the rows after it are read",
            where=path,
            hint="convert the file to UTF-8",
        )
    return decoder


# Invalid bytes become an unpaired surrogate, which is not valid UTF-8: so the line is rejected.
# A replacement character would change the text silently.
_HALF = "queryveil-half"
codecs.register_error(_HALF, lambda error: ("\udcff", error.end))  # type: ignore[attr-defined]


def _split_lines(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Split at line ends. A line that is too long is skipped and yielded as (b"", True)."""
    rest, skipping = b"", False
    for text in chunks:
        chunk = text
        if skipping:
            end = chunk.find(b"\n") + 1
            if not end:
                continue
            yield b"", True
            chunk, skipping = chunk[end:], False
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield rest + chunk[:cut], False
            rest = b""
        rest += chunk[cut:]
        if len(rest) > MAX_LINE:
            rest, skipping = b"", True
    if skipping:
        yield b"", True
    if rest:
        yield rest + b"\n", False


def repair(block: LineBlock, encoding: str) -> LineBlock:
    """Replace invalid lines, and record their faults.

    They are not removed, because a cell may continue in the next line.
    """
    is_text = block.data.isascii() or _is_utf8(block.data)
    if is_text and b"\0" not in block.data and not _has_long_line(block.data):
        return block
    lines, faults = block.data.split(b"\n"), {}
    for index, line in enumerate(lines):
        if reason := _line_fault(line, encoding):
            faults[block.first_line + index] = reason
            lines[index] = _repair_line(line)
    return LineBlock(b"\n".join(lines), block.first_line, faults)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _has_long_line(data: bytes) -> bool:
    start = 0
    while len(data) - start > MAX_LINE:
        # Any line end within the limit will do: the last one skips the most.
        start = data.rfind(b"\n", start, start + MAX_LINE + 1) + 1
        if not start:
            return True
    return False


def _line_fault(line: bytes, encoding: str) -> str | None:
    if len(line) > MAX_LINE:
        return f"line longer than {MAX_LINE >> 20} MB"
    if b"\0" in line:
        return "NUL byte"
    name = codecs.lookup(encoding).name.upper()
    return None if line.isascii() or _is_utf8(line) else f"not {name}"


def _repair_line(line: bytes) -> bytes:
    if len(line) > MAX_LINE:
        return b""
    return line.decode("utf-8", "replace").replace("\0", "\ufffd").encode()
