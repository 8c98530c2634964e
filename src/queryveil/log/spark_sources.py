"""The sources that Spark reads, and the conversion of their columns to raw texts."""

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
    FileHeader,
    Reader,
    align_columns,
)
from .readers.columns import CLOCK, column_numbers, is_header, match_columns, match_keys
from .readers.delimited import TOO_MANY_CELLS, parse_cells
from .readers.jsonl import add_source_keys, coalesced, parse_objects, places_of
from .readers.legacy import AOL, AOL_COLUMNS, HEADER
from .readers.registry import READERS, base_name, select_reader, spark_readers
from .readers.source import LineBlock

_SPARK_COMPRESSED = re.compile(r"\.(bz2|snappy|lz4)$")  # beside those of local files
_POSITION = ("file", "place")
_CORRUPT = "corrupt record"
_LOG_FILES = "{*[!b],*[!d]b,*[!.]db}"  # not ledger.db, which may be in the folder of the log
_AOL_TIME = "%Y-%m-%d %H:%M:%S"
_TIME = "%Y-%m-%d %H:%M:%S%.f"


@dataclass(frozen=True)
class SparkSource:
    """Rows that Spark reads, as texts: our columns, or whole lines that are parsed later.

    Attributes:
        columns: Our names of columns and those of the source.
        header: The names of all columns, if lines are parsed later.
        keys: The keys of JSON objects, if lines are parsed later.
        more: Whether a row may have more cells than the header, because the file has none.
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
        """Return raw rows like those of a reader, with their position."""
        position = table.select(_POSITION)
        if self.header or self.keys:
            return self._parse_lines(table).with_columns(position).with_columns(line=_line())
        texts = [name for name in (*RAW_COLUMNS, CLOCK) if name in table.columns]
        faults: list[pl.Expr] = [
            pl.when(_is_damaged(pl.col(texts))).then(pl.lit("NUL or not UTF-8"))
        ]
        if _CORRUPT in table.columns:
            faults.insert(0, pl.col(_CORRUPT))
        rows = table.with_columns(fault=pl.coalesce(*faults), line=_line())
        return align_columns(rows).with_columns(position)

    def _parse_lines(self, table: pl.DataFrame) -> pl.DataFrame:
        """Parse whole lines, as the local reader does."""
        lines = table["value"].fill_null("")
        block = LineBlock(("\n".join(lines.to_list()) + "\n").encode(), 1, {})
        fault = pl.when(_is_damaged(pl.col("value"))).then(pl.lit("not UTF-8"))
        faults = table.select(fault).to_series()
        if self.header:
            cells = parse_cells(block, self.header, self.columns, "\t", more=self.more)
            return cells.with_columns(fault=pl.coalesce(faults, "fault"))
        keys = add_source_keys(block, self.keys)
        objects = align_columns(coalesced(parse_objects(block, places_of(keys)), keys))
        # The parser omits blank lines; the join restores them, so that they are counted.
        numbers = pl.int_range(1, len(lines) + 1, eager=True)
        numbered = pl.DataFrame({"line": numbers, "damage": faults})
        joined = numbered.join(objects, on="line", how="left", maintain_order="left")
        return align_columns(joined.with_columns(fault=pl.coalesce("damage", "fault")))


def _line() -> pl.Expr:
    """Return the number of a row within its task; Spark has no line numbers."""
    return pl.col("place") % (1 << 33) + 1


def _is_damaged(texts: pl.Expr) -> pl.Expr:
    """Return whether texts have NUL, or the character that Spark puts for invalid bytes."""
    return pl.any_horizontal(texts.str.contains("[\x00\ufffd]").fill_null(False))


@dataclass(frozen=True)
class SparkFiles:
    """Files of one format, or a table, that Spark is to open.

    Attributes:
        paths: The names as the user wrote them.
        format: The name of the format.
    """

    session: Any
    paths: list[str]
    format: str
    options: ReadOptions

    @property
    def name(self) -> str:
        """The names of all files, for messages and cards."""
        return ", ".join(self.paths)

    @property
    def uris(self) -> list[str]:
        """The files as URIs."""
        return [_to_uri(path) for path in self.paths]

    def reader(self) -> Any:
        """Return Spark's reader, which leaves out the ledger."""
        return self.session.read.option("pathGlobFilter", _LOG_FILES)


