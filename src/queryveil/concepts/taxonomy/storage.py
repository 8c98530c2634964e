"""The file of a taxonomy (`.qvt`): a header and flat arrays, mapped into memory as they are.

The file begins with `QVT1`, the length of the header (4 bytes) and the header (JSON), which
names each array with its type, place and check sum. Arrays are stored raw, each at a multiple
of 64 bytes, so that opening is quick and processes share the pages; or packed, which
is how WordNet comes with the program: bytes of equal weight side by side, then Zstandard.
Nothing in the file is code.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from ...core.bounded import parse_json
from ...core.files import atomic_file
from ...errors import FormatError, InputError
from .arrays import IntArray, RaggedArray
from .depths import MOST_LEVELS, DeepError, compute_depths

Arrays = Mapping[str, NDArray[Any]]

_MAGIC = b"QVT1"
_ALIGN = 64
_KINDS = {"uint8", "int16", "int32", "int64"}
_MOST_HEADER, _MOST_ARRAYS = 1 << 20, 100
_FREE_EXPANSION, _MOST_RATIO = 64 << 20, 100
_AGAIN = "import it again"


def write_arrays(
    path: Path, about: dict[str, Any], arrays: Arrays, *, packed: bool, force: bool = True
) -> None:
    """Write a taxonomy's file; it appears whole or not at all."""
    pieces = [_pack(array) if packed else array.tobytes() for array in arrays.values()]
    places, at = [], 0
    for piece in pieces:
        places.append(at)
        at += -(-len(piece) // _ALIGN) * _ALIGN
    listed = {
        name: {
            "kind": str(array.dtype),
            "length": len(array),
            "at": place,
            "bytes": len(piece),
            "crc32": zlib.crc32(piece),
        }
        for (name, array), place, piece in zip(arrays.items(), places, pieces, strict=True)
    }
    header = json.dumps({"about": about, "packed": packed, "arrays": listed}).encode()
    header += b" " * (-(len(header) + 8) % _ALIGN)
    with atomic_file(path, force=force) as part, part.open("wb") as file:
        file.write(_MAGIC + len(header).to_bytes(4, "little") + header)
        for piece in pieces:
            file.write(piece + b"\0" * (-len(piece) % _ALIGN))


def check_plain_file(path: Path) -> None:
    """Raise InputError for a pipe or a device: reading it would never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError("this is no plain file", where=path, hint="name a file of a taxonomy")


def read_arrays(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Open a taxonomy's file: what it says about itself, and its arrays.

    All sizes that the header names are compared with that of the file, and all check sums with
    what is there, before anything is unpacked.
    """
    check_plain_file(path)
    try:
        data: NDArray[np.uint8] = np.memmap(path, np.uint8, mode="r")
    except ValueError as error:  # a file of no bytes cannot be mapped
        raise _not_ours(path) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    header, at = _header(path, data)
    pieces = {name: _piece(path, data, at, one) for name, one in header["arrays"].items()}
    for name, listed in header["arrays"].items():
        if zlib.crc32(pieces[name].data) != listed["crc32"]:
            raise _damaged(path, name)
    if not header["packed"]:
        kinds = {name: np.dtype(listed["kind"]) for name, listed in header["arrays"].items()}
        return header["about"], {name: piece.view(kinds[name]) for name, piece in pieces.items()}
    _check_unpacked(path, header["arrays"], len(data))
    return header["about"], {
        name: _unpack(path, name, pieces[name], listed) for name, listed in header["arrays"].items()
    }


def _piece(
    path: Path, data: NDArray[np.uint8], at: int, listed: dict[str, Any]
) -> NDArray[np.uint8]:
    piece = data[at + listed["at"] : at + listed["at"] + listed["bytes"]]
    if len(piece) != listed["bytes"]:
        raise FormatError("this taxonomy is cut off", where=path, hint=_AGAIN)
    return piece


def _check_unpacked(path: Path, listed: dict[str, dict[str, Any]], size: int) -> None:
    """Refuse a header that would let a small file fill the memory."""
    whole = sum(one["length"] * np.dtype(one["kind"]).itemsize for one in listed.values())
    if whole > max(_FREE_EXPANSION, _MOST_RATIO * size):
        raise _damaged(path, f"it would unpack to {whole:,} bytes from {size:,}")


def _header(path: Path, data: NDArray[np.uint8]) -> tuple[dict[str, Any], int]:
    start = data[:8].tobytes()
    size = int.from_bytes(start[4:], "little")
    if start[:4] != _MAGIC or not 0 < size <= _MOST_HEADER:
        raise _not_ours(path)
    try:
        header: dict[str, Any] = parse_json(data[8 : 8 + size].tobytes())
        packed = header["packed"]
        known = isinstance(header["about"], dict) and isinstance(packed, bool)
        known &= len(header["arrays"]) <= _MOST_ARRAYS
        known &= all(_sound(one, packed) for one in header["arrays"].values())
        known &= sum(one["bytes"] for one in header["arrays"].values()) <= len(data)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _damaged(path, "header") from error
    if not known:
        raise _damaged(path, "header")
    return header, 8 + size


def _sound(listed: dict[str, Any], packed: bool) -> bool:
    """Tell whether an array is listed as `write_arrays` does it."""
    numbers = [listed[name] for name in ("length", "at", "bytes", "crc32")]
    if listed["kind"] not in _KINDS or not all(type(n) is int and n >= 0 for n in numbers):
        return False
    return packed or listed["bytes"] == listed["length"] * np.dtype(listed["kind"]).itemsize


def _damaged(path: Path, what: str) -> FormatError:
    return FormatError(f"this taxonomy is damaged ({what[:200]})", where=path, hint=_AGAIN)


def _not_ours(path: Path) -> FormatError:
    return FormatError(
        "this is no taxonomy of queryveil",
        where=path,
        hint="make one with `queryveil taxonomy import`",
    )


def _pack(array: NDArray[Any]) -> bytes:
    """Put bytes of equal weight side by side, which packs numbers far better, and pack."""
    planes = array.view(np.uint8).reshape(-1, array.itemsize).T
    return zstandard.ZstdCompressor(level=19).compress(planes.tobytes())


def _unpack(
    path: Path, name: str, piece: NDArray[np.uint8], listed: dict[str, Any]
) -> NDArray[Any]:
    kind = np.dtype(listed["kind"])
    packed, size = piece.tobytes(), kind.itemsize * listed["length"]
    try:
        if zstandard.frame_content_size(packed) != size:  # looked at first: it may be a bomb
            raise _damaged(path, name)
        planes = zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    except zstandard.ZstdError as error:
        raise _damaged(path, name) from error
    if len(planes) != size:
        raise _damaged(path, name)
    together = np.frombuffer(planes, np.uint8).reshape(kind.itemsize, -1).T
    return np.ascontiguousarray(together).reshape(-1).view(kind)


_ABOUT = {
    "title": str,
    "paths": bool,
    "root_counts": bool,
    "language": str,
    "mark_names": dict,
}
_TEXTS = ("names", "labels")
_NUMBERS = ("titles", "meanings sizes", "meanings items", "parents sizes", "parents items")
_ANCESTORS = ("ancestors sizes", "ancestors items")
_NEWLINE = 10


def fault_of(about: dict[str, Any], arrays: Arrays) -> str | None:
    """Return what is wrong with what a file holds, or None."""
    for stage in (_kinds, _texts, _sizes, _ranges, _structure, _ancestors, _marks):
        fault = next(stage(about, arrays), None)
        if fault:
            return fault
    return None


def lists_of(name: str, arrays: Arrays) -> RaggedArray:
    """Return lists that a file holds as their sizes and items."""
    return RaggedArray.from_sizes(arrays[f"{name} sizes"], arrays[f"{name} items"])


def _kinds(about: dict[str, Any], arrays: Arrays) -> Iterator[str]:
    missing = (_ABOUT.keys() - about.keys()) | ({*_TEXTS, *_NUMBERS} - arrays.keys())
    if missing:
        yield f"no {', '.join(sorted(missing))}"
        return
    for name, kind in _ABOUT.items():
        if not isinstance(about[name], kind):
            yield name
    for name, array in arrays.items():
        if not name.startswith("mark ") and (array.dtype == np.uint8) != (name in _TEXTS):
            yield name
    if len(arrays.keys() & set(_ANCESTORS)) == 1:
        yield "ancestors"


def _texts(_about: dict[str, Any], arrays: Arrays) -> Iterator[str]:
    for name in _TEXTS:
        data = arrays[name]
        try:
            data.tobytes().decode()
        except UnicodeDecodeError:
            yield f"{name} are no text"
        if not len(data) or data[-1] != _NEWLINE:
            yield name


def _sizes(_about: dict[str, Any], arrays: Arrays) -> Iterator[str]:
    names, labels = (int(np.count_nonzero(arrays[name] == _NEWLINE)) for name in _TEXTS)
    concepts = len(arrays["parents sizes"])
    wanted = {"titles": concepts, "meanings sizes": labels}
    wanted |= {name: concepts for name in arrays if name.startswith("mark ")}
    if "ancestors sizes" in arrays:
        wanted["ancestors sizes"] = concepts
    if names != concepts:
        yield "names"
    yield from (name for name, size in wanted.items() if len(arrays[name]) != size)
    for name in ("parents", "meanings", "ancestors"):
        if f"{name} sizes" in arrays and not _fits(arrays, name):
            yield name


def _fits(arrays: Arrays, name: str) -> bool:
    sizes = arrays[f"{name} sizes"]
    return bool((sizes >= 0).all()) and int(sizes.sum(dtype=np.int64)) == len(
        arrays[f"{name} items"]
    )


def _ranges(_about: dict[str, Any], arrays: Arrays) -> Iterator[str]:
    concepts, labels = len(arrays["parents sizes"]), len(arrays["meanings sizes"])
    ranges = {
        "parents items": concepts,
        "meanings items": concepts,
        "titles": labels,
        "ancestors items": concepts,
    }
    for name, size in ranges.items():
        if name in arrays and not _within(arrays[name], 0, size):
            yield name


def _within(items: IntArray, low: int, high: int) -> bool:
    return not len(items) or (int(items.min()) >= low and int(items.max()) < high)


def _structure(_about: dict[str, Any], arrays: Arrays) -> Iterator[str]:
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


def _ancestors(about: dict[str, Any], arrays: Arrays) -> Iterator[str]:
    """Each list rises and ends with the concept itself; a root that does not count has none."""
    if "ancestors sizes" not in arrays:
        return
    lists = lists_of("ancestors", arrays)
    first = 0 if about["root_counts"] else 1
    whole = bool((lists.sizes[first:] > 0).all()) and not lists.sizes[:first].any()
    if not whole:
        yield "ancestors"
        return
    items, ends = lists.items.astype(np.int64), lists.start[1 + first :] - 1
    rises = np.diff(items) > 0
    rises[ends[:-1]] = True  # where the next list begins
    if not rises.all() or (items[ends] != np.arange(first, len(lists))).any():
        yield "ancestors"


def _marks(about: dict[str, Any], arrays: Arrays) -> Iterator[str]:
    """A mark that has names is a place among them, or -1."""
    for name, names in about["mark_names"].items():
        known = isinstance(names, list) and all(isinstance(one, str) for one in names)
        if not known:
            yield f"mark names {name[:60]}"
        elif (
            names
            and f"mark {name}" in arrays
            and not _within(arrays[f"mark {name}"], -1, len(names))
        ):
            yield f"mark {name[:60]}"
