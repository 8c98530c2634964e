"""A taxonomy from the dump of the Open Directory (ODP, DMOZ): categories, and their sites' texts.

Categories and sites come as elements from `dump`, and a few fields are looked up in each;
whatever else stands in a dump is passed over. Memory holds some megabytes of text, the paths
and the categories' descriptions; sites are handed on in blocks.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import IO

import zstandard

from ...core.progress import NoProgress, Progress
from ...errors import FormatError, InputError
from ..taxonomy.builder import RepairLog
from ..taxonomy.graph import Taxonomy
from .paths import PathTree

_BLOCK = 4 << 20
_HEAD = 64 << 10
_MOST_ELEMENT = 64 << 20  # the longest real one, a category with all its links, has some MB
# A dump packs 5 to 10 times; a bomb 1,000 times.
_FREE_EXPANSION, _MOST_RATIO = 256 << 20, 100
_FORBIDDEN = bytes(code for code in range(32) if code not in (9, 10, 13))
_SPACES = bytes.maketrans(_FORBIDDEN, b" " * len(_FORBIDDEN))
_REPLACED = "\ufffd"
_ROOT = re.compile(rb"<(?:\w+:)?RDF[\s>]")


@dataclass
class OdpFile:
    """One file of a dump, plain or packed, as the elements of one name.

    What is no text is replaced, and counted in `counted`; so are the `marks` found.
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
        """Give each element: the line it begins in, and what stands between its ends."""
        close = f"</{self.name}>"
        for block in self._blocks(advance):
            before, *pieces = self._decoded(block).split(f"<{self.name} ")
            self.line += before.count("\n")
            for piece in pieces:
                end = piece.find(close)
                if end >= 0:
                    yield self.line, piece[:end]
                elif (
                    not self.is_truncated
                ):  # only the last block is known to be cut, and is one element
                    mended = "it ends where the next one begins"
                    self.repairs.repair(f"an unclosed {self.name}", mended, self.line)
                    yield self.line, piece
                self.line += piece.count("\n")

    def _blocks(self, advance: Callable[[int], None]) -> Iterator[bytes]:
        """Cut what is read where its last element begins, which may not be whole yet."""
        start, rest, headed = f"<{self.name} ".encode(), b"", False
        for chunk in self._chunks(advance):
            rest += chunk
            if not headed:
                self._check_head(rest[:_HEAD])
                headed = True
            cut = rest.rfind(start)
            if cut <= 0 and len(rest) > _MOST_ELEMENT:
                cut = len(rest)
            if cut > 0:
                yield rest[:cut]
                rest = rest[cut:]
        self._check_end(rest)
        yield rest

    def _chunks(self, advance: Callable[[int], None]) -> Iterator[bytes]:
        """Read the file in pieces of some megabytes, as far as it can be unpacked."""
        waiting, size, told, whole = [b""], 0, 0, 0
        try:
            with self.path.open("rb") as file:
                read = _reader(file)
                while piece := read(_BLOCK):
                    whole += len(piece)
                    self._check_expanded(whole)
                    waiting.append(piece)
                    size += len(piece)
                    if size >= _BLOCK:
                        yield b"".join(waiting)
                        waiting, size = [b""], 0
                        advance(file.tell() - told)
                        told = file.tell()
                advance(file.tell() - told)
        except (EOFError, zlib.error, gzip.BadGzipFile, zstandard.ZstdError) as error:
            self.error = str(error)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", where=self.path) from error
        yield b"".join(waiting)

    def _check_expanded(self, whole: int) -> None:
        """Stop at a bomb: what is packed may hold a hundred times its size, a small one more."""
        size = self.path.stat().st_size
        most = max(_FREE_EXPANSION, _MOST_RATIO * size)
        if whole > most:
            raise InputError(
                f"expands to more than {most:,} bytes from {size:,}",
                where=self.path,
                hint="if the dump is what it should be, unpack it first",
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
            mended = "what is whole before the cut is kept"
            self.repairs.repair("a dump that is cut off", mended, line, why)

    def _decoded(self, block: bytes) -> str:
        """Replace what is no text, and count it."""
        clean = block.translate(_SPACES)
        if clean != block:
            bad = len(block) - len(block.translate(None, _FORBIDDEN))
            self.counts["control characters replaced"] += bad
        text = clean.decode("utf-8", "replace")
        if _REPLACED in text:
            bad = text.count(_REPLACED) - clean.count(_REPLACED.encode())
            self.counts["broken characters replaced"] += bad
        for name, mark in self.marks.items():
            self.counts[name] += text.count(mark)
        return text


def _reader(file: IO[bytes]) -> Callable[[int], bytes]:
    """Give what reads a file as it is packed, which its first bytes say better than its name."""
    first = file.peek(4)[:4]  # type: ignore[attr-defined]
    if first.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file).read1  # before an error it gives all it has
    if first == b"\x28\xb5\x2f\xfd":
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read1
    return file.read


