"""The file of a taxonomy (`.qvt`): a header and flat arrays, mapped into memory as they are.

The file begins with `QVT1`, the length of the header (4 bytes) and the header (JSON), which
lists each array with its type, offset and check sum. Arrays are stored raw, each at a multiple
of 64 bytes, so that opening is quick and processes share the pages. Or they are packed, as for
the WordNet that comes with the program: bytes of equal significance side by side, compressed with
Zstandard. Nothing in the file is code.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from ...core.bounded import parse_json
from ...core.files import atomic_file
from ...core.records import Json, Record
from ...errors import FormatError, InputError, VerificationError
from .arrays import IntArray, RaggedArray
from .depths import MOST_LEVELS, DeepError, compute_depths

Arrays = Mapping[str, NDArray[Any]]

_MAGIC = b"QVT1"
_ALIGN = 64
_DTYPES = {"uint8", "int16", "int32", "int64"}
_MAX_HEADER, _MAX_ARRAYS = 1 << 20, 100
_FREE_EXPANSION, _MAX_RATIO = 64 << 20, 100
_HINT = "import it again"


@dataclass(frozen=True, repr=False)
class StoredArray(Record):
    """Where an array is in a file, and its check sum."""

    shown = ("kind", "length")

    kind: str
    length: int
    at: int
    bytes: int
    crc32: int

    @property
    def size(self) -> int:
        """The number of its bytes in memory."""
        return self.length * np.dtype(self.kind).itemsize

    def is_valid(self, packed: bool) -> bool:
        """Return whether it has values that `write_arrays` writes."""
        numbers = (self.length, self.at, self.bytes, self.crc32)
        if self.kind not in _DTYPES or min(numbers) < 0:
            return False
        return packed or self.bytes == self.size


@dataclass(frozen=True, repr=False)
class FileHeader(Record):
    """The header of a file: what the file is, and its arrays."""

    about: Mapping[str, Json]
    packed: bool
    arrays: Mapping[str, StoredArray]


@dataclass(frozen=True, repr=False)
class TaxonomyDescription(Record):
    """What the header of a file tells of its taxonomy.

    Attributes:
        root_counts: Whether the root is a concept of the knowledge base.
        mark_names: The names of the values of each tag.
    """

    shown = ("title",)

    title: str
    paths: bool
    root_counts: bool
    language: str
    mark_names: Mapping[str, tuple[str, ...]]


def write_arrays(
    path: Path, about: Mapping[str, Json], arrays: Arrays, *, packed: bool, overwrite: bool = True
) -> None:
    """Write the file of a taxonomy atomically."""
    pieces = [_pack(array) if packed else array.tobytes() for array in arrays.values()]
    offsets, end = [], 0
    for piece in pieces:
        offsets.append(end)
        end += -(-len(piece) // _ALIGN) * _ALIGN
    entries = {
        name: StoredArray(str(array.dtype), len(array), offset, len(piece), zlib.crc32(piece))
        for (name, array), offset, piece in zip(arrays.items(), offsets, pieces, strict=True)
    }
    header = json.dumps(FileHeader(about, packed, entries).to_dict()).encode()
    header += b" " * (-(len(header) + 8) % _ALIGN)
    with atomic_file(path, overwrite=overwrite) as part, part.open("wb") as file:
        file.write(_MAGIC + len(header).to_bytes(4, "little") + header)
        for piece in pieces:
            file.write(piece + b"\0" * (-len(piece) % _ALIGN))


def check_plain_file(path: Path) -> None:
    """Raise InputError for a pipe or a device: reading it would never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError("this is no plain file", where=path, hint="name a file of a taxonomy")


def read_arrays(path: Path) -> tuple[Mapping[str, Json], Arrays]:
    """Read the description and the arrays of a taxonomy file.

    All sizes in the header are compared with that of the file, and all check sums are verified,
    before anything is unpacked.
    """
    check_plain_file(path)
    try:
        data: NDArray[np.uint8] = np.memmap(path, np.uint8, mode="r")
    except ValueError as error:  # a file of no bytes cannot be mapped
        raise _no_taxonomy_error(path) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    header, start = _read_header(path, data)
    pieces = {name: _slice_array(path, data, start, entry) for name, entry in header.arrays.items()}
    for name, entry in header.arrays.items():
        if zlib.crc32(pieces[name].data) != entry.crc32:
            raise _damage_error(path, name)
    if not header.packed:
        dtypes = {name: np.dtype(entry.kind) for name, entry in header.arrays.items()}
        return header.about, {name: piece.view(dtypes[name]) for name, piece in pieces.items()}
    _check_unpacked(path, header, len(data))
    return header.about, {
        name: _unpack(path, name, pieces[name], entry) for name, entry in header.arrays.items()
    }


