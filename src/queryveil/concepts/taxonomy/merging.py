"""Merge several taxonomies into one.

All are placed below one artificial root, so concepts of different parts share no ancestor. Where
two parts have the same label, the concepts of the first part precede those of the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import polars as pl

from ...errors import UsageError
from .arrays import BoolArray, IntArray, RaggedArray, StringArray
from .depths import compute_depths
from .graph import Taxonomy

_PART = "part"
_NONE = -1  # the tag value of a concept without that tag


def merge_taxonomies(taxonomies: Sequence[Taxonomy]) -> Taxonomy:
    """Merge several taxonomies; the first that has a label determines its meaning.

    Concepts are renumbered; the tag `part` states which taxonomy each comes from. The artificial
    root of a part is replaced by that of the result. Concepts keep their names; paths are written
    out unless all parts are trees of paths. Where two parts share a name, the name in the later
    part gets the title of that part as a prefix. The language is that of the first part.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> both = merge_taxonomies([taxonomy_from_paths(["Top/Sports/Tennis"], "odp"),
    ...                 taxonomy_from_paths(["Shop/Tennis/Rackets"], "shop")])
    >>> [both.name(concept) for concept in both.lookup("tennis")]
    ['Sports/Tennis', 'Shop/Tennis']
    >>> [both.label(concept) for concept in both.ancestors(both.find("Rackets"))]
    ['Shop', 'Tennis', 'Rackets']
    """
    if not taxonomies:
        raise UsageError("there is no taxonomy to merge")
    titles = _make_titles_distinct([part.title for part in taxonomies])
    numbers, parents = _number_concepts(taxonomies)
    labels, meanings, label_rows = _merge_labels(taxonomies, numbers)
    tags, tag_names = _merge_tags(taxonomies, titles, numbers)
    return Taxonomy(
        title=" + ".join(titles),
        names=_merge_names(taxonomies, titles, numbers),
        labels=labels,
        label_concepts=meanings,
        titles=label_rows,
        parents=parents,
        paths=all(part.paths for part in taxonomies),
        has_real_root=False,
        language=taxonomies[0].language,
        tags=tags,
        tag_names=tag_names,
    )


def _make_titles_distinct(titles: list[str]) -> list[str]:
    """Append the next free number to each title that occurred before."""
    distinct: list[str] = []
    for title in titles:
        candidates = (f"{title} {n}" if n > 1 else title for n in range(1, len(titles) + 2))
        distinct.append(next(candidate for candidate in candidates if candidate not in distinct))
    return distinct


# -- numbers and parents ------------------------------------------------------------------------


def _number_concepts(parts: Sequence[Taxonomy]) -> tuple[list[IntArray], RaggedArray]:
    """Return the new numbers of the concepts of each part, and the parents of all concepts.

    Concepts are numbered by level. The artificial root of a part becomes 0, the new root.
    """
    positions = _assign_positions(parts)
    parents = _join_parents(parts, positions)
    order = np.argsort(compute_depths(parents), kind="stable")
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    items, owners = parents.take(order)
    sizes = np.bincount(owners, minlength=len(order))
    return [number[own] for own in positions], RaggedArray.from_sizes(sizes, number[items])


def _assign_positions(parts: Sequence[Taxonomy]) -> list[IntArray]:
    """Return the positions of the concepts of each part in the order root, first part, second."""
    kept = [len(part) - (not part.has_real_root) for part in parts]
    begins = accumulate(kept[:-1], initial=1)
    positions: list[IntArray] = []
    for part, begin in zip(parts, begins, strict=True):
        own = np.arange(len(part), dtype=np.int64) + (begin - (not part.has_real_root))
        own[0] = begin if part.has_real_root else 0
        positions.append(own)
    return positions


def _join_parents(parts: Sequence[Taxonomy], positions: list[IntArray]) -> RaggedArray:
    children = [own[part.parents.row_ids] for part, own in zip(parts, positions, strict=True)]
    above = [own[part.parents.items] for part, own in zip(parts, positions, strict=True)]
    roots = np.array([own[0] for own in positions if own[0]], np.int64)
    return RaggedArray.group_by(
        np.concatenate([roots, *children]),
        np.concatenate([np.zeros_like(roots), *above]),
        1 + max(int(own[-1]) for own in positions),
    )


# -- labels -------------------------------------------------------------------------------------


def _merge_labels(
    parts: Sequence[Taxonomy], numbers: list[IntArray]
) -> tuple[StringArray, RaggedArray, IntArray]:
    """Return the merged labels, the concepts of each label, and the title row of each concept.

    The new root has the label "", which no phrase equals.
    """
    begins = accumulate((len(part.labels) for part in parts[:-1]), initial=1)
    joined = pl.concat([pl.Series("text", [""]), *(part.labels.series() for part in parts)])
    owners: list[IntArray] = [np.zeros(1, np.int64)]
    concepts: list[IntArray] = [np.zeros(1, np.int32)]
    own = np.zeros(1 + max(int(number.max()) for number in numbers), np.int64)
    for part, number, begin in zip(parts, numbers, begins, strict=True):
        # Without the labels of its artificial root, whose number is 0.
        kept = np.flatnonzero(number[part.label_concepts.items])
        owners.append(part.label_concepts.row_ids[kept] + np.int64(begin))
        concepts.append(number[part.label_concepts.items[kept]])
        own[number] = part.titles + np.int64(begin)
    own[0] = 0
    used = np.zeros(len(joined), np.bool_)
    used[np.concatenate([*owners, own])] = True
    texts, row = _unique_texts(joined, used)
    meanings = RaggedArray.group_by(
        row[np.concatenate(owners)], np.concatenate(concepts), len(texts)
    )
    return StringArray.of(texts.to_list()), meanings, row[own].astype(np.int32)


def _unique_texts(texts: pl.Series, used: BoolArray) -> tuple[pl.Series, IntArray]:
    """Return the distinct texts in use, by first occurrence, and the row of each text in them.

    So a label of the first part precedes one of the second part that differs only in case.
    """
    table = texts.alias("text").to_frame()
    kept = table.filter(pl.Series(used)).unique(keep="first", maintain_order=True)
    kept = kept.with_row_index("row")
    rows = table.join(kept, on="text", how="left", maintain_order="left")["row"]
    return kept["text"], rows.fill_null(0).to_numpy().astype(np.int64)


# -- names --------------------------------------------------------------------------------------


def _merge_names(
    parts: Sequence[Taxonomy], titles: list[str], numbers: list[IntArray]
) -> StringArray:
    """Return names such that no name (in paths: no branch) occurs in two parts."""
    paths = all(part.paths for part in parts)
    tables = [_list_names(*pair, paths) for pair in zip(parts, numbers, strict=True)]
    table = pl.concat(
        [rows.with_columns(part=pl.lit(title)) for rows, title in zip(tables, titles, strict=True)]
    )
    is_taken = pl.col("part") != pl.col("part").first().over("name", "differ")
    prefixed = pl.concat_str("part", pl.lit(":"), "name")
    name = pl.when(is_taken & pl.col("differ")).then(prefixed).otherwise("name")
    named = table.with_columns(name.alias("name")).sort("number")["name"]
    return StringArray.of(["", *named.to_list()])


def _list_names(part: Taxonomy, number: IntArray, paths: bool) -> pl.DataFrame:
    """Return number, name and `differ` (the name must be unique) of the concepts of a part."""
    names = part.names.series() if paths or not part.paths else _full_paths(part)
    differ = np.ones(len(part), np.bool_)
    if paths:  # all paths differ if the branches do
        differ[:] = False
        differ[0 if part.has_real_root else part.children(0)] = True
    table = pl.DataFrame({"number": number, "name": names, "differ": differ})
    return table.filter(pl.col("number") > 0)


def _full_paths(part: Taxonomy) -> pl.Series:
    """Return `Taxonomy.name` of all concepts, level by level: path of the parent, then the name."""
    names, levels = part.names.series(), compute_depths(part.parents)
    bounds = np.searchsorted(levels, np.arange(int(levels[-1]) + 2))
    paths = names[: int(bounds[1])]
    for begin, end in zip(bounds[1:-1].tolist(), bounds[2:].tolist(), strict=True):
        above = paths.gather(part.parents.items[part.parents.start[begin:end]])
        paths = pl.concat([paths, above + "/" + names[begin:end]])
    return paths.str.strip_prefix("/") if not names[0] else paths


# -- tags ---------------------------------------------------------------------------------------


def _merge_tags(
    parts: Sequence[Taxonomy], titles: list[str], numbers: list[IntArray]
) -> tuple[dict[str, IntArray], dict[str, list[str]]]:
    """Merge the tags of all parts, and add the tag `part`; -1 means no tag."""
    size = 1 + max(int(number.max()) for number in numbers)
    merged: dict[str, IntArray] = {}
    names: dict[str, list[str]] = {}
    for part, title, number in zip(parts, titles, numbers, strict=True):
        own: dict[str, IntArray] = {_PART: np.zeros(len(part), np.int16), **part.tags}
        for tag, values in own.items():
            listed = names.setdefault(tag, [])
            values_of_part = part.tag_names.get(tag, [title] if tag == _PART else [])
            if tag == _PART:  # parts of merged parts stay separate
                values_of_part = _make_titles_distinct([*listed, *values_of_part])[len(listed) :]
            listed += [name for name in values_of_part if name not in listed]
            code = np.array([*map(listed.index, values_of_part), _NONE], np.int16)  # -1 stays -1
            kind = np.int16 if values_of_part else np.int64
            column = merged.setdefault(tag, np.full(size, _NONE, kind))
            column[number] = code[values] if values_of_part else values
            column[0] = _NONE
    return merged, names
