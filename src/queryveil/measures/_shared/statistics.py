"""Statistics of attacks: thresholds, AUC, and lower bounds of epsilon from guesses.

Independent fair coins decide which target users are in the log, and an auditor guesses the coins
from the release. Under epsilon-differential privacy each guess is right with a probability of at
most p = e^epsilon / (1 + e^epsilon), whatever the other coins and the other guesses are: given the
release and the other coins, the odds of a coin are at most e^epsilon. So the number of right
guesses is stochastically dominated by a binomial distribution, also with many targets in one run,
and too many right guesses disprove epsilon (Steinke, Nasr and Jagielski 2023). With a delta the
probability of so many right guesses grows by 2 * trials * delta at most (their theorem 5.2), which
is subtracted from the significance level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_NEVER = float("inf")


def best_threshold(scores: Floats, members: Flags) -> tuple[float, float]:
    """Return the lowest score at which to guess "member", and the advantage of that threshold.

    If no threshold is better than guessing, the threshold is infinite.

    >>> best_threshold(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, True, False]))
    (2.0, 0.5)
    """
    if not len(scores):
        return _NEVER, 0.0
    order = np.argsort(-scores, kind="stable")
    steps = np.where(members[order], 1 / max(members.sum(), 1), -1 / max((~members).sum(), 1))
    gained = np.cumsum(steps)
    ends = np.append(
        scores[order][1:] != scores[order][:-1], True
    )  # a threshold cannot separate equal scores
    best = int(np.argmax(np.where(ends, gained, -np.inf)))
    if gained[best] <= 1e-12:
        return _NEVER, 0.0
    return float(scores[order][best]), float(gained[best])


def rates_at_threshold(scores: Floats, members: Flags, threshold: float) -> tuple[float, float]:
    """Return the fractions of members and of others with a score of at least the threshold.

    >>> rates_at_threshold(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), 2.0)
    (0.5, 1.0)
    """
    guessed = scores >= threshold
    return float(guessed[members].mean()), float(guessed[~members].mean())


def auc(scores: Floats, members: Flags) -> float:
    """Return the probability that a member has a higher score than a non-member; ties count half.

    >>> auc(np.array([1.0, 2.0, 2.0]), np.array([False, False, True]))
    0.75
    """
    ranks = pl.Series(scores).rank("average").to_numpy()
    inside, outside = int(members.sum()), int((~members).sum())
    return float((ranks[members].sum() - inside * (inside + 1) / 2) / max(inside * outside, 1))


_SIGNIFICANCE = 0.05
# Fractions of all trials that are guessed "in" and "out"; there is no guess on the others.
_CUTS = ((0.25, 0.25), (0.1, 0.1), (0.25, 0.0), (0.1, 0.0), (0.0, 0.25), (0.0, 0.1))


def clopper_pearson_lower(right: int, guesses: int, doubt: float) -> float:
    """Return the lower confidence bound of a proportion by Clopper and Pearson.

    The true proportion is below the bound with a probability of at most `doubt`.

    >>> round(clopper_pearson_lower(20, 20, 0.05), 4), clopper_pearson_lower(0, 20, 0.05)
    (0.8609, 0.0)
    """
    if not right:
        return 0.0
    from scipy import stats  # noqa: PLC0415  (slow to import)

    return float(stats.beta.ppf(doubt, right, guesses - right + 1))


def epsilon_lower_bound(right: int, guesses: int, trials: int, delta: float = 0.0) -> float:
    """Return the greatest epsilon that so many right guesses disprove with 95% confidence, or 0.

    >>> round(epsilon_lower_bound(20, 20, 20), 3), epsilon_lower_bound(10, 20, 20)
    (1.823, 0.0)
    >>> epsilon_lower_bound(20, 20, 20, delta=0.01)
    0.0
    """
    doubt = _SIGNIFICANCE - 2 * trials * delta
    if doubt <= 0 or not guesses:
        return 0.0
    rate = clopper_pearson_lower(right, guesses, doubt)
    return log(rate / (1 - rate)) if rate > 0.5 else 0.0


@dataclass(frozen=True)
class GuessRule:
    """A rule that guesses by a statistic, or by its negative if the sign is -1.

    With a threshold all trials are guessed: "in" above it, "out" below. Otherwise the highest
    values are guessed "in" and the lowest "out". The number of guesses does not depend on the
    values of the trials.
    """

    statistic: str
    sign: int
    threshold: float | None = None
    tops: float = 0.0
    bottoms: float = 0.0

    def guesses(self, trials: int) -> int:
        """Return the number of guesses."""
        if self.threshold is not None:
            return trials
        return int(self.tops * trials) + int(self.bottoms * trials)

    def right(self, table: Mapping[str, Floats], coins: Flags) -> int:
        """Count the right guesses; equal values are in the order of the trials."""
        values = self.sign * table[self.statistic]
        if self.threshold is not None:
            return int(((values > self.threshold) == coins).sum())
        order = np.argsort(values, kind="stable")
        tops, bottoms = (int(fraction * len(coins)) for fraction in (self.tops, self.bottoms))
        return int(coins[order[len(coins) - tops :]].sum() + (~coins[order[:bottoms]]).sum())


def fit_rule(
    table: Mapping[str, Floats], coins: Flags, delta: float
) -> tuple[tuple[float, float], GuessRule]:
    """Return the rule with the largest bound on these trials, after its merit.

    If several rules have the same bound, or all have 0, the rule with the most significant number
    of right guesses is chosen.
    """
    rules = [
        rule for name, values in table.items() for rule in _candidate_rules(name, values, coins)
    ]
    rated = ((_rate_rule(rule, table, coins, delta), rule) for rule in rules)
    return max(rated, key=lambda pair: pair[0])


def _candidate_rules(name: str, values: Floats, coins: Flags) -> list[GuessRule]:
    signs = (1, -1)
    cuts = [GuessRule(name, sign, None, *cut) for sign in signs for cut in _CUTS]
    return cuts + [
        GuessRule(name, sign, _midpoint_threshold(sign * values, coins)) for sign in signs
    ]


def _midpoint_threshold(values: Floats, coins: Flags) -> float:
    """Return the best threshold, halfway between two observed values."""
    threshold, _ = best_threshold(values, coins)
    below = values[values < threshold]
    return (
        (threshold + float(below.max())) / 2 if np.isfinite(threshold) and len(below) else threshold
    )


def _rate_rule(
    rule: GuessRule, table: Mapping[str, Floats], coins: Flags, delta: float
) -> tuple[float, float]:
    right, guesses = rule.right(table, coins), rule.guesses(len(coins))
    beyond = (right - guesses / 2) / sqrt(max(guesses, 1))
    return epsilon_lower_bound(right, guesses, len(coins), delta), beyond
