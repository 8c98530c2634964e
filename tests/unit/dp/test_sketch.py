"""A sketch hides whether a user is in it: her weights are short, and every bucket is noisy."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queryveil.dp.noise import NoiseSource
from queryveil.dp.sketch import NoisySketch
from queryveil.errors import UsageError

UNIT = 1024
SMALL = NoisySketch(Fraction(50), buckets=16)


class NoNoise:
    """Zeros in place of noise, counted."""

    def __init__(self) -> None:
        self.drawn = 0

    def gaussian(self, size: int, scale: Fraction) -> np.ndarray:
        self.drawn += size
        return np.zeros(size, np.int64)


rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 15), st.floats(1e-7, 1.0)), min_size=1, max_size=60
)


def columns(table: list[tuple[int, int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    user, bucket, wish = zip(*table, strict=True) if table else ((), (), ())
    return np.array(user, np.int64), np.array(bucket, np.int64), np.array(wish, np.float64)


def dense(sketch: NoisySketch, table: list[tuple[int, int, float]]) -> np.ndarray:
    """Give the weights as one row a user."""
    owner, place, weights = sketch.weights(*columns(table))
    full = np.zeros((5, sketch.buckets), np.int64)
    full[owner, place] = weights
    assert int(full.sum()) == int(weights.sum())  # each user and bucket once
    return full


@given(rows)
def test_no_users_weights_are_longer_than_one(table) -> None:
    full = dense(SMALL, table)
    assert full.min() >= 0
    assert (full**2).sum(axis=1).max() <= UNIT**2


@given(st.integers(1, 400), st.integers(0, 15), st.floats(1e-7, 1.0))
def test_nor_if_all_her_keys_share_a_bucket(keys: int, bucket: int, wish: float) -> None:
    full = dense(SMALL, [(0, bucket, wish)] * keys)
    assert full[0, bucket] <= UNIT
    assert full[0, bucket] >= UNIT - 3 or wish < 2**-24  # nor much shorter
    assert full.sum() == full[0, bucket]


@given(rows)
def test_weights_are_close_to_what_was_wished(table) -> None:
    full = dense(SMALL, table)
    user, bucket, wish = columns(table)
    wanted = np.zeros((5, 16))
    np.add.at(wanted, (user, bucket), wish)
    length = np.sqrt((wanted**2).sum(axis=1, keepdims=True))
    seen = length[:, 0] > 1e-3
    wanted = wanted[seen] / length[seen]
    assert np.abs(full[seen] / UNIT - wanted).max(initial=0) < 3 / UNIT


@settings(max_examples=200)
@given(rows, st.randoms(use_true_random=False))
def test_a_users_weights_do_not_depend_on_others_or_on_the_order_of_rows(table, chance) -> None:
    """Sums of floats do, and a weight just below a whole number may then be rounded down."""
    hers = [row for row in table if row[0] == 0]
    mixed = list(table)
    chance.shuffle(mixed)
    alone = dense(SMALL, hers)[0] if hers else np.zeros(16, np.int64)
    assert dense(SMALL, table)[0].tolist() == alone.tolist()
    assert dense(SMALL, mixed)[0].tolist() == alone.tolist()


@pytest.mark.parametrize("words", [(2, 7, 6), (3, 6, 5, 3, 3), (5, 5, 3, 7, 4)])
def test_order_counts_for_nothing_where_floats_would_differ(words: tuple[int, ...]) -> None:
    """Queries of so many words in one bucket: sums of floats give 1022 or 1023 by their order."""
    wishes = np.exp(-1.5 * np.log(np.array(words, np.float64))).tolist()
    found = {
        int(dense(SMALL, [(0, 3, wish) for wish in turned])[0, 3])
        for turned in permutations(wishes)
    }
    assert len(found) == 1


def test_weights_that_grow_when_rounded_are_refused() -> None:
    with pytest.raises(UsageError, match="above 1"):
        SMALL.weights(np.zeros(15, np.int64), np.arange(15), np.full(15, -1.0))


# --- cost ----------------------------------------------------------------------------------------


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=1))
def test_a_sketch_costs_at_most_what_it_may(rho: Fraction) -> None:
    made = NoisySketch.for_rho(rho)
    assert rho * Fraction(99, 100) < made.rho <= rho
    assert made.rho == Fraction(UNIT**2) / (2 * made.scale**2)
    assert (made.scale * 256).denominator == 1


# --- what is released ----------------------------------------------------------------------------


def test_every_bucket_gets_noise_also_in_an_empty_log() -> None:
    source = NoNoise()
    nothing = np.zeros(0, np.int64)
    seen = SMALL.release(nothing, nothing, nothing, np.zeros(0), source)
    assert source.drawn == SMALL.buckets
    assert seen.tolist() == [0.0] * 16


def test_what_many_users_send_is_heaviest() -> None:
    table = [(user, 3, 1.0) for user in range(5)] + [(1, 4, 1.0), (2, 5, 1.0)]
    user, bucket, wish = columns(table)
    seen = SMALL.release(user, np.arange(len(user)), bucket, wish, NoNoise())
    assert int(seen.argmax()) == 3
    exact = (3 * 1023 + 2 * 723) / 50
    assert seen[3] == pytest.approx(exact, abs=5 / 50)


def test_released_sums_are_noisy() -> None:
    """Real noise on empty buckets has the scale that the cost speaks of."""
    sketch = NoisySketch(Fraction(40), buckets=1 << 12)
    nothing = np.zeros(0, np.int64)
    seen = sketch.release(nothing, nothing, nothing, np.zeros(0), NoiseSource())
    assert len(np.unique(seen)) > 100
    assert 0.9 < seen.std() < 1.1  # twelve standard errors to each side are 0.13
