"""Does a method keep its epsilon? A lower bound from guesses about persons who come or go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...core.parameters import parameter
from ...core.randomness import RandomSource
from ...release.guarantee import Guarantee
from ...release.release import Release
from .._shared.audit_trials import CrowdTrial
from .._shared.statistics import GuessRule, epsilon_lower_bound, fit_rule
from ..epsilon_audit import Trial, choose_trial
from ..original import MeasureContext
from ..rerunning import Rerun, RerunMeasure

__all__ = ["EpsilonAudit"]

_SEED = 20231

Flags = NDArray[np.bool_]
Table = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class EpsilonAudit(RerunMeasure):
    """The least epsilon that the method can have, proven by guesses; 0 proves nothing.

    >>> str(EpsilonAudit(runs=40))
    'epsilon-audit:runs=40'
    """

    name: ClassVar[str] = "epsilon-audit"
    title: ClassVar[str] = "epsilon that an attack proves at least"
    description: ClassVar[str] = (
        "persons are put into logs by the toss of a coin, and the coins guessed from what is "
        "released: too many right guesses prove, with 95% confidence, that epsilon is at least so "
        "much; above the claimed epsilon the promise is broken, and 0 proves nothing"
    )
    paper: ClassVar[str] = "Steinke, Nasr, Jagielski 2023; Clopper and Pearson 1934"
    unit: ClassVar[str] = "epsilon, a lower bound"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "risk"

    runs: int = parameter(
        20, "runs of the method; half of them choose how to guess", low=2, high=10**5, unit="runs"
    )
    persons: int = parameter(
        40, "persons on trial in each run, each with a coin of her own", low=1, high=1000
    )
    users: int = parameter(
        20, "users of the log who are in every run, where persons come or stay away", low=1
    )

    toss: int = parameter(0, "which coins: repeat an audit with another number", low=0)

    def compute_rerun(self, before: MeasureContext, after: Release, again: Rerun) -> dict[str, Any]:
        """Give the bound, beside what is claimed and what could be proven at best."""
        promise, delta = after.guarantee, after.guarantee.delta or 0.0
        trial = choose_trial(before, after, again, self.persons, self.users)
        coins = _coins(self.runs, trial.targets, self.toss)
        half = self.runs // 2
        way, rule = _chosen(trial, coins[:half], again, delta)
        same = [[way] * trial.targets] * (self.runs - half)
        table, tossed = _tried(trial, coins[half:], same, again, half)
        right, guesses = rule.right(table, tossed), rule.guesses(len(tossed))
        bound = epsilon_lower_bound(right, guesses, len(tossed), delta)
        most = epsilon_lower_bound(len(tossed), len(tossed), len(tossed), delta)
        return {
            "value": round(bound, 6),
            "claimed": promise.epsilon,
            "delta": promise.delta,
            "holds": None if promise.epsilon is None else bool(promise.epsilon >= bound),
            "most": round(most, 6),
            "right": right,
            "guesses": guesses,
            "trials": len(tossed),
            "runs": self.runs,
            "way": way,
            "statistic": rule.statistic,
            "crowd": trial.size if isinstance(trial, CrowdTrial) else None,
            "words": _told(bound, most, promise, right, guesses),
            "ruler": _ruler(trial, rule),
        }


def _coins(runs: int, persons: int, toss: int) -> Flags:
    numbers = RandomSource(_SEED + toss).uint64s(runs * persons).reshape(runs, persons)
    return (numbers & np.uint64(1)).astype(np.bool_)


def _chosen(trial: Trial, coins: Flags, again: Rerun, delta: float) -> tuple[str, GuessRule]:
    """Try all ways at once, each with some of the persons, and take the way and rule that do best.

    Who tries which way changes from run to run, so that one person is enough.
    """
    ways = (np.arange(coins.shape[1])[None, :] + np.arange(len(coins))[:, None]) % len(
        trial.designs
    )
    table, tossed = _tried(trial, coins, np.array(trial.designs)[ways].tolist(), again, 0)
    found = []
    for way, name in enumerate(trial.designs):
        mine = ways.reshape(-1) == way
        some = {statistic: values[mine] for statistic, values in table.items()}
        found.append((*fit_rule(some, tossed[mine], delta), name))
    _, rule, name = max(found, key=lambda one: one[0])
    return name, rule


def _tried(
    trial: Trial, coins: Flags, ways: Sequence[Sequence[str]], again: Rerun, first: int
) -> tuple[Table, Flags]:
    """Run the method on a log for each row of coins; give statistics and coins of all persons."""
    logs = (trial.log(*given) for given in zip(coins, ways, strict=True))
    found = [trial.scores(again(log, first + turn)) for turn, log in enumerate(logs)]
    return trial.together(_joined(found)), coins.reshape(-1)


def _joined(tables: Sequence[Table]) -> Table:
    """Put tables one below the other; what one of them has not is 0 there."""
    names = sorted({name for table in tables for name in table})
    nothing = [np.zeros_like(next(iter(table.values()))) for table in tables]
    return {
        name: np.concatenate([t.get(name, n) for t, n in zip(tables, nothing, strict=True)])
        for name in names
    }


def _told(bound: float, most: float, promise: Guarantee, right: int, guesses: int) -> str:
    """Say what the guesses prove, and no more."""
    counted = f"{right:,} of {guesses:,} guesses were right"
    if bound == 0:
        return f"{counted}: that proves nothing, neither for the method nor against it"
    least = f"{counted}, so epsilon is at least {bound:.2f} (95% confidence)"
    if promise.epsilon is None:
        enough = "; more could not be proven by so many guesses" if bound > 0.9 * most else ""
        return f"{least}; the method claims none{enough}"
    if promise.epsilon < bound:
        return f"{least}: more than the {promise.epsilon:g} that is claimed; the promise is broken"
    return f"{least}; {promise.epsilon:g} is claimed, and this attack does not disprove it"


def _ruler(trial: Trial, rule: GuessRule) -> str:
    called = "highest" if rule.sign > 0 else "lowest"
    who = "1 person" if trial.targets == 1 else f"{trial.targets:,} persons"
    logs = (
        f"come or stay away, each with a crowd of {trial.size:,}"
        if isinstance(trial, CrowdTrial)
        else "send one text or another"
    )
    return f"a run has {who} who {logs}; guesses by {rule.statistic}, the {called} called in"
