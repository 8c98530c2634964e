"""What Spark is asked to read, and how its columns become the texts that are cleaned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl
from pyspark.sql import functions as f

from ..errors import ColumnError, FormatError, InputError, UsageError
from .options import ReadOptions
from .readers.base import (
    RAW_COLUMNS,
    ReaderOptions,
    align_columns,
    is_header,
    match_columns,
    match_keys,
)
from .readers.delimited import TOO_MANY_CELLS, parse_cells
from .readers.jsonl import coalesced, parse_objects, places_of
from .readers.legacy import AOL, AOL_COLUMNS, HEADER
from .readers.source import LineBlock

FORMATS = ("parquet", "orc", "json", "jsonl", "csv", "tsv", "aol", "table")
_ENDS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".orc": "orc",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
}
_PACKED = (".gz", ".zst", ".bz2", ".snappy", ".lz4")
_WHERE = ("file", "place")
_CORRUPT = "corrupt record"
_NOT_OURS = "{*[!b],*[!d]b,*[!.]db}"  # no ledger.db, which may lie beside the log
_AOL_TIME = "%Y-%m-%d %H:%M:%S"
_TIME = "%Y-%m-%d %H:%M:%S%.f"


@dataclass(frozen=True)
class SparkSource:
    """Rows that Spark reads, all as texts: our columns, or whole lines that are cut later.

    `header` has the names of all columns where lines are cut, and `columns` which is which; rows
    may have `more` cells where the file has no header. `keys` are those of JSON objects.
    """

    rows: Any
    name: str
    format: str
    columns: dict[str, str] = field(default_factory=dict)
    header: Sequence[str] = ()
    has_time: bool = True
    time_format: str | None = None
    needs_time: bool = True
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    more: bool = False

    def to_raw_rows(self, table: pl.DataFrame) -> pl.DataFrame:
        """Give rows as a reader gives them, with where they stand."""
        where = table.select(_WHERE)
        if self.header or self.keys:
            return self._cut(table).with_columns(where).with_columns(line=_line())
        texts = [name for name in RAW_COLUMNS if name in table.columns]
        told = [pl.when(_is_odd(pl.col(texts))).then(pl.lit("NUL or not UTF-8"))]
        known = [pl.col(name) for name in (_CORRUPT,) if name in table.columns]
        rows = table.with_columns(fault=pl.coalesce(*known, *told), line=_line())
        return align_columns(rows).with_columns(where)

    def _cut(self, table: pl.DataFrame) -> pl.DataFrame:
        """Cut whole lines, as the local reader does."""
        lines = table["value"].fill_null("")
        block = LineBlock(("\n".join(lines.to_list()) + "\n").encode(), 1, {})
        odd = table.select(pl.when(_is_odd(pl.col("value"))).then(pl.lit("not UTF-8"))).to_series()
        if self.header:
            cells = parse_cells(block, self.header, self.columns, "\t", more=self.more)
            return cells.with_columns(fault=pl.coalesce(odd, "fault"))
        found = align_columns(coalesced(parse_objects(block, places_of(self.keys)), self.keys))
        # A blank line is left out here, and is one for the tally.
        numbers = pl.DataFrame({"line": pl.int_range(1, len(lines) + 1, eager=True), "odd": odd})
        whole = numbers.join(found, on="line", how="left", maintain_order="left")
        return align_columns(whole.with_columns(fault=pl.coalesce("odd", "fault")))


def _line() -> pl.Expr:
    """Give a row's number among those of its task: Spark knows no other."""
    return pl.col("place") % (1 << 33) + 1


def _is_odd(texts: pl.Expr) -> pl.Expr:
    """Tell texts with what Spark puts for bytes that are no text, or with NUL."""
    return pl.any_horizontal(texts.str.contains("[\x00\ufffd]").fill_null(False))


