"""JSON lines: one object a line, with `--columns user=uid,query=q` where names differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from ...errors import FormatError
from .columns import match_columns
from .delimited import to_raw
from .raw import Head, RawRows, Reader, ReaderOptions, with_faults
from .source import Block, TextFile

__all__ = ["JSONL", "keys_of", "parse_objects"]


def keys_of(file: TextFile) -> list[str]:
    """List the keys of the first objects."""
    keys: dict[str, None] = {}
    for line in Head(file.path.name, file.head()).first_lines:
        keys.update(dict.fromkeys(_object(line) or {}))
    if not keys:
        raise FormatError("no line holds a JSON object", where=file.path)
    return list(keys)


def parse_objects(block: Block, names: Sequence[str]) -> pl.DataFrame:
    """Take named values as texts out of a block of objects, with `line` and `fault`.

    A name with dots goes into nested objects. A block in which every line is an object is
    read by Polars; one with anything else is read line by line, to tell which line it is.
    """
    table = _fast(block, names)
    return _slow(block, names) if table is None else table


def _fast(block: Block, names: Sequence[str]) -> pl.DataFrame | None:
    try:
        table = pl.read_ndjson(block.data, schema=_schema([name.split(".") for name in names]))
    except (pl.exceptions.PolarsError, OverflowError):
        return None
    if table.height != block.lines():
        return None
    numbers = pl.int_range(block.first_line, block.first_line + table.height, eager=True)
    no_fault = pl.lit(None, dtype=pl.String).alias("fault")
    values = table.select(_field(name).alias(name) for name in names)
    return values.select(_empty_is_null(), numbers.alias("line"), no_fault)


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


def _slow(block: Block, names: Sequence[str]) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {name: [] for name in (*names, "line", "fault")}
    for number, line in enumerate(block.data.split(b"\n"), block.first_line):
        if not line.strip() and number not in block.faults:
            continue
        found = _object(line)
        columns["line"].append(number)
        columns["fault"].append(None if found is not None else "not a JSON object")
        for name in names:
            columns[name].append(_text(found or {}, name))
    kinds = dict.fromkeys(names, pl.String) | {"line": pl.Int64, "fault": pl.String}
    return pl.DataFrame(columns, schema=kinds).with_columns(_empty_is_null("line", "fault"))


def _empty_is_null(*but: str) -> pl.Expr:
    values = pl.exclude(*but) if but else pl.all()
    return pl.when(values != "").then(values)


def _object(line: str | bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _text(found: dict[str, Any], name: str) -> str | None:
    value: Any = found
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


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
            rows = to_raw(parse_objects(block, list(mapping.values())), mapping)
            yield RawRows(str(file.path), with_faults(rows, block), has_time="time" in mapping)


JSONL = Reader("jsonl", "JSON lines", _sniff, _read)
