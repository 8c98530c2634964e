"""A taxonomy from one category path a line: `Top/Sports/Water_Sports/Windsurfing`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...core.progress import NoProgress, Progress
from ...log.readers.source import TextFile
from ..taxonomy.builder import RepairLog, TaxonomyBuilder
from ..taxonomy.graph import Taxonomy


_PATH_COLUMNS = {"path", "paths", "category", "categories", "category_path", "topic"}
_TEXT_COLUMNS = {"text", "description", "title"}
_MOST_PARTS = 100  # a deeper path is no category, and would cost its depth squared
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # tabs and newlines are blanks
_LEFT_OVER = re.compile(r"[\x80-\x9f]")  # of old Windows encodings, in many copies of ODP
_AROUND = re.compile(r" */ *")
_NUMBER = re.compile(r"[\d.,\s]*")


class PathTree:
    """A tree that grows path by path; a path's parents need no line of their own."""

    def __init__(self, title: str, repairs: RepairLog) -> None:
        self.draft = TaxonomyBuilder(title, paths=True)
        self.repairs = repairs
        self._places: dict[str, int] = {}

    def add(self, path: str, line: int) -> int | None:
        """Add a path with all above it, and give its place; None where nothing is left of it."""
        place = self._places.get(path)
        if place is not None:
            return place
        parts = path.split("/")
        if not all(part.strip() for part in parts):
            self.repairs.repair(
                "a path with an empty part", "empty parts are left out", line, path[:80]
            )
            whole = "/".join(part for part in parts if part.strip())
            return self.add(whole, line) if whole else None
        if len(parts) > _MOST_PARTS:
            fault = f"a path of more than {_MOST_PARTS} parts"
            self.repairs.repair(fault, "the line is left out", line, path[:80])
            return None
        above = self.add("/".join(parts[:-1]), line) if len(parts) > 1 else None
        label = parts[-1].replace("_", " ").strip()
        self._places[path] = self.draft.add(parts[-1], line, label or parts[-1], above)
        return self._places[path]

    def finish(self) -> Taxonomy:
        """Make the taxonomy; `Top`, as ODP has it, is an artificial root, and so is ours."""
        roots = [path for path in self._places if "/" not in path]
        if len(roots) == 1 and roots[0].lower() == "top":
            self.draft.top = self._places[roots[0]]
        elif len(roots) > 1:
            self.draft.top = self.draft.add("", 0)
        return self.draft.build(self.repairs)


def taxonomy_from_paths(paths: Iterable[str], title: str = "paths") -> Taxonomy:
    """Make a taxonomy of category paths.

    >>> taxonomy_from_paths(["Home/Garden/Mowers", "Home/Kitchen"]).title
    'paths'
    """
    tree = PathTree(title, RepairLog(title))
    for line, path in enumerate(paths, 1):
        tree.add(path, line)
    return tree.finish()


@dataclass(frozen=True)
class PathsImport:
    """What a list of paths held.

    `texts` are pairs of concept and text, in the order of the file. `counted` says what was
    read and tidied; what was mended stands in `Repairs.done`.
    """

    taxonomy: Taxonomy
    texts: list[tuple[int, str]]
    counts: dict[str, int]


def import_paths(
    path: Path, repairs: RepairLog, *, progress: Progress | None = None
) -> PathsImport:
    """Read a file of category paths, one a line, plain, `.gz` or `.zst`.

    After a tab may stand a text of one of the category's sites; a path may stand on many lines.
    With a header, the columns named path or category, and text, description or title are taken.
    Paths are compared as they are: in another case it is another concept.
    """
    reader = _Reader(PathTree(title_from_path(path), repairs))
    with (progress or NoProgress()).stage("reading paths", file_size(path)) as advance:
        for line, text, fault in iter_lines(TextFile(path, advance=advance, lone_cr=True)):
            if fault:
                repairs.repair("a line that is no text", "it is left out", line, fault)
            elif not text.strip():
                reader.counted["blank lines"] += 1
            else:
                reader.take(text, line)
    taxonomy = reader.tree.finish()
    number = reader.tree.draft.number
    texts = [(int(number[place]), text) for place, text in reader.texts]
    counted = {**reader.counted, "texts": len(texts)}
    return PathsImport(taxonomy, texts, counted)


class _Reader:
    """Takes line by line; the first one may be a header."""

    def __init__(self, tree: PathTree) -> None:
        self.tree = tree
        self.texts: list[tuple[int, str]] = []
        self.counted = Counter({"lines": 0, "header lines": 0, "blank lines": 0, "tidied paths": 0})
        self._path, self._text, self._named = 0, 1, False

    def take(self, line_text: str, line: int) -> None:
        cells = line_text.split("\t")
        if not self.counted["lines"] and not self._named and self._is_header(cells):
            self.counted["header lines"] = 1
            return
        self.counted["lines"] += 1
        place = self._add(cells[self._path] if self._path < len(cells) else "", line)
        if place is None or not 0 <= self._text < len(cells):
            return
        text = cells[self._text]
        if self._named or not _NUMBER.fullmatch(text):  # a number is a count, not a text
            kept = normalize_text(text, line, self.tree.repairs)
            if kept:
                self.texts.append((place, kept))

    def _is_header(self, cells: list[str]) -> bool:
        names = [cell.strip().lower() for cell in cells]
        paths = [column for column, name in enumerate(names) if name in _PATH_COLUMNS]
        if not paths or any("/" in name for name in names):
            return False
        texts = [column for column, name in enumerate(names) if name in _TEXT_COLUMNS]
        self._path, self._text, self._named = paths[0], texts[0] if texts else -1, True
        return True

    def _add(self, cell: str, line: int) -> int | None:
        path = _AROUND.sub("/", normalize_text(cell, line, self.tree.repairs))
        if not path:
            self.tree.repairs.repair("a line without a path", "it is left out", line)
            return None
        self.counted["tidied paths"] += path != cell
        return self.tree.add(path, line)


def iter_lines(file: TextFile) -> Iterator[tuple[int, str, str | None]]:
    """Give each line with its number, without its end, and what is wrong with its bytes."""
    for block in file.blocks():
        lines = block.data.decode().split("\n")
        for line, text in enumerate(lines[:-1], block.first_line):
            yield line, text.removesuffix("\r"), block.faults.get(line)


def normalize_text(text: str, line: int | None, repairs: RepairLog) -> str:
    """Give a text with single blanks; a control character in it is a fault.

    >>> normalize_text(" Water   Sports ", 1, RepairLog("shop.csv"))
    'Water Sports'
    """
    if _CONTROL.search(text):
        repairs.repair("a control character", "a blank is put in its place", line, repr(text[:60]))
        text = _CONTROL.sub(" ", text)
    return " ".join(_LEFT_OVER.sub(" ", text).split())


def title_from_path(path: Path) -> str:
    """Name a taxonomy after its file.

    >>> title_from_path(Path("data/shop.v2.csv.gz"))
    'shop.v2'
    """
    name = re.sub(r"\.(gz|zstd?)$", "", path.name, flags=re.IGNORECASE)
    return Path(name).stem


def file_size(path: Path) -> int | None:
    """Give the size of a file in bytes, for a progress display; None where there is no file."""
    return path.stat().st_size if path.is_file() else None
