"""Bring, look at and try out taxonomies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ..concepts.loaders.odp import import_odp
from ..concepts.loaders.paths import import_paths
from ..concepts.loaders.registry import BUILT_IN, open_taxonomy, read_custom_terms
from ..concepts.loaders.skos import import_skos
from ..concepts.loaders.table import import_table
from ..concepts.mapping.explanation import explain_query
from ..concepts.mapping.mapper import Mapper
from ..concepts.mapping.result import ConceptMapping
from ..concepts.taxonomy.builder import RepairLog
from ..concepts.taxonomy.graph import Taxonomy
from ..concepts.taxonomy.search_index import SearchIndex, index_path, write_index
from ..concepts.taxonomy.validation import check_taxonomy, describe_taxonomy
from ..core.files import atomic_file
from ..core.progress import NoProgress, Progress
from ..engine.operations import unique_queries
from ..errors import InputError, OutputError, QueryveilError, UsageError, did_you_mean
from ..log.query_log import QueryLog
from ..release.formats import escape_formula

TAXONOMY_FORMATS = {
    "odp": "the Open Directory's dump: structure.rdf.u8 and content.rdf.u8",
    "paths": "one category path a line, with a tab and a text if you like",
    "csv": "a table of parents and children, or of id, parent and label",
    "skos": "SKOS or RDF: Turtle, N-Triples, RDF/XML, JSON-LD",
}
_SHOWN = 20
TextBlocks = Iterator[tuple[Sequence[int], Sequence[str]]]


def import_taxonomy(
    kind: str,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    repair: bool = False,
    world: bool = False,
    adult: bool = False,
    language: str = "en",
    columns: dict[str, str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Make a taxonomy's file of a knowledge base, with an index beside it if it has texts."""
    target, paths = Path(out), [Path(file) for file in files]
    _check_import(kind, paths, target, force)
    shown, repairs = progress or NoProgress(), RepairLog(paths[0], repair)
    counted: dict[str, int] = {}
    texts: TextBlocks | None = None
    if kind == "odp":
        content = paths[1] if len(paths) > 1 else None
        dump = import_odp(paths[0], content, repairs, world=world, adult=adult, progress=shown)
        taxonomy, counted, texts = dump.taxonomy, dump.counts, dump.sites()
    elif kind == "paths":
        listed = import_paths(paths[0], repairs, progress=shown)
        taxonomy, counted = listed.taxonomy, listed.counts
        if listed.texts:
            texts = iter([([c for c, _ in listed.texts], [text for _, text in listed.texts])])
    elif kind == "csv":
        taxonomy = import_table(paths[0], repairs, columns=columns, progress=shown)
    else:
        taxonomy = import_skos(paths[0], repairs, language=language, progress=shown)
    _write(taxonomy, texts, target, shown, force)
    return {
        "out": str(target),
        "kind": kind,
        "bytes": target.stat().st_size,
        "search": str(index_path(target)) if texts is not None else None,
        **describe_taxonomy(taxonomy),
        "counted": dict(counted),
        "repaired": dict(repairs.counts),
    }


def _check_import(kind: str, paths: list[Path], out: Path, force: bool) -> None:
    if kind not in TAXONOMY_FORMATS:
        raise UsageError(f'"{kind}" cannot be imported', hint=did_you_mean(kind, TAXONOMY_FORMATS))
    most = 2 if kind == "odp" else 1
    if not 0 < len(paths) <= most:
        raise UsageError(f"{kind} takes {most} file{'s' * (most > 1)}, not {len(paths)}")
    if out.exists() and not force:
        raise OutputError("this exists already", where=out, hint="--force replaces it")


def _write(
    taxonomy: Taxonomy, texts: TextBlocks | None, out: Path, shown: Progress, force: bool
) -> None:
    """Write the index first: a taxonomy that stands there is complete."""
    beside = index_path(out)
    if texts is not None:
        write_index(beside, taxonomy, texts, shown)
    else:
        beside.unlink(missing_ok=True)  # of a taxonomy that is replaced
    with shown.stage("write the taxonomy"):
        taxonomy.write(out, force=force)


def list_taxonomies(folder: str | Path = ".") -> list[dict[str, Any]]:
    """List the taxonomies inside, and the files of a folder."""
    if not Path(folder).is_dir():
        raise InputError("there is no such folder", where=folder)
    files = [str(file) for file in sorted(Path(folder).glob("*.qvt"))]
    return [_listed(name, says) for name, says in [*BUILT_IN.items(), *((f, "") for f in files)]]


def _listed(name: str, says: str) -> dict[str, Any]:
    """Return one line of the list; a file that cannot be opened does not hide the others."""
    try:
        taxonomy = open_taxonomy(name) if says else Taxonomy.open(name)
    except QueryveilError as error:
        return {"name": name, "description": f"not readable: {error.what}", "concepts": None,
                "labels": None}  # fmt: skip
    counted = {"concepts": len(taxonomy), "labels": len(taxonomy.labels)}
    return {"name": name, "description": says or "a file", **counted}


