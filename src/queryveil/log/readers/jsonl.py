"""JSON lines: one object per line; `columns="user=uid,query=q"` if the names differ."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from types import NoneType

import polars as pl

from ...core.records import Json
from .base import (
    RawRows,
    Reader,
    ReaderOptions,
    align_columns,
    attach_faults,
    is_named,
    spark_opener,
)
from .columns import match_keys
from .source import LineBlock, TextFile

_NO_OBJECT = "not a JSON object"
_START = 4096  # bytes at the start of a block, whose keys probably are those of all objects


def parse_objects(block: LineBlock, names: dict[str, str]) -> pl.DataFrame:
    """Return values of a block of objects as texts, with `line` and `fault`.

    `names` has columns and the paths of their values: a path with dots leads into nested objects.
    Lines are parsed by Polars. A line that it cannot parse is isolated and parsed by Python, so
    that the result for a line does not depend on the others of its block.
    """
    table = _fast(block.data, names) if _has_one_per_line(block) else None
    if table is not None and block.may_be_nested and _may_have_objects(table):
        table = None
    if table is not None and table.height == block.lines():
        numbers = pl.int_range(block.first_line, block.first_line + table.height, eager=True)
        return _reject_nul(table.with_columns(numbers.alias("line")), block)
    return _reject_nul(_parse_lines(block, names), block)


def _may_have_objects(table: pl.DataFrame) -> bool:
    """Return whether a value may be an object, which Polars reads as its JSON text."""
    texts = pl.exclude("line", "fault")
    return bool(table.select(pl.any_horizontal(texts.str.starts_with("{").any())).item())


def _has_one_per_line(block: LineBlock) -> bool:
    """Return whether every line begins and ends with a brace: no object spans two lines then."""
    ends = block.data.count(b"}\n") + block.data.count(b"}\r\n")
    return ends == block.object_starts == block.lines()


def _parse_lines(block: LineBlock, names: dict[str, str]) -> pl.DataFrame:
    """Parse a block with lines that are not objects, or not of the expected structure."""
    lines = enumerate(block.data.removesuffix(b"\n").split(b"\n"), block.first_line)
    present = [(number, line) for number, line in lines if line.strip() or number in block.faults]
    parts = [path.split(".") for path in names.values()]
    nested = {".".join(path[:end]) for path in parts for end in range(1, len(path))}
    regular: list[tuple[int, bytes]] = []
    odd: list[tuple[int, bytes]] = []
    bad: list[int] = []
    for number, line in present:
        constants: list[str] = []
        value = _parse_object(line, constants)
        if value is None:
            bad.append(number)
        else:
            is_regular = not constants and _has_structure(value, nested, names)
            (regular if is_regular else odd).append((number, line))
    tables = [*_parse_halves(regular, names), _slow(odd, names)]
    faults = pl.DataFrame({"line": bad}, schema={"line": pl.Int64})
    tables.append(faults.with_columns(fault=pl.lit(_NO_OBJECT)))
    return pl.concat(tables, how="diagonal").sort("line").select(*names, "line", "fault")


def _has_structure(value: Json, nested: set[str], names: Mapping[str, str]) -> bool:
    """Return whether there are objects, or nothing, exactly where Polars expects objects."""
    has_objects = all(isinstance(_get_value(value, path), (dict, NoneType)) for path in nested)
    return has_objects and not any(
        isinstance(_get_value(value, path), dict) for path in names.values()
    )


def _parse_halves(lines: list[tuple[int, bytes]], names: dict[str, str]) -> Iterator[pl.DataFrame]:
    """Parse lines; bisect them until each one that Polars cannot parse is isolated."""
    table = _fast(b"".join(line + b"\n" for _, line in lines), names) if lines else None
    if table is not None and table.height == len(lines):
        yield table.with_columns(pl.Series("line", [number for number, _ in lines], pl.Int64))
    elif len(lines) < 2:
        yield _slow(lines, names)
    else:
        half = len(lines) // 2
        yield from _parse_halves(lines[:half], names)
        yield from _parse_halves(lines[half:], names)


def coalesced(table: pl.DataFrame, keys: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return for each column the value of its first key that an object has."""
    columns = [
        pl.coalesce(pl.col(f"{name} {index}") for index in range(len(paths))).alias(name)
        for name, paths in keys.items()
    ]
    return table.select(*columns, "line", "fault")


