"""Frequent queries by weighted selection, against a plain slow version."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt

import numpy as np
import polars as pl
import pytest

from queryveil.core.randomness import RandomSource
from queryveil.dp.noise import NoiseSource
from queryveil.dp.set_union import SetUnionRelease, calibrate_set_union
from queryveil.dp.thresholded_counts import TableBudget
from queryveil.methods.statistics import approximate as module
from queryveil.methods.statistics.approximate import release_set_union

Sent = dict[str, set[str]]


class Silence(NoiseSource):
    """No noise at all."""

    def gaussian(self, size: int, scale: Fraction) -> np.ndarray:
        return np.zeros(size, np.int64)


class Loud(NoiseSource):
    """Noise that takes a million from everything."""

    def gaussian(self, size: int, scale: Fraction) -> np.ndarray:
        return np.full(size, -1_000_000)


def frame(sent: Sent) -> pl.DataFrame:
    rows = [(user, query) for user, hers in sent.items() for query in sorted(hers)]
    texts = {"user": pl.Categorical, "query": pl.Categorical}
    return pl.DataFrame(rows, schema=texts, orient="row")


def zipf(users: int, seed: int = 0, most: int = 6) -> Sent:
    rng = np.random.default_rng(seed)
    return {
        f"u{user}": {f"q{min(int(q), 999)}" for q in rng.zipf(1.3, rng.integers(1, most + 1))}
        for user in range(users)
    }


def made(keys: int, rounds: tuple[int, ...], low: int = 1) -> SetUnionRelease:
    """Make mechanisms of which only the thresholds matter, lowered for small logs."""
    found = calibrate_set_union(
        [TableBudget(keys, Fraction(1))], Fraction(1), Fraction(1, 10**6), rounds
    )
    lowered = tuple(replace(one, threshold=one.threshold // low) for one in found.rounds)
    return replace(found, rounds=lowered)


def slow(sent: Sent, mechanisms: SetUnionRelease) -> dict[str, int]:
    """Do the same without noise, key by key; no user may have too many keys."""
    found: set[str] = set()
    for one in mechanisms.rounds:
        weights: dict[str, list[int]] = {}
        for hers in sent.values():
            left = hers - found
            for query in left:
                weights.setdefault(query, []).append(isqrt(1024**2 // len(left)))
        found |= {q for q, w in weights.items() if sum(w) - max(w) >= one.threshold}
    return {query: sum(query in hers for hers in sent.values()) for query in found}


@pytest.mark.parametrize("rounds", [(1,), (1, 3, 9)])
@pytest.mark.parametrize("seed", range(3))
def test_without_noise_it_is_the_slow_version(rounds: tuple[int, ...], seed: int) -> None:
    sent, mechanisms = zipf(400, seed), made(6, rounds, low=4)
    table = release_set_union(frame(sent).lazy(), mechanisms, RandomSource(), Silence())
    expected = slow(sent, mechanisms)
    assert len(expected) > 3
    assert dict(zip(table["query"].to_list(), table["count"].to_list(), strict=True)) == expected


def test_later_rounds_find_what_the_first_made_room_for() -> None:
    """With "a" found, "b" gets the whole weight of 79 users: 1024 each instead of 724."""
    sent = {f"u{n}": {"a", "b"} for n in range(80)} | {f"v{n}": {"a"} for n in range(200)}
    found = made(2, (1, 3))
    same = tuple(replace(one, threshold=79 * 724 + 1) for one in found.rounds)
    once, twice = replace(found, rounds=same[:1]), replace(found, rounds=same)
    assert release_set_union(frame(sent).lazy(), once, RandomSource(), Silence()).rows() == [
        ("a", 280)
    ]
    table = release_set_union(frame(sent).lazy(), twice, RandomSource(), Silence())
    assert table.sort("query").rows() == [("a", 280), ("b", 80)]


def test_each_user_is_bounded_in_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    bound = module.bound_contributions

    def spied(pairs: pl.DataFrame, most: int, *rest: object) -> pl.DataFrame:
        kept = bound(pairs, most, *rest)
        seen.append(int(kept.group_by("user").len()["len"].max() or 0))
        assert seen[-1] <= most
        return kept

    monkeypatch.setattr(module, "bound_contributions", spied)
    table = release_set_union(
        frame(zipf(500, most=20)).lazy(), made(3, (1, 3, 9), low=8), RandomSource(), NoiseSource()
    )
    assert len(table) > 2
    assert seen[:3] == [3, 3, 3] and len(seen) == 4


def test_what_a_user_likes_comes_first() -> None:
    pairs = frame({f"u{n}": {"a", "b", "c"} for n in range(200)})

    def like(rows: pl.DataFrame) -> np.ndarray:
        return (rows["query"].cast(pl.String) == "b").to_numpy().astype(np.float64)

    table = release_set_union(pairs.lazy(), made(1, (1,)), RandomSource(), Silence(), like)
    assert table.rows() == [("b", 200)]


def test_every_found_query_is_counted_and_none_below_one() -> None:
    pairs = frame({f"u{n}": {"a", "b"} for n in range(400)})
    found = made(2, (1,))
    assert release_set_union(pairs.lazy(), found, RandomSource(), Loud()).is_empty()
    sure = replace(found, rounds=(replace(found.rounds[0], threshold=-(10**7)),))
    table = release_set_union(pairs.lazy(), sure, RandomSource(), Loud())
    assert sorted(table.rows()) == [("a", 1), ("b", 1)]


def test_a_query_of_one_user_is_never_found() -> None:
    found = made(2, (1,))
    sure = replace(found, rounds=(replace(found.rounds[0], threshold=-(10**7)),))
    table = release_set_union(
        frame({"u": {"a", "b"}, "v": {"b"}}).lazy(), sure, RandomSource(), Silence()
    )
    assert table["query"].to_list() == ["b"]


def test_an_empty_log_gives_an_empty_table() -> None:
    table = release_set_union(frame({}).lazy(), made(2, (1, 3, 9)), RandomSource(), NoiseSource())
    assert table.columns == ["query", "count"] and table.is_empty()


def test_the_same_seed_finds_the_same() -> None:
    """Small scales, because a stream that can be repeated fills a table of chances first."""
    found = calibrate_set_union(
        [TableBudget(3, Fraction(1))], Fraction(20), Fraction(1, 1000), (1, 3)
    )
    pairs = frame(zipf(300)).sort("user", "query")

    def once(seed: int) -> list[tuple[str, int]]:
        chance = RandomSource(seed=seed)
        return release_set_union(pairs.lazy(), found, chance, NoiseSource(chance.uint64s)).rows()

    assert once(3) == once(3) != once(4)
