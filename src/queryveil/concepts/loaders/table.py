"""A taxonomy from a table: each row names a concept and its parent."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from ...core.progress import NoProgress, Progress
from ...errors import ColumnError, FormatError, UsageError, did_you_mean
from ...log.readers.source import TextFile
from ..taxonomy.builder import RepairLog, TaxonomyBuilder
from ..taxonomy.graph import Taxonomy
from .paths import file_size, iter_lines, normalize_text, title_from_path


_USUAL = {
    "parent": {"parent", "parent id", "parentid", "broader", "parent name", "parent category"},
    "child": {"child", "child id", "childid", "narrower"},
    "id": {"id", "unique id", "uid", "identifier", "code", "concept", "concept id"},
    "label": {"label", "name", "title", "preflabel", "pref label"},
}
_HEADER_WITHIN = 5  # the tables of the IAB have a line above their header
_HINT = "name the columns: --columns parent=COLUMN,child=COLUMN or id=,parent=,label="

_Row = tuple[int, list[str]]


def import_table(
    path: Path,
    repairs: RepairLog,
    *,
    columns: dict[str, str] | None = None,
    progress: Progress | None = None,
) -> Taxonomy:
    """Read a CSV or TSV table, plain, `.gz` or `.zst`: a row for each concept and its parent.

    With the columns parent and child, a name is a concept and its own label; a row without a
    parent declares a root. With the columns id, parent and label, every parent needs a row.
    Several declared roots get one above them, which does not count as a concept. `columns`
    says which column is which, by header or, in a table without one, by number from 1.
    """
    with (progress or NoProgress()).stage("reading the table", file_size(path)) as advance:
        file = TextFile(path, advance=advance, lone_cr=True)
        rows = _rows(file, _separator(file, path), repairs)
        places, width, rest = _columns(rows, columns or {}, path)
        graph = _Graph(TaxonomyBuilder(title_from_path(path)), repairs, labelled="label" in places)
        for line, cells in _of_width(rest, width, repairs):
            graph.take(
                {n: normalize_text(cells[at], line, repairs) for n, at in places.items()}, line
            )
    return graph.finish()


@dataclass
class _Graph:
    """Concepts by their name or id, as the rows name them."""

    draft: TaxonomyBuilder
    repairs: RepairLog
    labelled: bool
    places: dict[str, int] = field(default_factory=dict)
    edges: list[tuple[int, str, int]] = field(default_factory=list)
    declared: set[int] = field(default_factory=set)

    def take(self, row: dict[str, str], line: int) -> None:
        """Take what a row says of its concept."""
        name, parent = row["key"], row["parent"]
        if not name:
            self.repairs.repair("a row without a concept", "it is left out", line, parent)
            return
        if parent and not self.labelled:
            self._place(parent, line)  # here a mention is enough, and the file's order is kept
        place = self._place(name, line)
        label = row.get("label", "").replace("_", " ").strip()
        if label:
            self.draft.label(place, label)
        if parent:
            self.edges.append((place, parent, line))
        else:
            self.declared.add(place)

    def _place(self, name: str, line: int) -> int:
        if name not in self.places:
            label = None if self.labelled else name.replace("_", " ").strip() or name
            self.places[name] = self.draft.add(name, line, label)
        return self.places[name]

    def finish(self) -> Taxonomy:
        """Join children to parents, which may stand further down, and make the taxonomy."""
        orphans = []
        for child, parent, line in self.edges:
            if parent in self.places:
                self.draft.edge(child, self.places[parent], line)
                continue
            fault, mended = "a parent that no row defines", "its child is put under the root"
            self.repairs.repair(fault, mended, line, f"{parent}, of {self.draft.names[child]}")
            orphans.append(child)
        roots = _roots(self.draft)
        if len(self.declared & set(roots)) > 1:
            self._one_above(roots)
        attach_orphans(self.draft, orphans)
        return self.draft.build(self.repairs)

    def _one_above(self, roots: list[int]) -> None:
        """Put a root above the declared ones; any other is still a fault."""
        for place in roots:
            if place not in self.declared and not self.labelled:
                fault, mended = "a second root", "it is put beside the declared ones"
                name = self.draft.names[place]
                self.repairs.repair(fault, mended, self.draft.lines[place], name)
        self.draft.top = self.draft.add("", 0)


def attach_orphans(draft: TaxonomyBuilder, orphans: Iterable[int]) -> None:
    """Put concepts whose parent is missing under the root, or under one made for them.

    >>> draft = TaxonomyBuilder("shop")
    >>> home, hose = draft.add("home", 1), draft.add("hose", 2)
    >>> attach_orphans(draft, [hose])
    >>> draft.edge_parents == [home]
    True
    """
    parentless = _roots(draft)
    lost = set(orphans) & set(parentless)
    if not lost or draft.top is not None:
        return  # all that is left goes under the artificial root
    roots = [place for place in parentless if place not in lost]
    if len(roots) != 1:
        draft.top = draft.add("", 0)
        return
    for place in sorted(lost):
        draft.edge(place, roots[0])


def _roots(draft: TaxonomyBuilder) -> list[int]:
    children = set(draft.edge_children)
    return [place for place in range(len(draft.names)) if place not in children]


# --- rows and columns ----------------------------------------------------------------------------


def _separator(file: TextFile, path: Path) -> str:
    lines = [line for line in file.head().decode("utf-8", "replace").splitlines() if line.strip()]
    first = lines[0] if lines else ""
    found = max("\t,;|", key=first.count)
    if first and found not in first:
        hint = "separate the columns by commas, semicolons, bars or tabs"
        raise FormatError("this is no table: its first line has one cell", where=path, hint=hint)
    return found


def _rows(file: TextFile, separator: str, repairs: RepairLog) -> Iterator[_Row]:
    """Give the rows with the numbers of their first lines; a cell in quotes may hold lines."""
    faults: dict[int, str] = {}
    reader = csv.reader(_fed(file, faults), delimiter=separator, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            _refuse_if_long(line, reader.line_num, error, repairs)
            repairs.repair("a row that cannot be read", "it is left out", line, str(error))
            faults.clear()
            continue
        if faults:
            reason = next(iter(faults.values()))
            repairs.repair("a row that is no text", "it is left out", line, reason)
            faults.clear()
        elif any(cell.strip() for cell in cells):
            yield line, cells


def _fed(file: TextFile, faults: dict[int, str]) -> Iterator[str]:
    for line, text, fault in iter_lines(file):
        if fault:
            faults[line] = fault
        yield f"{text}\n"


def _of_width(rows: Iterator[_Row], width: int, repairs: RepairLog) -> Iterator[_Row]:
    for line, cells in rows:
        if len(cells) == width:
            yield line, cells
        else:
            fault = "a row with the wrong number of cells"
            detail = f"{len(cells):,} instead of {width:,}"
            repairs.repair(fault, "it is left out", line, detail)


def _refuse_if_long(first: int, last: int, error: csv.Error, repairs: RepairLog) -> None:
    """An open quotation mark swallows all after it, so leaving out that row is no repair."""
    if last > first:
        raise FormatError(
            f"line {first:,}: a quotation mark that is not closed ({error})",
            where=repairs.where,
            hint="close it, or double it if it is part of the text",
        )


def _columns(
    rows: Iterator[_Row], wanted: dict[str, str], path: Path
) -> tuple[dict[str, int], int, Iterator[_Row]]:
    """Find the header, and with it where each column is, how many there are, and what follows."""
    unknown = next((name for name in wanted if name not in _USUAL), None)
    if unknown is not None:
        raise UsageError(f'"{unknown}" in --columns', hint=did_you_mean(unknown, _USUAL))
    first = list(islice(rows, _HEADER_WITHIN))
    for at, (_, cells) in enumerate(first):
        found = _named([cell.strip().lower() for cell in cells], wanted)
        if found:
            return found, len(cells), chain(first[at + 1 :], rows)
    width = len(first[0][1]) if first else 0
    places = _numbered(wanted, width) if wanted else {"parent": 0, "key": 1}
    if first and (places is None or (not wanted and width != 2)):
        names = ", ".join(cell.strip() for cell in first[0][1])[:200]
        raise ColumnError(f"no columns of parents and children: {names}", where=path, hint=_HINT)
    return places or {}, width, chain(first, rows)


def _named(names: list[str], wanted: dict[str, str]) -> dict[str, int] | None:
    plain = [" ".join(name.replace("_", " ").split()) for name in names]
    found = {}
    for column, usual in _USUAL.items():
        if column in wanted:
            fits = [at for at, name in enumerate(names) if name == wanted[column].strip().lower()]
            if not fits:
                return None
        else:
            fits = [at for at, name in enumerate(plain) if name in usual]
        if fits:
            found[column] = fits[0]
    return _roles(found)


def _numbered(wanted: dict[str, str], width: int) -> dict[str, int] | None:
    if not all(column.isdecimal() and 1 <= int(column) <= width for column in wanted.values()):
        return None
    return _roles({name: int(column) - 1 for name, column in wanted.items()})


def _roles(found: dict[str, int]) -> dict[str, int] | None:
    """Say which column identifies a concept; without an id, its name does."""
    key = next((name for name in ("child", "id", "label") if name in found), None)
    if key is None or "parent" not in found or found[key] == found["parent"]:
        return None
    roles = {"key": found[key], "parent": found["parent"]}
    return roles | ({"label": found["label"]} if key != "label" and "label" in found else {})
