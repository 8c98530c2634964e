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
from ._shared.counts import released_frequencies
from ._shared.queries import QueryTextMeasure, UserQueryCounts, best_matches, released_counts
from ._shared.statistics import auc, best_threshold, rates_at_threshold
from .base import Rerun, RerunMeasure
from .context import MeasureContext
from .partial_knowledge_linkage import wilson_interval

ATTACKS = {
    "shown": "the share of her texts that the release shows",
    "rarest": "the share of her rarest texts that the release shows",
    "closest": "how much of her log the released log that is nearest to it has",
    "fits": "how much of what the release could show of her log one released log has",
    "counts": "how far the counts of her texts are above what others would give",
}

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TargetKnowledge:
    """What is known of the persons on trial, and of all texts.

    `rows` has the columns owner (a place in the persons), text, count, rarest, and volume: how
    often all users sent the text.
    """

    sent: UserQueryCounts
    persons: int
    rows: pl.DataFrame


def gather_knowledge(sent: UserQueryCounts, persons: pl.Series) -> TargetKnowledge:
    """Gather what is known of persons, given as places in `sent.owners`."""
    texts = sent.rows.group_by("text").agg(senders=pl.len(), volume=pl.col("count").sum())
    numbers = pl.DataFrame({"owner": persons.cast(pl.UInt32)}).with_row_index("place")
    rows = sent.rows.join(numbers, on="owner").join(texts, on="text")
    rarest = pl.col("senders") == pl.col("senders").min().over("place")
    chosen = rows.select("text", "count", "volume", rarest=rarest, owner="place")
    return TargetKnowledge(sent, len(persons), chosen.sort("owner", "text"))


def attack_scores(known: TargetKnowledge, release: Release) -> dict[str, Floats]:
    """Give every person's score under every attack that the release allows."""
    shown = _counts(known.sent, release)
    total, grand = int(shown["released"].sum()), int(known.sent.rows["count"].sum())
    rows = known.rows.join(shown, on="text", how="left").with_columns(
        pl.col("released").fill_null(0)
    )
    there, expected = pl.col("released") > 0, pl.col("volume") * (total / max(grand, 1))
    found = rows.group_by("owner").agg(
        shown=there.mean(),
        rarest=there.filter(pl.col("rarest")).mean(),
        counts=((pl.col("released") + 1) / (expected + 1)).log().sum(),
    )
    table = {name: _placed(found, name, known.persons) for name in ("shown", "rarest", "counts")}
    if release.log is not None:
        whole = rows.group_by("owner").agg(
            closest=pl.col("count").sum(), fits=pl.col("count").filter(there).sum()
        )
        best = _best(known, release)
        for name in ("closest", "fits"):
            table[name] = best / np.maximum(_placed(whole, name, known.persons), 1)
    return table


def _counts(sent: UserQueryCounts, release: Release) -> pl.DataFrame:
    """Give how often the release has each text that somebody had sent: text, released."""
    counts, _ = released_frequencies(release)
    names = pl.DataFrame({"name": sent.queries}).with_row_index("place")
    both = counts.rename({"text": "name"}).join(names, on="name")
    return both.select(pl.col("place").cast(pl.UInt32).alias("text"), released="count")


def _best(known: TargetKnowledge, release: Release) -> Floats:
    """Give how many rows of each person the released log has that has most of them."""
    logs = released_counts(known.sent, release)
    if not len(logs.users):
        return np.zeros(known.persons)
    asked = known.rows.select("text", "count", ask="owner")
    anybody = pl.DataFrame({"ask": np.arange(known.persons)}).with_columns(owner=pl.lit(0))
    found = best_matches(asked, logs.rows, len(logs.users), anybody)
    return found.sort("ask")["best"].to_numpy().astype(np.float64)


def _placed(found: pl.DataFrame, name: str, persons: int) -> Floats:
    """Give a value for each person in order, 0 for who has none."""
    values = np.zeros(persons)
    values[found["owner"].to_numpy()] = found[name].to_numpy()
    return values


_SEED = 20160  # public: who is in which half must not change from release to release
_FEWEST = 20

Flags = NDArray[np.bool_]
Table = dict[str, NDArray[np.float64]]  # by attack: a score for each run and person


@dataclass(frozen=True)
class MembershipInference(QueryTextMeasure, RerunMeasure):
    """How much better than guessing it can be told whether a person was in the log.

    >>> str(MembershipInference(runs=4))
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
        8, "runs of the method, each on a random half of the users", min=2, max=1000, unit="runs"
    )
    targets: int = parameter(
        1000, "persons who are tried at most", min=_FEWEST, max=10**9, unit="users"
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
