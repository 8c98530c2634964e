"""What guesses prove about epsilon.

Persons are in the log or not by independent fair coins, and an auditor guesses the coins from what
is released. Under epsilon-differential privacy each guess is right with a chance of at most
p = e^epsilon / (1 + e^epsilon), whatever the other coins and the other guesses are: given the
release and the other coins, the odds of a coin are at most e^epsilon. So the number of right
guesses is at most that of a binomial law, also if many persons are on trial in one run, and too
many of them disprove epsilon (Steinke, Nasr and Jagielski 2023). With a delta the chance of so many
right ones grows by 2 * trials * delta at most (their theorem 5.2), and confidence pays for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.extras import import_extra

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_NEVER = float("inf")


def best_threshold(scores: Floats, members: Flags) -> tuple[float, float]:
    """Give the score from which on one guesses "member", and the advantage that it has.

    Where nothing is better than chance nobody is called a member.

    >>> best_threshold(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, True, False]))
    (2.0, 0.5)
    """
    if not len(scores):
        return _NEVER, 0.0
    order = np.argsort(-scores, kind="stable")
    steps = np.where(members[order], 1 / max(members.sum(), 1), -1 / max((~members).sum(), 1))
    gained = np.cumsum(steps)
    ends = np.append(scores[order][1:] != scores[order][:-1], True)  # equal scores stand together
    best = int(np.argmax(np.where(ends, gained, -np.inf)))
    if gained[best] <= 1e-12:
        return _NEVER, 0.0
    return float(scores[order][best]), float(gained[best])


def rates_at_threshold(scores: Floats, members: Flags, threshold: float) -> tuple[float, float]:
    """Give the shares of members and of others whose score is at the threshold or above.

    >>> rates_at_threshold(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), 2.0)
    (0.5, 1.0)
    """
    called = scores >= threshold
    return float(called[members].mean()), float(called[~members].mean())


def auc(scores: Floats, members: Flags) -> float:
    """Give the chance that a member has a higher score than another one; ties count half.

    >>> auc(np.array([1.0, 2.0, 2.0]), np.array([False, False, True]))
    0.75
    """
    ranks = pl.Series(scores).rank("average").to_numpy()
    one, two = int(members.sum()), int((~members).sum())
    return float((ranks[members].sum() - one * (one + 1) / 2) / max(one * two, 1))


_DOUBT = 0.05
# Shares of all trials that are called "in" and "out"; no guess is made about the others.
_CUTS = ((0.25, 0.25), (0.1, 0.1), (0.25, 0.0), (0.1, 0.0), (0.0, 0.25), (0.0, 0.1))


def clopper_pearson_lower(right: int, guesses: int, doubt: float) -> float:
    """Give Clopper and Pearson's lower bound of a share: it is lower with a chance below `doubt`.

    >>> round(clopper_pearson_lower(20, 20, 0.05), 4), clopper_pearson_lower(0, 20, 0.05)
    (0.8609, 0.0)
    """
    if not right:
        return 0.0
    beta = import_extra("scipy.stats", "an audit").beta
    return float(beta.ppf(doubt, right, guesses - right + 1))


def epsilon_lower_bound(right: int, guesses: int, trials: int, delta: float = 0.0) -> float:
    """Give the greatest epsilon that so many right guesses disprove with 95% confidence, or 0.

    >>> round(epsilon_lower_bound(20, 20, 20), 3), epsilon_lower_bound(10, 20, 20), epsilon_lower_bound(20, 20, 20, delta=0.01)
    (1.823, 0.0, 0.0)
    """
    doubt = _DOUBT - 2 * trials * delta
    if doubt <= 0 or not guesses:
        return 0.0
    share = clopper_pearson_lower(right, guesses, doubt)
    return log(share / (1 - share)) if share > 0.5 else 0.0


@dataclass(frozen=True)
class GuessRule:
    """A way to guess by a statistic, or by minus it if the sign is -1.

    With a threshold all are guessed: "in" above it, "out" below. Else the highest are called "in"
    and the lowest "out". How many guesses are made is fixed before the trials are seen.
    """

    statistic: str
    sign: int
    threshold: float | None = None
    tops: float = 0.0
    bottoms: float = 0.0

    def guesses(self, trials: int) -> int:
        """Tell how many guesses are made."""
        if self.threshold is not None:
            return trials
        return int(self.tops * trials) + int(self.bottoms * trials)

    def right(self, table: Mapping[str, Floats], coins: Flags) -> int:
        """Count the right guesses; equal values stand in the order of the trials."""
        values = self.sign * table[self.statistic]
        if self.threshold is not None:
            return int(((values > self.threshold) == coins).sum())
        order = np.argsort(values, kind="stable")
        tops, bottoms = (int(share * len(coins)) for share in (self.tops, self.bottoms))
        return int(coins[order[len(coins) - tops :]].sum() + (~coins[order[:bottoms]]).sum())


def fit_rule(
    table: Mapping[str, Floats], coins: Flags, delta: float
) -> tuple[tuple[float, float], GuessRule]:
    """Find the rule that proves most on these trials, and how good it is, to compare with others.

    Where several prove as much, or all prove nothing, that which is least likely by luck.
    """
    rules = [rule for name, values in table.items() for rule in _rules(name, values, coins)]
    found = ((_merit(rule, table, coins, delta), rule) for rule in rules)
    return max(found, key=lambda one: one[0])


def _rules(name: str, values: Floats, coins: Flags) -> list[GuessRule]:
    signs = (1, -1)
    cuts = [GuessRule(name, sign, None, *cut) for sign in signs for cut in _CUTS]
    return cuts + [GuessRule(name, sign, _between(sign * values, coins)) for sign in signs]


def _between(values: Floats, coins: Flags) -> float:
    """Give the best threshold, half way between two values that were seen."""
    least, _ = best_threshold(values, coins)
    below = values[values < least]
    return (least + float(below.max())) / 2 if np.isfinite(least) and len(below) else least


def _merit(
    rule: GuessRule, table: Mapping[str, Floats], coins: Flags, delta: float
) -> tuple[float, float]:
    right, guesses = rule.right(table, coins), rule.guesses(len(coins))
    beyond = (right - guesses / 2) / sqrt(max(guesses, 1))
    return epsilon_lower_bound(right, guesses, len(coins), delta), beyond
