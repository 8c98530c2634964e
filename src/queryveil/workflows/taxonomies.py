"""Import, describe, search and check taxonomies, and map queries to their concepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from ..concepts.loaders.base import TextBlocks
from ..concepts.loaders.registry import (
    BUILT_IN,
    TAXONOMY_LOADERS,
    open_taxonomy,
)
from ..concepts.mapping.explanation import QueryExplanation, explain_query
from ..concepts.mapping.mapper import Mapper
from ..concepts.mapping.options import SAME, MappingOptions
from ..concepts.mapping.result import ConceptMapping
from ..concepts.taxonomy.builder import RepairLog
from ..concepts.taxonomy.graph import Taxonomy
from ..concepts.taxonomy.search_index import SearchIndex, index_path, write_index
from ..concepts.taxonomy.validation import check_taxonomy, describe_taxonomy
from ..core.arguments import guided, guided_with
from ..core.files import atomic_file
from ..core.progress import NoProgress, Progress
from ..engine.operations import unique_queries
from ..errors import InputError, OutputError, QueryveilError, UsageError
from ..log.keywords import READING_OPTIONS, ReadingKeywords
from ..log.opening import LogLike, open_log
from ..release.formats import escape_formula
from .taxonomy_records import (
    ConceptDescription,
    ConceptMatch,
    ConceptMatches,
    ConceptName,
    MappedFile,
    TaxonomyEntry,
    TaxonomyFigures,
    TaxonomyImport,
    TaxonomyList,
    TaxonomyReport,
)

_MAX_SHOWN = 20


def import_taxonomy(
    kind: str,
    files: Sequence[str | Path],
    out: str | Path,
    *,
    repair: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> TaxonomyImport:
    r"""Convert a knowledge base into a taxonomy file, with a search index if it has texts.

    Args:
        kind: The format: "odp", "paths", "skos", "csv" or another loader.
        files: The files to read.
        out: The taxonomy file to write, whose name ends in `.qvt`.
        repair: Whether to repair what is inconsistent, and to count it, instead of an error.
        overwrite: Whether an existing file is replaced.
        progress: Receives the stages of the work.
        options: Options of the loader, such as `columns` of `csv`.

    Returns:
        What was written, with the statistics of the taxonomy.

    Raises:
        InputError: A file cannot be read.
        OutputError: The file exists already, or cannot be written.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "shop.txt").write_text("clothes > shoes > boots\n")
    >>> import_taxonomy("paths", [folder / "shop.txt"], folder / "shop.qvt").kind
    'paths'
    """
    loader, target, paths = TAXONOMY_LOADERS.find(kind), Path(out), [Path(file) for file in files]
    if target.exists() and not overwrite:
        raise OutputError("this exists already", where=target, hint="`overwrite=True` replaces it")
    shown, repairs = progress or NoProgress(), RepairLog(paths[0] if paths else "", repair)
    loaded = loader.run(paths, repairs, shown, options)
    taxonomy, texts, counts = loaded.taxonomy, loaded.texts, loaded.counts
    _write(taxonomy, texts, target, shown, overwrite)
    return TaxonomyImport(
        out=str(target),
        kind=kind,
        bytes=target.stat().st_size,
        search=str(index_path(target)) if texts is not None else None,
        statistics=describe_taxonomy(taxonomy),
        counted=dict(counts),
        repaired=dict(repairs.counts),
    )


def _write(
    taxonomy: Taxonomy, texts: TextBlocks | None, out: Path, shown: Progress, overwrite: bool
) -> None:
    """Write the index first, so that a taxonomy file that exists is complete."""
    index = index_path(out)
    if texts is not None:
        write_index(index, taxonomy, texts, shown)
    else:
        index.unlink(missing_ok=True)  # that of a taxonomy that is replaced
    with shown.stage("write the taxonomy"):
        taxonomy.write(out, overwrite=overwrite)


def list_taxonomies(folder: str | Path = ".") -> TaxonomyList:
    """List the built-in taxonomies, and the taxonomy files of a folder."""
    if not Path(folder).is_dir():
        raise InputError("there is no such folder", where=folder)
    files = [str(file) for file in sorted(Path(folder).glob("*.qvt"))]
    built_in = [_describe_entry(name, text) for name, text in BUILT_IN.items()]
    return TaxonomyList((*built_in, *(_describe_entry(file) for file in files)))


def _describe_entry(name: str, description: str = "") -> TaxonomyEntry:
    """Return one entry of the list; a file that cannot be opened has an entry too."""
    try:
        taxonomy = open_taxonomy(name) if description else Taxonomy.open(name)
    except QueryveilError as error:
        return TaxonomyEntry(name, f"not readable: {error.what}", None, None)
    return TaxonomyEntry(name, description or "a file", len(taxonomy), len(taxonomy.labels))


def describe_taxonomy_file(name: str) -> TaxonomyFigures:
    """Describe a taxonomy."""
    taxonomy = open_taxonomy(name)
    return TaxonomyFigures(taxonomy=taxonomy.title, statistics=describe_taxonomy(taxonomy))


def describe_concept(name: str, concept: str) -> ConceptDescription:
    """Describe one concept of a taxonomy."""
    taxonomy = open_taxonomy(name)
    number = taxonomy.find(concept)
    children = taxonomy.children(number).tolist()
    others = [other for other in taxonomy.lookup(concept) if other != number]
    return ConceptDescription(
        taxonomy=taxonomy.title,
        concept=taxonomy.name(number),
        label=taxonomy.label(number),
        labels=tuple(taxonomy.labels_of(number)),
        ancestors=_name_concepts(taxonomy, taxonomy.ancestors(number).tolist()),
        depth=int(taxonomy.depths[number]),
        parents=_name_concepts(taxonomy, taxonomy.parents[number].tolist()),
        children=_name_concepts(taxonomy, children[:_MAX_SHOWN]),
        number_of_children=len(children),
        concepts_below=len(taxonomy.descendants(number)) - 1,
        other_meanings=_name_concepts(taxonomy, others[:_MAX_SHOWN]),
    )


def _name_concepts(taxonomy: Taxonomy, concepts: list[int]) -> tuple[ConceptName, ...]:
    return tuple(ConceptName(taxonomy.name(c), taxonomy.label(c)) for c in concepts)


def search_taxonomy(name: str, words: str, n: int = 10) -> ConceptMatches:
    """Return concepts by words in their labels, in their ancestors' labels and in their texts."""
    taxonomy = open_taxonomy(name)
    return ConceptMatches(
        tuple(
            ConceptMatch(taxonomy.name(c), taxonomy.label(c), round(score, 4))
            for c, score in SearchIndex.open(taxonomy).find(words, n)
        )
    )


