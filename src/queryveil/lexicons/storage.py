"""Read and write the data files: lists of words and arrays of numbers, packed with Zstandard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import zstandard

DATA = Path(__file__).parent / "data"
_MAX_BYTES = 64 << 20


def write_lists(path: Path, lists: Mapping[str, Sequence[str]]) -> None:
    """Write named lists of texts without commas, a list per line."""
    lines = (f"{name}\t{','.join(texts)}\n" for name, texts in lists.items())
    write_packed(path, "".join(lines).encode())


def read_lists(path: Path) -> dict[str, list[str]]:
    """Return the lists by name."""
    lines = (line.split("\t") for line in read_packed(path).decode().splitlines())
    return {name: texts.split(",") for name, texts in lines}


def write_packed(path: Path, content: bytes) -> None:
    """Write bytes, packed."""
    path.write_bytes(zstandard.ZstdCompressor(level=19).compress(content))


def read_packed(path: Path) -> bytes:
    """Return the bytes of a packed file."""
    return zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=_MAX_BYTES)
