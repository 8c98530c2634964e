"""From what a loader read to a checked taxonomy.

A loader collects concepts, edges and labels in a `Draft`, in the order of its file. `finish`
finds what makes it no taxonomy (a cycle, a second root, a concept without a label), names the
line, and stops; or, where the owner allowed repairs, mends and counts it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from ...errors import FormatError
from .arrays import IntArray, RaggedArray, StringArray
from .depths import MOST_LEVELS, DeepError, compute_depths
from .graph import Taxonomy

_MOST_PASSES = 100


@dataclass
class RepairLog:
    """What was wrong with a file: refused with its line, or mended and counted."""

    where: Path | str
    enabled: bool = False
    counts: dict[str, int] = field(default_factory=dict)

    def repair(self, fault: str, mended: str, line: int | None = None, detail: str = "") -> None:
        """Report a fault; returns only if it may be mended, which is then counted."""
        if not self.enabled:
            place = f"line {line:,}: " if line else ""
            about = f" ({detail})" if detail else ""
            raise FormatError(
                f"{place}{fault}{about}",
                where=self.where,
                hint=f"mend the file, or --repair: {mended}",
            )
        self.counts[fault] = self.counts.get(fault, 0) + 1


@dataclass
class TaxonomyBuilder:
    """Concepts, edges and labels as they were read.

    `names` and `lines` have one entry a concept. An edge is a child and a parent, by their
    places in `names`; a label is a concept and a text, the most usual meaning of a text first.
    `top` is an artificial root, if the file has one. After `finish`, `number` gives for each
    place the number of its concept in the taxonomy.
    """

    title: str
    names: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    edge_children: list[int] = field(default_factory=list)
    edge_parents: list[int] = field(default_factory=list)
    edge_lines: list[int] = field(default_factory=list)
    label_concepts: list[int] = field(default_factory=list)
    label_texts: list[str] = field(default_factory=list)
    paths: bool = False
    top: int | None = None
    language: str = "english"
    number: IntArray = field(default_factory=lambda: np.empty(0, np.int32), repr=False)

    def add(self, name: str, line: int, label: str | None = None, parent: int | None = None) -> int:
        """Add a concept, and give its place."""
        place = len(self.names)
        self.names.append(name)
        self.lines.append(line)
        if label:
            self.label(place, label)
        if parent is not None:
            self.edge(place, parent)
        return place

    def edge(self, child: int, parent: int, line: int | None = None) -> None:
        """Add a parent of a concept, read from this line or else from the child's."""
        self.edge_children.append(child)
        self.edge_parents.append(parent)
        self.edge_lines.append(self.lines[child] if line is None else line)

    def label(self, concept: int, text: str) -> None:
        """Add a label of a concept; its first one becomes its own."""
        self.label_concepts.append(concept)
        self.label_texts.append(text)

    def build(self, repairs: RepairLog) -> Taxonomy:
        """Check what was read and make a taxonomy of it."""
        if not self.names or (self.top is not None and len(self.names) == 1):
            raise FormatError("there is no concept in this file", where=repairs.where)
        self._check_labels(repairs)
        parents = self._acyclic(repairs)
        self._one_root(parents, repairs)
        return self._ordered(self._parents(), repairs)

    def _parents(self) -> RaggedArray:
        children = np.array(self.edge_children, np.int64)
        above = np.array(self.edge_parents, np.int64)
        size = len(self.names)
        if len(children):  # the same edge twice counts once, and keeps its first place
            _, first = np.unique(children * size + above, return_index=True)
            children, above = children[np.sort(first)], above[np.sort(first)]
        return RaggedArray.group_by(children, above, size)

    def _check_labels(self, repairs: RepairLog) -> None:
        labelled = np.zeros(len(self.names), np.bool_)
        labelled[self.label_concepts] = True
        if self.top is not None:
            labelled[self.top] = True
        for place in np.flatnonzero(~labelled).tolist():
            name = self.names[place]
            repairs.repair(
                "a concept without a label", "its name is taken", self.lines[place], name
            )
            self.label(place, name.rsplit("/", 1)[-1].replace("_", " ") or name)

    def _acyclic(self, repairs: RepairLog) -> RaggedArray:
        """Refuse cycles, or cut each at the edge that was read last.

        Cycles that share no concept are cut in one pass, so that many of them cost little.
        """
        for _ in range(_MOST_PASSES):
            parents = self._parents()
            levels = self._levels(parents, repairs)
            if levels.min(initial=0) >= 0:
                return parents
            self._cut({self._last_edge(ring, repairs) for ring in _rings(parents, levels)})
        raise FormatError(
            "cycles within cycles, too many to be cut", where=repairs.where, hint="mend the file"
        )

    def _levels(self, parents: RaggedArray, repairs: RepairLog) -> IntArray:
        try:
            return compute_depths(parents, MOST_LEVELS)
        except DeepError as error:
            line, name = self.lines[error.concept], self.names[error.concept]
            place = f"line {line:,}: " if line else ""
            raise FormatError(
                f"{place}{error} ({name[:80]})",
                where=repairs.where,
                hint="a chain of that length is no taxonomy: leave out what is above or below",
            ) from error

    def _last_edge(self, ring: list[int], repairs: RepairLog) -> tuple[int, int]:
        """Return the edge of a cycle that was read last, as child and parent."""
        edges = zip(ring, [*ring[1:], ring[0]], strict=True)
        line, _, edge = max((*self._read_at[edge], edge) for edge in edges)
        shown = " < ".join(self.names[place] for place in [*ring[:5], ring[0]])
        repairs.repair("a cycle", "it is cut at its last edge", line, shown)
        return edge

    @cached_property
    def _read_at(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The line and the place of each edge, of one that is there twice the later."""
        edges = zip(self.edge_children, self.edge_parents, self.edge_lines, strict=True)
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for place, (child, parent, line) in enumerate(edges):
            found[child, parent] = max(found.get((child, parent), (0, 0)), (line, place))
        return found

    def _cut(self, gone: set[tuple[int, int]]) -> None:
        edges = zip(self.edge_children, self.edge_parents, self.edge_lines, strict=True)
        kept = [edge for edge in edges if edge[:2] not in gone]
        self.edge_children = [child for child, _, _ in kept]
        self.edge_parents = [parent for _, parent, _ in kept]
        self.edge_lines = [line for _, _, line in kept]

    def _one_root(self, parents: RaggedArray, repairs: RepairLog) -> None:
        roots = np.flatnonzero(parents.sizes == 0).tolist()
        if self.top is not None:
            for root in roots:
                if root != self.top:
                    self.edge(root, self.top)
        elif len(roots) > 1:
            for root in roots[1:]:
                detail = f"{self.names[root]}, beside {self.names[roots[0]]}"
                mended = "one is put above them, which does not count as a concept"
                repairs.repair("a second root", mended, self.lines[root], detail)
            self.top = self.add("", 0)
            for root in roots:
                self.edge(root, self.top)

    def _ordered(self, parents: RaggedArray, repairs: RepairLog) -> Taxonomy:
        """Number the concepts by level, in the order of the file within a level."""
        levels = self._levels(parents, repairs)
        order = np.argsort(levels, kind="stable")
        number = np.empty(len(order), np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        self.number = number
        items, owner = parents.take(order)
        sizes = np.bincount(owner, minlength=len(order))
        if self.top is not None and self.top not in self.label_concepts:
            self.label(self.top, self.names[self.top] or "Top")
        labels, meanings, titles = self._meanings(number)
        return Taxonomy(
            title=self.title,
            names=StringArray.of([self.names[place] for place in order.tolist()]),
            labels=labels,
            label_concepts=meanings,
            titles=titles,
            parents=RaggedArray.from_sizes(sizes, number[items]),
            paths=self.paths,
            has_real_root=self.top is None,
            language=self.language,
        )

    def _meanings(self, number: IntArray) -> tuple[StringArray, RaggedArray, IntArray]:
        """Sort the labels; each keeps its concepts in the order in which they were added."""
        texts, row = np.unique(np.array(self.label_texts, object), return_inverse=True)
        concepts = number[np.array(self.label_concepts, np.int64)]
        titles = np.zeros(len(number), np.int32)
        titles[concepts[::-1]] = row[::-1]  # a concept's first label wins
        size = len(number)
        _, first = np.unique(row * size + concepts, return_index=True)
        kept = np.sort(first)
        meanings = RaggedArray.group_by(row[kept], concepts[kept], len(texts))
        return StringArray.of(texts.tolist()), meanings, titles


def _rings(parents: RaggedArray, levels: IntArray) -> list[list[int]]:
    """Find cycles that share no concept: walk from each concept to its first unsolved parent."""
    seen: dict[int, int] = {}
    rings = []
    for number, begin in enumerate(np.flatnonzero(levels < 0).tolist()):
        place, walk = begin, []
        while place not in seen:
            seen[place] = number
            walk.append(place)
            place = next(int(p) for p in parents[place] if levels[p] < 0)
        if seen[place] == number:  # it came back to its own way
            rings.append(walk[walk.index(place) :])
    return rings