SiteBlock = tuple[list[int], list[str]]

_SITES = 50_000
_ID = re.compile(r'\s*r:id="([^"]*)"')
_SYMBOLIC = re.compile(r'<symbolic\d?\s+r:resource="([^"]*)"')
_MARKUP = re.compile(r"<[^<>]*>")
_LINKS = {
    "narrow links": "<narrow",
    "symbolic links": "<symbolic",
    "related links": "<related",
    "links to other languages": "<altlang",
    "aliases": "<Alias ",
}
_BRANCHES = {"World": ("World/", "Kids_and_Teens/International/"), "Adult": ("Adult/",)}


@dataclass
class OdpImport:
    """A dump as a taxonomy, and the texts of its categories.

    `sites` may be called once; it reads the content as it is asked for, and gives blocks of
    concept numbers and texts (a category's description, or a site's title and description).
    `counted` says what was read and what was left out; it is complete once `sites` is used up.
    """

    taxonomy: Taxonomy
    sites: Callable[[], Iterator[SiteBlock]]
    counts: dict[str, int]


def import_odp(
    structure: Path,
    content: Path | None,
    repairs: RepairLog,
    *,
    world: bool = False,
    adult: bool = False,
    progress: Progress | None = None,
) -> OdpImport:
    """Read a dump: `structure.rdf.u8` and, for its texts, `content.rdf.u8`, plain or packed.

    Categories in other languages (`World`) and for adults (`Adult`) are left out unless asked
    for. A symbolic link is another place where a category is listed: it is no parent, but its
    label becomes a further label of the category, after the own labels of all.
    """
    wanted = {"World": world, "Adult": adult}
    load = _Load(repairs, {start: b for b in wanted if not wanted[b] for start in _BRANCHES[b]})
    shown = progress or NoProgress()
    load.structure(OdpFile(structure, "Topic", repairs, load.counted, _LINKS), shown)
    taxonomy = load.finish()

    def sites() -> Iterator[SiteBlock]:
        yield from load.described()
        if content is not None:
            faults = RepairLog(content, repairs.enabled, repairs.counts)
            yield from load.sites(OdpFile(content, "ExternalPage", faults, load.counted), shown)

    return OdpImport(taxonomy, sites, load.counted)


