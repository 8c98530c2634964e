"""The files of an Open Directory dump, as their elements.

A dump looks like RDF but is not quite: real ones hold broken UTF-8 and characters that XML
forbids, and a strict parser stops at the first. So the bytes are cut where an element begins
(`<Topic `, `<ExternalPage `), which also costs far less than parsing.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import zstandard

from ...errors import FormatError, InputError
from ..taxonomy.builder import RepairLog

__all__ = ["OdpFile"]

_BLOCK = 4 << 20
_HEAD = 64 << 10
_MOST_ELEMENT = 64 << 20  # the longest real one, a category with all its links, has some MB
# A dump packs 5 to 10 times; a bomb 1,000 times.
_FREE_EXPANSION, _MOST_RATIO = 256 << 20, 100
_FORBIDDEN = bytes(code for code in range(32) if code not in (9, 10, 13))
_SPACES = bytes.maketrans(_FORBIDDEN, b" " * len(_FORBIDDEN))
_REPLACED = "\ufffd"
_ROOT = re.compile(rb"<(?:\w+:)?RDF[\s>]")


@dataclass
class OdpFile:
    """One file of a dump, plain or packed, as the elements of one name.

    What is no text is replaced, and counted in `counted`; so are the `marks` found.
    """

    path: Path
    name: str
    repairs: RepairLog
    counts: Counter[str]
    marks: dict[str, str] = field(default_factory=dict)
    line: int = 1
    error: str = ""
    is_truncated: bool = False

    def elements(self, advance: Callable[[int], None]) -> Iterator[tuple[int, str]]:
        """Give each element: the line it begins in, and what stands between its ends."""
        close = f"</{self.name}>"
        for block in self._blocks(advance):
            before, *pieces = self._decoded(block).split(f"<{self.name} ")
            self.line += before.count("\n")
            for piece in pieces:
                end = piece.find(close)
                if end >= 0:
                    yield self.line, piece[:end]
                elif (
                    not self.is_truncated
                ):  # only the last block is known to be cut, and is one element
                    mended = "it ends where the next one begins"
                    self.repairs.repair(f"an unclosed {self.name}", mended, self.line)
                    yield self.line, piece
                self.line += piece.count("\n")

    def _blocks(self, advance: Callable[[int], None]) -> Iterator[bytes]:
        """Cut what is read where its last element begins, which may not be whole yet."""
        start, rest, headed = f"<{self.name} ".encode(), b"", False
        for chunk in self._chunks(advance):
            rest += chunk
            if not headed:
                self._check_head(rest[:_HEAD])
                headed = True
            cut = rest.rfind(start)
            if cut <= 0 and len(rest) > _MOST_ELEMENT:
                cut = len(rest)
            if cut > 0:
                yield rest[:cut]
                rest = rest[cut:]
        self._check_end(rest)
        yield rest

    def _chunks(self, advance: Callable[[int], None]) -> Iterator[bytes]:
        """Read the file in pieces of some megabytes, as far as it can be unpacked."""
        waiting, size, told, whole = [b""], 0, 0, 0
        try:
            with self.path.open("rb") as file:
                read = _reader(file)
                while piece := read(_BLOCK):
                    whole += len(piece)
                    self._check_expanded(whole)
                    waiting.append(piece)
                    size += len(piece)
                    if size >= _BLOCK:
                        yield b"".join(waiting)
                        waiting, size = [b""], 0
                        advance(file.tell() - told)
                        told = file.tell()
                advance(file.tell() - told)
        except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
            self.error = str(error)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", where=self.path) from error
        yield b"".join(waiting)

    def _check_expanded(self, whole: int) -> None:
        """Stop at a bomb: what is packed may hold a hundred times its size, a small one more."""
        size = self.path.stat().st_size
        most = max(_FREE_EXPANSION, _MOST_RATIO * size)
        if whole > most:
            raise InputError(
                f"expands to more than {most:,} bytes from {size:,}",
                where=self.path,
                hint="if the dump is what it should be, unpack it first",
            )

    def _check_head(self, head: bytes) -> None:
        if _ROOT.search(head):
            return
        if f"<{self.name} ".encode() not in head:
            why = f" ({self.error})" if self.error else ""
            hint = "a dump has the files structure.rdf.u8.gz and content.rdf.u8.gz"
            fault = f"line 1: this is no dump of the Open Directory{why}"
            raise FormatError(fault, where=self.path, hint=hint)
        self.repairs.repair("a dump without its root <RDF>", "it is read all the same", 1)

    def _check_end(self, rest: bytes) -> None:
        self.is_truncated = bool(self.error) or b"</RDF>" not in rest
        if self.is_truncated:
            line, why = self.line + rest.count(b"\n"), self.error or "no </RDF>"
            mended = "what is whole before the cut is kept"
            self.repairs.repair("a dump that is cut off", mended, line, why)

    def _decoded(self, block: bytes) -> str:
        """Replace what is no text, and count it."""
        clean = block.translate(_SPACES)
        if clean != block:
            bad = len(block) - len(block.translate(None, _FORBIDDEN))
            self.counts["control characters replaced"] += bad
        text = clean.decode("utf-8", "replace")
        if _REPLACED in text:
            bad = text.count(_REPLACED) - clean.count(_REPLACED.encode())
            self.counts["broken characters replaced"] += bad
        for name, mark in self.marks.items():
            self.counts[name] += text.count(mark)
        return text


def _reader(file: IO[bytes]) -> Callable[[int], bytes]:
    """Give what reads a file as it is packed, which its first bytes say better than its name."""
    first = file.peek(4)[:4]  # type: ignore[attr-defined]
    if first.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file).read1  # before an error it gives all it has
    if first == b"\x28\xb5\x2f\xfd":
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read1
    return file.read
