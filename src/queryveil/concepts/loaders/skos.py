"""Import a SKOS vocabulary, or the classes of an ontology (RDFS, OWL)."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ...core.progress import NoProgress, Progress
from ...errors import FormatError
from ...log.readers.source import TextFile
from ..taxonomy.builder import RepairLog, TaxonomyBuilder
from ..taxonomy.graph import Taxonomy
from .base import LoadedTaxonomy, LoaderOption, TaxonomyLoader
from .paths import file_size, normalize_text, title_from_path
from .rdf_limits import Growth, checked_json, checked_xml
from .table import attach_orphans

_SKOS = "http://www.w3.org/2004/02/skos/core#"
_XL = "http://www.w3.org/2008/05/skos-xl#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"

_TYPE, _FORM, _IN_SCHEME = f"{_RDF}type", f"{_XL}literalForm", f"{_SKOS}inScheme"
_SUBCLASS = f"{_RDFS}subClassOf"
_NO_CONCEPTS = {f"{_SKOS}{name}" for name in ("ConceptScheme", "Collection", "OrderedCollection")}
_EVERYTHING = {f"{_OWL}Thing", f"{_RDFS}Resource"}
# The ranks of the types of labels, the best first.
_LABELS = {
    f"{_SKOS}prefLabel": 0, f"{_XL}prefLabel": 0, f"{_RDFS}label": 1, f"{_SKOS}altLabel": 2,
    f"{_XL}altLabel": 2, f"{_SKOS}hiddenLabel": 3, f"{_XL}hiddenLabel": 3,
}  # fmt: skip
# Predicates of edges: the type of edge, and whether the subject is the child.
_EDGES = {
    f"{_SKOS}broader": ("direct", True),
    f"{_SKOS}narrower": ("direct", False),
    _SUBCLASS: ("direct", True),
    f"{_SKOS}broaderTransitive": ("transitive", True),
    f"{_SKOS}narrowerTransitive": ("transitive", False),
}
_TOPS = {f"{_SKOS}topConceptOf": True, f"{_SKOS}hasTopConcept": False}
_FORMATS = {
    ".ttl": "TURTLE", ".nt": "N_TRIPLES", ".rdf": "RDF_XML", ".xml": "RDF_XML", ".owl": "RDF_XML",
    ".jsonld": "JSON_LD", ".json": "JSON_LD", ".nq": "N_QUADS", ".trig": "TRIG",
}  # fmt: skip
_LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian"}
_DEFAULT_LANGUAGE = "en"
_MAX_LANGUAGES = 8  # that a message lists
_CHUNK = 1 << 20


def import_skos(
    path: Path, repairs: RepairLog, *, language: str = "", progress: Progress | None = None
) -> Taxonomy:
    """Read a vocabulary in Turtle, N-Triples, RDF/XML or JSON-LD, plain, `.gz` or `.zst`.

    The title of a concept is its preferred label in `language`, or else one without a language, or
    else one in any language. If no language is named, it is the one in which most concepts have a
    title, and English if several have as many. If the file has a scheme, top concepts or classes,
    an artificial root is added, which does not count as a concept. RDF has no lines: a fault names
    the concept instead.
    """
    return _load_skos(path, repairs, language, progress).taxonomy


def _load_skos(
    path: Path, repairs: RepairLog, language: str, progress: Progress | None
) -> LoadedTaxonomy:
    graph = _Graph()
    with (progress or NoProgress()).stage("reading triples", file_size(path)) as advance:
        for triple in _iter_triples(TextFile(path, advance=advance)):
            graph.add(*triple)
    members = graph.list_concepts()
    labels = [graph.labels.get(node, []) for node in members]
    read = language.strip().lower() or _choose_language(labels)
    _check_language(labels, read, repairs)
    taxonomy = graph.finish(TaxonomyBuilder(title_from_path(path)), members, read, repairs)
    return LoadedTaxonomy(taxonomy, counts=_count_languages(labels, read))


# --- the graph -----------------------------------------------------------------------------------

_Label = tuple[int, str, str]  # rank, language, text


@dataclass
class _Graph:
    """The data of the triples by node; nodes are in the order of their first occurrence."""

    nodes: dict[str, None] = field(default_factory=dict)
    described: set[str] = field(default_factory=set)
    concepts: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    labels: dict[str, list[_Label]] = field(default_factory=dict)
    distant: list[tuple[str, int, str]] = field(default_factory=list)
    forms: dict[str, tuple[str, str]] = field(default_factory=dict)
    edges: dict[str, list[tuple[str, str]]] = field(
        default_factory=lambda: {"direct": [], "transitive": []}
    )
    has_top: bool = False

    def add(self, subject: str, predicate: str, value: str, language: str | None) -> None:
        """Add a triple; `language` is None if the value is a node."""
        self.nodes.setdefault(subject)
        self.described.add(subject)
        if predicate in _LABELS:
            self._add_label(subject, predicate, value, language)
        elif predicate == _FORM:
            self.forms[subject] = (language or "", value)
        elif language is None:
            self._add_link(subject, predicate, value)

    def _add_label(self, subject: str, predicate: str, value: str, language: str | None) -> None:
        kind = _LABELS[predicate]
        if not predicate.startswith(_RDFS):  # any node may have an RDFS label
            self.concepts.add(subject)
        if language is None:
            self.distant.append((subject, kind, value))
        else:
            self.labels.setdefault(subject, []).append((kind, language, value))

    def _add_link(self, subject: str, predicate: str, value: str) -> None:
        if predicate == _TYPE:
            self._add_type(subject, value)
        elif predicate == _IN_SCHEME:
            self.others.add(value)
            self.has_top = True
        elif predicate in _TOPS:
            top, scheme = (subject, value) if _TOPS[predicate] else (value, subject)
            self.nodes.setdefault(top)
            self.concepts.add(top)
            self.others.add(scheme)
            self.has_top = True
        elif predicate == _SUBCLASS and "_:" in (subject[:2], value[:2]):
            return  # a blank node is a condition, not a concept
        elif predicate in _EDGES:
            kind, upwards = _EDGES[predicate]
            self._add_edge(kind, *((subject, value) if upwards else (value, subject)))
            self.has_top |= predicate.startswith(_RDFS)

    def _add_type(self, subject: str, value: str) -> None:
        is_class = value in (f"{_OWL}Class", f"{_RDFS}Class")
        if value == f"{_SKOS}Concept" or (is_class and not subject.startswith("_:")):
            self.concepts.add(subject)
            self.has_top |= is_class
        elif value in _NO_CONCEPTS:
            self.others.add(subject)
            self.has_top |= value.endswith("ConceptScheme")

    def _add_edge(self, kind: str, child: str, parent: str) -> None:
        if parent in _EVERYTHING:
            return
        self.nodes.setdefault(child)
        self.nodes.setdefault(parent)
        self.edges[kind].append((child, parent))

    # -- to a taxonomy --------------------------------------------------------------------------

    def list_concepts(self) -> list[str]:
        """Return the nodes that are concepts, after the labels that are nodes got their text."""
        for subject, kind, node in self.distant:
            if node in self.forms:
                self.labels.setdefault(subject, []).append((kind, *self.forms[node]))
        members = self.concepts.union(*self._all_edges()) - self.others - _EVERYTHING
        return [
            node
            for node in self.nodes
            if node in members and (node in self.described or node in self.labels)
        ]

    def finish(
        self, draft: TaxonomyBuilder, members: list[str], language: str, repairs: RepairLog
    ) -> Taxonomy:
        """Build the taxonomy."""
        draft.language = _LANGUAGES.get(_base_language(language), language)
        indices: dict[str, int] = {}
        for node in members:
            indices[node] = draft.add(node, 0)
            for text in _select_labels(self.labels.get(node, []), language):
                label = normalize_text(text.replace("_", " "), None, repairs)
                if label:
                    draft.label(indices[node], label)
        orphans = _add_edges(draft, self._all_edges(), indices, repairs)
        if self.has_top and indices:
            draft.top = draft.add("", 0)
        attach_orphans(draft, orphans)
        return draft.build(repairs)

    def _all_edges(self) -> list[tuple[str, str]]:
        return self.edges["direct"] or self.edges["transitive"]


# --- languages -----------------------------------------------------------------------------------


def _base_language(tag: str) -> str:
    """Return the language of a tag without its region: `de` of `de-at`."""
    return tag.split("-", maxsplit=1)[0]


def _choose_language(labels: Iterable[Sequence[_Label]]) -> str:
    """Return the language in which most concepts have a title; a title without one is English."""
    titles = Counter(
        tag
        for own in labels
        for tag in {_base_language(tag) or _DEFAULT_LANGUAGE for kind, tag, _ in own if kind <= 1}
    )
    return min(
        titles,
        key=lambda tag: (-titles[tag], tag != _DEFAULT_LANGUAGE, tag),
        default=_DEFAULT_LANGUAGE,
    )


def _check_language(labels: Iterable[Sequence[_Label]], language: str, repairs: RepairLog) -> None:
    """Raise FormatError if there are labels, but none in the language."""
    tags = Counter(tag for own in labels for _, tag, _ in own)
    if tags and not any(_rank_language(tag, language) < 3 for tag in tags):
        common = [tag for tag, _ in tags.most_common(_MAX_LANGUAGES)]
        raise FormatError(
            f'no label has the language "{language}"',
            where=repairs.where,
            hint=f"languages of its labels: {', '.join(common)}",
        )


def _count_languages(labels: Iterable[Sequence[_Label]], language: str) -> dict[str, int]:
    """Return the numbers of labels of other languages, if the file has some."""
    others = Counter(
        _base_language(tag)
        for own in labels
        for _, tag, _ in own
        if _rank_language(tag, language) >= 3
    )
    if not others:
        return {}
    common = ", ".join(tag for tag, _ in others.most_common(_MAX_LANGUAGES))
    return {f"labels in other languages than {language}: {common}": others.total()}


def _add_edges(
    draft: TaxonomyBuilder,
    edges: list[tuple[str, str]],
    indices: dict[str, int],
    repairs: RepairLog,
) -> list[int]:
    """Add the edges, and return the children of parents that the file does not describe."""
    orphans = []
    for child, parent in edges:
        if child in indices and parent in indices:
            draft.edge(indices[child], indices[parent])
            continue
        missing, other = (parent, child) if child in indices else (child, parent)
        fault = "a concept that is named but not described"
        remedy = "it is left out, and what is below it is put under the root"
        repairs.repair(fault, remedy, None, f"{missing}, beside {other}")
        if child in indices:
            orphans.append(indices[child])
    return orphans


def _select_labels(labels: list[_Label], language: str) -> list[str]:
    """Return the labels of a concept: its title, then all others that fit the language."""
    ranked = [(kind, _rank_language(tag, language), tag, text) for kind, tag, text in labels]
    own = min(ranked, key=lambda label: label[:3], default=None)
    fitting = sorted((label for label in ranked if label[1] < 3), key=lambda label: label[:2])
    texts = [label[3] for label in ([own] if own else []) + fitting]
    return list(dict.fromkeys(texts))


def _rank_language(tag: str, language: str) -> int:
    if tag == language:
        return 0
    if tag.startswith(f"{language}-"):
        return 1
    return 3 if tag else 2


# --- the file ------------------------------------------------------------------------------------

_Triple = tuple[str, str, str, str | None]


def _iter_triples(file: TextFile) -> Iterator[_Triple]:
    rdf: Any = importlib.import_module("pyoxigraph")  # here: slow to import
    short = _ShortNames()
    # Relative IRIs are resolved against the name of the file, not its path, which is private.
    base = f"file:///{quote(file.path.name)}"
    rdf_format = _detect_format(file.path)
    growth = Growth(file.path)
    try:
        for quad in rdf.parse(
            _ByteStream(file, rdf_format, growth),
            format=getattr(rdf.RdfFormat, rdf_format),
            base_iri=base,
        ):
            value = quad.object
            if isinstance(value, rdf.Literal):
                text, language = value.value, (value.language or "").lower()
            else:
                text, language = short(value), None
            subject, predicate = short(quad.subject), quad.predicate.value
            growth.add(len(subject) + len(predicate) + len(text))
            yield subject, predicate, text, language
    except SyntaxError as error:
        line = f"line {error.lineno:,}: " if error.lineno else ""
        message = error.msg.rpartition(": ")[2] if line else error.msg
        raise FormatError(f"{line}{message}", where=file.path, hint="correct the file") from error


def _detect_format(path: Path) -> str:
    is_compressed = path.suffix.lower() in (".gz", ".zst", ".zstd")
    rdf_format = _FORMATS.get((Path(path.stem) if is_compressed else path).suffix.lower())
    if rdf_format is None:
        hint = f"the name of the file must end in one of {', '.join(_FORMATS)}"
        raise FormatError("unknown format of RDF", where=path, hint=hint)
    return rdf_format


class _ShortNames:
    """Name blank nodes by their order, since the parser gives them random names."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, node: Any) -> str:
        written = str(node)  # <IRI>, or _:name
        if not written.startswith("_:"):
            return written.removeprefix("<").removesuffix(">")
        return self._names.setdefault(written, f"_:{len(self._names) + 1}")