def open_spark_source(session: Any, inputs: Any, options: ReadOptions) -> SparkSource:
    """Open a DataFrame, a table, or files of one format."""
    if hasattr(inputs, "mapInArrow"):
        return _open_columns(inputs, "spark://a DataFrame", "spark", options)
    paths = [str(path) for path in inputs]
    _check_options(paths, options)
    reader = READERS.find(options.format) if options.format else _detect_format(session, paths)
    if reader.spark is None:
        raise UsageError(
            f'Spark does not read the format "{reader.name}"',
            hint=f'one of {_format_names()}; `engine="local"` reads it',
        )
    source: SparkSource = reader.spark(SparkFiles(session, paths, reader.name, options))
    return source


def open_table(files: SparkFiles) -> SparkSource:
    """Open a table of Spark's catalog."""
    table = files.paths[0]
    return _open_columns(files.session.table(table), f"spark://{table}", "table", files.options)


def open_parquet(files: SparkFiles) -> SparkSource:
    """Open Parquet files."""
    return _open_columns(files.reader().parquet(*files.uris), files.name, "parquet", files.options)


def open_orc(files: SparkFiles) -> SparkSource:
    """Open ORC files."""
    return _open_columns(files.reader().orc(files.uris), files.name, "orc", files.options)


def open_json_lines(files: SparkFiles) -> SparkSource:
    """Open JSON lines, which the local parser reads as it does without Spark."""
    columns = files.options.columns
    return SparkSource(
        _with_positions(files.reader().text(files.uris, lineSep="\n")),
        files.name,
        files.format,
        columns,
        needs_time="time" in columns,
        keys=match_keys(columns),
    )


def open_lines(files: SparkFiles) -> SparkSource:
    """Open lines with tabs; those with quotation marks or other delimiters as `open_csv` does."""
    options = files.options
    if options.quote in (None, "none") and options.delimiter in (None, "\t"):
        return _open_lines(files)
    return _open_quoted(files, "\t")


def open_csv(files: SparkFiles) -> SparkSource:
    """Open CSV files, which Spark parses."""
    return _open_quoted(files, ",;|")


def _check_options(paths: list[str], options: ReadOptions) -> None:
    """Raise an error for options that Spark does not support."""
    if len(set(paths)) < len(paths):
        raise UsageError("a file is named twice", hint="its rows would count twice")
    if options.encoding.lower().replace("-", "") != "utf8":
        raise UsageError(f"Spark reads UTF-8, not {options.encoding}", hint="convert it first")
    if options.max_decompressed_size is not None:
        raise UsageError("`max_decompressed_size` is not supported on Spark", hint="leave it out")


def _to_uri(path: str) -> str:
    """Return a local path as a URI; a path with a scheme stays as it is."""
    return path if re.match(r"[a-z][\w+.-]+:", path) else Path(path).absolute().as_uri()


def _detect_format(session: Any, paths: list[str]) -> Reader:
    """Return the reader by the names of the files; for a folder, of the files in it."""
    if (reader := _reader_of(paths)) is not None:
        return reader
    files = session.read.text([_to_uri(path) for path in paths]).inputFiles()
    if (reader := _reader_of(files)) is not None:
        return reader
    raise FormatError(
        "no known format fits the names of these files",
        where=paths[0],
        hint=f"name it with `format`: {_format_names()}",
    )


def _reader_of(paths: list[str]) -> Reader | None:
    names = (_SPARK_COMPRESSED.sub("", PurePosixPath(path).name) for path in paths)
    headers = (FileHeader(base_name(name)) for name in names)
    readers = (select_reader(header, spark_readers()) for header in headers)
    return next((reader for reader in readers if reader is not None), None)


def _format_names() -> str:
    return ", ".join(reader.name for reader in spark_readers())


def _open_lines(files: SparkFiles) -> SparkSource:
    """Open whole lines, which the local parser splits as it does without Spark."""
    lines, name, options = files.reader().text(files.uris, lineSep="\n"), files.name, files.options
    if numbers := column_numbers(options.columns):
        columns = match_columns(numbers, options.columns, Path(name))
        rows = _with_positions(lines)
        return SparkSource(rows, name, "tsv", columns, numbers, "time" in columns, more=True)
    first = _first_line(lines, name)
    cells = first.split("\t")
    if files.format == AOL.name and not is_header(cells):
        return SparkSource(
            _with_positions(lines), name, "aol", AOL_COLUMNS, HEADER, time_format=_AOL_TIME
        )
    header = [cell.strip() or f"(column {n})" for n, cell in enumerate(cells, 1)]
    columns = match_columns(header, options.columns, Path(name))
    rows = _with_positions(lines.filter(f.col("value") != first))
    is_aol = tuple(header) == HEADER and not options.columns
    if is_aol:
        return SparkSource(rows, name, "aol", columns, header, time_format=_AOL_TIME)
    return SparkSource(rows, name, "tsv", columns, header, "time" in columns)


