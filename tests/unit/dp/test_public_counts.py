"""Counts over public cells: what shows is what noise on every single cell would show."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.dp import public_counts as public
from queryveil.dp.noise import NoiseSource
from queryveil.dp.public_counts import EmptyCellSampler, PublicCounts
from queryveil.errors import UsageError

SCALES = [
    Fraction(3, 256),
    Fraction(1, 4),
    Fraction(1),
    Fraction(3, 2),
    Fraction(60),
    Fraction(9999),
]
SETTINGS = [(scale, threshold) for scale in SCALES for threshold in (1, 2, 7, 300)]


def chance_of(scale: Fraction, threshold: int) -> Decimal:
    """P(noise >= threshold), to a hundred digits."""
    with localcontext(prec=100):
        a = (-Decimal(scale.denominator) / scale.numerator).exp()
        return a**threshold / (1 + a)


def chi_square(found: Counter, chances: dict, size: int) -> None:
    """Refuse counts that chance gives once in three million cases."""
    rare = [key for key, chance in chances.items() if chance * size < 8]
    cells = [(found[k], chances[k] * size) for k in chances if k not in rare]
    rest = size - sum(n for n, _ in cells), size - sum(e for _, e in cells)
    cells += [rest] if rest[1] > 5 else []
    value = sum((n - e) ** 2 / e for n, e in cells)
    free = len(cells) - 1
    assert free >= 1
    # Wilson and Hilferty: the cube root of a chi-square is nearly normal.
    assert value < free * (1 - 2 / (9 * free) + 5 * sqrt(2 / (9 * free))) ** 3, (value, free)


# --- the numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("scale", "threshold"), SETTINGS)
def test_a_candidate_that_stays_is_as_likely_as_noise_that_reaches(scale, threshold) -> None:
    rare = EmptyCellSampler(scale, threshold)
    assert (rare.skip_scale * 256).denominator == 1
    for digits in (50, 90):
        low, high = rare.skip_probability(digits)
        with localcontext(prec=100):
            first = 1 - (-Decimal(rare.skip_scale.denominator) / rare.skip_scale.numerator).exp()
            exact = Fraction(chance_of(scale, threshold)) / Fraction(first)
        assert low < exact < high
        assert high - low < Fraction(1, 10 ** (digits - 20))
        assert exact <= 1


@pytest.mark.parametrize(("scale", "threshold"), SETTINGS)
def test_few_candidates_are_in_vain(scale, threshold) -> None:
    rare = EmptyCellSampler(scale, threshold)
    if rare.skip_scale < public._SLOWEST:
        assert rare.skip_probability(50)[0] > Fraction(9, 10)
    else:  # then there are about as many candidates as batches of 10^12 cells
        assert chance_of(scale, threshold) < 1e-12


def test_a_chance_of_nearly_a_half() -> None:
    wide = EmptyCellSampler(Fraction(2**30), 1)
    assert abs(chance_of(wide.scale, 1) - Decimal("0.5")) < 1e-9
    assert Fraction(7, 5) < wide.skip_scale < Fraction(3, 2)
    shown = wide.sample(4000, NoiseSource())
    assert abs(len(shown) - 2000) < 6 * sqrt(1000)


@pytest.mark.parametrize("threshold", [0, -3])
def test_a_chance_of_a_half_and_more_is_refused(threshold: int) -> None:
    with pytest.raises(UsageError, match="hides no empty cell"):
        PublicCounts(Fraction(1), threshold, 1)


@given(st.integers(1, 500), st.fractions(Fraction(1, 100), 50), st.integers(0, 10**13))
@settings(max_examples=60)
def test_scale_and_threshold_follow_from_public_numbers(keys, epsilon, cells) -> None:
    made = PublicCounts.for_cells(keys, epsilon, cells)
    assert made.epsilon <= epsilon
    assert made.epsilon == made.contribution_bound / made.scale
    assert made.scale - keys / epsilon < Fraction(1, 256)
    assert made.threshold >= 1
    assert made.false_positive_rate * cells <= 1
    if made.threshold > 1:  # one less would let more than one empty cell through
        assert chance_of(made.scale, made.threshold - 1) * cells > 1


def test_a_known_case() -> None:
    made = PublicCounts.for_cells(20, Fraction(1, 2), 10**6)
    assert made == PublicCounts(Fraction(40), 526, 20)
    assert made.epsilon == Fraction(1, 2)
    assert float(made.false_positive_rate) == pytest.approx(exp(-526 / 40) / (1 + exp(-1 / 40)))


# --- which empty cells show: all cases, with their exact chances ---------------------------------


@pytest.mark.parametrize("batch", [1, 2, 1 << 16])
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_every_set_of_empty_cells_has_its_exact_chance(cells, batch, monkeypatch) -> None:
    """Go through all gaps and all coins, weighed by their chances."""
    first, stay = Fraction(2, 5), Fraction(3, 4)  # any two: only their product may count
    found: Counter = Counter()
    gap_chance = [first * (1 - first) ** g for g in range(cells)] + [(1 - first) ** cells]
    monkeypatch.setattr(public, "_BATCH", batch)
    for gaps in product(range(cells + 1), repeat=cells):
        for coins in product([True, False], repeat=cells):
            weight = Fraction(1)
            for gap, coin in zip(gaps, coins, strict=True):
                weight *= gap_chance[gap] * (stay if coin else 1 - stay)
            found[scripted(cells, gaps, coins, monkeypatch)] += weight
    chance = first * stay
    for shown in product([True, False], repeat=cells):
        places = tuple(place for place, shows in enumerate(shown) if shows)
        exact = chance ** len(places) * (1 - chance) ** (cells - len(places))
        assert found[places] == exact
    assert sum(found.values()) == 1


def scripted(cells, gaps, coins, monkeypatch) -> tuple[int, ...]:
    """Run the loop with these gaps and coins in place of random ones."""
    next_gap, next_coin = iter(gaps), iter(coins)

    def geometric(size, scale, source):
        return np.array([next(next_gap, cells) for _ in range(size)], np.int64)

    def stays(self, size, source):
        return np.array([next(next_coin) for _ in range(size)], np.bool_)

    monkeypatch.setattr(public, "_geometric", geometric)
    monkeypatch.setattr(EmptyCellSampler, "_stays", stays)
    return tuple(EmptyCellSampler(Fraction(1), 1).sample(cells, NoiseSource()).tolist())


@given(st.data())
def test_empty_cells_stand_between_those_with_a_count(data: st.DataObject) -> None:
    cells = data.draw(st.integers(0, 12))
    held = sorted(data.draw(st.sets(st.sampled_from(range(cells)))) if cells else [])
    empty = [place for place in range(cells) if place not in held]
    ranks = sorted(data.draw(st.sets(st.sampled_from(range(len(empty))))) if empty else [])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EmptyCellSampler, "sample", lambda *_: np.array(ranks, np.int64))
        made = PublicCounts(Fraction(1, 256), 5, 1)  # so little noise that there is none
        counts = np.full(len(held), 9, np.int64)
        places, noisy = made.release(np.array(held, np.int64), counts, cells, NoiseSource())
    assert dict(zip(places.tolist(), noisy.tolist(), strict=True)) == (
        dict.fromkeys(held, 9) | {empty[rank]: 5 for rank in ranks}
    )
    assert places.tolist() == sorted(places.tolist())


# --- with real noise -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source", [NoiseSource(), NoiseSource(RandomSource(5).uint64s)], ids=["real", "repeatable"]
)
def test_patterns_of_empty_cells_are_those_of_noise_on_every_cell(source: NoiseSource) -> None:
    """Three neighbouring cells: the chance of each of the eight patterns."""
    made, blocks = PublicCounts(Fraction(3, 2), 2, 1), 12_000
    none = np.zeros(0, np.int64)
    places, values = made.release(none, none, 3 * blocks, source)
    p = float(chance_of(made.scale, made.threshold))
    shown = np.zeros(3 * blocks, np.int64)
    shown[places] = 1
    found = Counter(map(tuple, shown.reshape(-1, 3).tolist()))
    chances = {key: p ** sum(key) * (1 - p) ** (3 - sum(key)) for key in product([0, 1], repeat=3)}
    chi_square(found, chances, blocks)
    a = exp(-2 / 3)
    chi_square(Counter((values - 2).tolist()), {g: (1 - a) * a**g for g in range(40)}, len(values))


def test_counts_and_empty_cells_together_against_the_plain_way() -> None:
    """Draw noise for every cell by the formula, and compare what each cell tells."""
    made, rounds = PublicCounts(Fraction(5, 4), 1, 1), 8_000
    counts = np.tile([2, 0, 1, 0, 0], rounds)
    held = np.flatnonzero(counts)
    places, values = made.release(held, counts[held], len(counts), NoiseSource())
    told = np.zeros(len(counts), np.int64)  # 0 stands for hidden
    told[places] = values
    a = exp(-4 / 5)
    for place, count in enumerate([2, 0, 1, 0, 0]):
        chances = {v: (1 - a) / (1 + a) * a ** abs(v - count) for v in range(1, 40)}
        chances[0] = 1 - sum(chances.values())
        chi_square(Counter(told[place::5].tolist()), chances, rounds)


def test_geometric_numbers_are_geometric() -> None:
    for scale in (Fraction(1, 2), Fraction(2)):
        a = exp(-float(1 / scale))
        for source in (NoiseSource(), NoiseSource(RandomSource(3).uint64s)):
            drawn = public._geometric(10_000, scale, source)
            assert len(drawn) == 10_000
            chi_square(Counter(drawn.tolist()), {g: (1 - a) * a**g for g in range(60)}, 10_000)
    wide = public._geometric(4_000, Fraction(2**39), NoiseSource())
    assert float(wide.mean()) == pytest.approx(2**39, rel=5 / sqrt(4_000))


# --- how many cells there are --------------------------------------------------------------------


@pytest.mark.parametrize("cells", [0, 1, 2, 10**6, 10**12, 10**15])
def test_any_number_of_cells(cells: int) -> None:
    made = PublicCounts.for_cells(20, Fraction(1), cells)
    held = np.arange(min(cells, 3), dtype=np.int64)
    places, values = made.release(held, np.full(len(held), 10**6), cells, NoiseSource())
    assert set(held.tolist()) <= set(places.tolist())
    assert (np.diff(places) > 0).all()
    assert not len(places) or places[-1] < cells
    assert (values >= made.threshold).all()
    assert len(places) < 30


@pytest.mark.parametrize("cells", [10**6, 10**12])
def test_on_average_at_most_one_empty_cell_shows(cells: int) -> None:
    made = PublicCounts.for_cells(3, Fraction(1), cells)
    rare = EmptyCellSampler(made.scale, made.threshold)
    found = [rare.sample(cells, NoiseSource()) for _ in range(400)]
    mean = 400 * cells * float(made.false_positive_rate)
    assert mean <= 400
    assert abs(sum(map(len, found)) - mean) < 6 * sqrt(mean)
    middle = np.concatenate(found).mean() / cells  # they lie anywhere
    assert abs(middle - 0.5) < 6 / sqrt(12 * sum(map(len, found)))


def test_a_chance_that_is_next_to_nothing_takes_one_gap() -> None:
    rare = EmptyCellSampler(Fraction(1, 256), 40)  # e^-10240
    assert rare.skip_scale == public._SLOWEST
    assert not len(rare.sample(10**9, NoiseSource()))
    low, high = rare.skip_probability(50)
    assert 0 < low < high < Fraction(1, 10**4000)


@pytest.mark.parametrize(
    ("places", "counts", "cells"),
    [([1, 0], [1, 1], 5), ([1, 1], [1, 1], 5), ([5], [1], 5), ([-1], [1], 5), ([0], [1, 1], 5),
     ([], [], -1), ([], [], 2**50)],
)  # fmt: skip
def test_what_are_no_cells_is_refused(places, counts, cells) -> None:
    with pytest.raises(UsageError, match="not counts of"):
        made = PublicCounts(Fraction(1), 1, 1)
        made.release(np.array(places, np.int64), np.array(counts, np.int64), cells, NoiseSource())


# --- coins and streams ---------------------------------------------------------------------------


def stream(*numbers: int):
    """Give these numbers, then fail."""
    left = list(numbers)
    return NoiseSource(lambda size: np.array([left.pop(0) for _ in range(size)], np.uint64))


def test_a_coin_takes_more_bits_until_it_is_sure() -> None:
    rare = EmptyCellSampler(Fraction(1), 3)
    low, high = rare.skip_probability(120)
    bits = int(low * 2**192)
    assert bits == int(high * 2**192)
    one, two, three = (bits >> shift & 2**64 - 1 for shift in (128, 64, 0))
    assert rare._stays(1, stream(one - 1)).tolist() == [True]
    assert rare._stays(1, stream(one + 1)).tolist() == [False]
    assert rare._stays(1, stream(one, two - 1)).tolist() == [True]
    assert rare._stays(1, stream(one, two + 1)).tolist() == [False]
    assert rare._stays(1, stream(one, two, three - 1)).tolist() == [True]
    assert rare._stays(1, stream(one, two, three + 1)).tolist() == [False]
    several = stream(0, one, 2**64 - 1, two - 1)  # more bits come after all first ones
    assert rare._stays(3, several).tolist() == [True, True, False]


def test_the_same_stream_gives_the_same_release() -> None:
    made = PublicCounts(Fraction(20), 60, 5)
    held, counts = np.array([3, 500, 9_000]), np.array([70, 80, 10])
    one, two, other = (
        made.release(held, counts, 10**4, NoiseSource(RandomSource(seed).uint64s))
        for seed in (1, 1, 2)
    )
    assert [part.tolist() for part in one] == [part.tolist() for part in two]
    assert [part.tolist() for part in one] != [part.tolist() for part in other]


def test_streams_that_are_stuck_come_to_an_end() -> None:
    made, none = PublicCounts(Fraction(2), 3, 1), np.zeros(0, np.int64)
    low, high = (NoiseSource(lambda size, n=n: np.full(size, n, np.uint64)) for n in (0, 2**64 - 1))
    assert made.release(none, none, 50, low)[0].tolist() == []  # the longest gap
    assert made.release(none, none, 50, high)[0].tolist() == []  # no candidate stays