def open_spark_source(session: Any, given: Any, asked: ReadOptions) -> SparkSource:
    """Find what is to be read: a DataFrame, a table, or files of one format."""
    if hasattr(given, "mapInArrow"):
        return _typed(given, "spark://a DataFrame", "spark", asked)
    paths = [str(path) for path in given]
    _check_asked(paths, asked)
    if asked.format == "table":
        return _typed(session.table(paths[0]), f"spark://{paths[0]}", "table", asked)
    form = asked.format or _form_of(session, paths)
    if form not in FORMATS:
        raise UsageError(
            f'Spark does not read "{form}"',
            hint=f"one of {', '.join(FORMATS)}; --engine local reads it",
        )
    name = ", ".join(paths)
    places = [_place(path) for path in paths]
    if form in ("tsv", "aol") and asked.quote in (None, "none") and asked.delimiter in (None, "\t"):
        return _lines(session, places, name, asked, form)
    reader = session.read.option("pathGlobFilter", _NOT_OURS)
    if form in ("csv", "tsv"):
        return _csv(session, places, name, asked, "\t" if form == "tsv" else ",;|")
    if form in ("json", "jsonl"):
        lines = _with_places(reader.text(places, lineSep="\n"))
        needs_time = "time" in asked.columns
        keys = match_keys(asked.columns)
        return SparkSource(lines, name, "json", asked.columns, needs_time=needs_time, keys=keys)
    return _typed(reader.format(form).load(places), name, form, asked)


def _check_asked(paths: list[str], asked: ReadOptions) -> None:
    """Refuse what Spark would not heed."""
    if len(set(paths)) < len(paths):
        raise UsageError("a file is named twice", hint="its rows would count twice")
    if asked.encoding.lower().replace("-", "") != "utf8":
        raise UsageError(f"Spark reads UTF-8, not {asked.encoding}", hint="convert it first")
    if asked.max_decompressed_size is not None:
        raise UsageError("--max-expanded has no meaning on Spark", hint="leave it out")


def _place(path: str) -> str:
    """Say of a plain name that it is this machine's; a scheme is taken as it is."""
    return path if re.match(r"[a-z][\w+.-]+:", path) else Path(path).absolute().as_uri()


def _form_of(session: Any, paths: list[str]) -> str:
    """Tell the format by the ends of names; of a folder by the files in it."""
    for path in paths:
        if (form := _end_of(path)) is not None:
            return form
    files = session.read.text([_place(path) for path in paths]).inputFiles()
    for path in files:
        if (form := _end_of(path)) is not None:
            return form
    raise FormatError(
        "no known format fits the names of these files",
        where=paths[0],
        hint=f"name it: --format {', '.join(FORMATS)}",
    )


def _end_of(path: str) -> str | None:
    if re.search(rf"(^|/){AOL.named}(\.\w+)?$", path):
        return "aol"
    ends = [end for end in PurePosixPath(path).suffixes if end not in _PACKED]
    return _ENDS.get(ends[-1].lower()) if ends else None


def _lines(
    session: Any, places: list[str], name: str, asked: ReadOptions, form: str
) -> SparkSource:
    """Take whole lines: the local reader cuts them, with all that it knows of odd ones."""
    lines = session.read.option("pathGlobFilter", _NOT_OURS).text(places, lineSep="\n")
    if (numbers := _numbers(asked)) is not None:
        columns = match_columns(numbers, asked.columns, Path(name))
        rows = _with_places(lines)
        return SparkSource(rows, name, "tsv", columns, numbers, "time" in columns, more=True)
    first = _first_line(lines, name)
    cells = first.split("\t")
    if form == "aol" and not is_header(cells):
        return SparkSource(
            _with_places(lines), name, "aol", AOL_COLUMNS, HEADER, time_format=_AOL_TIME
        )
    header = [cell.strip() or f"(column {n})" for n, cell in enumerate(cells, 1)]
    columns = match_columns(header, asked.columns, Path(name))
    rows = _with_places(lines.filter(f.col("value") != first))
    is_aol = tuple(header) == HEADER and not asked.columns
    if is_aol:
        return SparkSource(rows, name, "aol", columns, header, time_format=_AOL_TIME)
    return SparkSource(rows, name, "tsv", columns, header, "time" in columns)


def _numbers(asked: ReadOptions) -> list[str] | None:
    """Give the names of columns of a file without header, up to the last that is asked for."""
    if not ReaderOptions(asked.columns).numbered:
        return None
    return [str(place) for place in range(1, max(map(int, asked.columns.values())) + 1)]


