"""Is an opened taxonomy what it says it is, and what is in it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from .arrays import IntArray, RaggedArray, StringArray
from .depths import compute_ancestors, compute_depths
from .graph import Taxonomy

CheckResult = dict[str, Any]

_SHOWN = 3


def check_taxonomy(taxonomy: Taxonomy) -> list[CheckResult]:
    """Check all that the program relies on; each finding has `check`, `holds` and `says`.

    Where the arrays do not fit together, what builds on them is not looked at.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> found = check_taxonomy(taxonomy_from_paths(["Home/Garden/Mowers", "Home/Kitchen"]))
    >>> all(one["holds"] for one in found), found[1]["message"]
    (True, '4 concepts and 4 labels; all arrays fit them')
    """
    findings: list[CheckResult] = []
    for stage in (_texts, _sizes, _ranges, _structure, _labels):
        findings += stage(taxonomy)
        if not all(one["holds"] for one in findings):
            break
    return findings


def _finding(check: str, wrong: object, says: str, fault: str) -> CheckResult:
    """Say what holds, or what does not."""
    return {"check": check, "holds": not wrong, "message": fault if wrong else says}


def _texts(taxonomy: Taxonomy) -> Iterator[CheckResult]:
    bad = [name for name in ("names", "labels") if not _readable(getattr(taxonomy, name))]
    yield _finding("texts", bad, "all texts can be read", f"no text: {' and '.join(bad)}")


def _readable(texts: StringArray) -> bool:
    data = texts.bytes.tobytes()
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return not data or data.endswith(b"\n")


def _sizes(taxonomy: Taxonomy) -> Iterator[CheckResult]:
    concepts, labels = len(taxonomy), len(taxonomy.labels)
    found = {
        "names": (len(taxonomy.names), concepts),
        "titles": (len(taxonomy.titles), concepts),
        "meanings": (len(taxonomy.label_concepts), labels),
        **{f"mark {name}": (len(mark), concepts) for name, mark in taxonomy.tags.items()},
    }
    lists = {"parents": taxonomy.parents, "meanings": taxonomy.label_concepts}
    if taxonomy.stored_ancestors is not None:
        found["ancestors"] = (len(taxonomy.stored_ancestors), concepts)
        lists["ancestors"] = taxonomy.stored_ancestors
    bad = [f"{name}: {size:,} for {want:,}" for name, (size, want) in found.items() if size != want]
    bad += [f"{name}: sizes and items differ" for name, one in lists.items() if not _fits(one)]
    says = f"{concepts:,} concepts and {labels:,} labels; all arrays fit them"
    yield _finding("sizes", bad or not concepts, says, "; ".join(bad) or "there is no concept")


def _fits(lists: RaggedArray) -> bool:
    return int(lists.start[-1]) == len(lists.items) and bool((lists.sizes >= 0).all())


def _ranges(taxonomy: Taxonomy) -> Iterator[CheckResult]:
    concepts, labels = len(taxonomy), len(taxonomy.labels)
    ranges: dict[str, tuple[IntArray, int]] = {
        "parents": (taxonomy.parents.items, concepts),
        "label rows": (taxonomy.titles, labels),
        "meanings": (taxonomy.label_concepts.items, concepts),
    }
    for check, (items, size) in ranges.items():
        outside = int(np.count_nonzero((items < 0) | (items >= size)))
        says = f"all {len(items):,} are within 0 to {size - 1:,}"
        yield _finding(check, outside, says, f"{outside:,} are not within 0 to {size - 1:,}")


def _structure(taxonomy: Taxonomy) -> Iterator[CheckResult]:
    parents = taxonomy.parents
    roots = np.flatnonzero(parents.sizes == 0)
    one = roots.tolist() == [0]
    yield _finding("root", not one, "exactly one, the first", f"{len(roots):,} without a parent")
    late = int(np.count_nonzero(parents.items >= parents.row_ids))
    fault = f"{late:,} parents do not come before their children"
    yield _finding("order", late, "every parent comes before its children", fault)
    levels = compute_depths(parents)
    steps = int(np.count_nonzero(np.diff(levels) < 0))
    fault = f"{steps:,} concepts come before one of a lower level"
    yield _finding("levels", steps, "concepts are numbered by level", fault)
    if one and not late and not steps:
        yield _ancestors(taxonomy, levels)


def _ancestors(taxonomy: Taxonomy, levels: IntArray) -> CheckResult:
    stored = taxonomy.stored_ancestors
    if stored is None:
        return _finding("ancestors", False, "none stored: they are computed", "")
    true = compute_ancestors(taxonomy.parents, levels, taxonomy.has_real_root)
    same = np.array_equal(true.start, stored.start) and np.array_equal(true.items, stored.items)
    says = f"all {len(true.items):,} stored are those that follow from the parents"
    return _finding("ancestors", not same, says, "those stored do not follow from the parents")


def _labels(taxonomy: Taxonomy) -> Iterator[CheckResult]:
    size = len(taxonomy)
    meanings = taxonomy.label_concepts
    pairs = meanings.row_ids.astype(np.int64) * size + meanings.items
    own = np.asarray(taxonomy.titles, np.int64) * size + np.arange(size)
    without = np.flatnonzero(~np.isin(own, pairs))
    fault = f"{len(without):,} concepts lack one: {_shown(taxonomy, without)}"
    yield _finding("labels", len(without), "every concept has a label", fault)
    twice = _same_names(taxonomy)
    what = "path" if taxonomy.paths else "name"
    fault = f"{len(twice):,} concepts share one: {_shown(taxonomy, twice)}"
    yield _finding(f"{what}s", len(twice), f"every concept has its own {what}", fault)
    yield _finding("ambiguous labels", False, _ambiguous(taxonomy), "")


def _shown(taxonomy: Taxonomy, concepts: IntArray) -> str:
    return ", ".join(taxonomy.name(int(concept)) for concept in concepts[:_SHOWN])


def _same_names(taxonomy: Taxonomy) -> IntArray:
    """Give the concepts that have another's name or, in a tree of paths, another's path."""
    above = np.full(len(taxonomy), -1, np.int64)
    if taxonomy.paths:
        inner = taxonomy.parents.sizes > 0
        above[inner] = taxonomy.parents.items[taxonomy.parents.start[:-1][inner]]
    table = pl.DataFrame({"name": taxonomy.names.series(), "above": above})
    return np.flatnonzero(table.is_duplicated().to_numpy())


def _ambiguous(taxonomy: Taxonomy) -> str:
    sizes = taxonomy.label_concepts.sizes
    count = int(np.count_nonzero(sizes > 1))
    most = np.argsort(-sizes, kind="stable")[: min(count, _SHOWN)].tolist()
    shown = ", ".join(f'"{taxonomy.labels[row]}" {sizes[row]:,}' for row in most)
    return f"{count:,} labels mean several concepts" + (f": {shown}" if shown else "")


def describe_taxonomy(taxonomy: Taxonomy) -> dict[str, Any]:
    """Give the figures of a taxonomy; an artificial root, and edges to it, are not counted.

    `branches` has the concepts below the root, each with the number of concepts of its domain,
    the largest first.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> figures = describe_taxonomy(taxonomy_from_paths(["Home/Garden/Mowers", "Home/Kitchen"]))
    >>> figures["concepts"], figures["greatest depth"], figures["branches"][0]
    (4, 3, {'concept': 'Garden', 'name': 'Home/Garden', 'concepts': 2})
    """
    first = 0 if taxonomy.has_real_root else 1  # where counting begins
    parents, meanings = taxonomy.parents, taxonomy.label_concepts
    counted = np.bincount(meanings.row_ids[meanings.items >= first], minlength=len(meanings))
    depths = taxonomy.depths[first:]
    inner = np.unique(parents.items)
    return {
        "concepts": len(taxonomy) - first,
        "labels": int(np.count_nonzero(counted)),
        "edges": int(np.count_nonzero(parents.items >= first)),
        "concepts with several parents": int(np.count_nonzero(parents.sizes > 1)),
        "greatest depth": int(depths.max(initial=0)),
        "mean depth": round(float(depths.mean()), 2) if len(depths) else 0.0,
        "leaves": len(taxonomy) - len(inner),
        "ambiguous labels": int(np.count_nonzero(counted > 1)),
        "branches": _branches(taxonomy),
    }


def _branches(taxonomy: Taxonomy) -> list[dict[str, Any]]:
    domains = np.bincount(taxonomy.all_ancestors.items, minlength=len(taxonomy))
    children = taxonomy.children(0)
    order = children[np.argsort(-domains[children], kind="stable")].tolist()
    return [
        {"concept": taxonomy.label(c), "name": taxonomy.name(c), "concepts": int(domains[c])}
        for c in order
    ]