def _first_line(lines: Any, name: str) -> str:
    """Return the first line of files with a header; raise an error if they differ."""
    start = lines.select("value", f.input_file_name().alias("path"), "_metadata.file_block_start")
    start = start.filter("file_block_start = 0").drop("file_block_start")
    numbered = start.withColumn("place", f.monotonically_increasing_id())
    firsts = numbered.groupBy("path").agg(f.min_by("value", "place").alias("value"))
    headers = [row[0] or "" for row in firsts.select("value").distinct().take(2)]
    if not headers:
        raise InputError("these files are empty: there is not even a header", where=name)
    if len(headers) > 1:
        raise FormatError(
            "these files have different first lines",
            where=name,
            hint='read them one by one; without headers, `columns="user=1,query=2"`',
        )
    return str(headers[0])


def _open_quoted(files: SparkFiles, delimiters: str) -> SparkSource:
    """Open files with quotation marks, which Spark parses."""
    session, uris, name, options = files.session, files.uris, files.name, files.options
    numbers = column_numbers(options.columns)
    if not numbers:
        first = _first_line(files.reader().text(uris), name)
        delimiter = options.delimiter or max(delimiters, key=first.count)
    else:
        delimiter = options.delimiter or delimiters[0]
    quote = "" if options.quote == "none" else options.quote or '"'
    csv_options = {"sep": delimiter, "header": not numbers, "quote": quote, "escape": quote}
    reader = session.read.options(**csv_options, multiLine=True).option(
        "pathGlobFilter", _LOG_FILES
    )
    names = numbers or reader.csv(uris).columns
    fields = ", ".join(f"`{name}` string" for name in [*names, _CORRUPT])
    reader = reader.option("columnNameOfCorruptRecord", _CORRUPT).option("enforceSchema", False)
    rows = reader.schema(fields).csv(uris)
    too_many = f.size(f.split(f.col(_CORRUPT), re.escape(delimiter))) > len(names)
    fault = f.lit(None).cast("string") if numbers else f.when(too_many, f.lit(TOO_MANY_CELLS))
    return _open_columns(rows.withColumn(_CORRUPT, fault), name, "csv", options)


def _open_columns(rows: Any, name: str, form: str, options: ReadOptions) -> SparkSource:
    """Open columns of any type, converted to texts."""
    names = [column for column in rows.columns if column != _CORRUPT]
    shown = form != "csv"  # the first line of a CSV file may be a row of a user, not a header
    columns = match_columns(names, options.columns, Path(name), shown=shown)
    types = {field.name: field.dataType.typeName() for field in rows.schema.fields}
    texts = [_to_text(theirs, types[theirs], name).alias(ours) for ours, theirs in columns.items()]
    is_time = types.get(columns.get("time", "")) in ("timestamp", "timestamp_ntz", "date")
    is_time = is_time and CLOCK not in columns
    faults = [f.col(_CORRUPT)] if _CORRUPT in rows.columns else []
    path = f.input_file_name().alias("path")
    positioned = _with_positions(rows.select(*texts, *faults, path))
    return SparkSource(
        positioned, name, form, columns, (), "time" in columns, _TIME if is_time else None
    )


def _to_text(column: str, kind: str, where: str) -> Any:
    value = f.col(f"`{column}`")
    if kind in ("array", "map", "struct"):
        raise ColumnError(f'the column "{column}" holds {kind}, not texts', where=where)
    if kind == "timestamp":
        value = f.to_utc_timestamp(value, f.current_timezone())
    if kind in ("timestamp", "timestamp_ntz", "date"):
        return f.date_format(value, "yyyy-MM-dd HH:mm:ss.SSSSSS")
    text = value.cast("string")
    if kind in ("double", "float"):  # integers with missing values are stored as 142.0 and NaN
        return f.when(~f.isnan(value), f.regexp_replace(text, r"\.0$", ""))
    return text


def _with_positions(rows: Any) -> Any:
    """Add the number of the file and the position of each row in it."""
    path = f.col("path") if "path" in rows.columns else f.input_file_name()
    numbered = rows.withColumn("path", path).withColumn("place", f.monotonically_increasing_id())
    files = [(file, number) for number, file in enumerate(sorted(rows.inputFiles()))]
    if len(files) < 2:  # or none: a table that a program created
        return numbered.withColumn("file", f.lit(0).cast("long")).drop("path")
    known = rows.sparkSession.createDataFrame(files, "path string, file long")
    return numbered.join(f.broadcast(known), "path", "left").drop("path").fillna(0, ["file"])