def _slice_array(
    path: Path, data: NDArray[np.uint8], start: int, entry: StoredArray
) -> NDArray[np.uint8]:
    content = data[start + entry.at : start + entry.at + entry.bytes]
    if len(content) != entry.bytes:
        raise FormatError("this taxonomy is cut off", where=path, hint=_HINT)
    return content


def _check_unpacked(path: Path, header: FileHeader, size: int) -> None:
    """Raise FormatError if a small file would unpack to more than the memory limit."""
    total = sum(entry.size for entry in header.arrays.values())
    if total > max(_FREE_EXPANSION, _MAX_RATIO * size):
        raise _damage_error(path, f"it would unpack to {total:,} bytes from {size:,}")


def _read_header(path: Path, data: NDArray[np.uint8]) -> tuple[FileHeader, int]:
    start = data[:8].tobytes()
    size = int.from_bytes(start[4:], "little")
    if start[:4] != _MAGIC or not 0 < size <= _MAX_HEADER:
        raise _no_taxonomy_error(path)
    try:
        header = FileHeader.from_dict(parse_json(data[8 : 8 + size].tobytes()))
    except (ValueError, VerificationError) as error:
        raise _damage_error(path, "header") from error
    entries = header.arrays.values()
    if (
        len(entries) > _MAX_ARRAYS
        or not all(entry.is_valid(header.packed) for entry in entries)
        or sum(entry.bytes for entry in entries) > len(data)
    ):
        raise _damage_error(path, "header")
    return header, 8 + size


def _damage_error(path: Path, what: str) -> FormatError:
    return FormatError(f"this taxonomy is damaged ({what[:200]})", where=path, hint=_HINT)


def _no_taxonomy_error(path: Path) -> FormatError:
    return FormatError(
        "this is no taxonomy of queryveil",
        where=path,
        hint="create one with `import_taxonomy()`",
    )


def _pack(array: NDArray[Any]) -> bytes:
    """Compress an array; bytes of equal significance side by side compress numbers better."""
    planes = array.view(np.uint8).reshape(-1, array.itemsize).T
    return zstandard.ZstdCompressor(level=19).compress(planes.tobytes())


def _unpack(path: Path, name: str, piece: NDArray[np.uint8], entry: StoredArray) -> NDArray[Any]:
    dtype = np.dtype(entry.kind)
    packed, size = piece.tobytes(), entry.size
    try:
        if zstandard.frame_content_size(packed) != size:  # checked first: may be a bomb
            raise _damage_error(path, name)
        planes = zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    except zstandard.ZstdError as error:
        raise _damage_error(path, name) from error
    if len(planes) != size:
        raise _damage_error(path, name)
    rows = np.frombuffer(planes, np.uint8).reshape(dtype.itemsize, -1).T
    return np.ascontiguousarray(rows).reshape(-1).view(dtype)


_TEXTS = ("names", "labels")
_NUMBERS = ("titles", "meanings sizes", "meanings items", "parents sizes", "parents items")
_ANCESTORS = ("ancestors sizes", "ancestors items")
_NEWLINE = 10


def read_taxonomy_arrays(path: Path) -> tuple[TaxonomyDescription, Arrays]:
    """Read the description and the arrays of a taxonomy, and check that they fit each other."""
    described, arrays = read_arrays(path)
    try:
        about = TaxonomyDescription.from_dict(described)
    except VerificationError as error:
        raise _damage_error(path, error.what) from error
    fault = find_fault(about, arrays)
    if fault:
        raise _damage_error(path, fault)
    return about, arrays


def find_fault(about: TaxonomyDescription, arrays: Arrays) -> str | None:
    """Return the first fault in the contents of a file, or None."""
    for stage in (
        _check_types,
        _check_texts,
        _check_sizes,
        _check_ranges,
        _check_structure,
        _check_ancestors,
        _check_tags,
    ):
        fault = next(stage(about, arrays), None)
        if fault:
            return fault
    return None


