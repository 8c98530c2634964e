"""Bytes of a file as blocks of whole lines, whatever it is packed in.

The block reader meets the odd things of real files once for all text formats: gzip and
zstd, a cap on what they expand to, byte-order marks and UTF-16, carriage returns as line
ends, lines without end, bytes that are no text. A line that cannot be text is mended and
noted as a fault, so that the rows around it are read and its number is told.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np
import zstandard

from ...errors import FormatError, InputError


BLOCK = 16 << 20  # as much as malloc reuses; a larger piece is mapped anew each time
MAX_LINE = 1 << 20
_HEAD = 256 << 10
# A log packs 5 to 30 times; a bomb 1,000 times.
FREE_EXPANSION, MOST_RATIO = 1 << 30, 100
_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


@dataclass(frozen=True, repr=False)
class LineBlock:
    """Some whole lines: their bytes (UTF-8), the first one's number, and the bad ones."""

    data: bytes
    first_line: int
    faults: dict[int, str]

    def lines(self) -> int:
        """Count the lines, a last one without line end included."""
        ends = np.count_nonzero(np.frombuffer(self.data, dtype=np.uint8) == ord("\n"))
        return int(ends) + (not self.data.endswith(b"\n"))


@dataclass
class TextFile:
    """A file of lines, plain or packed.

    `advance` is told of each piece of the file that was read, in bytes on disk. `lone_cr` allows
    carriage returns as line ends, where the first line shows them: only where that is a header, and
    nobody's row. With `marked` unset a byte-order mark does not tell the encoding either: where the
    first bytes are somebody's query, it would change how all others are read.
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
        """Give the first lines, in UTF-8 and with plain line ends."""
        text = self.start()
        return text[: text.rfind(b"\n") + 1] or text

    def start(self) -> bytes:
        """Give the beginning of the text, which may end within a line."""
        quiet = TextFile(
            self.path,
            self.encoding,
            self.max_decompressed_size,
            lone_cr=self.lone_cr,
            marked=self.marked,
        )
        return next(quiet._text(_HEAD), b"")

    def blocks(self) -> Iterator[LineBlock]:
        """Read the file once, from its first line to its last."""
        line = 1
        for data, too_long in _whole_lines(self._text(BLOCK)):
            if too_long:
                yield LineBlock(b"\n", line, {line: f"line longer than {MAX_LINE >> 20} MB"})
                line += 1
            else:
                block = _checked(LineBlock(data, line, {}), self._used)
                yield block
                line += block.lines()

    def _text(self, size: int) -> Iterator[bytes]:
        chunks = self._capped(self._unpacked(size))
        first = next(chunks, b"")
        found = next((name for bom, name in _BOMS.items() if first.startswith(bom)), None)
        self._used = (found if self.marked else None) or self.encoding
        texts = _decoded(_chain(first, chunks), self._used, self.path)
        first = next(texts, b"").removeprefix(codecs.BOM_UTF8)
        start = first[:_HEAD]
        carriage = self.lone_cr and b"\r" in start[:-1] and b"\n" not in start
        for text in _chain(first, texts):
            yield text.replace(b"\r", b"\n") if carriage else text

    def _unpacked(self, size: int) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as file:
                raw = _Counted(file, self.advance)
                yield from _UNPACK.get(self.path.suffix.lower(), _plain)(raw, size)
                self.sha256 = raw.digest.hexdigest()
        except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
            raise InputError(
                f"the packed file is damaged or cut off ({error})",
                where=self.path,
                hint="copy or download it again; nothing of it was used",
            ) from error
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", where=self.path) from error

    def _capped(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        capped, total = self.path.suffix.lower() in _UNPACK, 0
        for chunk in chunks:
            total += len(chunk)
            if capped:
                self.check_expansion(total)
            yield chunk

    def check_expansion(self, total: int) -> None:
        """Refuse a packed file that expands to so many bytes, if they are too many."""
        packed = self.path.stat().st_size
        most = self.max_decompressed_size or max(FREE_EXPANSION, MOST_RATIO * packed)
        if total > most:
            raise InputError(
                f"expands to more than {most:,} bytes from {packed:,}",
                where=self.path,
                hint="if the file is what it should be, raise the cap with --max-expanded",
            )


class _Counted:
    """A file that hashes what is read of it and tells how much that was."""

    def __init__(self, file: IO[bytes], advance: Callable[[int], None]) -> None:
        self.file, self.advance, self.digest = file, advance, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        self.digest.update(data)
        self.advance(len(data))
        return data


def _plain(file: _Counted, size: int) -> Iterator[bytes]:
    while chunk := file.read(size):
        yield chunk


def _gzip(file: _Counted, size: int) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:  # type: ignore[call-overload]
        while chunk := unpacked.read(size):
            yield chunk


def _zstd(file: _Counted, size: int) -> Iterator[bytes]:
    # Fed in small pieces, so that no piece can expand beyond measure.
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


_UNPACK: dict[str, Callable[[_Counted, int], Iterator[bytes]]] = {
    ".gz": _gzip,
    ".zst": _zstd,
    ".zstd": _zstd,
}


# Marks of whole files, with bytes that no text begins with.
_PACKED_STARTS = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xfd7zXZ\0", b"7z\xbc\xaf")


def check_unpacked(path: Path) -> None:
    """Refuse a packed file that is not named so."""
    if path.suffix.lower() in _UNPACK:
        return
    try:
        with path.open("rb") as file:
            start = file.read(10)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    if start.startswith(_PACKED_STARTS) or start[:3] + start[4:10] == b"BZh1AY&SY":
        raise FormatError(
            "this is a packed file",
            where=path,
            hint="gzip and zstd are read where the name ends in .gz or .zst; unpack anything else",
        )


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _decoded(chunks: Iterable[bytes], encoding: str, path: Path) -> Iterator[bytes]:
    """Turn bytes in any encoding into UTF-8."""
    decoder = _decoder(encoding, path)
    if codecs.lookup(encoding).name == "utf-8":
        yield from chunks
        return
    try:
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", "surrogatepass")
        yield decoder.decode(b"", True).encode("utf-8", "surrogatepass")
    except UnicodeError as error:
        raise FormatError(
            f"this is no text in {encoding}",
            where=path,
            hint="of UTF-16 without a byte-order mark say which: --encoding utf-16-le or utf-16-be",
        ) from error


# In these a sign changes how all that follows is read, beyond the end of its row.
_SHIFTING = ("iso2022", "hz", "utf-7")


def _decoder(encoding: str, path: Path) -> codecs.IncrementalDecoder:
    try:
        shifting = codecs.lookup(encoding).name.startswith(_SHIFTING)
        "a".encode(encoding)  # says of rot13 and its like that they are no encoding of text
        decoder = codecs.getincrementaldecoder(encoding)(_HALF)
        decoder.decode(b"a")
        decoder.reset()
    except (LookupError, ValueError) as error:
        raise FormatError(
            f'unknown encoding "{encoding}"', where=path, hint="for example utf-16 or latin-1"
        ) from error
    if shifting:
        raise FormatError(
            f"{encoding} is not read: a row could change how the rows after it are read",
            where=path,
            hint="write the file anew in UTF-8",
        )
    return decoder


# Bytes that an encoding has no character for become half a surrogate, which is no UTF-8: the
# line is then rejected, where a question mark in its place would be a silent change.
_HALF = "queryveil-half"
codecs.register_error(_HALF, lambda error: ("\udcff", error.end))  # type: ignore[attr-defined]


def _whole_lines(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Cut at line ends. An endless line is passed over and told as (b"", True)."""
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


def _checked(block: LineBlock, encoding: str) -> LineBlock:
    """Find the lines that are no text, and mend them: a cell may go on in the next line."""
    clean = block.data.isascii() or _is_utf8(block.data)
    if clean and b"\0" not in block.data and not _has_long_line(block.data):
        return block
    lines, faults = block.data.split(b"\n"), {}
    for index, line in enumerate(lines):
        if reason := _line_fault(line, encoding):
            faults[block.first_line + index] = reason
            lines[index] = _mended(line)
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
        # Any line end within reach will do: the last one jumps farthest.
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


def _mended(line: bytes) -> bytes:
    if len(line) > MAX_LINE:
        return b""
    return line.decode("utf-8", "replace").replace("\0", "\ufffd").encode()
