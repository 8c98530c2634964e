"""Sample rows of a release for its page: the first rows of its public files, noise beside counts.

The rows of a log are in random order and those of a table are sorted by their counts, so that the
first ones follow from the public files: `verify` takes the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from .formats import PUBLIC_TABLES, SCHEMA_WITH_KIND
from .noise import CountNoise, NoiseDescription

SAMPLE_ROWS = 10
_LONGEST = 80  # characters of a cell
# Control characters and marks that change the direction of the text around them.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True, repr=False)
class Samples:
    """The first rows of the public log and of the public tables, as read from their files."""

    log: pl.DataFrame | None = None
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class SampleTable:
    """The first rows of one file.

    Attributes:
        total: The number of rows of the file.
        numbers: The positions of columns with numbers.
        note: What the noise beside a count means; empty without noise.
    """

    file: str
    total: int
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int]
    note: str = ""


def take_samples(log: pl.LazyFrame | None, tables: Mapping[str, pl.DataFrame]) -> Samples:
    """Return the first rows of a log and tables, which were read from public files."""
    return Samples(
        None if log is None else log.head(SAMPLE_ROWS).collect(),
        {name: table.head(SAMPLE_ROWS) for name, table in tables.items()},
    )


def sample_tables(
    samples: Samples, totals: Mapping[str, int], noise: NoiseDescription
) -> tuple[SampleTable, ...]:
    """Return the samples as a page shows them.

    Args:
        totals: The number of rows of each data file, by its name.
        noise: The noise on the card, which stands beside each count.
    """
    noises = {table.noise.table: table.noise for table in noise.tables}
    stems = {name.partition(".")[0]: name for name in totals}
    shown = []
    if samples.log is not None and "log" in stems:
        shown.append(_log_table(samples.log, stems["log"], totals[stems["log"]]))
    for name, rows in samples.tables.items():
        if name in stems:
            file = stems[name]
            shown.append(_count_table(rows, name, file, totals[file], noises.get(name)))
    return tuple(shown)


def _log_table(rows: pl.DataFrame, file: str, total: int) -> SampleTable:
    """Return the rows of a log, without columns that are empty in all of them."""
    names = [
        name
        for name in SCHEMA_WITH_KIND
        if name in rows.columns and rows[name].null_count() < max(rows.height, 1)
    ]
    return SampleTable(
        file,
        total,
        tuple(names),
        tuple(_cells(row) for row in rows.select(names).rows()),
        frozenset(i for i, name in enumerate(names) if name == "rank"),
    )


def _count_table(
    rows: pl.DataFrame, name: str, file: str, total: int, noise: CountNoise | None
) -> SampleTable:
    names = [*PUBLIC_TABLES[name], "count"]
    values = rows.select(names).rows()
    numbers = frozenset({len(names) - 1})
    if noise is None:
        return SampleTable(file, total, tuple(names), tuple(map(_cells, values)), numbers)
    cells = tuple((*_cells(row[:-1]), f"{row[-1]:,} ± {noise.interval:,}") for row in values)
    return SampleTable(
        file,
        total,
        (*names[:-1], "count ± noise"),
        cells,
        numbers,
        "In 95 of 100 cases the noise of a count is at most the number after ±.",
    )


def _cells(row: Sequence[object]) -> tuple[str, ...]:
    return tuple(f"{cell:,}" if isinstance(cell, int) else _shorten(cell) for cell in row)


def _shorten(cell: object) -> str:
    """Return a cell of unknown origin without control characters, and not too long."""
    text = "" if cell is None else _CONTROL.sub("\ufffd", str(cell)[: _LONGEST + 1])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