def check_taxonomy_file(name: str) -> TaxonomyReport:
    """Check that a taxonomy is complete and consistent."""
    taxonomy = open_taxonomy(name)
    checks = tuple(check_taxonomy(taxonomy))
    return TaxonomyReport(taxonomy.title, all(check.holds for check in checks), checks)


@guided
def make_mapper(
    taxonomy: str | Path | Taxonomy | Mapper = "wordnet",
    *,
    language: str | None = None,
    tagger: str | None = None,
    terms: str | Path | None = None,
) -> Mapper:
    """Return a mapper of queries to concepts.

    Args:
        taxonomy: A taxonomy, its file or its name; a mapper is returned as it is.
        language: The language of the queries, as "de"; else that of the taxonomy. It selects the
            labels of `shop`.
        tagger: What finds the nouns of a query; else the built-in tagger.
        terms: File of custom terms, one term, tab and concept per line.

    Returns:
        The mapper.

    Raises:
        InputError: The taxonomy or the file of terms cannot be read.

    >>> make_mapper("wordnet").taxonomy.title
    'wordnet'
    """
    if isinstance(taxonomy, Mapper):
        return taxonomy
    options = MappingOptions(str(taxonomy), language or SAME, "" if terms is None else str(terms))
    opened = taxonomy if isinstance(taxonomy, Taxonomy) else None
    return options.mapper(opened, tagger)


@guided_with(READING_OPTIONS)
def map_log(
    log: LogLike,
    taxonomy: str | Path | Taxonomy | Mapper = "wordnet",
    *,
    language: str | None = None,
    terms: str | Path | None = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingKeywords],
) -> ConceptMapping:
    """Map the distinct queries of a log to concepts.

    Args:
        log: A log, or what `read_log` reads: files, or a frame of pandas, Polars or PyArrow.
        taxonomy: A taxonomy, its file or its name; or a mapper (see `make_mapper`).
        language: The language of the queries, as "de"; else that of the taxonomy.
        terms: File of custom terms, one term, tab and concept per line.
        progress: Receives the stages of the work.
        reading: Options of `read_log`, such as `columns`.

    Returns:
        The phrases of each query and their concepts; `profiles` computes the interest profiles of
        the users.

    Raises:
        InputError: The log or the taxonomy cannot be read.

    >>> frame = pl.DataFrame({"user": ["ann"], "query": ["red shoes"]})
    >>> map_log(frame).coverage()
    1.0
    """
    opened = open_log(log, reading, progress=progress)
    mapper = make_mapper(taxonomy, language=language, terms=terms)
    return mapper.map(unique_queries(opened.local_frame), progress)


def explain_queries(mapper: Mapper, queries: Sequence[str]) -> list[QueryExplanation]:
    """Map single queries and explain each step."""
    return [explain_query(mapper, query) for query in queries]


def map_to_file(
    mapper: Mapper,
    queries: pl.Series,
    out: str | Path,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> MappedFile:
    """Map queries and write a table of their phrases and concepts (.tsv, .csv or .parquet).

    The table has the queries of a log, so only the data owner can read the file. Cells that a
    spreadsheet would run as a formula get an apostrophe in front, except in Parquet.
    """
    target = Path(out)
    if target.suffix not in _WRITERS:
        raise UsageError(f'"{target.name}" has no known file extension', hint=", ".join(_WRITERS))
    mapping = mapper.map(queries.unique(maintain_order=True), progress)
    with atomic_file(target, overwrite=overwrite, private=True) as part:
        _WRITERS[target.suffix](mapping.to_polars(), part)
    return MappedFile(
        str(target), len(mapping.queries), mapping.phrases.height, round(mapping.coverage(), 4)
    )


def _escape_formulas(table: pl.DataFrame) -> pl.DataFrame:
    texts = [name for name, dtype in table.schema.items() if dtype == pl.String]
    return table.with_columns(escape_formula(pl.col(name)).alias(name) for name in texts)


def _write_tsv(table: pl.DataFrame, path: Path) -> None:
    _escape_formulas(table).write_csv(path, separator="\t")


def _write_csv(table: pl.DataFrame, path: Path) -> None:
    _escape_formulas(table).write_csv(path)


def _write_parquet(table: pl.DataFrame, path: Path) -> None:
    table.write_parquet(path)


_WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".tsv": _write_tsv,
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
