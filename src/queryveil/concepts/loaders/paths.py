"""Import a file with one category path per line: `Top/Sports/Water_Sports/Windsurfing`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core.progress import NoProgress, Progress
from ...log.readers.source import TextFile
from ..taxonomy.builder import RepairLog, TaxonomyBuilder
from ..taxonomy.graph import Taxonomy
from .base import LoadedTaxonomy, TaxonomyLoader

_PATH_COLUMNS = {"path", "paths", "category", "categories", "category_path", "topic"}
_TEXT_COLUMNS = {"text", "description", "title"}
_MAX_PARTS = 100  # a deeper path is no category, and needs memory quadratic in its depth
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")  # without tabs and newlines, which are blanks
_LEFT_OVER = re.compile(r"[\x80-\x9f]")  # remains of old Windows encodings, in many copies of ODP
_AROUND = re.compile(r" */ *")
_NUMBER = re.compile(r"[\d.,\s]*")


class PathTree:
    """A tree that is built path by path; the parents of a path need no line of their own."""

    def __init__(self, title: str, repairs: RepairLog) -> None:
        self.draft = TaxonomyBuilder(title, paths=True)
        self.repairs = repairs
        self._indices: dict[str, int] = {}

    def add(self, path: str, line: int) -> int | None:
        """Add a path with its ancestors and return its index, or None if a repair left it out."""
        index = self._indices.get(path)
        if index is not None:
            return index
        parts = path.split("/")
        if not all(part.strip() for part in parts):
            self.repairs.repair(
                "a path with an empty part", "empty parts are left out", line, path[:80]
            )
            repaired = "/".join(part for part in parts if part.strip())
            return self.add(repaired, line) if repaired else None
        if len(parts) > _MAX_PARTS:
            fault = f"a path of more than {_MAX_PARTS} parts"
            self.repairs.repair(fault, "the line is left out", line, path[:80])
            return None
        parent = self.add("/".join(parts[:-1]), line) if len(parts) > 1 else None
        label = parts[-1].replace("_", " ").strip()
        self._indices[path] = self.draft.add(parts[-1], line, label or parts[-1], parent)
        return self._indices[path]

    def finish(self) -> Taxonomy:
        """Build the taxonomy; a single root `Top`, or one added above several, is artificial."""
        roots = [path for path in self._indices if "/" not in path]
        if len(roots) == 1 and roots[0].lower() == "top":
            self.draft.top = self._indices[roots[0]]
        elif len(roots) > 1:
            self.draft.top = self.draft.add("", 0)
        return self.draft.build(self.repairs)


def taxonomy_from_paths(paths: Iterable[str], title: str = "paths") -> Taxonomy:
    """Build a taxonomy from category paths.

    >>> taxonomy_from_paths(["Home/Garden/Mowers", "Home/Kitchen"]).title
    'paths'
    """
    tree = PathTree(title, RepairLog(title))
    for line, path in enumerate(paths, 1):
        tree.add(path, line)
    return tree.finish()


@dataclass(frozen=True)
class PathsImport:
    """The contents of a file of paths.

    `texts` are pairs of concept and text, in the order of the file. `counts` has the numbers of
    lines that were read and normalized; repairs are counted in `RepairLog.counts`.
    """

    taxonomy: Taxonomy
    texts: list[tuple[int, str]]
    counts: dict[str, int]


def import_paths(
    path: Path, repairs: RepairLog, *, progress: Progress | None = None
) -> PathsImport:
    """Read a file of category paths, one per line, plain, `.gz` or `.zst`.

    After a tab, a line may have a text of a site of the category; a path may occur on many lines.
    With a header, the columns path or category, and text, description or title are read. Paths are
    case-sensitive.
    """
    reader = _PathReader(PathTree(title_from_path(path), repairs))
    with (progress or NoProgress()).stage("reading paths", file_size(path)) as advance:
        for line, text, fault in iter_lines(TextFile(path, advance=advance, lone_cr=True)):
            if fault:
                repairs.repair("a line that is no text", "it is left out", line, fault)
            elif not text.strip():
                reader.counts["blank lines"] += 1
            else:
                reader.read_line(text, line)
    taxonomy = reader.tree.finish()
    number = reader.tree.draft.number
    texts = [(int(number[index]), text) for index, text in reader.texts]
    counts = {**reader.counts, "texts": len(texts)}
    return PathsImport(taxonomy, texts, counts)


class _PathReader:
    """Read line by line; the first line may be a header."""

    def __init__(self, tree: PathTree) -> None:
        self.tree = tree
        self.texts: list[tuple[int, str]] = []
        self.counts = Counter({"lines": 0, "header lines": 0, "blank lines": 0, "tidied paths": 0})
        self._path_column, self._text_column, self._has_header = 0, 1, False

    def read_line(self, line_text: str, line: int) -> None:
        cells = line_text.split("\t")
        if not self.counts["lines"] and not self._has_header and self._is_header(cells):
            self.counts["header lines"] = 1
            return
        self.counts["lines"] += 1
        index = self._add(cells[self._path_column] if self._path_column < len(cells) else "", line)
        if index is None or not 0 <= self._text_column < len(cells):
            return
        text = cells[self._text_column]
        if self._has_header or not _NUMBER.fullmatch(text):  # a number is a count, not a text
            normalized = normalize_text(text, line, self.tree.repairs)
            if normalized:
                self.texts.append((index, normalized))

    def _is_header(self, cells: list[str]) -> bool:
        names = [cell.strip().lower() for cell in cells]
        paths = [column for column, name in enumerate(names) if name in _PATH_COLUMNS]
        if not paths or any("/" in name for name in names):
            return False
        texts = [column for column, name in enumerate(names) if name in _TEXT_COLUMNS]
        self._path_column, self._text_column = paths[0], texts[0] if texts else -1
        self._has_header = True
        return True

    def _add(self, cell: str, line: int) -> int | None:
        path = _AROUND.sub("/", normalize_text(cell, line, self.tree.repairs))
        if not path:
            self.tree.repairs.repair("a line without a path", "it is left out", line)
            return None
        self.counts["tidied paths"] += path != cell
        return self.tree.add(path, line)


def iter_lines(file: TextFile) -> Iterator[tuple[int, str, str | None]]:
    """Yield the number of each line, its text without the line end, and a fault of its bytes."""
    for block in file.blocks():
        lines = block.data.decode().split("\n")
        for line, text in enumerate(lines[:-1], block.first_line):
            yield line, text.removesuffix("\r"), block.faults.get(line)


def normalize_text(text: str, line: int | None, repairs: RepairLog) -> str:
    """Return a text with single blanks; a control character is reported as a fault.

    >>> normalize_text(" Water   Sports ", 1, RepairLog("shop.csv"))
    'Water Sports'
    """
    if _CONTROL.search(text):
        repairs.repair("a control character", "a blank is put in its place", line, repr(text[:60]))
        text = _CONTROL.sub(" ", text)
    return " ".join(_LEFT_OVER.sub(" ", text).split())


def title_from_path(path: Path) -> str:
    """Return the title of a taxonomy from the name of its file.

    >>> title_from_path(Path("data/shop.v2.csv.gz"))
    'shop.v2'
    """
    name = re.sub(r"\.(gz|zstd?)$", "", path.name, flags=re.IGNORECASE)
    return Path(name).stem


def file_size(path: Path) -> int | None:
    """Return the size of a file in bytes, or None if there is no file."""
    return path.stat().st_size if path.is_file() else None


def _load(files: Sequence[Path], repairs: RepairLog, progress: Progress) -> LoadedTaxonomy:
    listed = import_paths(files[0], repairs, progress=progress)
    concepts, texts = [c for c, _ in listed.texts], [text for _, text in listed.texts]
    blocks = iter([(concepts, texts)]) if texts else None
    return LoadedTaxonomy(listed.taxonomy, blocks, listed.counts)


PATHS = TaxonomyLoader(
    "paths", "one category path per line, optionally followed by a tab and a text", (), _load
)
