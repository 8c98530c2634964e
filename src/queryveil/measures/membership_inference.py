"""Membership inference: attacks on the method, by runs on random halves of the users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..core.parameters import parameter
from ..core.randomness import RandomSource
from ..errors import InputError
from ..release.release import Release
from ._shared.counts import released_frequencies
from ._shared.queries import QueryTextMeasure, UserQueryCounts, best_matches, released_counts
from ._shared.statistics import auc, best_threshold, rates_at_threshold
from .base import Rerun, RerunMeasure
from .context import MeasureContext
from .partial_knowledge_linkage import wilson_interval
from .result import MeasureResult

ATTACKS = {
    "shown": "the fraction of the user's texts that are released",
    "rarest": "the fraction of the user's rarest texts that are released",
    "closest": "the fraction of the user's rows that the most similar released log contains",
    "fits": "the fraction of the user's released texts that one released log contains",
    "counts": "the excess of the released counts of the user's texts over the expected counts",
}

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TargetKnowledge:
    """The attacker's knowledge of the target users and of all texts.

    `rows` has the columns owner (the index of the target), text, count, rarest, and volume: how
    often all users sent the text.
    """

    sent: UserQueryCounts
    targets: int
    rows: pl.DataFrame


def gather_knowledge(sent: UserQueryCounts, targets: pl.Series) -> TargetKnowledge:
    """Collect the knowledge of target users, which are indices of `sent.users`."""
    texts = sent.rows.group_by("text").agg(senders=pl.len(), volume=pl.col("count").sum())
    numbers = pl.DataFrame({"owner": targets.cast(pl.UInt32)}).with_row_index("place")
    rows = sent.rows.join(numbers, on="owner").join(texts, on="text")
    rarest = pl.col("senders") == pl.col("senders").min().over("place")
    chosen = rows.select("text", "count", "volume", rarest=rarest, owner="place")
    return TargetKnowledge(sent, len(targets), chosen.sort("owner", "text"))


def attack_scores(known: TargetKnowledge, release: Release) -> dict[str, Floats]:
    """Return the score of every target under every attack that applies to the release."""
    released = _count_released(known.sent, release)
    released_rows = int(released["released"].sum())
    original_rows = int(known.sent.rows["count"].sum())
    rows = known.rows.join(released, on="text", how="left").with_columns(
        pl.col("released").fill_null(0)
    )
    is_released = pl.col("released") > 0
    expected = pl.col("volume") * (released_rows / max(original_rows, 1))
    scores = rows.group_by("owner").agg(
        shown=is_released.mean(),
        rarest=is_released.filter(pl.col("rarest")).mean(),
        counts=((pl.col("released") + 1) / (expected + 1)).log().sum(),
    )
    table = {name: _to_array(scores, name, known.targets) for name in ("shown", "rarest", "counts")}
    if release.log is not None:
        totals = rows.group_by("owner").agg(
            closest=pl.col("count").sum(), fits=pl.col("count").filter(is_released).sum()
        )
        best = _largest_overlap(known, release)
        for name in ("closest", "fits"):
            table[name] = best / np.maximum(_to_array(totals, name, known.targets), 1)
    return table


def _count_released(sent: UserQueryCounts, release: Release) -> pl.DataFrame:
    """Count the released rows of each original text: text, released."""
    counts, _ = released_frequencies(release, with_parts=True)
    names = pl.DataFrame({"name": sent.queries}).with_row_index("place")
    both = counts.rename({"text": "name"}).join(names, on="name")
    return both.select(pl.col("place").cast(pl.UInt32).alias("text"), released="count")


def _largest_overlap(known: TargetKnowledge, release: Release) -> Floats:
    """Return the largest overlap of each target's rows with one released log."""
    logs = released_counts(known.sent, release)
    if not len(logs.users):
        return np.zeros(known.targets)
    target_rows = known.rows.select("text", "count", ask="owner")
    any_log = pl.DataFrame({"ask": np.arange(known.targets)}).with_columns(owner=pl.lit(0))
    matches = best_matches(target_rows, logs.rows, len(logs.users), any_log)
    return matches.sort("ask")["best"].to_numpy().astype(np.float64)


def _to_array(scores: pl.DataFrame, name: str, targets: int) -> Floats:
    """Return an array with the value of each target, 0 for targets without one."""
    values = np.zeros(targets)
    values[scores["owner"].to_numpy()] = scores[name].to_numpy()
    return values


_SEED = 20160  # public and fixed: the halves must be the same for all releases
_MIN_USERS = 20

Flags = NDArray[np.bool_]
Table = dict[str, NDArray[np.float64]]  # by attack: a score for each run and target


