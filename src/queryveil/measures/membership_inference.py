"""Was this person in the log? A membership attack on the method, by runs on halves of the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..core.parameters import parameter
from ..core.randomness import RandomSource
from ..errors import InputError
from ..release.release import Release
from .original import MeasureContext
from .partial_knowledge_linkage import wilson_interval
from .rerunning import Rerun, RerunMeasure
from .risk.guessing import auc, best_threshold, rates_at_threshold
from .risk.membership_attacks import ATTACKS, TargetKnowledge, attack_scores, gather_knowledge
from .risk.texts import QueryTextMeasure

_SEED = 20160  # public: who is in which half must not change from release to release
_FEWEST = 20

Flags = NDArray[np.bool_]
Table = dict[str, NDArray[np.float64]]  # by attack: a score for each run and person


@dataclass(frozen=True)
class MembershipInference(QueryTextMeasure, RerunMeasure):
    """How much better than guessing it can be told whether a person was in the log.

    >>> str(Membership(runs=4))
    'membership:runs=4'
    """

    name: ClassVar[str] = "membership"
    title: ClassVar[str] = "telling who was in the log"
    description: ClassVar[str] = (
        "how much better than guessing somebody who knows a person's whole log can tell from the "
        "release whether she was in it: 0 no better, 1 always right; the best of a few attacks"
    )
    paper: ClassVar[str] = "none; the advantage of Yeom et al. 2018, attacks of our own"
    unit: ClassVar[str] = "advantage, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "risk"

    runs: int = parameter(
        8, "runs of the method, each on a random half of the users", low=2, high=1000, unit="runs"
    )
    targets: int = parameter(
        1000, "persons who are tried at most", low=_FEWEST, high=10**9, unit="users"
    )

    def prepare(self, before: MeasureContext) -> None:
        """Refuse a log of too few users."""
        super().prepare(before)
        users = before.cached("users", lambda: before.log.count_distinct("user"))
        if users < _FEWEST:
            raise InputError(
                f"the log has {users} users, and who is in a half of them cannot be told from "
                f"chance below {_FEWEST}",
                hint="measure on a larger log",
            )

    def compute_rerun(self, before: MeasureContext, after: Release, again: Rerun) -> dict[str, Any]:
        """Choose the attack on half of the runs, and give its advantage on the others."""
        self.prepare(before)
        sent, chance = self.original_counts(before, after), RandomSource(_SEED)
        persons = pl.Series(chance.permutation(len(sent.users))[: self.targets]).sort()
        known, rest = gather_knowledge(sent, persons), np.ones(len(sent.users), np.bool_)
        rest[persons.to_numpy()] = False
        inside = np.array([_half(~rest, chance) | _half(rest, chance) for _ in range(self.runs)])
        table = _tried(before, known, inside, again)
        found = _judged(table, inside[:, persons.to_numpy()])
        low, high = _interval(found["raw"], len(persons))
        right = 50 + 50 * found["raw"]
        return {
            "value": round(max(0.0, found["raw"]), 6),
            "low": round(low, 6),
            "high": round(high, 6),
            "chance": 0.0,
            **found,
            "users": len(persons),
            "runs": self.runs,
            "words": (
                f"of 100 guesses whether a person was in the log {right:.0f} are right; guessing "
                "finds 50"
            ),
            "ruler": f"{self.basis(after)}; {ATTACKS[found['attack']]}",
        }


def _half(among: Flags, chance: RandomSource) -> Flags:
    """Draw half of those who are marked."""
    places = np.flatnonzero(among)
    drawn = np.zeros(len(among), np.bool_)
    drawn[places[chance.permutation(len(places))[: len(places) // 2]]] = True
    return drawn


def _tried(
    before: MeasureContext, known: TargetKnowledge, inside: NDArray[np.bool_], again: Rerun
) -> Table:
    """Run the method on each half, and attack what it gives."""
    kind = before.log.local_frame.collect_schema()["user"]
    found = []
    for turn, members in enumerate(inside):
        users = known.sent.users.filter(pl.Series(members)).cast(kind).to_frame("user")
        found.append(
            attack_scores(known, again(before.log.filter_users(users, "not in this half"), turn))
        )
    everywhere = [name for name in ATTACKS if all(name in one for one in found)]
    return {name: np.array([one[name] for one in found]) for name in everywhere}


def _judged(table: Table, members: Flags) -> dict[str, Any]:
    """Choose attack and threshold on the first half of the runs, and judge on the second."""
    cut = len(members) // 2
    tries = {
        name: best_threshold(values[:cut].reshape(-1), members[:cut].reshape(-1))
        for name, values in table.items()
    }
    attack = max(tries, key=lambda name: tries[name][1])
    later = members[cut:].reshape(-1)
    hits, alarms = rates_at_threshold(table[attack][cut:].reshape(-1), later, tries[attack][0])
    areas = {name: round(auc(one[cut:].reshape(-1), later), 6) for name, one in table.items()}
    return {
        "raw": round(hits - alarms, 6),
        "attack": attack,
        "found": round(hits, 6),
        "false_alarms": round(alarms, 6),
        "auc": areas,
    }


def _interval(raw: float, persons: int) -> tuple[float, float]:
    """Give an interval of 95%, as if each person had been tried once.

    Her tries in several runs are alike, and count for one. With halves, the share of right guesses
    is half of one and the advantage.
    """
    low, high = wilson_interval(persons * (1 + raw) / 2, persons)
    return 2 * low - 1, 2 * high - 1
