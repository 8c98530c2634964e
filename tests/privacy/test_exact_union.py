"""Weighted selection, counted out: all outcomes of small logs, with and without one user.

Chances are sums over the discrete Gaussian, and the mechanism is written here a second time, from
the claim in docs/privacy/selection.md. Nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import exp, isqrt

import numpy as np
import pytest

from queryveil.dp.set_union import SetUnionRelease, WeightedSelection, calibrate_set_union
from queryveil.dp.thresholded_counts import TableBudget

Log = Sequence[frozenset[str]]
History = tuple[frozenset[str], ...]

EPSILON = Fraction(1)
DELTA = Fraction(1, 1000)  # large, so that little noise and few users are enough


@cache
def tails(scale: Fraction) -> tuple[int, np.ndarray]:
    """Chances that noise is at least -far, -far + 1, ...; the smallest are added first."""
    far = int(12 * scale)
    z = np.arange(-far, far + 1)
    chances = np.exp(-(z.astype(np.float64) ** 2) / (2 * float(scale) ** 2))
    return far, np.cumsum((chances / chances.sum())[::-1])[::-1]


def chance_to_show(one: WeightedSelection, weights: list[int]) -> float:
    left = sum(weights) - max(weights, default=0)
    if not left:
        return 0.0
    far, tail = tails(one.scale)
    place = one.threshold - left + far
    return 1.0 if place <= 0 else float(tail[place]) if place < len(tail) else 0.0


def histories(log: Log, rounds: Sequence[WeightedSelection]) -> dict[History, float]:
    """Give the chance of each sequence of found keys."""
    if not rounds:
        return {(): 1.0}
    one, *later = rounds
    weights: dict[str, list[int]] = {}
    for hers in log:
        assert len(hers) <= one.contribution_bound
        for key in hers:
            weights.setdefault(key, []).append(isqrt(1024**2 // len(hers)))
    show = {key: chance_to_show(one, found) for key, found in weights.items()}
    result: dict[History, float] = {}
    for size in range(len(show) + 1):
        for shown in map(frozenset, combinations(sorted(show), size)):
            likely = 1.0
            for key, chance in show.items():
                likely *= chance if key in shown else 1 - chance
            if likely:
                rest = [hers - shown for hers in log]
                for history, after in histories(rest, later).items():
                    result[(shown, *history)] = likely * after
    return result


def beyond(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - exp(epsilon) * q, 0).sum())


def counted(scale: Fraction, keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Give chances of all noisy counts of so many keys, without the user and with her."""
    without, with_her = np.ones(1), np.ones(1)
    z = np.arange(-int(8 * scale), int(8 * scale) + 2, dtype=np.float64)
    one = np.exp(-(z**2) / (2 * float(scale) ** 2))
    more = np.exp(-((z - 1) ** 2) / (2 * float(scale) ** 2))
    for _ in range(keys):
        without = np.multiply.outer(without, one / one.sum()).ravel()
        with_her = np.multiply.outer(with_her, more / more.sum()).ravel()
    return without, with_her


def exact_delta(
    others: Log, user: frozenset[str], made: SetUnionRelease, counts: bool = True
) -> float:
    """Give the least delta for this pair of logs, the larger of both directions."""
    without, with_her = (histories(log, made.rounds) for log in (others, [*others, user]))
    found = [0.0, 0.0]
    for history in without.keys() | with_her.keys():
        p, q = without.get(history, 0.0), with_her.get(history, 0.0)
        hers = len(user & frozenset().union(*history)) if counts else 0
        a, b = counted(made.counts.scale, hers)
        found[0] += beyond(p * a, q * b, float(EPSILON))
        found[1] += beyond(q * b, p * a, float(EPSILON))
    return max(found)


def small_logs(keys: int, most: int, step: int) -> Iterator[tuple[Log, frozenset[str]]]:
    """Give other users of every kind that matters, and one user's keys."""
    a, b, both = frozenset("a"), frozenset("b"), frozenset("ab")
    for many in [0, 1, 2, *range(3, most, step)]:
        yield [a] * many, a
        if keys > 1:
            yield [both] * many, both
            yield [a] * many, both
            yield [*[a] * many, *[both] * (many // 2)], both
            yield [*[a] * many, b], both  # b weighs something only with her
            yield [*[both] * many, *[b] * (many // 3)], a


def worst(made: SetUnionRelease, counts: bool = True, step: int = 1) -> float:
    most = made.rounds[0].threshold // 512 + 4
    logs = small_logs(made.counts.keys, most, step)
    return max(exact_delta(others, user, made, counts) for others, user in logs)


def alone(keys: int) -> SetUnionRelease:
    """One round that has nearly all of the budget."""
    return calibrate_set_union(
        [TableBudget(keys, Fraction(1))], EPSILON, DELTA, (1,), Fraction(999, 1000)
    )


def smaller(made: SetUnionRelease, by: Fraction) -> SetUnionRelease:
    rounds = tuple(replace(one, scale=one.scale * by) for one in made.rounds)
    return replace(made, rounds=rounds, counts=replace(made.counts, scale=made.counts.scale * by))


@pytest.mark.parametrize("keys", [1, 2])
def test_one_round_keeps_its_promise(keys: int) -> None:
    made = alone(keys)
    assert worst(made, counts=False) <= made.delta(EPSILON) <= DELTA


@pytest.mark.parametrize("keys", [1, 2])
def test_a_scale_of_a_fifth_less_breaks_one_round(keys: int) -> None:
    assert worst(smaller(alone(keys), Fraction(4, 5)), counts=False) > DELTA


@pytest.mark.parametrize("keys", [1, 2])
def test_a_threshold_of_a_fifth_less_breaks_one_round(keys: int) -> None:
    made = alone(keys)
    low = replace(made.rounds[0], threshold=made.rounds[0].threshold * 4 // 5)
    assert worst(replace(made, rounds=(low,)), counts=False) > DELTA


@pytest.mark.parametrize("keys", [1, 2])
@pytest.mark.parametrize("rounds", [(1,), (1, 3, 9)])
def test_rounds_and_counts_keep_their_promise(keys: int, rounds: tuple[int, ...]) -> None:
    made = calibrate_set_union([TableBudget(keys, Fraction(1))], EPSILON, DELTA, rounds)
    assert worst(made, step=2 if keys == 1 else 5) <= made.delta(EPSILON) <= DELTA


def test_noise_from_two_users_on_but_undiminished_would_show_too_much() -> None:
    """Then her coming would lift a key from nothing to two weights, not to one."""
    one = alone(1).rounds[0]
    far, tail = tails(one.scale)
    assert float(tail[one.threshold - 2048 + far]) > one.delta_per_key
    assert chance_to_show(one, [1024, 1024]) <= one.delta_per_key
