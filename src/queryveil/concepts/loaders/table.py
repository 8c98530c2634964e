"""Import a table in which each row has a concept and its parent."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from ...core.progress import NoProgress, Progress
from ...errors import ColumnError, FormatError, UsageError, did_you_mean
from ...log.readers.columns import parse_columns
from ...log.readers.source import TextFile
from ..taxonomy.builder import RepairLog, TaxonomyBuilder
from ..taxonomy.graph import Taxonomy
from .base import LoadedTaxonomy, LoaderOption, TaxonomyLoader
from .paths import file_size, iter_lines, normalize_text, title_from_path

_COLUMN_NAMES = {
    "parent": {"parent", "parent id", "parentid", "broader", "parent name", "parent category"},
    "child": {"child", "child id", "childid", "narrower"},
    "id": {"id", "unique id", "uid", "identifier", "code", "concept", "concept id"},
    "label": {"label", "name", "title", "preflabel", "pref label"},
}
_MAX_HEADER_ROWS = 5  # the tables of the IAB have a row above their header
_HINT = 'name the columns: `columns="parent=COLUMN,child=COLUMN"` or id=,parent=,label='

_Row = tuple[int, list[str]]


def import_table(
    path: Path,
    repairs: RepairLog,
    *,
    columns: dict[str, str] | None = None,
    progress: Progress | None = None,
) -> Taxonomy:
    """Read a CSV or TSV table, plain, `.gz` or `.zst`: a row for each concept and its parent.

    With the columns parent and child, a name is a concept and also its label; a row without a
    parent declares a root. With the columns id, parent and label, every parent needs a row. If
    several roots are declared, an artificial root is added, which does not count as a concept.

    Args:
        columns: The column of each role (parent, child, id, label), by its header or, in a table
            without a header, by its number from 1.
    """
    with (progress or NoProgress()).stage("reading the table", file_size(path)) as advance:
        file = TextFile(path, advance=advance, lone_cr=True)
        rows = _iter_rows(file, _detect_separator(file, path), repairs)
        roles, width, rest = _find_columns(rows, columns or {}, path)
        graph = _TableGraph(
            TaxonomyBuilder(title_from_path(path)), repairs, has_labels="label" in roles
        )
        for line, cells in _filter_width(rest, width, repairs):
            texts = {n: normalize_text(cells[at], line, repairs) for n, at in roles.items()}
            graph.add_row(texts, line)
    return graph.finish()


@dataclass
class _TableGraph:
    """The concepts of the rows, by name or id."""

    draft: TaxonomyBuilder
    repairs: RepairLog
    has_labels: bool
    indices: dict[str, int] = field(default_factory=dict)
    edges: list[tuple[int, str, int]] = field(default_factory=list)
    declared: set[int] = field(default_factory=set)

    def add_row(self, row: dict[str, str], line: int) -> None:
        """Add the concept, label and parent of a row."""
        name, parent = row["key"], row["parent"]
        if not name:
            self.repairs.repair("a row without a concept", "it is left out", line, parent)
            return
        if parent and not self.has_labels:
            self._index(parent, line)  # a parent needs no row here; keeps the file order
        index = self._index(name, line)
        label = row.get("label", "").replace("_", " ").strip()
        if label:
            self.draft.label(index, label)
        if parent:
            self.edges.append((index, parent, line))
        else:
            self.declared.add(index)

    def _index(self, name: str, line: int) -> int:
        if name not in self.indices:
            label = None if self.has_labels else name.replace("_", " ").strip() or name
            self.indices[name] = self.draft.add(name, line, label)
        return self.indices[name]

    def finish(self) -> Taxonomy:
        """Add the edges, since parents may come later in the file, and build the taxonomy."""
        orphans = []
        for child, parent, line in self.edges:
            if parent in self.indices:
                self.draft.edge(child, self.indices[parent], line)
                continue
            fault, remedy = "a parent that no row defines", "its child is put under the root"
            self.repairs.repair(fault, remedy, line, f"{parent}, of {self.draft.names[child]}")
            orphans.append(child)
        roots = _find_roots(self.draft)
        if len(self.declared & set(roots)) > 1:
            self._add_root(roots)
        attach_orphans(self.draft, orphans)
        return self.draft.build(self.repairs)

    def _add_root(self, roots: list[int]) -> None:
        """Add an artificial root above the declared roots; report any other root as a fault."""
        for root in roots:
            if root not in self.declared and not self.has_labels:
                fault, remedy = "a second root", "it is put beside the declared ones"
                name = self.draft.names[root]
                self.repairs.repair(fault, remedy, self.draft.lines[root], name)
        self.draft.top = self.draft.add("", 0)


def attach_orphans(draft: TaxonomyBuilder, orphans: Iterable[int]) -> None:
    """Put concepts whose parent is missing under the root, or under an artificial root.

    >>> draft = TaxonomyBuilder("shop")
    >>> home, hose = draft.add("home", 1), draft.add("hose", 2)
    >>> attach_orphans(draft, [hose])
    >>> draft.edge_parents == [home]
    True
    """
    parentless = _find_roots(draft)
    unattached = set(orphans) & set(parentless)
    if not unattached or draft.top is not None:
        return  # `build` puts them under the artificial root
    roots = [concept for concept in parentless if concept not in unattached]
    if len(roots) != 1:
        draft.top = draft.add("", 0)
        return
    for concept in sorted(unattached):
        draft.edge(concept, roots[0])


def _find_roots(draft: TaxonomyBuilder) -> list[int]:
    children = set(draft.edge_children)
    return [concept for concept in range(len(draft.names)) if concept not in children]


# --- rows and columns ----------------------------------------------------------------------------


def _detect_separator(file: TextFile, path: Path) -> str:
    lines = [line for line in file.head().decode("utf-8", "replace").splitlines() if line.strip()]
    first = lines[0] if lines else ""
    separator = max("\t,;|", key=first.count)
    if first and separator not in first:
        hint = "separate the columns by commas, semicolons, bars or tabs"
        raise FormatError("this is no table: its first line has one cell", where=path, hint=hint)
    return separator


def _iter_rows(file: TextFile, separator: str, repairs: RepairLog) -> Iterator[_Row]:
    """Yield the rows with the numbers of their first lines; quoted cells may span lines."""
    faults: dict[int, str] = {}
    reader = csv.reader(_iter_text(file, faults), delimiter=separator, strict=True)
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


def _iter_text(file: TextFile, faults: dict[int, str]) -> Iterator[str]:
    for line, text, fault in iter_lines(file):
        if fault:
            faults[line] = fault
        yield f"{text}\n"


def _filter_width(rows: Iterator[_Row], width: int, repairs: RepairLog) -> Iterator[_Row]:
    for line, cells in rows:
        if len(cells) == width:
            yield line, cells
        else:
            fault = "a row with the wrong number of cells"
            detail = f"{len(cells):,} instead of {width:,}"
            repairs.repair(fault, "it is left out", line, detail)


def _refuse_if_long(first: int, last: int, error: csv.Error, repairs: RepairLog) -> None:
    """Raise FormatError for a row of several lines.

    An open quotation mark consumes all rows after it, so dropping that row is no repair.
    """
    if last > first:
        raise FormatError(
            f"line {first:,}: a quotation mark that is not closed ({error})",
            where=repairs.where,
            hint="close it, or double it if it is part of the text",
        )


def _find_columns(
    rows: Iterator[_Row], wanted: dict[str, str], path: Path
) -> tuple[dict[str, int], int, Iterator[_Row]]:
    """Return the column of each role, the number of columns, and the rows after the header."""
    unknown = next((name for name in wanted if name not in _COLUMN_NAMES), None)
    if unknown is not None:
        hint = did_you_mean(unknown, _COLUMN_NAMES)
        raise UsageError(f'`columns` has no key "{unknown}"', hint=hint)
    first = list(islice(rows, _MAX_HEADER_ROWS))
    for row, (_, cells) in enumerate(first):
        roles = _match_header([cell.strip().lower() for cell in cells], wanted)
        if roles:
            return roles, len(cells), chain(first[row + 1 :], rows)
    width = len(first[0][1]) if first else 0
    numbered = _parse_numbers(wanted, width) if wanted else {"parent": 0, "key": 1}
    if first and (numbered is None or (not wanted and width != 2)):
        names = ", ".join(cell.strip() for cell in first[0][1])[:200]
        raise ColumnError(f"no columns of parents and children: {names}", where=path, hint=_HINT)
    return numbered or {}, width, chain(first, rows)


def _match_header(names: list[str], wanted: dict[str, str]) -> dict[str, int] | None:
    normalized = [" ".join(name.replace("_", " ").split()) for name in names]
    columns = {}
    for column, known_names in _COLUMN_NAMES.items():
        if column in wanted:
            header = wanted[column].strip().lower()
            matches = [index for index, name in enumerate(names) if name == header]
            if not matches:
                return None
        else:
            matches = [index for index, name in enumerate(normalized) if name in known_names]
        if matches:
            columns[column] = matches[0]
    return _assign_roles(columns)


def _parse_numbers(wanted: dict[str, str], width: int) -> dict[str, int] | None:
    if not all(column.isdecimal() and 1 <= int(column) <= width for column in wanted.values()):
        return None
    return _assign_roles({name: int(column) - 1 for name, column in wanted.items()})


def _assign_roles(columns: dict[str, int]) -> dict[str, int] | None:
    """Return the columns of key, parent and label; without an id, the label is the key."""
    key = next((name for name in ("child", "id", "label") if name in columns), None)
    if key is None or "parent" not in columns or columns[key] == columns["parent"]:
        return None
    roles = {"key": columns[key], "parent": columns["parent"]}
    return roles | ({"label": columns["label"]} if key != "label" and "label" in columns else {})


def _load(
    files: Sequence[Path],
    repairs: RepairLog,
    progress: Progress,
    *,
    columns: dict[str, str] | None,
) -> LoadedTaxonomy:
    return LoadedTaxonomy(import_table(files[0], repairs, columns=columns, progress=progress))


TABLE = TaxonomyLoader(
    "csv",
    "a table of parents and children, or of id, parent and label",
    (".csv",),
    _load,
    (
        LoaderOption(
            "columns",
            None,
            "parent=...,child=... or id=...,parent=...,label=...",
            lambda text: parse_columns(text, ("parent", "child", "id", "label")),
        ),
    ),
)