def describe_taxonomy_file(name: str, concept: str | None = None) -> dict[str, Any]:
    """Describe a taxonomy, or one concept of it."""
    taxonomy = open_taxonomy(name)
    if concept is None:
        return {"taxonomy": taxonomy.title, **describe_taxonomy(taxonomy)}
    number = taxonomy.find(concept)
    children = taxonomy.children(number).tolist()
    others = [other for other in taxonomy.lookup(concept) if other != number]
    return {
        "taxonomy": taxonomy.title,
        "concept": taxonomy.name(number),
        "label": taxonomy.label(number),
        "labels": taxonomy.labels_of(number),
        "ancestors": _named(taxonomy, taxonomy.ancestors(number).tolist()),
        "depth": int(taxonomy.depths[number]),
        "parents": _named(taxonomy, taxonomy.parents[number].tolist()),
        "children": _named(taxonomy, children[:_SHOWN]),
        "number_of_children": len(children),
        "concepts_below": len(taxonomy.descendants(number)) - 1,
        "other_meanings": _named(taxonomy, others[:_SHOWN]),
    }


def _named(taxonomy: Taxonomy, concepts: list[int]) -> list[dict[str, str]]:
    return [{"concept": taxonomy.name(c), "label": taxonomy.label(c)} for c in concepts]


def search_taxonomy(name: str, words: str, n: int = 10) -> list[dict[str, Any]]:
    """Find concepts by words in their names, in what stands above them, and in their texts."""
    taxonomy = open_taxonomy(name)
    return [
        {"concept": taxonomy.name(c), "label": taxonomy.label(c), "score": round(score, 4)}
        for c, score in SearchIndex.open(taxonomy).find(words, n)
    ]


def check_taxonomy_file(name: str) -> dict[str, Any]:
    """Check that a taxonomy is whole and sound."""
    taxonomy = open_taxonomy(name)
    findings = check_taxonomy(taxonomy)
    return {
        "taxonomy": taxonomy.title,
        "holds": all(finding["holds"] for finding in findings),
        "findings": findings,
    }


def make_mapper(
    taxonomy: str | Path | Taxonomy = "wordnet",
    *,
    language: str | None = None,
    tagger: str | None = None,
    terms: str | Path | None = None,
) -> Mapper:
    """Make what maps queries to concepts: a taxonomy, a language, a tagger, own terms."""
    opened = open_taxonomy(taxonomy)
    own = read_custom_terms(Path(terms), opened) if terms is not None else []
    return Mapper(opened, language=language, tagger=tagger, terms=own)


def map_log(
    log: QueryLog, mapper: Mapper | str = "wordnet", *, progress: Progress | None = None
) -> ConceptMapping:
    """Map the distinct queries of a log; `Mapping.profiles` gives the users' interests."""
    ready = make_mapper(mapper) if isinstance(mapper, str) else mapper
    return ready.map(unique_queries(log.local_frame), progress)


def explain_queries(mapper: Mapper, queries: Sequence[str]) -> list[dict[str, Any]]:
    """Map single queries and explain each step."""
    return [explain_query(mapper, query) for query in queries]


def map_to_file(
    mapper: Mapper,
    queries: pl.Series,
    out: str | Path,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Map queries and write a table of their phrases and concepts (.tsv, .csv or .parquet).

    It holds the queries of a log, so its owner alone can read it. What a spreadsheet would run
    as a formula gets an apostrophe in front, except in Parquet.
    """
    target = Path(out)
    if target.suffix not in _WRITERS:
        raise UsageError(
            f'"{target.name}" does not say in what form to write', hint=", ".join(_WRITERS)
        )
    found = mapper.map(queries.unique(maintain_order=True), progress)
    with atomic_file(target, force=force, private=True) as part:
        _WRITERS[target.suffix](found.to_polars(), part)
    return {
        "out": str(target),
        "queries": len(found.queries),
        "phrases": found.phrases.height,
        "coverage": round(found.coverage(), 4),
    }


def _harmless(table: pl.DataFrame) -> pl.DataFrame:
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    return table.with_columns(escape_formula(pl.col(name)).alias(name) for name in texts)


def _tsv(table: pl.DataFrame, path: Path) -> None:
    _harmless(table).write_csv(path, separator="\t")


def _csv(table: pl.DataFrame, path: Path) -> None:
    _harmless(table).write_csv(path)


def _parquet(table: pl.DataFrame, path: Path) -> None:
    table.write_parquet(path)


_WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".tsv": _tsv,
    ".csv": _csv,
    ".parquet": _parquet,
}
