"""The size of the noise in released counts, as numbers and as statements.

All of it follows from public parameters and from the released tables, so it costs no budget: anyone
can compute it from the public files, and `verify` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal

import polars as pl

from ..core.records import FLAT, Record

Kind = Literal["laplace", "gaussian"]

_CONFIDENCE = 0.95
_SIGMAS = NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
_SUM_SIGMAS = 2.0  # a sum of Laplace noise has slightly heavier tails than a Gaussian one
_SUMS = (10, 100)
_MAX_SUMMED_SCALE = 1_000  # up to this scale the probabilities of a Gaussian are summed exactly
_NAMES = {"laplace": "discrete Laplace", "gaussian": "discrete Gaussian"}


@dataclass(frozen=True, repr=False)
class CountNoise(Record):
    """The noise of one table, from public parameters alone.

    Attributes:
        shows: A statement on when a row is released.
        bounded: A statement on the contribution bound of a user.
        own_threshold: Whether the noise of the count also decides if the row is released.
        floor: Lower counts are released as this count.

    >>> noise = CountNoise("queries", "laplace", 20.0, "", "")
    >>> noise.interval, noise.difference
    (60, 83)
    """

    shown = ("table", "kind", "scale")

    table: str
    kind: Kind
    scale: float
    shows: str
    bounded: str
    own_threshold: bool = True
    floor: int | None = None

    @property
    def interval(self) -> int:
        """The smallest m with P(|noise| <= m) of at least 95% for one count."""
        if self.kind == "laplace":
            # P(|Z| > m) = 2 a^(m + 1) / (1 + a), with a = exp(-1 / scale).
            ratio = math.exp(-1 / self.scale)
            reach = math.log((1 - _CONFIDENCE) * (1 + ratio) / 2) * -self.scale - 1
            return max(0, math.ceil(reach - 1e-9))
        return _gaussian_interval(self.scale)

    @property
    def difference(self) -> int:
        """The same bound for the difference of two counts."""
        if self.kind == "gaussian":
            return _gaussian_interval(self.scale * math.sqrt(2))
        low, high = 0.0, 10.0  # in scales: P(|Z1 - Z2| > x) = (1 + x / 2) exp(-x)
        for _ in range(60):
            middle = (low + high) / 2
            too_low = (1 + middle / 2) * math.exp(-middle) > 1 - _CONFIDENCE
            low, high = (middle, high) if too_low else (low, middle)
        return math.ceil(high * self.scale)

    def sum_interval(self, counts: int) -> int:
        """Return the same bound for the sum of so many counts, ten or more."""
        spread = self.scale * math.sqrt(counts * (2 if self.kind == "laplace" else 1))
        return math.ceil(spread * (_SUM_SIGMAS if self.kind == "laplace" else _SIGMAS))

    def around(self, count: int) -> tuple[int, int]:
        """Return the range of a count without its noise."""
        return max(0, count - self.interval), max(0, count + self.interval)


@dataclass(frozen=True, repr=False)
class TableNoise(Record):
    """The noise of one released table, as numbers and as statements.

    Attributes:
        interval_95: The noise of one count is at most this, up or down, in 95 of 100 cases.
        difference_95: The same for the difference of two counts.
        distinct_ranks: The number of first ranks that the noise does not blur.
        tied_ranks: The first and the last rank that the noise blurs; empty if none.
    """

    shown = ("noise",)

    noise: CountNoise = field(metadata=FLAT)
    interval_95: int
    difference_95: int
    distinct_ranks: int
    tied_ranks: tuple[int, ...]
    statements: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class NoiseDescription(Record):
    """The noise of a release: table by table, or as statements if it has no tables."""

    tables: tuple[TableNoise, ...] = ()
    statements: tuple[str, ...] = ()

    def statements_by_file(self) -> dict[str, tuple[str, ...]]:
        """Return the statements by the file of their table; the name "" is for all."""
        by_table = {f"{table.noise.table}.tsv": table.statements for table in self.tables}
        return ({"": self.statements} if self.statements else {}) | by_table

    def about_texts(self) -> dict[str, str]:
        """Return the text files beside the tables, by file name."""
        return {
            f"{name.removesuffix('.tsv')}.about.txt": _format_about(name, statements)
            for name, statements in self.statements_by_file().items()
            if name
        }

    def follows_from(self, tables: Mapping[str, pl.DataFrame]) -> bool:
        """Return whether the numbers and statements follow from the scales and the tables."""
        return describe_noise([table.noise for table in self.tables], tables) == self.tables


def describe_noise(
    noises: Sequence[CountNoise], tables: Mapping[str, pl.DataFrame]
) -> tuple[TableNoise, ...]:
    """Return the noise of each table in the form on the card."""
    return tuple(_describe(noise, tables[noise.table]["count"]) for noise in noises)


def _describe(noise: CountNoise, counts: pl.Series) -> TableNoise:
    together = _find_last_ties(counts, noise.difference)
    apart = _count_distinct_ranks(counts, noise.difference)
    return TableNoise(
        noise=noise,
        interval_95=noise.interval,
        difference_95=noise.difference,
        distinct_ranks=apart,
        tied_ranks=tuple(together),
        statements=tuple(_build_statements(noise, counts, apart, together)),
    )


def _count_distinct_ranks(counts: pl.Series, difference: int) -> int:
    """Count the first ranks of which each is above the next by more than `difference`."""
    steps = (counts.head(-1) - counts.slice(1)) > difference
    first = (~steps).arg_max() if len(steps) and not steps.all() else len(steps)
    return int(first or 0)


def _find_last_ties(counts: pl.Series, difference: int) -> list[int]:
    """Return the first and the last rank of the counts within `difference` of the lowest."""
    if len(counts) < 2:
        return []
    near = int((counts - counts.min() <= difference).sum())
    return [len(counts) - near + 1, len(counts)] if near > 1 else []


def _build_statements(
    noise: CountNoise, counts: pl.Series, apart: int, together: list[int]
) -> list[str]:
    return [
        _size(noise, counts),
        noise.shows + _near(noise),
        *([_ranks(noise, len(counts), apart, together)] if len(counts) > 1 else []),
        "Noise adds up by squares: in 95 of 100 cases it is at most "
        + ", and ".join(f"{noise.sum_interval(n):,} in a sum of {n} counts" for n in _SUMS)
        + ". The same holds where counts of several releases with this noise are added.",
        f"That is about the noise alone. Counts are also lower than in the log: {noise.bounded}",
    ]


def _size(noise: CountNoise, counts: pl.Series) -> str:
    text = (
        f"Each count has random noise ({_NAMES[noise.kind]}, scale {noise.scale:,.4g}): in 95 of "
        f"100 cases it is at most {noise.interval:,}, up or down."
    )
    if not len(counts):
        return f"{text} The table is empty: nothing reached the threshold."
    rows = {"first": counts[0]} | ({"last": counts[-1]} if len(counts) > 1 else {})
    examples = [
        f"the {name} count, {n:,}, may be {low:,} to {high:,}"
        for name, n, low, high in ((name, n, *noise.around(n)) for name, n in rows.items())
    ]
    return f"{text} So {', and '.join(examples)}."


def _near(noise: CountNoise) -> str:
    text = ""
    if noise.own_threshold:
        text = (
            " Whether it is released depends on the noise in its count: near the threshold, "
            "counts are more often too high than too low, and the interval is that of the "
            "noise before this selection."
        )
    if noise.floor is not None:
        text += f" Counts below {noise.floor} are released as {noise.floor}."
    return text


def _ranks(noise: CountNoise, rows: int, apart: int, together: list[int]) -> str:
    text = f"Two counts that differ by {noise.difference:,} or less cannot be distinguished."
    if apart:
        first = "The first row is" if apart == 1 else f"The first {apart:,} rows are each"
        text += f" {first} above the next by more than that."
    if together and together != [1, rows]:
        text += (
            f" Ranks {together[0]:,} to {together[1]:,} cannot be distinguished from one another."
        )
    elif together:
        text += " None of the ranks can be distinguished from another."
    return text


def _gaussian_interval(scale: float) -> int:
    """Return the smallest m with P(|Z| > m) of at most 5% for a discrete Gaussian."""
    if scale > _MAX_SUMMED_SCALE:
        return math.ceil(_SIGMAS * scale)
    weights = [math.exp(-z * z / (2 * scale * scale)) for z in range(int(40 * scale) + 2)]
    whole = 2 * sum(weights) - 1
    reach, inside = 0, 1.0
    while inside < _CONFIDENCE * whole:
        reach += 1
        inside += 2 * weights[reach]
    return reach


def _format_about(name: str, statements: Sequence[str]) -> str:
    lines = "".join(f"- {text}\n" for text in statements)
    return f"The counts in {name} are not exact.\n\n{lines}\nrelease.json has the same as data.\n"
