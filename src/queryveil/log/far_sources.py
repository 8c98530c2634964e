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
from .readers.aol import HEADER, NAMES
from .readers.columns import USUAL, match_columns, names_columns
from .readers.delimited import TOO_MANY, parse_cells
from .readers.raw import RAW_COLUMNS, complete
from .readers.source import Block

__all__ = ["FORMATS", "Found", "find_rows"]

FORMATS = ("parquet", "orc", "json", "jsonl", "csv", "tsv", "aol", "table")
_ENDS = {
    ".parquet": "parquet",
    ".orc": "orc",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "tsv",
}
_PACKED = (".gz", ".zst", ".bz2", ".snappy", ".lz4")
_WHERE = ("file", "place")
_CORRUPT = "corrupt record"
_NOT_OURS = "{*[!b],*[!d]b,*[!.]db}"  # no ledger.db, which may lie beside the log
_TIME = "%Y-%m-%d %H:%M:%S%.f"


@dataclass(frozen=True)
class Found:
    """Rows that Spark reads, all as texts: our columns, or whole lines that are cut later.

    `header` has the names of all columns where lines are cut, and `columns` which is which.
    """

    rows: Any
    name: str
    form: str
    columns: dict[str, str] = field(default_factory=dict)
    header: Sequence[str] = ()
    has_time: bool = True
    time_format: str | None = None

    def raw(self, table: pl.DataFrame) -> pl.DataFrame:
        """Give rows as a reader gives them, with where they stand."""
        where = table.select(_WHERE)
        if not self.header:
            texts = [name for name in RAW_COLUMNS if name in table.columns]
            told = [pl.when(_is_odd(pl.col(texts))).then(pl.lit("NUL or not UTF-8"))]
            known = [pl.col(name) for name in (_CORRUPT,) if name in table.columns]
            rows = table.with_columns(fault=pl.coalesce(*known, *told), line=_line())
            return complete(rows).with_columns(where)
        lines = table["value"].fill_null("")
        data = "\n".join(lines.to_list()) + "\n"
        cells = parse_cells(Block(data.encode(), 1, {}), self.header, self.columns, "\t")
        odd = table.select(pl.when(_is_odd(pl.col("value"))).then(pl.lit("not UTF-8")))
        _check_headers(lines)
        placed = cells.with_columns(where).with_columns(line=_line())
        return placed.with_columns(fault=pl.coalesce(odd.to_series(), "fault"))


def _line() -> pl.Expr:
    """Give a row's number among those of its task: Spark knows no other."""
    return pl.col("place") % (1 << 33) + 1


def _check_headers(lines: pl.Series) -> None:
    """Refuse files whose headers differ: their columns would be taken for others."""
    cells = lines.to_frame("line").select(pl.col("line").str.to_lowercase().str.split("\t"))
    usual = cells.lazy().filter(pl.col("line").list.first().str.strip_chars().is_in(USUAL))
    for row in usual.head(100).collect()["line"].to_list():
        if names_columns(row):
            raise FormatError("these files have different headers", hint="read them one by one")


def _is_odd(texts: pl.Expr) -> pl.Expr:
    """Tell texts with what Spark puts for bytes that are no text, or with NUL."""
    return pl.any_horizontal(texts.str.contains("[\x00\ufffd]").fill_null(False))


def find_rows(session: Any, given: Any, asked: ReadOptions) -> Found:
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
    if form in ("tsv", "aol") and asked.quote in (None, "none"):
        return _lines(session, places, name, asked)
    reader = session.read.option("pathGlobFilter", _NOT_OURS)
    if form in ("csv", "tsv"):
        return _csv(session, places, name, asked, "\t" if form == "tsv" else None)
    kind = "json" if form == "jsonl" else form
    if kind == "json":
        reader = reader.option("primitivesAsString", True)
    return _typed(reader.format(kind).load(places), name, kind, asked)


