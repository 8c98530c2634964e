"""JSON lines: one object a line, with `--columns user=uid,query=q` where names differ."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from types import NoneType
from typing import Any

import polars as pl

from .base import RawRows, Reader, ReaderOptions, align_columns, attach_faults, match_keys
from .source import LineBlock, TextFile

_NO_OBJECT = "not a JSON object"
_START = 4096  # bytes whose keys are likely those of all objects


def parse_objects(block: LineBlock, names: dict[str, str]) -> pl.DataFrame:
    """Take values as texts out of a block of objects, with `line` and `fault`.

    `names` gives the name of a column and where its value stands: a name with dots goes into
    nested objects. Lines are read by Polars. One that it cannot read is looked for and read by
    itself: how a line is read does not depend on the others of its block.
    """
    table = _fast(block.data, names) if _one_a_line(block) else None
    if table is not None and table.height == block.lines():
        numbers = pl.int_range(block.first_line, block.first_line + table.height, eager=True)
        return _without_nul(table.with_columns(numbers.alias("line")), block)
    return _without_nul(_line_by_line(block, names), block)


def _one_a_line(block: LineBlock) -> bool:
    """Tell that no object goes on in the next line: none can, from a brace to a brace."""
    ends = block.data.count(b"}\n") + block.data.count(b"}\r\n")
    starts = block.data.count(b"\n{") + block.data.startswith(b"{")
    return ends == starts == block.lines()


def _line_by_line(block: LineBlock, names: dict[str, str]) -> pl.DataFrame:
    """Read a block with lines that are no objects, or not what is expected: Python finds them."""
    lines = enumerate(block.data.removesuffix(b"\n").split(b"\n"), block.first_line)
    there = [(number, line) for number, line in lines if line.strip() or number in block.faults]
    parts = [path.split(".") for path in names.values()]
    nested = {".".join(path[:end]) for path in parts for end in range(1, len(path))}
    usual: list[tuple[int, bytes]] = []
    odd: list[tuple[int, bytes]] = []
    bad: list[int] = []
    for number, line in there:
        constants: list[str] = []
        found = _object(line, constants)
        if found is None:
            bad.append(number)
        else:
            fits = not constants and _fits(found, nested)
            (usual if fits else odd).append((number, line))
    tables = [*_halved(usual, names), _slow(odd, names)]
    faults = pl.DataFrame({"line": bad}, schema={"line": pl.Int64})
    tables.append(faults.with_columns(fault=pl.lit(_NO_OBJECT)))
    return pl.concat(tables, how="diagonal").sort("line").select(*names, "line", "fault")


def _fits(found: dict[str, Any], nested: set[str]) -> bool:
    """Tell whether objects stand where Polars expects them: else it does not read the line."""
    return all(isinstance(_value(found, path), (dict, NoneType)) for path in nested)


def _halved(lines: list[tuple[int, bytes]], names: dict[str, str]) -> Iterator[pl.DataFrame]:
    """Read lines, half by half until each that Polars cannot read is alone."""
    table = _fast(b"".join(line + b"\n" for _, line in lines), names) if lines else None
    if table is not None and table.height == len(lines):
        yield table.with_columns(pl.Series("line", [number for number, _ in lines], pl.Int64))
    elif len(lines) < 2:
        yield _slow(lines, names)
    else:
        half = len(lines) // 2
        yield from _halved(lines[:half], names)
        yield from _halved(lines[half:], names)


def coalesced(table: pl.DataFrame, keys: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Take for each column the first of its keys that an object has."""
    columns = [
        pl.coalesce(pl.col(f"{name} {place}") for place in range(len(paths))).alias(name)
        for name, paths in keys.items()
    ]
    return table.select(*columns, "line", "fault")