def _count_bytes(chunks: Iterator[bytes], growth: Growth) -> Iterator[bytes]:
    for chunk in chunks:
        growth.read += len(chunk)
        yield chunk


class _ByteStream:
    """A readable stream of the decompressed and checked bytes of a file."""

    def __init__(self, file: TextFile, rdf_format: str, growth: Growth) -> None:
        # Not line by line: JSON may be a single line.
        chunks = _count_bytes(file.iter_text(_CHUNK), growth)
        if rdf_format == "RDF_XML":
            chunks = checked_xml(chunks, growth)
        elif rdf_format == "JSON_LD":
            chunks = checked_json(chunks, file.path)
        self._chunks = chunks
        self._rest = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return b"".join([self._rest, *self._chunks])
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._rest = memoryview(chunk)
        piece, self._rest = self._rest[:size], self._rest[size:]
        return bytes(piece)


def _load(
    files: Sequence[Path], repairs: RepairLog, progress: Progress, *, label_language: str
) -> LoadedTaxonomy:
    return _load_skos(files[0], repairs, label_language, progress)


SKOS = TaxonomyLoader(
    "skos",
    "SKOS or RDF: Turtle, N-Triples, RDF/XML, JSON-LD",
    tuple(_FORMATS),
    _load,
    (LoaderOption("label_language", "", "language of the labels, as de; else the most frequent"),),
)