def _check_asked(paths: list[str], asked: ReadOptions) -> None:
    """Refuse what Spark would not heed."""
    if len(set(paths)) < len(paths):
        raise UsageError("a file is named twice", hint="its rows would count twice")
    if asked.encoding.lower().replace("-", "") != "utf8":
        raise UsageError(f"Spark reads UTF-8, not {asked.encoding}", hint="convert it first")
    if asked.max_expanded is not None:
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
    ends = [end for end in PurePosixPath(path).suffixes if end not in _PACKED]
    return _ENDS.get(ends[-1].lower()) if ends else None


def _lines(session: Any, places: list[str], name: str, asked: ReadOptions) -> Found:
    """Take whole lines: the local reader cuts them, with all that it knows of odd ones."""
    lines = session.read.option("pathGlobFilter", _NOT_OURS).text(places, lineSep="\n")
    first = lines.first()
    if first is None:
        raise InputError("there is no row, at most a header", where=name)
    cells = first[0].split("\t")
    numbered = bool(asked.columns) and all(c.isdecimal() for c in asked.columns.values())
    if numbered:
        header: Sequence[str] = [str(place) for place in range(1, len(cells) + 1)]
        columns = match_columns(header, asked.columns, Path(name))
    elif names_columns(cells):
        header = [cell.strip() or f"(column {n})" for n, cell in enumerate(cells, 1)]
        columns = match_columns(header, asked.columns, Path(name))
        lines = lines.filter(f.col("value") != first[0])
    elif asked.columns:
        raise ColumnError(
            "the first line is no header", where=name, hint="--columns user=1,query=2"
        )
    else:
        header, columns = HEADER, NAMES
    rows = _with_places(lines)
    is_aol = tuple(header) == HEADER and not asked.columns
    form = "aol" if is_aol else "tsv"
    return Found(rows, name, form, columns, header, "time" in columns)


def _csv(
    session: Any, places: list[str], name: str, asked: ReadOptions, separator: str | None
) -> Found:
    """Take cells with quotation marks as Spark reads them."""
    first = session.read.option("pathGlobFilter", _NOT_OURS).text(places).first()
    line = "" if first is None else first[0]
    sign = separator or max(",;|", key=line.count)
    numbered = bool(asked.columns) and all(c.isdecimal() for c in asked.columns.values())
    quote = "" if asked.quote == "none" else asked.quote or '"'
    form = {"sep": sign, "header": not numbered, "quote": quote, "escape": quote, "multiLine": True}
    reader = session.read.options(**form).option("pathGlobFilter", _NOT_OURS)
    names = reader.csv(places).columns
    fields = ", ".join(f"`{name}` string" for name in [*names, _CORRUPT])
    reader = reader.option("columnNameOfCorruptRecord", _CORRUPT).option("enforceSchema", False)
    rows = reader.schema(fields).csv(places)
    too_many = f.size(f.split(f.col(_CORRUPT), re.escape(sign))) > len(names)
    rows = rows.withColumn(_CORRUPT, f.when(too_many, f.lit(TOO_MANY)))
    if numbered:
        rows = rows.toDF(*(str(place) for place in range(1, len(names) + 1)), _CORRUPT)
    return _typed(rows, name, "csv", asked)


def _typed(rows: Any, name: str, form: str, asked: ReadOptions) -> Found:
    """Take columns of any kind as texts."""
    there = [column for column in rows.columns if column != _CORRUPT]
    columns = match_columns(there, asked.columns, Path(name))
    kinds = {field.name: field.dataType.typeName() for field in rows.schema.fields}
    texts = [_text(theirs, kinds[theirs], name).alias(ours) for ours, theirs in columns.items()]
    is_time = kinds.get(columns.get("time", "")) in ("timestamp", "timestamp_ntz", "date")
    told = [f.col(_CORRUPT)] if _CORRUPT in rows.columns else []
    where = _with_places(rows.select(*texts, *told, *_file_name()))
    return Found(where, name, form, columns, (), "time" in columns, _TIME if is_time else None)


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
