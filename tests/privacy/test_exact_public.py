"""Pure mode, exactly: every outcome of tiny tables, with one user more or less.

The chances are those of the code: a cell with a count has discrete Laplace noise, an empty one
shows as often as `RareCells` says and has geometric noise then.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.dp.noise import NoiseSource
from queryveil.dp.public_counts import EmptyCellSampler, PublicCounts
from queryveil.log.query_log import QueryLog
from queryveil.methods.statistics.public_lists import PublicListRelease

FAR = 25  # values above the threshold; what is beyond is one more outcome
SLACK = 1 + 1e-9

Outcomes = dict[tuple[object, ...], float]


def outcomes_of_a_cell(made: PublicCounts, count: int) -> dict[object, float]:
    """Give the chance of each thing that a cell can tell: hidden, a value, or beyond."""
    a = exp(-1 / made.scale)
    last = made.threshold + FAR
    if count:
        told = {v: (1 - a) / (1 + a) * a ** abs(v - count) for v in range(made.threshold, last)}
        assert last > count
        beyond = a ** (last - count) / (1 + a)
    else:
        rare = EmptyCellSampler(made.scale, made.threshold)
        shows = (1 - exp(-1 / rare.skip_scale)) * float(sum(rare.skip_probability(50)) / 2)
        told = {v: shows * (1 - a) * a ** (v - made.threshold) for v in range(made.threshold, last)}
        beyond = shows * a**FAR
    return told | {"beyond": beyond, "hidden": 1 - sum(told.values()) - beyond}


def outcomes(made: PublicCounts, counts: tuple[int, ...]) -> Outcomes:
    cells = [outcomes_of_a_cell(made, count) for count in counts]
    found: Outcomes = {}
    for told in product(*cells):
        chance = 1.0
        for cell, one in zip(cells, told, strict=True):
            chance *= cell[one]
        found[told] = chance
    return found


def worst(made: PublicCounts, without: tuple[int, ...], changed: tuple[int, ...]) -> float:
    """Give the greatest ratio of chances of any outcome, in both directions."""
    with_her = tuple(n + (place in changed) for place, n in enumerate(without))
    one, two = outcomes(made, without), outcomes(made, with_her)
    assert sum(one.values()) == pytest.approx(1)
    assert sum(two.values()) == pytest.approx(1)
    return max(max(one[told] / two[told], two[told] / one[told]) for told in one)


CASES = [
    ((0, 0), 1, (0,)),
    ((0, 0), 2, (0, 1)),
    ((3, 0), 2, (0, 1)),
    ((1, 2), 1, (1,)),
    ((0, 0, 0), 2, (0, 2)),
    ((0, 1, 5), 3, (0, 1, 2)),
    ((2, 0, 0), 3, (0, 1, 2)),
]


@pytest.mark.parametrize(("without", "keys", "changed"), CASES)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_no_outcome_tells_more_than_epsilon(without, keys, changed, epsilon) -> None:
    made = PublicCounts.for_cells(keys, epsilon, len(without))
    assert worst(made, without, changed) <= exp(epsilon) * SLACK
    for threshold in (1, 2, 6):  # it is post-processing: any will do
        assert worst(replace(made, threshold=threshold), without, changed) <= exp(epsilon) * SLACK


@pytest.mark.parametrize(("without", "keys", "changed"), CASES)
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_less_noise_tells_more(without, keys, changed, epsilon) -> None:
    made = PublicCounts.for_cells(keys, epsilon, len(without))
    short = replace(made, scale=Fraction(int(made.scale * 256 * 4 / 5), 256))
    assert worst(short, without, changed) > exp(epsilon) * 1.05


def test_empty_cells_that_never_show_would_be_seen() -> None:
    """Without noise on empty cells an outcome is possible with her and impossible without."""
    made = PublicCounts.for_cells(1, Fraction(1), 2)
    with_her, without = outcomes_of_a_cell(made, 1), {"hidden": 1.0}
    assert with_her[made.threshold] > 0
    assert made.threshold not in without


def test_a_count_that_falls_to_0_is_the_same_law() -> None:
    """An empty cell and a cell with a count of 0 tell the same with the same chances."""
    for scale, threshold in ((Fraction(1), 1), (Fraction(7, 2), 5), (Fraction(40), 90)):
        made = PublicCounts(scale, threshold, 1)
        a = exp(-1 / scale)
        for value, chance in outcomes_of_a_cell(made, 0).items():
            if isinstance(value, int):
                assert chance == pytest.approx((1 - a) / (1 + a) * a**value, rel=1e-9)


# --- what a user changes before the noise --------------------------------------------------------

POOL, QUERIES = ("a", "b", "c", "d"), ("a", "b", "c", "d", "own secret", "other")


def rows_of(user: str, sent: list[str]) -> list[tuple[str, str, str, int, str]]:
    return [
        (user, query, f"2006-03-01 10:{minute:02}:00", 1, f"http://{query[0]}.example")
        for minute, query in enumerate(sent)
    ]


def counts_of(
    rows: list, asked: PublicListRelease, prefer: str, monkeypatch
) -> list[dict[int, int]]:
    """Give the counts that meet the noise, table by table, all pool queries being released."""
    seen: list[dict[int, int]] = []

    def release(self, places, counts, cells, source):
        seen.append(dict(zip(places.tolist(), counts.tolist(), strict=True)))
        return np.arange(cells), np.ones(cells, np.int64)

    monkeypatch.setattr(PublicCounts, "release", release)
    asked.release(QueryLog.from_rows(rows), prefer, RandomSource(1), NoiseSource(), NoProgress())
    return seen


@pytest.mark.parametrize("prefer", ["short", "random"])
@pytest.mark.parametrize("keys", [(1, 1, 1), (2, 1, 2), (3, 3, 3)])
def test_a_user_changes_at_most_so_many_counts_by_one(keys, prefer, tmp_path, monkeypatch) -> None:
    (tmp_path / "pool").write_text("\n".join(POOL))
    (tmp_path / "urls").write_text("\n".join(f"{q}\thttp://{q}.example" for q in POOL))
    share = Fraction(1, 3)
    asked = PublicListRelease.of(
        str(tmp_path / "pool"), str(tmp_path / "urls"), Fraction(1), keys, (share, share, share)
    )
    others = [row for user, sent in (("1", ["a"]), ("2", ["b"]), ("3", ["own secret", "c"]))
              for row in rows_of(user, sent)]  # fmt: skip
    hers = rows_of("0", [*QUERIES, "a", "c", "b", "d", "a", *QUERIES])
    for with_her in (others + hers, hers + others):
        more = counts_of(with_her, asked, prefer, monkeypatch)
        less = counts_of(others, asked, prefer, monkeypatch)
        assert len(more) == len(less) == 3
        for table, most in enumerate(keys):
            places = more[table].keys() | less[table].keys()
            steps = [more[table].get(p, 0) - less[table].get(p, 0) for p in places]
            assert set(steps) <= {0, 1}
            assert sum(steps) == most  # she has enough to use all that she may


def test_the_budgets_of_the_tables_add_up() -> None:
    shares = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    for url_pool in ("", "urls"):
        asked = PublicListRelease.of("wordnet", url_pool, Fraction("0.7"), (20, 7, 20), shares)
        tables = [n for n in range(3) if asked.budgets[n]]
        cost = sum(asked.mechanism(n, 10**5).epsilon for n in tables)
        assert Fraction("0.69") < cost <= Fraction("0.7")
