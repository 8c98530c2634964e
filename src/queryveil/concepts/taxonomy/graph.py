"""`Taxonomy`: concepts as numbers, with their parents, ancestors and labels in flat arrays.

Concepts are numbered by level, the root being 0, so that a parent's number is always lower
than its child's. Everything is an array, so a taxonomy is opened from a file in milliseconds,
shared among processes, and queried for many concepts at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from pathlib import Path

import numpy as np
import polars as pl

from ...errors import FormatError, UsageError, did_you_mean
from .arrays import BoolArray, IntArray, RaggedArray, StringArray
from .depths import DeepError, compute_ancestors, compute_depths
from .storage import TaxonomyDescription, lists_of, read_taxonomy_arrays, write_arrays


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A rooted graph of concepts; a concept may have several parents.

    `names` identify the concepts: a number of WordNet, an IRI, or in a tree of paths the last
    part of the path. `labels` are the phrases that mean a concept. `label_concepts` lists for
    each label its concepts, the most common meaning first. `titles` has for each concept the
    row of its own label. An artificial root such as ODP's `Top` does not count as an ancestor
    (`has_real_root` is false).

    >>> from queryveil.concepts import taxonomy_from_paths
    >>> odp = taxonomy_from_paths(["Top/Sports/Water_Sports/Windsurfing",
    ...                          "Top/Sports/Water_Sports/Swimming_and_Diving"])
    >>> wind = odp.find("Windsurfing")
    >>> [odp.label(c) for c in odp.ancestors(wind)]
    ['Sports', 'Water Sports', 'Windsurfing']
    >>> odp.name(odp.common_ancestors(wind, odp.find("Swimming and Diving")))
    'Top/Sports/Water_Sports'
    """

    title: str
    names: StringArray
    labels: StringArray
    label_concepts: RaggedArray
    titles: IntArray
    parents: RaggedArray
    paths: bool = False
    has_real_root: bool = True
    language: str = "english"
    tags: dict[str, IntArray] = field(default_factory=dict)
    tag_names: dict[str, list[str]] = field(default_factory=dict)
    stored_ancestors: RaggedArray | None = None
    file: Path | None = None
    cache: dict[str, object] = field(default_factory=dict, repr=False)  # derived objects

    def __getstate__(self) -> dict[str, object]:
        """Pickle without derived objects: they are large, and stemmers cannot be pickled."""
        return {**vars(self), "cache": {}}

    def __len__(self) -> int:
        return len(self.parents)

    def __str__(self) -> str:
        return self.title

    # -- one concept ----------------------------------------------------------------------------

    def name(self, concept: int) -> str:
        """Return what identifies a concept: its path, or its name in the knowledge base."""
        if not self.paths:
            return self.names[concept]
        path = [int(self.parents[concept][0])] if len(self.parents[concept]) else []
        while path and len(self.parents[path[-1]]):
            path.append(int(self.parents[path[-1]][0]))
        parts = [self.names[ancestor] for ancestor in [*reversed(path), concept]]
        return "/".join(part for part in parts if part)  # an artificial root has no name

    def label(self, concept: int) -> str:
        """Return the label that a concept is displayed by."""
        return self.labels[int(self.titles[concept])]

    def labels_of(self, concept: int) -> list[str]:
        """Return all labels of a concept, its title first."""
        own = int(self.titles[concept])
        others = [int(label) for label in self._labels_by_concept[concept] if label != own]
        return [self.labels[label] for label in [own, *others]]

    def ancestors(self, concept: int) -> IntArray:
        """Return T(c): all ancestors from the root down, the concept itself included."""
        return self.all_ancestors[concept]

    def descendants(self, concept: int) -> IntArray:
        """Return all concepts below a concept, itself included: its domain."""
        if concept == 0:
            return np.arange(len(self), dtype=np.int32)
        lists = self.all_ancestors
        return lists.row_ids[np.flatnonzero(lists.items == concept)]

    def children(self, concept: int) -> IntArray:
        """Return the concepts that have this concept as a parent."""
        return self.parents.row_ids[np.flatnonzero(self.parents.items == concept)]

    def common_ancestors(self, *concepts: int) -> int:
        """Return the least common subsumer: the deepest ancestor that all concepts share.

        Of several equally deep ancestors it is the first in the taxonomy. Where only an
        artificial root is shared, it is that root.
        """
        if not concepts:
            raise UsageError("a least common subsumer needs at least one concept")
        shared = reduce(np.intersect1d, (self.ancestors(c) for c in concepts))
        if not len(shared):
            return 0
        shared_depths = self.depths[shared]
        return int(shared[np.argmax(shared_depths)])

    def topic(self, concept: int, among: Sequence[int]) -> int | None:
        """Return the topic of a concept: the first of `among` that is in T(c), or None."""
        above = set(self.ancestors(concept).tolist())
        return next((topic for topic in among if topic in above), None)

    # -- looking up -----------------------------------------------------------------------------

    def lookup(self, label: str) -> list[int]:
        """Return the concepts of a label, the most common meaning first, ignoring case."""
        normalized = " ".join(label.replace("_", " ").lower().split())
        rows = self._label_table.filter(pl.col("label") == normalized)["row"].to_list()
        concepts = (int(c) for row in rows for c in self.label_concepts[row])
        return list(dict.fromkeys(concepts))

    def find_all(self, names: Sequence[str]) -> list[tuple[str, int]]:
        """Find concepts by their names (in a tree of paths: last parts); omit unknown names."""
        matches = self._name_table.filter(pl.col("name").is_in(list(names)))
        return [(name, int(row)) for row, name in matches.rows()]

    def find(self, text: str) -> int:
        """Find a concept by its name, its path or a label (then its most common meaning).

        Raises:
            UsageError: No concept has this name, path or label.
        """
        named = self._find_by_name(text)
        if named is not None:
            return named
        meanings = self.lookup(text)
        if meanings:
            return meanings[0]
        known = self._label_table["label"]
        start = text.strip().lower()[:2]
        candidates = known.filter(known.str.starts_with(start)).head(50_000).to_list()
        several = len(candidates) > 1
        hint = did_you_mean(text.lower(), candidates) if several else "see taxonomy search"
        raise UsageError(f'"{text}" is no concept of {self.title}', hint=hint)

    def _find_by_name(self, text: str) -> int | None:
        text = text.rstrip("/") if self.paths else text
        last = text.rsplit("/", 1)[-1] if self.paths else text
        for row in self._name_table.filter(pl.col("name") == last)["row"].to_list():
            if not self.paths or self.name(row) in (text, f"{self.names[0]}/{text}"):
                return int(row)
        return None

    # -- all concepts at once -------------------------------------------------------------------

    @cached_property
    def is_tree(self) -> bool:
        """Whether no concept has two parents."""
        return int(self.parents.sizes.max(initial=0)) <= 1

    @cached_property
    def depths(self) -> IntArray:
        """The number of concepts on the longest path from the root, without an artificial root."""
        return compute_depths(self.parents) + np.int32(self.has_real_root)

    @cached_property
    def all_ancestors(self) -> RaggedArray:
        """T(c) of every concept."""
        if self.stored_ancestors is not None:
            return self.stored_ancestors
        try:
            return compute_ancestors(self.parents, compute_depths(self.parents), self.has_real_root)
        except DeepError as error:
            name = self.names[error.concept][:80]
            raise FormatError(f"{error} ({name})", where=self.file or self.title) from error

    def descendant_mask(self, concept: int) -> BoolArray:
        """Return a mask of the concepts that are this concept or below it."""
        mask = np.zeros(len(self), np.bool_)
        mask[self.descendants(concept)] = True
        return mask

    @cached_property
    def _labels_by_concept(self) -> RaggedArray:
        return self.label_concepts.transpose(len(self))

    @cached_property
    def _label_table(self) -> pl.DataFrame:
        labels = self.labels.series().str.to_lowercase().alias("label")
        return pl.DataFrame({"label": labels}).with_row_index("row")

    @cached_property
    def _name_table(self) -> pl.DataFrame:
        return pl.DataFrame({"name": self.names.series()}).with_row_index("row")

    # -- files ----------------------------------------------------------------------------------

    def write(self, path: str | Path, *, packed: bool = False, overwrite: bool = True) -> None:
        """Write the taxonomy to a file atomically.

        A packed file is compressed and omits the ancestors, which are computed when it is opened.
        """
        arrays: dict[str, IntArray] = {
            "names": self.names.bytes,
            "labels": self.labels.bytes,
            "titles": self.titles,
            **_to_arrays("meanings", self.label_concepts),
            **_to_arrays("parents", self.parents),
            **{f"mark {name}": values for name, values in self.tags.items()},
        }
        if not packed:
            arrays |= _to_arrays("ancestors", self.all_ancestors)
        about = TaxonomyDescription(
            title=self.title,
            paths=self.paths,
            root_counts=self.has_real_root,
            language=self.language,
            mark_names={name: tuple(names) for name, names in self.tag_names.items()},
        )
        write_arrays(Path(path), about.to_dict(), arrays, packed=packed, overwrite=overwrite)

    @classmethod
    def open(cls, path: str | Path) -> Taxonomy:
        """Open a file that `write` produced.

        Raises:
            FormatError: The file is damaged.
        """
        about, arrays = read_taxonomy_arrays(Path(path))
        ancestors = lists_of("ancestors", arrays) if "ancestors sizes" in arrays else None
        tags = {n.removeprefix("mark "): a for n, a in arrays.items() if n.startswith("mark ")}
        return cls(
            title=about.title,
            names=StringArray(arrays["names"]),
            labels=StringArray(arrays["labels"]),
            label_concepts=lists_of("meanings", arrays),
            titles=arrays["titles"],
            parents=lists_of("parents", arrays),
            paths=about.paths,
            has_real_root=about.root_counts,
            language=about.language,
            tags=tags,
            tag_names={name: list(names) for name, names in about.mark_names.items()},
            stored_ancestors=ancestors,
            file=Path(path),
        )


def _to_arrays(name: str, lists: RaggedArray) -> dict[str, IntArray]:
    """Return the two arrays of a ragged array for a file; sizes compress better than starts."""
    return {
        f"{name} sizes": lists.sizes.astype(np.int32),
        f"{name} items": lists.items.astype(np.int32),
    }
