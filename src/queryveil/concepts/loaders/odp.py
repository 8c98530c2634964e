"""Import a dump of the Open Directory (ODP, DMOZ): categories, and the texts of their sites.

`OdpFile` yields the elements of categories and sites, of which a few fields are read; everything
else in a dump is skipped. Memory holds some megabytes of text, the paths and the descriptions of
the categories; sites are passed on in blocks.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import IO

import zstandard

from ...core.progress import NoProgress, Progress
from ...errors import FormatError, InputError
from ..taxonomy.builder import RepairLog
from ..taxonomy.graph import Taxonomy
from .base import LoadedTaxonomy, LoaderOption, TaxonomyLoader
from .paths import PathTree, file_size

_BLOCK = 4 << 20
_HEAD = 64 << 10
_MOST_ELEMENT = 64 << 20  # bytes; the longest real element, a category with its links, has a few MB
# The compression ratio of a dump is 5 to 10, that of a decompression bomb about 1,000.
_FREE_EXPANSION, _MAX_RATIO = 256 << 20, 100
_FORBIDDEN = bytes(code for code in range(32) if code not in (9, 10, 13))
_SPACES = bytes.maketrans(_FORBIDDEN, b" " * len(_FORBIDDEN))
_REPLACEMENT = "\ufffd"
_ROOT = re.compile(rb"<(?:\w+:)?RDF[\s>]")


@dataclass
class OdpFile:
    """A file of a dump, plain or compressed, read as the elements of one name.

    Bytes that are no text are replaced and counted in `counts`, as are occurrences of `marks`.
    """

    path: Path
    name: str
    repairs: RepairLog
    counts: Counter[str]
    marks: dict[str, str] = field(default_factory=dict)
    line: int = 1
    error: str = ""
    is_truncated: bool = False

    def elements(self, advance: Callable[[int], None]) -> Iterator[tuple[int, str]]:
        """Yield each element: the line in which it begins, and the text between its tags."""
        close = f"</{self.name}>"
        for block in self._iter_blocks(advance):
            before, *pieces = self._decode(block).split(f"<{self.name} ")
            self.line += before.count("\n")
            for piece in pieces:
                end = piece.find(close)
                if end >= 0:
                    yield self.line, piece[:end]
                elif not self.is_truncated:  # set for the last block only, which is one element
                    remedy = "it ends where the next one begins"
                    self.repairs.repair(f"an unclosed {self.name}", remedy, self.line)
                    yield self.line, piece
                self.line += piece.count("\n")

    def _iter_blocks(self, advance: Callable[[int], None]) -> Iterator[bytes]:
        """Yield blocks that end before their last element, which may be incomplete."""
        start, rest, head_checked = f"<{self.name} ".encode(), b"", False
        for chunk in self._iter_chunks(advance):
            rest += chunk
            if not head_checked:
                self._check_head(rest[:_HEAD])
                head_checked = True
            cut = rest.rfind(start)
            if cut <= 0 and len(rest) > _MOST_ELEMENT:
                cut = len(rest)
            if cut > 0:
                yield rest[:cut]
                rest = rest[cut:]
        self._check_end(rest)
        yield rest

    def _iter_chunks(self, advance: Callable[[int], None]) -> Iterator[bytes]:
        """Read the file in chunks of some megabytes, as far as it can be decompressed."""
        waiting, size, reported, total = [b""], 0, 0, 0
        try:
            with self.path.open("rb") as file:
                read = _open_reader(file)
                while piece := read(_BLOCK):
                    total += len(piece)
                    self._check_expansion(total)
                    waiting.append(piece)
                    size += len(piece)
                    if size >= _BLOCK:
                        yield b"".join(waiting)
                        waiting, size = [b""], 0
                        advance(file.tell() - reported)
                        reported = file.tell()
                advance(file.tell() - reported)
        except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
            self.error = str(error)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", where=self.path) from error
        yield b"".join(waiting)

    def _check_expansion(self, total: int) -> None:
        """Raise InputError if a file expands to more than a hundred times its size.

        Small files may expand more, up to a fixed size.
        """
        size = self.path.stat().st_size
        limit = max(_FREE_EXPANSION, _MAX_RATIO * size)
        if total > limit:
            raise InputError(
                f"expands to more than {limit:,} bytes from {size:,}",
                where=self.path,
                hint="if the dump is genuine, decompress it first",
            )

    def _check_head(self, head: bytes) -> None:
        if _ROOT.search(head):
            return
        if f"<{self.name} ".encode() not in head:
            why = f" ({self.error})" if self.error else ""
            hint = "a dump has the files structure.rdf.u8.gz and content.rdf.u8.gz"
            fault = f"line 1: this is no dump of the Open Directory{why}"
            raise FormatError(fault, where=self.path, hint=hint)
        self.repairs.repair("a dump without its root <RDF>", "it is read all the same", 1)

    def _check_end(self, rest: bytes) -> None:
        self.is_truncated = bool(self.error) or b"</RDF>" not in rest
        if self.is_truncated:
            line, why = self.line + rest.count(b"\n"), self.error or "no </RDF>"
            remedy = "what is whole before the cut is kept"
            self.repairs.repair("a dump that is cut off", remedy, line, why)

    def _decode(self, block: bytes) -> str:
        """Decode a block; replace and count bytes that are no text."""
        clean = block.translate(_SPACES)
        if clean != block:
            bad = len(block) - len(block.translate(None, _FORBIDDEN))
            self.counts["control characters replaced"] += bad
        text = clean.decode("utf-8", "replace")
        if _REPLACEMENT in text:
            bad = text.count(_REPLACEMENT) - clean.count(_REPLACEMENT.encode())
            self.counts["broken characters replaced"] += bad
        for name, mark in self.marks.items():
            self.counts[name] += text.count(mark)
        return text


def _open_reader(file: IO[bytes]) -> Callable[[int], bytes]:
    """Return the read function for the compression, which the first bytes determine."""
    first = file.peek(4)[:4]  # type: ignore[attr-defined]
    if first.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file).read1  # returns all data before an error
    if first == b"\x28\xb5\x2f\xfd":
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read1
    return file.read


SiteBlock = tuple[list[int], list[str]]

_SITES_PER_BLOCK = 50_000
_ID = re.compile(r'\s*r:id="([^"]*)"')
_SYMBOLIC = re.compile(r'<symbolic\d?\s+r:resource="([^"]*)"')
_MARKUP = re.compile(r"<[^<>]*>")
_LINK_MARKS = {
    "narrow links": "<narrow",
    "symbolic links": "<symbolic",
    "related links": "<related",
    "links to other languages": "<altlang",
    "aliases": "<Alias ",
}
_BRANCHES = {"World": ("World/", "Kids_and_Teens/International/"), "Adult": ("Adult/",)}


@dataclass
class OdpImport:
    """The taxonomy of a dump, and the texts of its categories.

    `sites` may be called once. It reads the content lazily and yields blocks of concept numbers
    and texts (the description of a category, or the title and description of a site). `counts`
    has the numbers of elements that were read and left out; it is complete once `sites` is
    exhausted.
    """

    taxonomy: Taxonomy
    sites: Callable[[], Iterator[SiteBlock]]
    counts: dict[str, int]


def import_odp(
    structure: Path,
    content: Path | None,
    repairs: RepairLog,
    *,
    all_languages: bool = False,
    include_adult: bool = False,
    progress: Progress | None = None,
) -> OdpImport:
    """Read a dump: `structure.rdf.u8` and, for its texts, `content.rdf.u8`, plain or compressed.

    Categories in other languages (`World`) and for adults (`Adult`) are left out unless
    `all_languages` or `include_adult` is true. A symbolic link lists a category below
    another one. It adds no parent, but its label becomes a further label of the category, after
    the titles of all categories.
    """
    included = {"World": all_languages, "Adult": include_adult}
    excluded = [branch for branch in included if not included[branch]]
    loader = _OdpLoader(repairs, {start: b for b in excluded for start in _BRANCHES[b]})
    display = progress or NoProgress()
    loader.read_structure(OdpFile(structure, "Topic", repairs, loader.counts, _LINK_MARKS), display)
    taxonomy = loader.finish()

    def sites() -> Iterator[SiteBlock]:
        yield from loader.iter_descriptions()
        if content is not None:
            faults = RepairLog(content, repairs.enabled, repairs.counts)
            file = OdpFile(content, "ExternalPage", faults, loader.counts)
            yield from loader.iter_sites(file, display)

    return OdpImport(taxonomy, sites, loader.counts)


class _OdpLoader:
    """The state of an import.

    `known` maps a path to its index in the draft and, after `finish`, to its concept.
    """

    def __init__(self, repairs: RepairLog, excluded: dict[str, str]) -> None:
        self.repairs = repairs
        self.excluded = excluded
        self.tree: PathTree | None = None
        self.counts: Counter[str] = Counter()
        self.known: dict[str, int] = {}
        self.described_paths: list[str] = []
        self.descriptions: list[str] = []
        self.links: list[tuple[str, str]] = []

    def read_structure(self, dump: OdpFile, progress: Progress) -> None:
        self.tree = tree = PathTree("ODP", self.repairs)
        with progress.stage("read the structure", file_size(dump.path)) as advance:
            for line, body in dump.elements(advance):
                match = _ID.match(body)
                if match is None:
                    self.repairs.repair("a Topic without a path", "it is left out", line)
                elif match[1]:  # later dumps have an unnamed element for the root
                    self._add_category(tree, _clean_path(match[1]), body, line)

    def _add_category(self, tree: PathTree, path: str, body: str, line: int) -> None:
        branch = self._excluded_branch(path)
        if branch:
            self.counts[f"categories left out ({branch})"] += 1
            return
        if path not in self.known:
            self._add_path(tree, path, line)
        if path not in self.known:  # a repair left it out
            return
        description = _between(body, "<d:Description>", "</d:Description>")
        if description:
            self.described_paths.append(path)
            self.descriptions.append(_clean_text(description))
        if "<symbolic" in body:
            self.links += filter(None, map(_parse_link, _SYMBOLIC.findall(body)))

    def _add_path(self, tree: PathTree, path: str, line: int) -> None:
        """Add a path and its ancestors, which may have no element of their own."""
        index = tree.add(path, line)
        while index is not None:
            self.known[path] = index
            path = path.rpartition("/")[0]
            is_repaired = not all(part.strip() for part in path.split("/"))
            index = None if is_repaired or path in self.known else tree.add(path, line)

    def _excluded_branch(self, path: str) -> str | None:
        """Return the excluded branch that a path is in, or None."""
        inside = f"{path.removeprefix('Top/')}/"
        branches = (b for start, b in self.excluded.items() if inside.startswith(start))
        return next(branches, None)

    def finish(self) -> Taxonomy:
        """Build the taxonomy and free the tree, since sites only need the numbers of concepts."""
        tree, self.tree = self.tree, None
        if tree is None:
            raise FormatError("the structure was not read", where=self.repairs.where)
        for label, target in self.links:
            index = self.known.get(_clean_path(target))
            words = _clean_path(label).replace("_", " ").strip()
            if index is None:
                self.counts["symbolic links to no category here"] += 1
            elif words:
                tree.draft.label(index, words)
        self.links.clear()
        taxonomy = tree.finish()
        number = tree.draft.number.tolist()
        for path, index in self.known.items():
            self.known[path] = number[index]
        self.counts["categories"] = len(taxonomy) - 1
        return taxonomy

    def iter_descriptions(self) -> Iterator[SiteBlock]:
        """Yield the descriptions of the categories, and free them."""
        concepts = [self.known[path] for path in self.described_paths]
        yield concepts, self.descriptions
        self.described_paths, self.descriptions = [], []

    def iter_sites(self, dump: OdpFile, progress: Progress) -> Iterator[SiteBlock]:
        concepts: list[int] = []
        texts: list[str] = []
        with progress.stage("read the sites", file_size(dump.path)) as advance:
            for _, body in dump.elements(advance):
                concept = self._find_category(body)
                if concept is not None:
                    title = _between(body, "<d:Title>", "</d:Title>")
                    description = _between(body, "<d:Description>", "</d:Description>")
                    concepts.append(concept)
                    texts.append(_clean_text(f"{title} {description}"))
                if len(texts) >= _SITES_PER_BLOCK:
                    yield concepts, texts
                    concepts, texts = [], []
        yield concepts, texts

    def _find_category(self, body: str) -> int | None:
        """Return the category of a site, or count the reason why there is none."""
        path = _clean_path(_between(body, "<topic>", "</topic>"))
        concept = self.known.get(path)
        if concept is None:
            reason = self._excluded_branch(path) or "no such category"
            self.counts[f"sites left out ({reason})"] += 1
        else:
            self.counts["sites"] += 1
        return concept


def _parse_link(resource: str) -> tuple[str, str] | None:
    """Return the label and the category of a symbolic link: `Tennis:Top/Sports/Tennis`."""
    label, colon, target = resource.partition(":Top/")
    if colon:
        return label, f"Top/{target}"
    label, colon, target = resource.rpartition(":")
    return (label, target) if colon else None


def _between(text: str, begin: str, end: str) -> str:
    start = text.find(begin)
    if start < 0:
        return ""
    close = text.find(end, start)
    return text[start + len(begin) : close if close >= 0 else None]


def _clean_path(text: str) -> str:
    """Resolve entities; control characters such as line ends become blanks."""
    plain = unescape(text) if "&" in text else text
    if plain.isprintable():
        return plain
    return "".join(char if char.isprintable() else " " for char in plain).strip()


def _clean_text(text: str) -> str:
    """Resolve entities, and remove the markup that some descriptions have."""
    plain = unescape(text) if "&" in text else text
    return _MARKUP.sub(" ", plain) if "<" in plain else plain


def _load(
    files: Sequence[Path],
    repairs: RepairLog,
    progress: Progress,
    *,
    all_languages: bool,
    include_adult: bool,
) -> LoadedTaxonomy:
    content = files[1] if len(files) > 1 else None
    branches = {"all_languages": all_languages, "include_adult": include_adult}
    dump = import_odp(files[0], content, repairs, progress=progress, **branches)
    return LoadedTaxonomy(dump.taxonomy, dump.sites(), dump.counts)


ODP = TaxonomyLoader(
    "odp",
    "the Open Directory's dump: structure.rdf.u8 and content.rdf.u8",
    (),
    _load,
    (
        LoaderOption("all_languages", False, "other languages too"),
        LoaderOption("include_adult", False, "categories for adults too"),
    ),
    max_files=2,
)
