"""Which rare keys show: drawn by their number, with the chances that noise on each would give."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from queryveil.core.randomness import RandomSource
from queryveil.dp.noise import NoiseSource
from queryveil.dp.occurrence_counts import OccurrenceThreshold
from queryveil.errors import UsageError
from queryveil.methods.occurrence_selection import select_frequent_keys

CHOICE = OccurrenceThreshold(Fraction(4), 8, 2)


def table(counts: dict[str, int]) -> pl.LazyFrame:
    return pl.LazyFrame({"query": list(counts), "count": list(counts.values())})


def shown(counts: dict[str, int]) -> list[str]:
    return select_frequent_keys(table(counts), CHOICE, NoiseSource(), RandomSource())[
        "query"
    ].to_list()


def chance_to_show(count: int) -> float:
    a = np.exp(-1 / 4)
    reach = 8 + 1 - count
    return float(a**reach / (1 + a)) if reach > 0 else float(1 - a ** (1 - reach) / (1 + a))


@pytest.mark.parametrize("count", [1, 3, 4, 5, 8])
def test_as_many_show_as_with_noise_on_each(count: int) -> None:
    keys = {f"q{n}": count for n in range(20_000)}
    expected = 20_000 * chance_to_show(count)
    spread = np.sqrt(expected * (1 - chance_to_show(count)))
    found = len(shown(keys))
    assert abs(found - expected) < 5 * spread
    # Another threshold by one, or another scale by a fifth, would be seen.
    other = 20_000 * chance_to_show(count + 1)
    assert abs(other - expected) > 10 * spread


def test_all_rare_keys_have_equal_chances() -> None:
    keys = {f"q{n}": 4 for n in range(10)}
    hits = np.zeros(10)
    for _ in range(600):
        hits[[int(name[1:]) for name in shown(keys)]] += 1
    expected = 600 * chance_to_show(4)
    chi = float(((hits - expected) ** 2 / (expected * (1 - chance_to_show(4)))).sum())
    assert chi < 40  # of 10 degrees of freedom: one in a hundred thousand


def test_counts_are_given_as_they_are_in_order() -> None:
    found = select_frequent_keys(
        table({"b": 900, "a": 800, "c": 1}), CHOICE, NoiseSource(), RandomSource()
    )
    assert found.filter(pl.col("count") > 1).rows() == [("a", 800), ("b", 900)]


def test_lots_are_for_low_counts_alone() -> None:
    with pytest.raises(UsageError, match="from 1 to the threshold"):
        CHOICE.release_grouped(9, 10, NoiseSource())