class _Load:
    """What is known of a dump while it is read.

    `known` gives a path's place in the draft, and once that is finished its concept.
    """

    def __init__(self, repairs: RepairLog, left_out: dict[str, str]) -> None:
        self.repairs = repairs
        self.left_out = left_out
        self.tree: PathTree | None = None
        self.counted: Counter[str] = Counter()
        self.known: dict[str, int] = {}
        self.described_paths: list[str] = []
        self.descriptions: list[str] = []
        self.links: list[tuple[str, str]] = []

    def structure(self, dump: OdpFile, progress: Progress) -> None:
        self.tree = tree = PathTree("ODP", self.repairs)
        with progress.stage("read the structure", _size(dump.path)) as advance:
            for line, body in dump.elements(advance):
                found = _ID.match(body)
                if found is None:
                    self.repairs.repair("a Topic without a path", "it is left out", line)
                elif found[1]:  # later dumps have a nameless one for the root
                    self._category(tree, _clean(found[1]), body, line)

    def _category(self, tree: PathTree, path: str, body: str, line: int) -> None:
        branch = self._branch(path)
        if branch:
            self.counted[f"categories left out ({branch})"] += 1
            return
        if path not in self.known:
            self._add(tree, path, line)
        if path not in self.known:  # nothing was left of it after a repair
            return
        description = _between(body, "<d:Description>", "</d:Description>")
        if description:
            self.described_paths.append(path)
            self.descriptions.append(_text(description))
        if "<symbolic" in body:
            self.links += filter(None, map(_link, _SYMBOLIC.findall(body)))

    def _add(self, tree: PathTree, path: str, line: int) -> None:
        """Add a path, and learn those above it, which may have no element of their own."""
        place = tree.add(path, line)
        while place is not None:
            self.known[path] = place
            path = path.rpartition("/")[0]
            mended = not all(part.strip() for part in path.split("/"))
            place = None if mended or path in self.known else tree.add(path, line)

    def _branch(self, path: str) -> str | None:
        """Name the branch that a path is left out with, if it is."""
        inside = f"{path.removeprefix('Top/')}/"
        return next((b for start, b in self.left_out.items() if inside.startswith(start)), None)

    def finish(self) -> Taxonomy:
        """Make the taxonomy; the tree is let go, as sites need no more than the numbers."""
        tree, self.tree = self.tree, None
        if tree is None:
            raise FormatError("the structure was not read", where=self.repairs.where)
        for label, target in self.links:
            place = self.known.get(_clean(target))
            words = _clean(label).replace("_", " ").strip()
            if place is None:
                self.counted["symbolic links to no category here"] += 1
            elif words:
                tree.draft.label(place, words)
        self.links.clear()
        taxonomy = tree.finish()
        number = tree.draft.number.tolist()
        for path, place in self.known.items():
            self.known[path] = number[place]
        self.counted["categories"] = len(taxonomy) - 1
        return taxonomy

    def described(self) -> Iterator[SiteBlock]:
        """Give the categories' own descriptions, and let them go."""
        concepts = [self.known[path] for path in self.described_paths]
        yield concepts, self.descriptions
        self.described_paths, self.descriptions = [], []

    def sites(self, dump: OdpFile, progress: Progress) -> Iterator[SiteBlock]:
        concepts: list[int] = []
        texts: list[str] = []
        with progress.stage("read the sites", _size(dump.path)) as advance:
            for _, body in dump.elements(advance):
                concept = self._category_of(body)
                if concept is not None:
                    title = _between(body, "<d:Title>", "</d:Title>")
                    about = _between(body, "<d:Description>", "</d:Description>")
                    concepts.append(concept)
                    texts.append(_text(f"{title} {about}"))
                if len(texts) >= _SITES:
                    yield concepts, texts
                    concepts, texts = [], []
        yield concepts, texts

    def _category_of(self, body: str) -> int | None:
        """Give the category of a site, or count why there is none."""
        path = _clean(_between(body, "<topic>", "</topic>"))
        concept = self.known.get(path)
        if concept is None:
            reason = self._branch(path) or "no such category"
            self.counted[f"sites left out ({reason})"] += 1
        else:
            self.counted["sites"] += 1
        return concept


def _link(resource: str) -> tuple[str, str] | None:
    """Return the label and the category of a symbolic link: `Tennis:Top/Sports/Tennis`."""
    label, colon, target = resource.partition(":Top/")
    if colon:
        return label, f"Top/{target}"
    label, colon, target = resource.rpartition(":")
    return (label, target) if colon else None


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def _between(text: str, begin: str, end: str) -> str:
    at = text.find(begin)
    if at < 0:
        return ""
    close = text.find(end, at)
    return text[at + len(begin) : close if close >= 0 else None]


def _clean(text: str) -> str:
    """Resolve entities; a line end or the like within a path becomes a blank."""
    plain = unescape(text) if "&" in text else text
    if plain.isprintable():
        return plain
    return "".join(char if char.isprintable() else " " for char in plain).strip()


def _text(text: str) -> str:
    """Resolve entities, and leave out the markup that some descriptions have."""
    plain = unescape(text) if "&" in text else text
    return _MARKUP.sub(" ", plain) if "<" in plain else plain