def places_of(keys: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the paths of all keys, named by column and priority, for `parse_objects`."""
    return {
        f"{name} {index}": path for name, paths in keys.items() for index, path in enumerate(paths)
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
    """Return a schema of the wanted values only, so that Polars skips everything else.

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
    schema = dict.fromkeys((*names, "fault"), pl.String) | {"line": pl.Int64}
    objects = [(number, _parse_object(line) or {}) for number, line in lines]
    rows = [
        {name: _to_text(value, path) or None for name, path in names.items()} | {"line": number}
        for number, value in objects
    ]
    return pl.DataFrame(rows, schema=schema)


def _empty_is_null(value: pl.Expr) -> pl.Expr:
    return pl.when(value != "").then(value)


def _reject_nul(table: pl.DataFrame, block: LineBlock) -> pl.DataFrame:
    """Reject rows with escaped NUL or unpaired surrogates, which were read as NUL."""
    if b"\\u" not in block.data:
        return table
    has_nul = pl.any_horizontal(pl.exclude("line", "fault").str.contains("\0", literal=True))
    reason = pl.when(has_nul).then(pl.lit("NUL or half a character"))
    return table.with_columns(fault=pl.coalesce("fault", reason))


def _parse_object(line: bytes, constants: list[str] | None = None) -> dict[str, Json] | None:
    """Parse a line; append NaN and infinities, which Polars does not parse, to `constants`."""

    def parse_constant(name: str) -> float:
        if constants is not None:
            constants.append(name)
        return float(name)

    try:
        value = json.loads(
            line, object_pairs_hook=_keep_first_values, parse_constant=parse_constant
        )
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _keep_first_values(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Return a dict with the first value of each duplicate key, as Polars does."""
    values = dict(pairs)
    return values if len(values) == len(pairs) else dict(reversed(pairs))


def _get_value(container: Json, path: str) -> Json:
    value = container
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _to_text(container: Json, path: str) -> str | None:
    """Format a value as Polars does: a user must have one name, whichever parser is used.

    An object is no text: what it holds is named by a longer path, such as `user.id`.
    """
    value = _get_value(container, path)
    if isinstance(value, dict):
        return None
    if isinstance(value, str):
        return _SURROGATES.sub("\0", value)
    if isinstance(value, float):
        plain = format(Decimal(repr(value)), "f").removesuffix(".0")
        return plain if math.isfinite(value) else None
    return None if value is None else _SURROGATES.sub("\0", json.dumps(value, ensure_ascii=False))


_SURROGATES = re.compile("[\ud800-\udfff]")


_ESCAPED = tuple(rf"\u00{digit}" for digit in "4567")  # a letter, _ or @


def _filter_keys(
    block: LineBlock, keys: Mapping[str, Sequence[str]], named: Mapping[str, str]
) -> Mapping[str, Sequence[str]]:
    """Remove usual keys that no object of a block has, because each one takes time.

    A key that is removed does not occur in the bytes, not even with an escape, so the result does
    not change. The keys that the data owner named are kept.
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


def add_source_keys(
    block: LineBlock, keys: Mapping[str, Sequence[str]]
) -> Mapping[str, Sequence[str]]:
    """Add the keys within `_source`, where dumps of OpenSearch have what was stored.

    In each object they come after its own keys. They are added only if the block has any, because
    each one takes time; that does not change the result.
    """
    texts = ('"_source"', *_ESCAPED) if block.may_be_nested else ()
    if not any(text.encode() in block.data for text in texts):
        return keys
    return {name: (*paths, *(f"_source.{path}" for path in paths)) for name, paths in keys.items()}


# A line of a bulk file with the action for the next one; it holds nothing of a user.
_ACTION = r'^\s*\{\s*"(?:index|create|update|delete)"\s*:\s*\{[^{}]*\}\s*\}\s*$'
_ACTION_NAMES = tuple(f'"{name}"'.encode() for name in ("index", "create", "update", "delete"))


def _drop_actions(rows: pl.DataFrame, block: LineBlock) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the rows without action lines, and the number of these."""
    # To skip this must not change a line: whatever matches has one of the names.
    if not block.may_be_nested or not any(name in block.data for name in _ACTION_NAMES):
        return rows, {}
    lines = pl.Series(block.data.decode().removesuffix("\n").split("\n"), dtype=pl.String)
    numbers = lines.str.contains(_ACTION).arg_true() + block.first_line
    return (
        rows.filter(~pl.col("line").is_in(numbers.cast(pl.Int64).to_list())),
        {"action line of a bulk file": len(numbers)},
    )


def read_block(file: TextFile, block: LineBlock, options: ReaderOptions) -> RawRows:
    """Read a block of lines, each with an object."""
    keys = _filter_keys(block, match_keys(options.columns), options.columns)
    keys = add_source_keys(block, keys)
    rows = align_columns(coalesced(parse_objects(block, places_of(keys)), keys))
    rows, dropped = _drop_actions(attach_faults(rows, block), block)
    # There is no header: only the data owner's mapping can state that rows have times.
    needs_time = "time" in options.columns
    return RawRows(str(file.path), rows, None, True, dropped, options.columns, needs_time)


def read_lines(file: TextFile, options: ReaderOptions) -> Iterator[RawRows]:
    """Read a file of lines, each with an object."""
    for block in file.blocks():
        yield read_block(file, block, options)


def _read(files: Sequence[TextFile], options: ReaderOptions) -> Iterator[RawRows]:
    for file in files:
        yield from read_lines(file, options)


JSONL = Reader(
    "jsonl",
    "JSON lines",
    is_named(r"(?!.*(opensearch|elastic)).*\.(jsonl|ndjson|json)"),
    _read,
    spark_opener("open_json_lines"),
    accepts_columns=True,
    names=".jsonl, .ndjson, .json",
)
