"""Check and describe an opened taxonomy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from ...core.records import Record
from .arrays import IntArray, RaggedArray, StringArray
from .depths import compute_ancestors, compute_depths
from .graph import Taxonomy


@dataclass(frozen=True, repr=False)
class TaxonomyCheck(Record):
    """The result of one check of a taxonomy."""

    shown = ("check", "holds", "message")

    check: str
    holds: bool
    message: str


@dataclass(frozen=True, repr=False)
class Branch(Record):
    """A child of the root, and the number of concepts of its domain."""

    shown = ("name", "concepts")

    concept: str
    name: str
    concepts: int


@dataclass(frozen=True, repr=False)
class TaxonomyStatistics(Record):
    """Statistics of a taxonomy; an artificial root, and edges to it, are not counted.

    Attributes:
        branches: The children of the root, the largest domain first.
    """

    shown = ("concepts", "labels", "max_depth")

    concepts: int
    labels: int
    edges: int
    concepts_with_several_parents: int
    max_depth: int
    mean_depth: float
    leaves: int
    ambiguous_labels: int
    branches: tuple[Branch, ...]


_MAX_EXAMPLES = 3


def check_taxonomy(taxonomy: Taxonomy) -> list[TaxonomyCheck]:
    """Check all that the program relies on.

    The checks run in stages and stop after the first stage that fails, since later stages rely
    on it.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> results = check_taxonomy(taxonomy_from_paths(["Home/Garden/Mowers", "Home/Kitchen"]))
    >>> all(result.holds for result in results), results[1].message
    (True, '4 concepts and 4 labels; all arrays fit them')
    """
    results: list[TaxonomyCheck] = []
    for stage in (_check_texts, _check_sizes, _check_ranges, _check_structure, _check_labels):
        results += stage(taxonomy)
        if not all(result.holds for result in results):
            break
    return results


def _result(check: str, wrong: object, fine: str, fault: str) -> TaxonomyCheck:
    """Return a check result with the message of the outcome: `fine`, or `fault` if `wrong`."""
    return TaxonomyCheck(check, not wrong, fault if wrong else fine)


def _check_texts(taxonomy: Taxonomy) -> Iterator[TaxonomyCheck]:
    bad = [name for name in ("names", "labels") if not _is_readable(getattr(taxonomy, name))]
    yield _result("texts", bad, "all texts can be read", f"no text: {' and '.join(bad)}")


def _is_readable(texts: StringArray) -> bool:
    data = texts.bytes.tobytes()
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return not data or data.endswith(b"\n")


def _check_sizes(taxonomy: Taxonomy) -> Iterator[TaxonomyCheck]:
    concepts, labels = len(taxonomy), len(taxonomy.labels)
    sizes = {
        "names": (len(taxonomy.names), concepts),
        "titles": (len(taxonomy.titles), concepts),
        "meanings": (len(taxonomy.label_concepts), labels),
        **{f"mark {name}": (len(mark), concepts) for name, mark in taxonomy.tags.items()},
    }
    lists = {"parents": taxonomy.parents, "meanings": taxonomy.label_concepts}
    if taxonomy.stored_ancestors is not None:
        sizes["ancestors"] = (len(taxonomy.stored_ancestors), concepts)
        lists["ancestors"] = taxonomy.stored_ancestors
    bad = [
        f"{name}: {size:,} for {expected:,}"
        for name, (size, expected) in sizes.items()
        if size != expected
    ]
    bad += [
        f"{name}: sizes and items differ"
        for name, array in lists.items()
        if not _has_matching_sizes(array)
    ]
    fine = f"{concepts:,} concepts and {labels:,} labels; all arrays fit them"
    yield _result("sizes", bad or not concepts, fine, "; ".join(bad) or "there is no concept")


def _has_matching_sizes(lists: RaggedArray) -> bool:
    return int(lists.start[-1]) == len(lists.items) and bool((lists.sizes >= 0).all())


def _check_ranges(taxonomy: Taxonomy) -> Iterator[TaxonomyCheck]:
    concepts, labels = len(taxonomy), len(taxonomy.labels)
    ranges: dict[str, tuple[IntArray, int]] = {
        "parents": (taxonomy.parents.items, concepts),
        "label rows": (taxonomy.titles, labels),
        "meanings": (taxonomy.label_concepts.items, concepts),
    }
    for check, (items, size) in ranges.items():
        outside = int(np.count_nonzero((items < 0) | (items >= size)))
        fine = f"all {len(items):,} are within 0 to {size - 1:,}"
        yield _result(check, outside, fine, f"{outside:,} are not within 0 to {size - 1:,}")


def _check_structure(taxonomy: Taxonomy) -> Iterator[TaxonomyCheck]:
    parents = taxonomy.parents
    roots = np.flatnonzero(parents.sizes == 0)
    has_one_root = roots.tolist() == [0]
    yield _result(
        "root", not has_one_root, "exactly one, the first", f"{len(roots):,} without a parent"
    )
    late = int(np.count_nonzero(parents.items >= parents.row_ids))
    fault = f"{late:,} parents do not come before their children"
    yield _result("order", late, "every parent comes before its children", fault)
    levels = compute_depths(parents)
    steps = int(np.count_nonzero(np.diff(levels) < 0))
    fault = f"{steps:,} concepts come before one of a lower level"
    yield _result("levels", steps, "concepts are numbered by level", fault)
    if has_one_root and not late and not steps:
        yield _check_ancestors(taxonomy, levels)


def _check_ancestors(taxonomy: Taxonomy, levels: IntArray) -> TaxonomyCheck:
    stored = taxonomy.stored_ancestors
    if stored is None:
        return _result("ancestors", False, "none stored: they are computed", "")
    computed = compute_ancestors(taxonomy.parents, levels, taxonomy.has_real_root)
    same = np.array_equal(computed.start, stored.start) and np.array_equal(
        computed.items, stored.items
    )
    fine = f"all {len(computed.items):,} stored are those that follow from the parents"
    return _result("ancestors", not same, fine, "those stored do not follow from the parents")


def _check_labels(taxonomy: Taxonomy) -> Iterator[TaxonomyCheck]:
    size = len(taxonomy)
    meanings = taxonomy.label_concepts
    pairs = meanings.row_ids.astype(np.int64) * size + meanings.items
    own = np.asarray(taxonomy.titles, np.int64) * size + np.arange(size)
    without = np.flatnonzero(~np.isin(own, pairs))
    fault = f"{len(without):,} concepts lack one: {_join_names(taxonomy, without)}"
    yield _result("labels", len(without), "every concept has a label", fault)
    duplicates = _find_duplicate_names(taxonomy)
    what = "path" if taxonomy.paths else "name"
    fault = f"{len(duplicates):,} concepts share one: {_join_names(taxonomy, duplicates)}"
    yield _result(f"{what}s", len(duplicates), f"every concept has its own {what}", fault)
    yield _result("ambiguous labels", False, _describe_ambiguity(taxonomy), "")


def _join_names(taxonomy: Taxonomy, concepts: IntArray) -> str:
    return ", ".join(taxonomy.name(int(concept)) for concept in concepts[:_MAX_EXAMPLES])


def _find_duplicate_names(taxonomy: Taxonomy) -> IntArray:
    """Return the concepts whose name (in a tree of paths: path) another concept also has."""
    above = np.full(len(taxonomy), -1, np.int64)
    if taxonomy.paths:
        inner = taxonomy.parents.sizes > 0
        above[inner] = taxonomy.parents.items[taxonomy.parents.start[:-1][inner]]
    table = pl.DataFrame({"name": taxonomy.names.series(), "above": above})
    return np.flatnonzero(table.is_duplicated().to_numpy())


def _describe_ambiguity(taxonomy: Taxonomy) -> str:
    sizes = taxonomy.label_concepts.sizes
    count = int(np.count_nonzero(sizes > 1))
    largest = np.argsort(-sizes, kind="stable")[: min(count, _MAX_EXAMPLES)].tolist()
    examples = ", ".join(f'"{taxonomy.labels[row]}" {sizes[row]:,}' for row in largest)
    return f"{count:,} labels mean several concepts" + (f": {examples}" if examples else "")


def describe_taxonomy(taxonomy: Taxonomy) -> TaxonomyStatistics:
    """Return statistics of a taxonomy.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> figures = describe_taxonomy(taxonomy_from_paths(["Home/Garden/Mowers", "Home/Kitchen"]))
    >>> figures.max_depth, figures.branches[0]
    (3, Branch(name='Home/Garden', concepts=2))
    """
    first = 0 if taxonomy.has_real_root else 1  # skips an artificial root
    parents, meanings = taxonomy.parents, taxonomy.label_concepts
    counted = np.bincount(meanings.row_ids[meanings.items >= first], minlength=len(meanings))
    depths = taxonomy.depths[first:]
    inner = np.unique(parents.items)
    return TaxonomyStatistics(
        concepts=len(taxonomy) - first,
        labels=int(np.count_nonzero(counted)),
        edges=int(np.count_nonzero(parents.items >= first)),
        concepts_with_several_parents=int(np.count_nonzero(parents.sizes > 1)),
        max_depth=int(depths.max(initial=0)),
        mean_depth=round(float(depths.mean()), 2) if len(depths) else 0.0,
        leaves=len(taxonomy) - len(inner),
        ambiguous_labels=int(np.count_nonzero(counted > 1)),
        branches=_list_branches(taxonomy),
    )


def _list_branches(taxonomy: Taxonomy) -> tuple[Branch, ...]:
    domains = np.bincount(taxonomy.all_ancestors.items, minlength=len(taxonomy))
    children = taxonomy.children(0)
    order = children[np.argsort(-domains[children], kind="stable")].tolist()
    return tuple(Branch(taxonomy.label(c), taxonomy.name(c), int(domains[c])) for c in order)
