"""How large the noise in released counts is, in figures and in words.

All of it follows from public parameters and from the released tables, so it costs nothing: anyone
could work it out from the public files, and `verify` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Literal

import polars as pl


Kind = Literal["laplace", "gaussian"]

_SHARE = 0.95
_SIGMAS = NormalDist().inv_cdf((1 + _SHARE) / 2)
_SUM_SIGMAS = 2.0  # a sum of Laplace noise has slightly heavier tails than a Gaussian one
_SUMS = (10, 100)
_ONE_BY_ONE = 1_000  # up to this scale the chances of a Gaussian are added up one by one
_NAMES = {"laplace": "discrete Laplace", "gaussian": "discrete Gaussian"}


@dataclass(frozen=True)
class CountNoise:
    """The noise of one table, from public parameters alone.

    `shows` says when a row shows, `bounded` what counts of a person. `own_threshold` is whether
    a row shows by the very noise that stands in its count; `floor` is the least count that is
    written, where lower ones are written as that.

    >>> noise = CountNoise("queries", "laplace", 20.0, "", "")
    >>> noise.interval, noise.difference
    (60, 83)
    """

    table: str
    kind: Kind
    scale: float
    shows: str
    bounded: str
    own_threshold: bool = True
    floor: int | None = None

    @property
    def interval(self) -> int:
        """The least number that the noise of one count keeps within in 95 of 100 cases."""
        if self.kind == "laplace":
            # P(|Z| > m) = 2 a^(m + 1) / (1 + a), with a = exp(-1 / scale).
            ratio = math.exp(-1 / self.scale)
            reach = math.log((1 - _SHARE) * (1 + ratio) / 2) * -self.scale - 1
            return max(0, math.ceil(reach - 1e-9))
        return _gaussian_interval(self.scale)

    @property
    def difference(self) -> int:
        """The same for the difference of two counts."""
        if self.kind == "gaussian":
            return _gaussian_interval(self.scale * math.sqrt(2))
        low, high = 0.0, 10.0  # in scales: P(|Z1 - Z2| > x) = (1 + x / 2) exp(-x)
        for _ in range(60):
            middle = (low + high) / 2
            too_low = (1 + middle / 2) * math.exp(-middle) > 1 - _SHARE
            low, high = (middle, high) if too_low else (low, middle)
        return math.ceil(high * self.scale)

    def sum_interval(self, counts: int) -> int:
        """The same for the sum of so many counts, ten or more."""
        spread = self.scale * math.sqrt(counts * (2 if self.kind == "laplace" else 1))
        return math.ceil(spread * (_SUM_SIGMAS if self.kind == "laplace" else _SIGMAS))

    def around(self, count: int) -> tuple[int, int]:
        """Give what a count may be without its noise."""
        return max(0, count - self.interval), max(0, count + self.interval)


def noise_of(
    noises: Sequence[CountNoise], tables: Mapping[str, pl.DataFrame]
) -> list[dict[str, Any]]:
    """Give what stands on the card of each table with noise."""
    return [_told(noise, tables[noise.table]["count"]) for noise in noises]


def noise_fits(card: dict[str, Any], tables: Mapping[str, pl.DataFrame]) -> bool:
    """Tell whether what a card says of the noise follows from its parameters and the tables."""
    names = CountNoise.__dataclass_fields__
    told = card["noise"]["tables"]
    if card["noise"].keys() != {"tables", "statements"}:
        return False
    noises = [CountNoise(**{name: one[name] for name in names}) for one in told]
    return bool(noise_of(noises, tables) == told)


def _told(noise: CountNoise, counts: pl.Series) -> dict[str, Any]:
    together, apart = _last_together(counts, noise.difference), _apart(counts, noise.difference)
    return asdict(noise) | {
        "interval_95": noise.interval,
        "difference_95": noise.difference,
        "ranks_told_apart": apart,
        "ranks_not_told_apart": together,
        "statements": _says(noise, counts, apart, together),
    }


def _apart(counts: pl.Series, difference: int) -> int:
    """Count the first ranks of which each is above the next by more than noise makes likely."""
    steps = (counts.head(-1) - counts.slice(1)) > difference
    first = (~steps).arg_max() if len(steps) and not steps.all() else len(steps)
    return int(first or 0)


def _last_together(counts: pl.Series, difference: int) -> list[int]:
    """Give the first and the last rank of those at the end that cannot be told apart."""
    if len(counts) < 2:
        return []
    near = int((counts - counts.min() <= difference).sum())
    return [len(counts) - near + 1, len(counts)] if near > 1 else []


def _says(noise: CountNoise, counts: pl.Series, apart: int, together: list[int]) -> list[str]:
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
            " It shows by the noise that stands in its count: near the threshold counts are "
            "more often too high than too low, and the interval is that of the noise before "
            "this cut."
        )
    if noise.floor is not None:
        text += f" Counts below {noise.floor} are given as {noise.floor}."
    return text


def _ranks(noise: CountNoise, rows: int, apart: int, together: list[int]) -> str:
    text = f"Two counts that differ by {noise.difference:,} or less cannot be told apart."
    if apart:
        first = "The first row is" if apart == 1 else f"The first {apart:,} rows are each"
        text += f" {first} above the next by more than that."
    if together and together != [1, rows]:
        text += f" Ranks {together[0]:,} to {together[1]:,} cannot be told apart from one another."
    elif together:
        text += " None of the ranks can be told apart from another."
    return text


def _gaussian_interval(scale: float) -> int:
    """Give the least m with P(|Z| > m) of at most 5% for a discrete Gaussian."""
    if scale > _ONE_BY_ONE:
        return math.ceil(_SIGMAS * scale)
    weights = [math.exp(-z * z / (2 * scale * scale)) for z in range(int(40 * scale) + 2)]
    whole = 2 * sum(weights) - 1
    reach, inside = 0, 1.0
    while inside < _SHARE * whole:
        reach += 1
        inside += 2 * weights[reach]
    return reach


# -- words, for the page and beside the tables ----------------------------------------------------


def about_noise(card: dict[str, Any]) -> dict[str, list[str]]:
    """Give what a card says of the noise, by the table that it is about; "" is for all."""
    told = card.get("noise") or {"tables": [], "statements": []}
    found = {f"{one['table']}.tsv": list(one["statements"]) for one in told["tables"]}
    return ({"": list(told["statements"])} if told["statements"] else {}) | found


def about_texts(card: dict[str, Any]) -> dict[str, str]:
    """Give the texts that stand beside the tables, by their files' names."""
    return {
        f"{name.removesuffix('.tsv')}.about.txt": _about(name, says)
        for name, says in about_noise(card).items()
        if name
    }


def _about(name: str, says: Sequence[str]) -> str:
    lines = "".join(f"- {text}\n" for text in says)
    return f"The counts in {name} are not exact.\n\n{lines}\nrelease.json has the same as data.\n"
