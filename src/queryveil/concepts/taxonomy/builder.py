"""Build a checked taxonomy from the concepts, edges and labels that a loader read.

A loader collects concepts, edges and labels in a `TaxonomyBuilder`, in the order of its file.
`build` detects faults (a cycle, a second root, a concept without a label). It raises an error
that names the line or, where the data owner allowed repairs, repairs the fault and counts it.
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

_MAX_PASSES = 100


@dataclass
class RepairLog:
    """The faults of a file: each is refused with its line, or repaired and counted."""

    where: Path | str
    enabled: bool = False
    counts: dict[str, int] = field(default_factory=dict)

    def repair(self, fault: str, remedy: str, line: int | None = None, detail: str = "") -> None:
        """Count a fault that may be repaired, or raise FormatError if repairs are not enabled.

        Args:
            fault: What is wrong. It is also the key in `counts`.
            remedy: What the repair does.
            detail: The value that is at fault.
        """
        if not self.enabled:
            position = f"line {line:,}: " if line else ""
            about = f" ({detail})" if detail else ""
            raise FormatError(
                f"{position}{fault}{about}",
                where=self.where,
                hint=f"correct the file, or `repair=True`: {remedy}",
            )
        self.counts[fault] = self.counts.get(fault, 0) + 1


@dataclass
class TaxonomyBuilder:
    """Concepts, edges and labels as they were read.

    `names` and `lines` have one entry per concept. An edge is a child and a parent, by their
    indices in `names`. A label is a concept and a text; the first concept of a text is its most
    common meaning. `top` is an artificial root, if the file has one. After `build`, `number`
    maps each index in `names` to the number of the concept in the taxonomy.
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
        """Add a concept and return its index in `names`."""
        index = len(self.names)
        self.names.append(name)
        self.lines.append(line)
        if label:
            self.label(index, label)
        if parent is not None:
            self.edge(index, parent)
        return index

    def edge(self, child: int, parent: int, line: int | None = None) -> None:
        """Add a parent of a concept, read from `line` or else from the line of the child."""
        self.edge_children.append(child)
        self.edge_parents.append(parent)
        self.edge_lines.append(self.lines[child] if line is None else line)

    def label(self, concept: int, text: str) -> None:
        """Add a label of a concept; the first label of a concept becomes its title."""
        self.label_concepts.append(concept)
        self.label_texts.append(text)

    def build(self, repairs: RepairLog) -> Taxonomy:
        """Check what was read and build the taxonomy."""
        if not self.names or (self.top is not None and len(self.names) == 1):
            raise FormatError("there is no concept in this file", where=repairs.where)
        self._check_labels(repairs)
        parents = self._remove_cycles(repairs)
        self._join_roots(parents, repairs)
        return self._build_ordered(self._build_parents(), repairs)

    def _build_parents(self) -> RaggedArray:
        children = np.array(self.edge_children, np.int64)
        above = np.array(self.edge_parents, np.int64)
        size = len(self.names)
        if len(children):  # a repeated edge counts once, at its first position
            _, first = np.unique(children * size + above, return_index=True)
            children, above = children[np.sort(first)], above[np.sort(first)]
        return RaggedArray.group_by(children, above, size)

    def _check_labels(self, repairs: RepairLog) -> None:
        labelled = np.zeros(len(self.names), np.bool_)
        labelled[self.label_concepts] = True
        if self.top is not None:
            labelled[self.top] = True
        for concept in np.flatnonzero(~labelled).tolist():
            name = self.names[concept]
            repairs.repair(
                "a concept without a label", "its name is taken", self.lines[concept], name
            )
            self.label(concept, name.rsplit("/", 1)[-1].replace("_", " ") or name)

    def _remove_cycles(self, repairs: RepairLog) -> RaggedArray:
        """Raise FormatError for a cycle, or remove the edge of each cycle that was read last.

        Cycles that share no concept are cut in one pass, so many cycles need few passes.
        """
        for _ in range(_MAX_PASSES):
            parents = self._build_parents()
            levels = self._compute_levels(parents, repairs)
            if levels.min(initial=0) >= 0:
                return parents
            cycles = _find_cycles(parents, levels)
            self._remove_edges({self._last_edge(cycle, repairs) for cycle in cycles})
        raise FormatError(
            "too many nested cycles to be cut", where=repairs.where, hint="correct the file"
        )

    def _compute_levels(self, parents: RaggedArray, repairs: RepairLog) -> IntArray:
        try:
            return compute_depths(parents, MOST_LEVELS)
        except DeepError as error:
            line, name = self.lines[error.concept], self.names[error.concept]
            position = f"line {line:,}: " if line else ""
            raise FormatError(
                f"{position}{error} ({name[:80]})",
                where=repairs.where,
                hint="a taxonomy is not that deep: remove concepts from the chain",
            ) from error

    def _last_edge(self, cycle: list[int], repairs: RepairLog) -> tuple[int, int]:
        """Return the edge of a cycle that was read last, as child and parent."""
        edges = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        line, _, edge = max((*self._edge_positions[edge], edge) for edge in edges)
        names = " < ".join(self.names[concept] for concept in [*cycle[:5], cycle[0]])
        repairs.repair("a cycle", "it is cut at its last edge", line, names)
        return edge

    @cached_property
    def _edge_positions(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The line and the index of each edge; of a repeated edge the later ones."""
        edges = zip(self.edge_children, self.edge_parents, self.edge_lines, strict=True)
        positions: dict[tuple[int, int], tuple[int, int]] = {}
        for index, (child, parent, line) in enumerate(edges):
            positions[child, parent] = max(positions.get((child, parent), (0, 0)), (line, index))
        return positions

    def _remove_edges(self, removed: set[tuple[int, int]]) -> None:
        edges = zip(self.edge_children, self.edge_parents, self.edge_lines, strict=True)
        kept = [edge for edge in edges if edge[:2] not in removed]
        self.edge_children = [child for child, _, _ in kept]
        self.edge_parents = [parent for _, parent, _ in kept]
        self.edge_lines = [line for _, _, line in kept]

    def _join_roots(self, parents: RaggedArray, repairs: RepairLog) -> None:
        roots = np.flatnonzero(parents.sizes == 0).tolist()
        if self.top is not None:
            for root in roots:
                if root != self.top:
                    self.edge(root, self.top)
        elif len(roots) > 1:
            for root in roots[1:]:
                detail = f"{self.names[root]}, beside {self.names[roots[0]]}"
                remedy = "one is put above them, which does not count as a concept"
                repairs.repair("a second root", remedy, self.lines[root], detail)
            self.top = self.add("", 0)
            for root in roots:
                self.edge(root, self.top)

    def _build_ordered(self, parents: RaggedArray, repairs: RepairLog) -> Taxonomy:
        """Build the taxonomy; number its concepts by level and, within a level, in file order."""
        levels = self._compute_levels(parents, repairs)
        order = np.argsort(levels, kind="stable")
        number = np.empty(len(order), np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        self.number = number
        items, owner = parents.take(order)
        sizes = np.bincount(owner, minlength=len(order))
        if self.top is not None and self.top not in self.label_concepts:
            self.label(self.top, self.names[self.top] or "Top")
        labels, meanings, titles = self._sort_labels(number)
        return Taxonomy(
            title=self.title,
            names=StringArray.of([self.names[index] for index in order.tolist()]),
            labels=labels,
            label_concepts=meanings,
            titles=titles,
            parents=RaggedArray.from_sizes(sizes, number[items]),
            paths=self.paths,
            has_real_root=self.top is None,
            language=self.language,
        )

    def _sort_labels(self, number: IntArray) -> tuple[StringArray, RaggedArray, IntArray]:
        """Return sorted labels, the concepts of each as added, and the title of each concept."""
        texts, row = np.unique(np.array(self.label_texts, object), return_inverse=True)
        concepts = number[np.array(self.label_concepts, np.int64)]
        titles = np.zeros(len(number), np.int32)
        titles[concepts[::-1]] = row[::-1]  # written in reverse: a concept's first label stays
        size = len(number)
        _, first = np.unique(row * size + concepts, return_index=True)
        kept = np.sort(first)
        meanings = RaggedArray.group_by(row[kept], concepts[kept], len(texts))
        return StringArray.of(texts.tolist()), meanings, titles


def _find_cycles(parents: RaggedArray, levels: IntArray) -> list[list[int]]:
    """Find cycles that share no concept.

    Walk from each concept without a level to its first parent without a level. Such a parent
    always exists, so each walk ends in a cycle or meets an earlier walk.
    """
    seen: dict[int, int] = {}
    cycles = []
    for walk_id, start in enumerate(np.flatnonzero(levels < 0).tolist()):
        concept, path = start, []
        while concept not in seen:
            seen[concept] = walk_id
            path.append(concept)
            concept = next(int(p) for p in parents[concept] if levels[p] < 0)
        if seen[concept] == walk_id:  # the walk met itself, not an earlier walk
            cycles.append(path[path.index(concept) :])
    return cycles
