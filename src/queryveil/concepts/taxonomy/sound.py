"""Do the arrays of a taxonomy's file fit together?

Whoever opens a file relies on that: a number beyond the end of an array would be an error far away
from its cause, or a wrong concept. All of it is looked at when a file is opened, which costs
less than reading it; whether stored ancestors follow from the parents is for `check_taxonomy`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .arrays import IntArray, RaggedArray
from .levels import MOST_LEVELS, DeepError, compute_depths
from .storage import Arrays

__all__ = ["fault_of", "lists_of"]

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