@dataclass(frozen=True)
class MembershipInference(QueryTextMeasure, RerunMeasure):
    """The advantage over guessing in telling whether a user was in the log.

    >>> str(MembershipInference(runs=4))
    'membership-inference:runs=4'
    """

    name: ClassVar[str] = "membership-inference"
    title: ClassVar[str] = "inferring who was in the log"
    description: ClassVar[str] = (
        "the advantage of an attacker who knows a user's whole log in inferring from the release "
        "whether the user was in it: 0 is guessing, 1 is always right; the best of several attacks"
    )
    paper: ClassVar[str] = "none; the advantage of Yeom et al. 2018, with attacks of our own"
    unit: ClassVar[str] = "advantage, 0 to 1"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    runs: int = parameter(
        8,
        "number of runs of the method, each on a random half of the users",
        min=2,
        max=1000,
        unit="runs",
    )
    max_targets: int = parameter(
        1000, "maximum number of target users", min=_MIN_USERS, max=10**9, unit="users"
    )

    def prepare(self, context: MeasureContext) -> None:
        """Raise if the log has too few users."""
        super().prepare(context)
        users = context.cached("users", lambda: context.log.count_distinct("user"))
        if users < _MIN_USERS:
            raise InputError(
                f"the log has {users} users, and membership inference needs at least {_MIN_USERS}",
                hint="measure on a larger log",
            )

    def compute_rerun(
        self, context: MeasureContext, release: Release, rerun: Rerun
    ) -> MeasureResult:
        """Choose the attack on half of the runs, and return its advantage on the others."""
        self.prepare(context)
        sent, rng = self.original_counts(context, release), RandomSource(_SEED)
        targets = pl.Series(rng.permutation(len(sent.users))[: self.max_targets]).sort()
        known, others = gather_knowledge(sent, targets), np.ones(len(sent.users), np.bool_)
        others[targets.to_numpy()] = False
        inside = np.array(
            [_sample_half(~others, rng) | _sample_half(others, rng) for _ in range(self.runs)]
        )
        table = _run_attacks(context, known, inside, rerun)
        outcome = _evaluate_attacks(table, inside[:, targets.to_numpy()])
        low, high = _interval(outcome.raw, len(targets))
        right = 50 + 50 * outcome.raw
        return self.result(
            round(max(0.0, outcome.raw), 6),
            interval=(round(low, 6), round(high, 6)),
            baselines={"chance": 0.0},
            counts={"users": len(targets), "runs": self.runs},
            details={
                "raw": outcome.raw,
                "attack": outcome.attack,
                "true_positive_rate": outcome.hits,
                "false_positive_rate": outcome.false_alarms,
                "auc": outcome.auc,
            },
            summary=(
                f"of 100 guesses whether a user was in the log {right:.0f} are right; random "
                "guessing has 50 right"
            ),
            basis=f"{self.basis(release)}; {ATTACKS[outcome.attack]}",
        )


def _sample_half(mask: Flags, rng: RandomSource) -> Flags:
    """Sample half of the users of a mask."""
    indices = np.flatnonzero(mask)
    half = np.zeros(len(mask), np.bool_)
    half[indices[rng.permutation(len(indices))[: len(indices) // 2]]] = True
    return half


def _run_attacks(
    context: MeasureContext, known: TargetKnowledge, inside: NDArray[np.bool_], rerun: Rerun
) -> Table:
    """Run the method on each half, and attack the release."""
    dtype = context.log.local_frame.collect_schema()["user"]
    runs = []
    for turn, members in enumerate(inside):
        users = known.sent.users.filter(pl.Series(members)).cast(dtype).to_frame("user")
        runs.append(
            attack_scores(known, rerun(context.log.filter_users(users, "not in this half"), turn))
        )
    applicable = [name for name in ATTACKS if all(name in scores for scores in runs)]
    return {name: np.array([scores[name] for scores in runs]) for name in applicable}


@dataclass(frozen=True)
class _AttackOutcome:
    """The advantage of the chosen attack, its two rates, and the AUC of every attack."""

    raw: float
    attack: str
    hits: float
    false_alarms: float
    auc: dict[str, float]


def _evaluate_attacks(table: Table, members: Flags) -> _AttackOutcome:
    """Choose attack and threshold on the first half of the runs, and evaluate on the second."""
    cut = len(members) // 2
    thresholds = {
        name: best_threshold(values[:cut].reshape(-1), members[:cut].reshape(-1))
        for name, values in table.items()
    }
    attack = max(thresholds, key=lambda name: thresholds[name][1])
    later = members[cut:].reshape(-1)
    hits, alarms = rates_at_threshold(table[attack][cut:].reshape(-1), later, thresholds[attack][0])
    areas = {name: round(auc(values[cut:].reshape(-1), later), 6) for name, values in table.items()}
    return _AttackOutcome(round(hits - alarms, 6), attack, round(hits, 6), round(alarms, 6), areas)


def _interval(raw: float, targets: int) -> tuple[float, float]:
    """Return a 95% interval of the advantage, as if each target had been tried once.

    The tries of one target in several runs are dependent, so they count as one. Since half of the
    targets are members, the fraction of right guesses is (1 + advantage) / 2.
    """
    low, high = wilson_interval(targets * (1 + raw) / 2, targets)
    return 2 * low - 1, 2 * high - 1