def places_of(keys: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Name each key by the column that it may hold, for `parse_objects`."""
    return {
        f"{name} {place}": path for name, paths in keys.items() for place, path in enumerate(paths)
    }


def _fast(data: bytes, names: dict[str, str]) -> pl.DataFrame | None:
    try:
        schema = _schema([path.split(".") for path in names.values()])
        table = pl.read_ndjson(data, schema=schema)
        values = table.select(_empty_is_null(_field(path)).alias(n) for n, path in names.items())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError):
        return None
    if set(values.dtypes) != {pl.String}:
        return None
    return values.with_columns(fault=pl.lit(None, dtype=pl.String))


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


def _slow(lines: list[tuple[int, bytes]], names: dict[str, str]) -> pl.DataFrame:
    kinds = dict.fromkeys((*names, "fault"), pl.String) | {"line": pl.Int64}
    found = [(number, _object(line) or {}) for number, line in lines]
    rows = [
        {name: _text(value, path) or None for name, path in names.items()} | {"line": number}
        for number, value in found
    ]
    return pl.DataFrame(rows, schema=kinds)


def _empty_is_null(value: pl.Expr) -> pl.Expr:
    return pl.when(value != "").then(value)


def _without_nul(table: pl.DataFrame, block: LineBlock) -> pl.DataFrame:
    """Reject what escapes hide from the block reader; half a character is read as NUL too."""
    if b"\\u" not in block.data:
        return table
    found = pl.any_horizontal(pl.exclude("line", "fault").str.contains("\0", literal=True))
    reason = pl.when(found).then(pl.lit("NUL or half a character"))
    return table.with_columns(fault=pl.coalesce("fault", reason))


def _object(line: bytes, constants: list[str] | None = None) -> dict[str, Any] | None:
    """Read a line, and list NaN and infinities in it, which Polars does not read."""

    def constant(name: str) -> float:
        if constants is not None:
            constants.append(name)
        return float(name)

    try:
        found = json.loads(line, object_pairs_hook=_first_values, parse_constant=constant)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _first_values(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a key that is there twice take the first value, as Polars does."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else dict(reversed(pairs))


def _value(found: dict[str, Any], path: str) -> Any:
    value: Any = found
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _text(found: dict[str, Any], path: str) -> str | None:
    """Write a value as Polars does: a user must have one name, whoever reads the line."""
    value = _value(found, path)
    if isinstance(value, str):
        return _HALVES.sub("\0", value)
    if isinstance(value, float):
        plain = format(Decimal(repr(value)), "f").removesuffix(".0")
        return plain if math.isfinite(value) else None
    return None if value is None else _HALVES.sub("\0", json.dumps(value, ensure_ascii=False))


_HALVES = re.compile("[\ud800-\udfff]")


_ESCAPED = tuple(rf"\u00{digit}" for digit in "4567")  # a letter, _ or @


def _keys_in(
    block: LineBlock, keys: Mapping[str, Sequence[str]], named: Mapping[str, str]
) -> Mapping[str, Sequence[str]]:
    """Leave out usual keys that no object of a block can have: to look for each takes time.

    A key that is left out stands nowhere in the bytes, not even with an escape, so no value is
    read otherwise. The owner's own keys stay.
    """
    start = block.data[:_START]
    usual = [key for name, paths in keys.items() if name not in named for key in paths]
    if not usual:
        return keys
    later = {key for key in usual if f'"{key}"'.encode() not in start}
    text = pl.Series([block.data]).cast(pl.String, strict=False)
    if text.str.contains_any([f'"{key}"' for key in later] + list(_ESCAPED))[0] is not False:
        return keys
    return {
        name: tuple(key for key in paths if name in named or key not in later) or paths[:1]
        for name, paths in keys.items()
    }


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    known = match_keys(options.columns)
    for file in files:
        for block in file.blocks():
            keys = _keys_in(block, known, options.columns)
            table = coalesced(parse_objects(block, places_of(keys)), keys)
            # Without a header nobody says that the log has times, but for the owner.
            needs_time = "time" in options.columns
            rows = attach_faults(align_columns(table), block)
            yield RawRows(str(file.path), rows, columns=options.columns, needs_time=needs_time)


JSONL = Reader("jsonl", "JSON lines", r".*\.(jsonl|ndjson|json)", _read, accepts_columns=True)
