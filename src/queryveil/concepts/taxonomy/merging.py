"""Several taxonomies as one: what the first does not know, the next may.

All stand side by side below one artificial root, so that concepts of different parts share no
ancestor. A phrase that two parts know means the first one's concepts before the second's.
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
_NONE = -1  # the mark of a concept that has none


def merge_taxonomies(taxonomies: Sequence[Taxonomy]) -> Taxonomy:
    """Put several taxonomies together; the first that knows a phrase wins.

    Concepts are numbered anew; the mark `part` says which taxonomy each comes from. A part's
    own artificial root goes, since ours stands in for it. Concepts keep their names, paths
    being written out unless all parts are paths; where two parts share a name, the later
    concept's gets the title of its part before it. The language is the first one's.

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> both = merge_taxonomies([taxonomy_from_paths(["Top/Sports/Tennis"], "odp"),
    ...                 taxonomy_from_paths(["Shop/Tennis/Rackets"], "shop")])
    >>> [both.name(concept) for concept in both.lookup("tennis")]
    ['Sports/Tennis', 'Shop/Tennis']
    >>> [both.label(concept) for concept in both.ancestors(both.find("Rackets"))]
    ['Shop', 'Tennis', 'Rackets']
    """
    if not taxonomies:
        raise UsageError("there is no taxonomy to combine")
    titles = _distinct([one.title for one in taxonomies])
    numbers, parents = _numbered(taxonomies)
    labels, meanings, label_rows = _labelled(taxonomies, numbers)
    marks, mark_names = _marked(taxonomies, titles, numbers)
    return Taxonomy(
        title=" + ".join(titles),
        names=_named(taxonomies, titles, numbers),
        labels=labels,
        label_concepts=meanings,
        titles=label_rows,
        parents=parents,
        paths=all(one.paths for one in taxonomies),
        has_real_root=False,
        language=taxonomies[0].language,
        tags=marks,
        tag_names=mark_names,
    )


def _distinct(titles: list[str]) -> list[str]:
    """Give each title that was there before the next number."""
    found: list[str] = []
    for title in titles:
        tries = (f"{title} {n}" if n > 1 else title for n in range(1, len(titles) + 2))
        found.append(next(one for one in tries if one not in found))
    return found


# -- numbers and parents ------------------------------------------------------------------------


def _numbered(parts: Sequence[Taxonomy]) -> tuple[list[IntArray], RaggedArray]:
    """Number all concepts by level: for each part the new numbers of its own, and all parents.

    A part's artificial root becomes 0, our root.
    """
    places = _places(parts)
    parents = _joined_parents(parts, places)
    order = np.argsort(compute_depths(parents), kind="stable")
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    items, owners = parents.take(order)
    sizes = np.bincount(owners, minlength=len(order))
    return [number[place] for place in places], RaggedArray.from_sizes(sizes, number[items])


def _places(parts: Sequence[Taxonomy]) -> list[IntArray]:
    """Give the concepts of all parts places in a row: our root, the first part, the second."""
    kept = [len(one) - (not one.has_real_root) for one in parts]
    begins = accumulate(kept[:-1], initial=1)
    places: list[IntArray] = []
    for one, begin in zip(parts, begins, strict=True):
        place = np.arange(len(one), dtype=np.int64) + (begin - (not one.has_real_root))
        place[0] = begin if one.has_real_root else 0
        places.append(place)
    return places


def _joined_parents(parts: Sequence[Taxonomy], places: list[IntArray]) -> RaggedArray:
    children = [place[one.parents.row_ids] for one, place in zip(parts, places, strict=True)]
    above = [place[one.parents.items] for one, place in zip(parts, places, strict=True)]
    roots = np.array([place[0] for place in places if place[0]], np.int64)
    return RaggedArray.group_by(
        np.concatenate([roots, *children]),
        np.concatenate([np.zeros_like(roots), *above]),
        1 + max(int(place[-1]) for place in places),
    )


# -- labels -------------------------------------------------------------------------------------


def _labelled(
    parts: Sequence[Taxonomy], numbers: list[IntArray]
) -> tuple[StringArray, RaggedArray, IntArray]:
    """Merge the labels: the texts, each one's meanings, and each concept's own label.

    Our root has the label "", which no phrase asks for.
    """
    begins = accumulate((len(one.labels) for one in parts[:-1]), initial=1)
    joined = pl.concat([pl.Series("text", [""]), *(one.labels.series() for one in parts)])
    owners: list[IntArray] = [np.zeros(1, np.int64)]
    concepts: list[IntArray] = [np.zeros(1, np.int32)]
    own = np.zeros(1 + max(int(number.max()) for number in numbers), np.int64)
    for one, number, begin in zip(parts, numbers, begins, strict=True):
        kept = np.flatnonzero(number[one.label_concepts.items])  # those of its artificial root go
        owners.append(one.label_concepts.row_ids[kept] + np.int64(begin))
        concepts.append(number[one.label_concepts.items[kept]])
        own[number] = one.titles + np.int64(begin)
    own[0] = 0
    used = np.zeros(len(joined), np.bool_)
    used[np.concatenate([*owners, own])] = True
    texts, row = _merged(joined, used)
    meanings = RaggedArray.group_by(
        row[np.concatenate(owners)], np.concatenate(concepts), len(texts)
    )
    return StringArray.of(texts.to_list()), meanings, row[own].astype(np.int32)


def _merged(texts: pl.Series, used: BoolArray) -> tuple[pl.Series, IntArray]:
    """Give the different texts in use, by their first place, and each text's place there.

    So a label of the first part goes before one of the second that differs in its capitals.
    """
    table = texts.alias("text").to_frame()
    kept = table.filter(pl.Series(used)).unique(keep="first", maintain_order=True)
    kept = kept.with_row_index("row")
    rows = table.join(kept, on="text", how="left", maintain_order="left")["row"]
    return kept["text"], rows.fill_null(0).to_numpy().astype(np.int64)


# -- names --------------------------------------------------------------------------------------


def _named(parts: Sequence[Taxonomy], titles: list[str], numbers: list[IntArray]) -> StringArray:
    """Name the concepts, such that no name, or in paths no branch, occurs in two parts."""
    paths = all(one.paths for one in parts)
    tables = [_names_of(*each, paths) for each in zip(parts, numbers, strict=True)]
    table = pl.concat(
        [one.with_columns(part=pl.lit(title)) for one, title in zip(tables, titles, strict=True)]
    )
    known = pl.col("part") != pl.col("part").first().over("name", "differ")
    longer = pl.concat_str("part", pl.lit(":"), "name")
    told = pl.when(known & pl.col("differ")).then(longer).otherwise("name")
    named = table.with_columns(told.alias("name")).sort("number")["name"]
    return StringArray.of(["", *named.to_list()])


def _names_of(one: Taxonomy, number: IntArray, paths: bool) -> pl.DataFrame:
    """List the concepts of a part by number: their names, and whether these must differ."""
    names = one.names.series() if paths or not one.paths else _full_paths(one)
    differ = np.ones(len(one), np.bool_)
    if paths:  # all paths differ if the branches do
        differ[:] = False
        differ[0 if one.has_real_root else one.children(0)] = True
    table = pl.DataFrame({"number": number, "name": names, "differ": differ})
    return table.filter(pl.col("number") > 0)


def _full_paths(one: Taxonomy) -> pl.Series:
    """Give what `name` gives, for all concepts: each level puts its names after its parents'."""
    names, levels = one.names.series(), compute_depths(one.parents)
    bounds = np.searchsorted(levels, np.arange(int(levels[-1]) + 2))
    whole = names[: int(bounds[1])]
    for begin, end in zip(bounds[1:-1].tolist(), bounds[2:].tolist(), strict=True):
        above = whole.gather(one.parents.items[one.parents.start[begin:end]])
        whole = pl.concat([whole, above + "/" + names[begin:end]])
    return whole.str.strip_prefix("/") if not names[0] else whole


# -- marks --------------------------------------------------------------------------------------


def _marked(
    parts: Sequence[Taxonomy], titles: list[str], numbers: list[IntArray]
) -> tuple[dict[str, IntArray], dict[str, list[str]]]:
    """Merge the marks of all parts, and add which part a concept is of; -1 is no mark."""
    size = 1 + max(int(number.max()) for number in numbers)
    marks: dict[str, IntArray] = {}
    names: dict[str, list[str]] = {}
    for one, title, number in zip(parts, titles, numbers, strict=True):
        own: dict[str, IntArray] = {_PART: np.zeros(len(one), np.int16), **one.tags}
        for mark, values in own.items():
            listed = names.setdefault(mark, [])
            told = one.tag_names.get(mark, [title] if mark == _PART else [])
            if mark == _PART:  # parts of parts stay parts of their own
                told = _distinct([*listed, *told])[len(listed) :]
            listed += [name for name in told if name not in listed]
            code = np.array([*map(listed.index, told), _NONE], np.int16)  # -1 stays -1
            kind = np.int16 if told else np.int64
            column = marks.setdefault(mark, np.full(size, _NONE, kind))
            column[number] = code[values] if told else values
            column[0] = _NONE
    return marks, names