def lists_of(name: str, arrays: Arrays) -> RaggedArray:
    """Return the ragged array that a file holds as sizes and items."""
    return RaggedArray.from_sizes(arrays[f"{name} sizes"], arrays[f"{name} items"])


def _check_types(_about: TaxonomyDescription, arrays: Arrays) -> Iterator[str]:
    missing = {*_TEXTS, *_NUMBERS} - arrays.keys()
    if missing:
        yield f"no {', '.join(sorted(missing))}"
        return
    for name, array in arrays.items():
        if not name.startswith("mark ") and (array.dtype == np.uint8) != (name in _TEXTS):
            yield name
    if len(arrays.keys() & set(_ANCESTORS)) == 1:
        yield "ancestors"


def _check_texts(_about: TaxonomyDescription, arrays: Arrays) -> Iterator[str]:
    for name in _TEXTS:
        data = arrays[name]
        try:
            data.tobytes().decode()
        except UnicodeDecodeError:
            yield f"{name} are no text"
        if not len(data) or data[-1] != _NEWLINE:
            yield name


def _check_sizes(_about: TaxonomyDescription, arrays: Arrays) -> Iterator[str]:
    names, labels = (int(np.count_nonzero(arrays[name] == _NEWLINE)) for name in _TEXTS)
    concepts = len(arrays["parents sizes"])
    expected = {"titles": concepts, "meanings sizes": labels}
    expected |= {name: concepts for name in arrays if name.startswith("mark ")}
    if "ancestors sizes" in arrays:
        expected["ancestors sizes"] = concepts
    if names != concepts:
        yield "names"
    yield from (name for name, size in expected.items() if len(arrays[name]) != size)
    for name in ("parents", "meanings", "ancestors"):
        if f"{name} sizes" in arrays and not _has_matching_sizes(arrays, name):
            yield name


def _has_matching_sizes(arrays: Arrays, name: str) -> bool:
    sizes = arrays[f"{name} sizes"]
    return bool((sizes >= 0).all()) and int(sizes.sum(dtype=np.int64)) == len(
        arrays[f"{name} items"]
    )


def _check_ranges(_about: TaxonomyDescription, arrays: Arrays) -> Iterator[str]:
    concepts, labels = len(arrays["parents sizes"]), len(arrays["meanings sizes"])
    ranges = {
        "parents items": concepts,
        "meanings items": concepts,
        "titles": labels,
        "ancestors items": concepts,
    }
    for name, size in ranges.items():
        if name in arrays and not _is_within(arrays[name], 0, size):
            yield name


def _is_within(items: IntArray, low: int, high: int) -> bool:
    return not len(items) or (int(items.min()) >= low and int(items.max()) < high)


def _check_structure(_about: TaxonomyDescription, arrays: Arrays) -> Iterator[str]:
    parents = lists_of("parents", arrays)
    if np.flatnonzero(parents.sizes == 0).tolist() != [0]:
        yield "not exactly one root, the first"
    if (parents.items >= parents.row_ids).any():
        yield "a parent after its child"
        return
    try:
        levels = compute_depths(parents, MOST_LEVELS)
    except DeepError as error:
        yield str(error)
        return
    if (np.diff(levels) < 0).any():
        yield "concepts that are not numbered by level"


def _check_ancestors(about: TaxonomyDescription, arrays: Arrays) -> Iterator[str]:
    """Check that each list ascends and ends with its concept; an artificial root has none."""
    if "ancestors sizes" not in arrays:
        return
    lists = lists_of("ancestors", arrays)
    first = 0 if about.root_counts else 1
    is_complete = bool((lists.sizes[first:] > 0).all()) and not lists.sizes[:first].any()
    if not is_complete:
        yield "ancestors"
        return
    items, ends = lists.items.astype(np.int64), lists.start[1 + first :] - 1
    ascends = np.diff(items) > 0
    ascends[ends[:-1]] = True  # where the next list begins
    if not ascends.all() or (items[ends] != np.arange(first, len(lists))).any():
        yield "ancestors"


def _check_tags(about: TaxonomyDescription, arrays: Arrays) -> Iterator[str]:
    """Check that the values of a tag with names are indices of these names, or -1."""
    for name, names in about.mark_names.items():
        if (
            names
            and f"mark {name}" in arrays
            and not _is_within(arrays[f"mark {name}"], -1, len(names))
        ):
            yield f"mark {name[:60]}"