def _first_line(lines: Any, name: str) -> str:
    """Give the first line of files with a header; refuse files whose headers differ."""
    start = lines.select("value", f.input_file_name().alias("path"), "_metadata.file_block_start")
    start = start.filter("file_block_start = 0").drop("file_block_start")
    placed = start.withColumn("place", f.monotonically_increasing_id())
    firsts = placed.groupBy("path").agg(f.min_by("value", "place").alias("value"))
    found = [row[0] or "" for row in firsts.select("value").distinct().take(2)]
    if not found:
        raise InputError("there is no row, not even a header", where=name)
    if len(found) > 1:
        raise FormatError(
            "these files have different first lines",
            where=name,
            hint="read them one by one; without headers, --columns user=1,query=2",
        )
    return str(found[0])


def _csv(session: Any, places: list[str], name: str, asked: ReadOptions, signs: str) -> SparkSource:
    """Take cells with quotation marks as Spark reads them."""
    numbers = _numbers(asked)
    if numbers is None:
        first = _first_line(session.read.option("pathGlobFilter", _NOT_OURS).text(places), name)
        sign = asked.delimiter or max(signs, key=first.count)
    else:
        sign = asked.delimiter or signs[0]
    quote = "" if asked.quote == "none" else asked.quote or '"'
    form = {"sep": sign, "header": numbers is None, "quote": quote, "escape": quote}
    reader = session.read.options(**form, multiLine=True).option("pathGlobFilter", _NOT_OURS)
    names = reader.csv(places).columns if numbers is None else numbers
    fields = ", ".join(f"`{name}` string" for name in [*names, _CORRUPT])
    reader = reader.option("columnNameOfCorruptRecord", _CORRUPT).option("enforceSchema", False)
    rows = reader.schema(fields).csv(places)
    too_many = f.size(f.split(f.col(_CORRUPT), re.escape(sign))) > len(names)
    fault = f.lit(None).cast("string") if numbers else f.when(too_many, f.lit(TOO_MANY_CELLS))
    return _typed(rows.withColumn(_CORRUPT, fault), name, "csv", asked)


def _typed(rows: Any, name: str, form: str, asked: ReadOptions) -> SparkSource:
    """Take columns of any kind as texts."""
    there = [column for column in rows.columns if column != _CORRUPT]
    shown = form != "csv"  # the names of a schema, which a first line may not be
    columns = match_columns(there, asked.columns, Path(name), shown=shown)
    kinds = {field.name: field.dataType.typeName() for field in rows.schema.fields}
    texts = [_text(theirs, kinds[theirs], name).alias(ours) for ours, theirs in columns.items()]
    is_time = kinds.get(columns.get("time", "")) in ("timestamp", "timestamp_ntz", "date")
    told = [f.col(_CORRUPT)] if _CORRUPT in rows.columns else []
    where = _with_places(rows.select(*texts, *told, *_file_name()))
    return SparkSource(
        where, name, form, columns, (), "time" in columns, _TIME if is_time else None
    )


def _text(column: str, kind: str, where: str) -> Any:
    value = f.col(f"`{column}`")
    if kind in ("array", "map", "struct"):
        raise ColumnError(f'the column "{column}" holds {kind}, not texts', where=where)
    if kind == "timestamp":
        value = f.to_utc_timestamp(value, f.current_timezone())
    if kind in ("timestamp", "timestamp_ntz", "date"):
        return f.date_format(value, "yyyy-MM-dd HH:mm:ss.SSSSSS")
    text = value.cast("string")
    if kind in ("double", "float"):  # whole numbers with gaps come as 142.0 and NaN
        return f.when(~f.isnan(value), f.regexp_replace(text, r"\.0$", ""))
    return text


def _file_name() -> list[Any]:
    return [f.input_file_name().alias("path")]


def _with_places(rows: Any) -> Any:
    """Number rows in the order of files, and of lines in them."""
    path = f.col("path") if "path" in rows.columns else f.input_file_name()
    placed = rows.withColumn("path", path).withColumn("place", f.monotonically_increasing_id())
    files = [(file, number) for number, file in enumerate(sorted(rows.inputFiles()))]
    if len(files) < 2:  # or none at all: a table that was made by a program
        return placed.withColumn("file", f.lit(0).cast("long")).drop("path")
    known = rows.sparkSession.createDataFrame(files, "path string, file long")
    return placed.join(f.broadcast(known), "path", "left").drop("path").fillna(0, ["file"])
