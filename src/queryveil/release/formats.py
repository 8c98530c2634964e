"""The file formats of a published log and of published tables.

A spreadsheet runs a cell as a formula if it begins with = + - @ (or their wide forms) or a control
character, also inside of quotation marks. In CSV and TSV such a cell gets an apostrophe in front,
and so does a cell that begins with an apostrophe, so that removing one apostrophe always restores
the text. Parquet and JSON lines keep every text as it is.

A log has five columns. Where a method releases parts of queries beside whole queries, it has a
sixth one, `kind`, which states which of both each row is.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO

import polars as pl

from ..errors import UsageError, did_you_mean

PUBLIC_SCHEMA = {
    "user": pl.String,
    "query": pl.String,
    "time": pl.String,
    "rank": pl.Int32,
    "url": pl.String,
}
KIND = "kind"
QUERY, PART = "query", "part"  # the values of the column `kind`
SCHEMA_WITH_KIND = PUBLIC_SCHEMA | {KIND: pl.String}
Target = Path | IO[bytes]
# A TSV cell without quotes cannot hold these characters; their percent encoding replaces them.
_URL_ESCAPES = {"\t": "%09", "\r": "%0D", "\n": "%0A"}
_TEXTS = ("user", "query", "url")
_RISKY = r"""^[=+\-@'"\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}\t\r\n\x00]"""


def escape_formula(text: pl.Expr) -> pl.Expr:
    """Return the text with an apostrophe before what a spreadsheet would run."""
    return pl.when(text.str.contains(_RISKY)).then(pl.lit("'") + text).otherwise(text)


def unescape_formula(text: pl.Expr) -> pl.Expr:
    """Return the text without the apostrophe of `escape_formula`."""
    return pl.when(text.str.starts_with("'")).then(text.str.slice(1)).otherwise(text)


def _sink_parquet(rows: pl.LazyFrame, path: Target) -> None:
    rows.sink_parquet(path, compression="zstd", compression_level=1, engine="streaming")


def _sink_jsonl(rows: pl.LazyFrame, path: Target) -> None:
    _format_times(rows).sink_ndjson(path, engine="streaming")


def _sink_tsv(rows: pl.LazyFrame, path: Target) -> None:
    url = pl.col("url").str.replace_many(_URL_ESCAPES)
    safe = _escape_texts(rows.with_columns(url))
    safe.sink_csv(path, separator="\t", quote_style="never", engine="streaming")


def _sink_csv(rows: pl.LazyFrame, path: Target) -> None:
    _escape_texts(rows).sink_csv(path, quote_style="necessary", engine="streaming")


def _escape_texts(rows: pl.LazyFrame) -> pl.LazyFrame:
    texts = (escape_formula(pl.col(name)).alias(name) for name in _TEXTS)
    return _format_times(rows).with_columns(texts)


def _format_times(rows: pl.LazyFrame) -> pl.LazyFrame:
    if rows.collect_schema()["time"] == pl.Datetime:
        return rows.with_columns(pl.col("time").dt.strftime("%Y-%m-%d %H:%M:%S"))
    return rows


def _scan_csv(path: Path) -> pl.LazyFrame:
    schema = _schema_of(_first_line(path).split(","))
    return _unescape_texts(pl.scan_csv(path, schema=schema, glob=False))


def _scan_tsv(path: Path) -> pl.LazyFrame:
    schema = _schema_of(_first_line(path).split("\t"))
    rows = pl.scan_csv(path, separator="\t", quote_char=None, schema=schema, glob=False)
    return _unescape_texts(rows)


_LONGEST_LINE = 1 << 20  # bytes of a first line that are read to recognize the columns


def _first_line(path: Path) -> str:
    with path.open("rb") as file:
        return file.readline(_LONGEST_LINE).decode("utf-8", "replace").rstrip("\r\n")


def _schema_of(names: Iterable[str]) -> dict[str, type[pl.DataType]]:
    """Return the columns of a log with these names; the five usual ones if they are others."""
    return dict(SCHEMA_WITH_KIND if list(names) == list(SCHEMA_WITH_KIND) else PUBLIC_SCHEMA)


def _unescape_texts(rows: pl.LazyFrame) -> pl.LazyFrame:
    return rows.with_columns(unescape_formula(pl.col(name)).alias(name) for name in _TEXTS)


def _scan_parquet(path: Path) -> pl.LazyFrame:
    # Statistics in a foreign file may be false, and a filter would rely on them.
    rows = pl.scan_parquet(path, glob=False, use_statistics=False)
    return rows.with_columns(pl.col("time").cast(pl.String))


def _scan_jsonl(path: Path) -> pl.LazyFrame:
    return pl.scan_ndjson(glob.escape(str(path)), schema=_schema_of(_first_keys(path)))


def _first_keys(path: Path) -> list[str]:
    """Return the keys of the first line of JSON; none if it is no object, or too long."""
    try:
        first = json.loads(_first_line(path))
    except (ValueError, RecursionError):
        return []
    return list(first) if isinstance(first, dict) else []


@dataclass(frozen=True)
class OutputFormat:
    """A file format of published logs.

    Attributes:
        name: The name, which is the ending of the file too.
        media_type: The media type that the metadata state.
        sink: Writes rows to a path or a binary file.
        scan: Reads a file: user, query, time (as text), rank, url, and kind if the file has it.
        is_text: Whether equal rows have equal bytes, so that `verify` can compare them.
    """

    name: str
    media_type: str
    sink: Callable[[pl.LazyFrame, Target], None]
    scan: Callable[[Path], pl.LazyFrame]
    is_text: bool = True


# A closed set: `verify` must be able to read every log that anyone publishes.
OUTPUT_FORMATS: Mapping[str, OutputFormat] = {
    form.name: form
    for form in (
        OutputFormat(
            "parquet", "application/x-parquet", _sink_parquet, _scan_parquet, is_text=False
        ),
        OutputFormat("tsv", "text/tab-separated-values", _sink_tsv, _scan_tsv),
        OutputFormat("csv", "text/csv", _sink_csv, _scan_csv),
        OutputFormat("jsonl", "application/jsonlines", _sink_jsonl, _scan_jsonl),
    )
}


def check_output_format(name: str) -> str:
    """Return the name of an output format; raise UsageError if it is unknown."""
    if name not in OUTPUT_FORMATS:
        raise UsageError(f'unknown output format "{name}"', hint=did_you_mean(name, OUTPUT_FORMATS))
    return name


def write_public_log(rows: pl.LazyFrame, folder: Path, output_format: str) -> Path:
    """Write the rows, in their order, as log.<output_format>; return the path.

    Texts are written as plain strings: the dictionary of a categorical column would contain every
    query of the log, also those that were dropped.
    """
    path = folder / f"log.{check_output_format(output_format)}"
    sink_log(rows, path, output_format)
    return path


def sink_log(rows: pl.LazyFrame, target: Target, output_format: str) -> None:
    """Write the rows in a format, to a path or to a binary file."""
    texts = [*_TEXTS, *((KIND,) if has_kinds(rows) else ())]
    OUTPUT_FORMATS[output_format].sink(rows.with_columns(pl.col(texts).cast(pl.String)), target)


def has_kinds(log: pl.LazyFrame) -> bool:
    """Return whether the rows of a released log say whether they are queries or parts of them."""
    return KIND in log.collect_schema()


def complete_queries(log: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of a released log that are whole queries: all, if they have no kind.

    >>> rows = {"query": ["red shoes", "shoes"], "kind": ["query", "part"]}
    >>> complete_queries(pl.LazyFrame(rows)).collect()["query"].to_list()
    ['red shoes']
    """
    return log.filter(pl.col(KIND).cast(pl.String) == QUERY) if has_kinds(log) else log


def parts_of_queries(log: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of a released log that are parts of queries: none, if they have no kind."""
    return log.filter(pl.col(KIND).cast(pl.String) == PART) if has_kinds(log) else log.head(0)


def read_public_log(folder: Path) -> pl.LazyFrame | None:
    """Read a published log: user, query, time (as text), rank, url, and kind where it has one.

    None if there is no log.
    """
    for output_format in OUTPUT_FORMATS.values():
        if (path := folder / f"log.{output_format.name}").exists():
            return output_format.scan(path)
    return None


PUBLIC_TABLES = {
    "queries": ("query",),
    "clicks": ("query", "url"),
    "transitions": ("query", "next"),
}


def write_public_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> list[Path]:
    """Write each table, in its order, as NAME.tsv; return the paths."""
    paths = []
    for name, table in tables.items():
        paths.append(folder / f"{name}.tsv")
        write_table(table, name, paths[-1])
    return paths


def write_table(table: pl.DataFrame, name: str, target: Path | IO[bytes]) -> None:
    """Write one table, in its order, to a path or to a binary file."""
    cells = [
        escape_formula(pl.col(text).str.replace_many(_URL_ESCAPES)).alias(text)
        for text in PUBLIC_TABLES[name]
    ]
    rows = table.select(*PUBLIC_TABLES[name], "count").with_columns(cells)
    rows.write_csv(target, separator="\t", quote_style="never")


def read_public_tables(folder: Path) -> dict[str, pl.DataFrame]:
    """Read the published tables by name."""
    tables = {}
    for name, texts in PUBLIC_TABLES.items():
        path = folder / f"{name}.tsv"
        if path.exists():
            schema = dict.fromkeys(texts, pl.String) | {"count": pl.Int64}
            rows = pl.read_csv(path, separator="\t", quote_char=None, schema=schema, glob=False)
            tables[name] = rows.with_columns(
                unescape_formula(pl.col(text)).alias(text) for text in texts
            )
    return tables


CARD = "release.json"
SIGNATURE = "signature.json"
_LOGS = frozenset(f"log.{name}" for name in OUTPUT_FORMATS)
_TABLES = frozenset(f"{name}.tsv" for name in PUBLIC_TABLES)
_TEXT_FILES = frozenset(f"{name}.about.txt" for name in PUBLIC_TABLES)
_CARDS = frozenset({CARD, "report.html", "croissant.json", "dp-deployment.json", SIGNATURE})
KNOWN = _LOGS | _TABLES | _TEXT_FILES | _CARDS


def strange_names(names: Iterable[str]) -> list[str]:
    """Return the file names that no release has, and those of all logs if there are several.

    >>> strange_names(["release.json", "mapping.tsv", "log.csv", "log.tsv"])
    ['log.csv', 'log.tsv', 'mapping.tsv']
    """
    distinct = set(names)
    logs = distinct & _LOGS
    return sorted(distinct - KNOWN | (logs if len(logs) > 1 else set()))


def data_of(names: Iterable[str]) -> frozenset[str]:
    """Return which data a release has: log, queries, clicks, transitions.

    >>> sorted(data_of(["release.json", "log.csv", "queries.tsv"]))
    ['log', 'queries']
    """
    return frozenset(PurePath(name).stem for name in set(names) & (_LOGS | _TABLES))
