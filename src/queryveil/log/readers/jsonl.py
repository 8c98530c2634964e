"""JSON lines: one object a line, with `--columns user=uid,query=q` where names differ."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import polars as pl

from ...errors import FormatError
from .columns import match_columns
from .raw import Head, RawRows, Reader, ReaderOptions, complete, with_faults
from .source import Block, TextFile

__all__ = ["JSONL", "keys_of", "parse_objects"]


def keys_of(file: TextFile) -> list[str]:
    """List the keys of the first objects; one that has no click may leave some out."""
    keys: dict[str, None] = {}
    for line in Head(file.path.name, file.head()).lines:
        keys.update(dict.fromkeys(_object(line) or {}))
    if not keys:
        raise FormatError(
            "no line holds a JSON object", where=file.path, hint="one object a line is read"
        )
    return list(keys)


def parse_objects(block: Block, names: dict[str, str]) -> pl.DataFrame:
    """Take values as texts out of a block of objects, with `line` and `fault`.

    `names` gives the name of a column and where its value stands: a name with dots goes into
    nested objects. A block in which every line is an object is read by Polars; one with
    anything else is read line by line, to tell which line it is.
    """
    table = _fast(block, names)
    return _without_nul(_slow(block, names) if table is None else table, block)


def _fast(block: Block, names: dict[str, str]) -> pl.DataFrame | None:
    try:
        schema = _schema([path.split(".") for path in names.values()])
        table = pl.read_ndjson(block.data, schema=schema)
        values = table.select(_empty_is_null(_field(path)).alias(n) for n, path in names.items())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError):
        return None
    if values.height != block.lines() or set(values.dtypes) != {pl.String}:
        return None
    numbers = pl.int_range(block.first_line, block.first_line + values.height, eager=True)
    return values.with_columns(numbers.alias("line"), fault=pl.lit(None, dtype=pl.String))


def _schema(paths: Sequence[Sequence[str]]) -> dict[str, pl.DataType]:
    """Describe only the wanted values, so that Polars passes over everything else.

    >>> _schema([["a"], ["b", "c"]])
    {'a': String, 'b': Struct({'c': String})}
    """
    deeper: dict[str, list[Sequence[str]]] = {}
    for first, *rest in paths:
        deeper.setdefault(first, []).extend([rest] if rest else [])
    return {key: pl.Struct(_schema(rest)) if rest else pl.String() for key, rest in deeper.items()}


def _field(name: str) -> pl.Expr:
    first, *rest = name.split(".")
    value = pl.col(first)
    for part in rest:
        value = value.struct.field(part)
    return value


def _slow(block: Block, names: dict[str, str]) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {name: [] for name in (*names, "line", "fault")}
    for number, line in enumerate(block.data.split(b"\n"), block.first_line):
        if not line.strip() and number not in block.faults:
            continue
        found = _object(line)
        columns["line"].append(number)
        columns["fault"].append(None if found is not None else "not a JSON object")
        for name, path in names.items():
            columns[name].append(_text(found or {}, path) or None)
    kinds = dict.fromkeys(names, pl.String) | {"line": pl.Int64, "fault": pl.String}
    return pl.DataFrame(columns, schema=kinds)


def _empty_is_null(value: pl.Expr) -> pl.Expr:
    return pl.when(value != "").then(value)


def _without_nul(table: pl.DataFrame, block: Block) -> pl.DataFrame:
    """Reject what escapes hide from the block reader; half a character is read as NUL too."""
    if b"\\u" not in block.data:
        return table
    found = pl.any_horizontal(pl.exclude("line", "fault").str.contains("\0", literal=True))
    reason = pl.when(found).then(pl.lit("NUL or half a character"))
    return table.with_columns(fault=pl.coalesce("fault", reason))


def _object(line: str | bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line, object_pairs_hook=_first_values)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _first_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a key that is there twice take the first value, as Polars does."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else dict(reversed(pairs))


def _text(found: dict[str, Any], path: str) -> str | None:
    """Write a value as Polars does: a user must have one name, whoever reads the line."""
    value: Any = found
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, str):
        return _HALVES.sub("\0", value)
    if isinstance(value, float):
        plain = format(Decimal(repr(value)), "f").removesuffix(".0")
        return plain if math.isfinite(value) else None
    return None if value is None else _HALVES.sub("\0", json.dumps(value, ensure_ascii=False))


_HALVES = re.compile("[\ud800-\udfff]")


def _sniff(head: Head) -> bool:
    lines = head.first_lines
    return bool(lines) and lines[0].lstrip().startswith("{")


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        nested = {name: path for name, path in options.columns.items() if "." in path}
        plain = {name: key for name, key in options.columns.items() if name not in nested}
        there = [*keys_of(file), *nested.values()]
        mapping = match_columns(there, plain | nested, file.path)
        for block in file.blocks():
            rows = with_faults(complete(parse_objects(block, mapping)), block)
            yield RawRows(str(file.path), rows, has_time="time" in mapping, columns=mapping)


JSONL = Reader("jsonl", "JSON lines", _sniff, _read, takes_columns=True)
