"""Three tables under (epsilon, delta), of keys that nobody knows beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...dp.noise import NoiseSource
from ...dp.set_union import SetUnionRelease, WeightedSelection, calibrate_set_union
from ...dp.sketch import NoisySketch
from ...dp.thresholded_counts import (
    TableBudget,
    ThresholdedCounts,
    calibrate_gaussian,
    calibrate_laplace,
)
from ...engine.operations import aggregate, map_partitions, match_encoding
from ...engine.table import PartitionFunction, Table
from ...errors import UsageError
from ...log.query_log import QueryLog
from ..publication import sort_for_publication
from .contributions import (
    ContributionPriority,
    bound_contributions,
    click_pairs,
    contribution_priority,
    query_pairs,
    transition_counts,
)

_SEVERAL = 2  # users: a query of one user alone weighs nothing


PriorityFunction = Callable[[pl.DataFrame], NDArray[np.float64] | None]


def release_set_union(
    pairs: Table,
    made: SetUnionRelease,
    chance: RandomSource,
    noise: NoiseSource,
    like: PriorityFunction | None = None,
) -> pl.DataFrame:
    """Find the queries that many users sent, and count their users, with noise.

    `pairs` says who sent what, each pair once, and `like` how gladly a user contributes each
    of them. Users are bounded here, anew for each round: what a round has found leaves room for
    further queries of hers.
    """
    found = pl.DataFrame(schema={"query": pl.String})
    for one in made.rounds:
        mine = partial(_weighed, one=one, found=found, like=like)
        sums = aggregate(
            pairs, mine, ["query"], chance, tops=["heaviest"], at_least=("users", _SEVERAL)
        )
        # Noise falls on queries in an order that is the same every time.
        sums = sums.with_columns(pl.col("query").cast(pl.String)).sort("query")
        total, heaviest = (sums[name].to_numpy() for name in ("total", "heaviest"))
        found = pl.concat([found, sums[one.select(total, heaviest, noise)].select("query")])
    return _selected_counts(pairs, found, made, chance, noise)


def _weighed(
    frame: pl.LazyFrame,
    chance: RandomSource,
    *,
    one: WeightedSelection,
    found: pl.DataFrame,
    like: PriorityFunction | None,
) -> pl.DataFrame:
    """Give what some users weigh each query that is not found yet: query, total, heaviest, users.

    Of a query that one user alone has, the heaviest weight is the total: it gets no noise, and
    need not be known.
    """
    left = match_encoding(frame, found, "query").lazy()
    pairs = frame.join(left, on="query", how="anti", maintain_order="left").collect()
    mine = bound_contributions(
        pairs, one.contribution_bound, None if like is None else like(pairs), chance
    )
    _, user = np.unique(mine["user"].to_physical().to_numpy(), return_inverse=True)
    weight = pl.Series("weight", one.weights(user), pl.Int64)
    sums = mine.with_columns(weight).group_by("query")
    return sums.agg(
        total=pl.col("weight").sum(),
        heaviest=pl.col("weight").max(),
        users=pl.len().cast(pl.Int64),
    )


def _selected_counts(
    pairs: Table,
    found: pl.DataFrame,
    made: SetUnionRelease,
    chance: RandomSource,
    noise: NoiseSource,
) -> pl.DataFrame:
    """Count the users of queries that are known now; every one of them is shown."""
    mine = partial(_known_users, found=found, most=made.counts.keys)
    counted = aggregate(pairs, mine, ["query"], chance)
    counted = counted.with_columns(pl.col("query").cast(pl.String))
    table = found.sort("query").join(counted, on="query", how="left", maintain_order="left")
    counts = table["count"].fill_null(0).to_numpy().astype(np.int64)
    noisy = made.counts.release(counts, noise)
    return table.select("query").with_columns(count=pl.Series(noisy))


def _known_users(
    frame: pl.LazyFrame, chance: RandomSource, *, found: pl.DataFrame, most: int
) -> pl.DataFrame:
    wanted = match_encoding(frame, found, "query").lazy()
    known = frame.select("user", "query").join(
        wanted, on="query", how="semi", maintain_order="left"
    )
    return (
        bound_contributions(known.collect(), most, None, chance)
        .group_by("query")
        .agg(count=pl.len())
    )


_GUIDE = Fraction(1, 20)  # of the noise's budget shows users which of their queries are frequent
_FOUND = Fraction(18, 19)  # of what is left finds them, and the rest counts them


@dataclass(frozen=True)
class TableMechanisms:
    """What makes the tables: none for a share of 0, and perhaps a guide.

    The queries are found and counted at once (`queries`), or found by weights and then counted
    (`union`).
    """

    selection: str
    queries: ThresholdedCounts | None
    clicks: ThresholdedCounts | None
    transitions: ThresholdedCounts | None
    guide: NoisySketch | None = None
    union: SetUnionRelease | None = None

    @property
    def rho(self) -> Fraction:
        """What all noise costs together, as zCDP, where no own key of a user shows."""
        if self.union is not None:
            return self.union.rho
        return sum((table.rho for table in self._tables), Fraction(0))

    @property
    def chance(self) -> Fraction:
        """The chance, at most, that an own key of a user shows anywhere."""
        if self.union is not None:
            return self.union.chance
        return sum(
            (table.contribution_bound * table.delta_per_key for table in self._tables), Fraction(0)
        )

    @property
    def _tables(self) -> list[ThresholdedCounts]:
        return [table for table in (self.queries, self.clicks, self.transitions) if table]

    @property
    def min_counts(self) -> dict[str, int]:
        """The least count that each table can show."""
        shown = {"queries": self.queries, "clicks": self.clicks, "transitions": self.transitions}
        found = {"queries": 1} if self.union else {}
        return found | {name: table.median_release_count for name, table in shown.items() if table}


@lru_cache(maxsize=32)  # exact calibration takes half a second, and comparisons run it often
def calibrate_mechanisms(
    selection: str,
    epsilon: Fraction,
    delta: Fraction,
    keys: tuple[int, int, int],
    shares: tuple[Fraction, Fraction, Fraction],
) -> TableMechanisms:
    """Choose noise and thresholds from public parameters alone."""
    shapes = [TableBudget(n, share) for n, share in zip(keys, shares, strict=True) if share]
    if selection == "auto":
        selection = _best(shapes, epsilon, delta)
    if selection in ("laplace", "gaussian"):
        tables = (
            calibrate_laplace(shapes, epsilon, delta)
            if selection == "laplace"
            else calibrate_gaussian(shapes, epsilon, delta)[0]
        )
        return TableMechanisms(selection, tables[0], *_in_order(tables[1:], shares))
    rounds = (1, 3, 9) if selection == "sips" else (1,)
    guided = {"rest": _GUIDE, "select": _FOUND} if selection == "guided" else {}
    union = calibrate_set_union(shapes, epsilon, delta, rounds, **guided)
    guide = NoisySketch.for_rho(union.remaining_rho) if union.remaining_rho else None
    return TableMechanisms(selection, None, *_in_order(union.others, shares), guide, union)


def _in_order(
    tables: Sequence[ThresholdedCounts], shares: tuple[Fraction, Fraction, Fraction]
) -> tuple[ThresholdedCounts | None, ThresholdedCounts | None]:
    """Give the tables of clicks and of transitions, None for a share of 0."""
    left = list(tables)
    clicks, transitions = (left.pop(0) if share else None for share in shares[1:])
    return clicks, transitions


def _best(shapes: list[TableBudget], epsilon: Fraction, delta: Fraction) -> str:
    """Take Laplace noise where its threshold is lower: for one or two queries a user."""
    gaussian = calibrate_gaussian(shapes, epsilon, delta)[0][0].median_release_count
    try:
        laplace = calibrate_laplace(shapes, epsilon, delta)[0].median_release_count
    except UsageError:  # its delta cannot be paid
        return "guided"
    return "laplace" if laplace <= gaussian else "guided"


def release_approximate(
    log: QueryLog,
    made: TableMechanisms,
    prefer: str,
    chance: RandomSource,
    noise: NoiseSource,
    progress: Progress,
) -> dict[str, pl.DataFrame]:
    """Bound, count, add noise and cut off: queries first, then what happens between them."""
    with progress.stage("queries"):
        pairs = map_partitions(log.table, query_pairs, chance)
        like = contribution_priority(pairs, made.guide, prefer, noise)
        if made.union is not None:
            found = release_set_union(pairs, made.union, chance, noise, like)
        elif made.queries is not None:
            mine = partial(_liked_counts, like=like, most=made.queries.contribution_bound)
            found = _counted(pairs, mine, ["query"], made.queries, chance, noise)
        del pairs
    tables = {"queries": found}
    if made.clicks:
        with progress.stage("clicks"):
            mine = partial(_click_counts, queries=found, most=made.clicks.contribution_bound)
            tables["clicks"] = _counted(
                log.table, mine, ["query", "url"], made.clicks, chance, noise
            )
    if made.transitions:
        with progress.stage("transitions"):
            mine = partial(
                transition_counts, queries=found, most=made.transitions.contribution_bound
            )
            steps = ["number", "next"]
            counted = _counted(log.table, mine, steps, made.transitions, chance, noise)
            tables["transitions"] = _named(counted, found)
    return {name: sort_for_publication(table) for name, table in tables.items()}


def _liked_counts(
    frame: pl.LazyFrame, chance: RandomSource, *, like: ContributionPriority, most: int
) -> pl.DataFrame:
    pairs = frame.collect()
    return _users_of(bound_contributions(pairs, most, like(pairs), chance), ["query"])


def _click_counts(
    frame: pl.LazyFrame, chance: RandomSource, *, queries: pl.DataFrame, most: int
) -> pl.DataFrame:
    mine = bound_contributions(click_pairs(frame, queries, chance), most, None, chance)
    return _users_of(mine, ["query", "url"])


def _users_of(pairs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    return pairs.group_by(keys).agg(count=pl.len())


def _counted(
    table: Table,
    mine: PartitionFunction,
    keys: list[str],
    mechanism: ThresholdedCounts,
    chance: RandomSource,
    noise: NoiseSource,
) -> pl.DataFrame:
    """Count the users of each key, with noise; keys that do not show are gone."""
    counts = aggregate(table, mine, keys, chance, at_least=("count", mechanism.min_users))
    counts = counts.sort(keys)  # noise falls on keys in an order that is the same every time
    places, noisy = mechanism.release(counts["count"].to_numpy().astype(np.int64), noise)
    return counts[places].with_columns(count=pl.Series(noisy))


def _named(steps: pl.DataFrame, queries: pl.DataFrame) -> pl.DataFrame:
    """Put the names of released queries for their numbers."""
    return steps.select(
        query=queries["query"].gather(steps["number"] - 1),
        next=queries["query"].gather(steps["next"] - 1),
        count="count",
    )
