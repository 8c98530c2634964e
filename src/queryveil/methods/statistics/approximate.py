"""Release three tables under (epsilon, delta), with keys that are not known in advance."""

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

_MIN_USERS = 2  # a query of one user alone is never selected


PriorityFunction = Callable[[pl.DataFrame], NDArray[np.float64] | None]


def release_set_union(
    pairs: Table,
    union: SetUnionRelease,
    rng: RandomSource,
    noise: NoiseSource,
    priority: PriorityFunction | None = None,
) -> pl.DataFrame:
    """Select the queries that many users sent, and count their users, with noise.

    Contributions are bounded here, in each round again: queries that a round has selected leave
    room for further queries of a user.

    Args:
        pairs: The distinct pairs of user and query.
        priority: Returns the contribution priority of each pair.
    """
    selected = pl.DataFrame(schema={"query": pl.String})
    for selection in union.rounds:
        work = partial(_sum_weights, selection=selection, selected=selected, priority=priority)
        sums = aggregate(
            pairs, work, ["query"], rng, tops=["heaviest"], at_least=("users", _MIN_USERS)
        )
        # Queries get noise in a fixed order, so that a seed always gives the same release.
        sums = sums.with_columns(pl.col("query").cast(pl.String)).sort("query")
        total, heaviest = (sums[name].to_numpy() for name in ("total", "heaviest"))
        new = sums[selection.select(total, heaviest, noise)].select("query")
        selected = pl.concat([selected, new])
    return _count_selected(pairs, selected, union, rng, noise)


def _sum_weights(
    frame: pl.LazyFrame,
    rng: RandomSource,
    *,
    selection: WeightedSelection,
    selected: pl.DataFrame,
    priority: PriorityFunction | None,
) -> pl.DataFrame:
    """Return the weights of a partition's queries that are not selected yet.

    Columns: query, total, heaviest, users. For a query of one user alone the heaviest weight is
    the total. Such a query gets no noise and is not needed.
    """
    known = match_encoding(frame, selected, "query").lazy()
    pairs = frame.join(known, on="query", how="anti", maintain_order="left").collect()
    scores = None if priority is None else priority(pairs)
    kept = bound_contributions(pairs, selection.contribution_bound, scores, rng)
    _, user = np.unique(kept["user"].to_physical().to_numpy(), return_inverse=True)
    weight = pl.Series("weight", selection.weights(user), pl.Int64)
    sums = kept.with_columns(weight).group_by("query")
    return sums.agg(
        total=pl.col("weight").sum(),
        heaviest=pl.col("weight").max(),
        users=pl.len().cast(pl.Int64),
    )


def _count_selected(
    pairs: Table,
    selected: pl.DataFrame,
    union: SetUnionRelease,
    rng: RandomSource,
    noise: NoiseSource,
) -> pl.DataFrame:
    """Count the users of the selected queries, with noise; all of them are released."""
    work = partial(_count_known_users, selected=selected, bound=union.counts.keys)
    counted = aggregate(pairs, work, ["query"], rng)
    counted = counted.with_columns(pl.col("query").cast(pl.String))
    table = selected.sort("query").join(counted, on="query", how="left", maintain_order="left")
    counts = table["count"].fill_null(0).to_numpy().astype(np.int64)
    noisy = union.counts.release(counts, noise)
    return table.select("query").with_columns(count=pl.Series(noisy))


def _count_known_users(
    frame: pl.LazyFrame, rng: RandomSource, *, selected: pl.DataFrame, bound: int
) -> pl.DataFrame:
    known = match_encoding(frame, selected, "query").lazy()
    pairs = frame.select("user", "query").join(known, on="query", how="semi", maintain_order="left")
    return _count_users(bound_contributions(pairs.collect(), bound, None, rng), ["query"])


_GUIDE = Fraction(1, 20)  # of the budget, for a sketch of which queries are frequent
_SELECTION = Fraction(18, 19)  # of the rest, for the selection; what is left, for the counts


@dataclass(frozen=True)
class TableMechanisms:
    """The mechanisms of the tables: None for a budget weight of 0; the guide is optional.

    The queries are selected and counted in one step (`queries`), or selected by weights and then
    counted (`union`).
    """

    selection: str
    queries: ThresholdedCounts | None
    clicks: ThresholdedCounts | None
    transitions: ThresholdedCounts | None
    guide: NoisySketch | None = None
    union: SetUnionRelease | None = None

    @property
    def rho(self) -> Fraction:
        """The zCDP parameter of all noise, if no key of one user alone is released."""
        if self.union is not None:
            return self.union.rho
        return sum((table.rho for table in self._tables), Fraction(0))

    @property
    def chance(self) -> Fraction:
        """The maximal probability that any key of one user alone is released."""
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
        """The minimal count that each table can release."""
        tables = {"queries": self.queries, "clicks": self.clicks, "transitions": self.transitions}
        counts = {name: table.median_release_count for name, table in tables.items() if table}
        return ({"queries": 1} if self.union else {}) | counts


@lru_cache(maxsize=32)  # exact calibration takes half a second, and comparisons run it often
def calibrate_mechanisms(
    selection: str,
    epsilon: Fraction,
    delta: Fraction,
    keys: tuple[int, int, int],
    shares: tuple[Fraction, Fraction, Fraction],
) -> TableMechanisms:
    """Calibrate noise and thresholds from public parameters alone.

    Args:
        keys: The contribution bounds of queries, clicks and transitions.
        shares: Their budget weights, which sum to 1.
    """
    shapes = [TableBudget(n, share) for n, share in zip(keys, shares, strict=True) if share]
    if selection == "auto":
        selection = _choose_selection(shapes, epsilon, delta)
    if selection in ("laplace", "gaussian"):
        tables = (
            calibrate_laplace(shapes, epsilon, delta)
            if selection == "laplace"
            else calibrate_gaussian(shapes, epsilon, delta)[0]
        )
        return TableMechanisms(selection, tables[0], *_assign_tables(tables[1:], shares))
    rounds = (1, 3, 9) if selection == "sips" else (1,)
    guided = {"rest": _GUIDE, "select": _SELECTION} if selection == "guided" else {}
    union = calibrate_set_union(shapes, epsilon, delta, rounds, **guided)
    guide = NoisySketch.for_rho(union.remaining_rho) if union.remaining_rho else None
    return TableMechanisms(selection, None, *_assign_tables(union.others, shares), guide, union)


def _assign_tables(
    tables: Sequence[ThresholdedCounts], shares: tuple[Fraction, Fraction, Fraction]
) -> tuple[ThresholdedCounts | None, ThresholdedCounts | None]:
    """Return the tables of clicks and transitions; None for a budget weight of 0."""
    remaining = list(tables)
    clicks, transitions = (remaining.pop(0) if share else None for share in shares[1:])
    return clicks, transitions


def _choose_selection(shapes: list[TableBudget], epsilon: Fraction, delta: Fraction) -> str:
    """Choose Laplace noise where its threshold is lower: for one or two queries per user."""
    gaussian = calibrate_gaussian(shapes, epsilon, delta)[0][0].median_release_count
    try:
        laplace = calibrate_laplace(shapes, epsilon, delta)[0].median_release_count
    except UsageError:  # the budget is too small for its delta
        return "guided"
    return "laplace" if laplace <= gaussian else "guided"


def release_approximate(
    log: QueryLog,
    mechanisms: TableMechanisms,
    prefer: str,
    rng: RandomSource,
    noise: NoiseSource,
    progress: Progress,
) -> dict[str, pl.DataFrame]:
    """Release the queries, then clicks and transitions of released queries."""
    with progress.stage("queries"):
        pairs = map_partitions(log.table, query_pairs, rng)
        priority = contribution_priority(pairs, mechanisms.guide, prefer, noise)
        if mechanisms.union is not None:
            queries = release_set_union(pairs, mechanisms.union, rng, noise, priority)
        elif mechanisms.queries is not None:
            bound = mechanisms.queries.contribution_bound
            work = partial(_count_queries, priority=priority, bound=bound)
            queries = _release_counts(pairs, work, ["query"], mechanisms.queries, rng, noise)
        del pairs
    tables = {"queries": queries}
    if mechanisms.clicks:
        with progress.stage("clicks"):
            bound = mechanisms.clicks.contribution_bound
            work = partial(_count_clicks, queries=queries, bound=bound)
            keys = ["query", "url"]
            tables["clicks"] = _release_counts(log.table, work, keys, mechanisms.clicks, rng, noise)
    if mechanisms.transitions:
        with progress.stage("transitions"):
            bound = mechanisms.transitions.contribution_bound
            work = partial(transition_counts, queries=queries, bound=bound)
            keys = ["number", "next"]
            counts = _release_counts(log.table, work, keys, mechanisms.transitions, rng, noise)
            tables["transitions"] = _name_transitions(counts, queries)
    return {name: sort_for_publication(table) for name, table in tables.items()}


def _count_queries(
    frame: pl.LazyFrame, rng: RandomSource, *, priority: ContributionPriority, bound: int
) -> pl.DataFrame:
    pairs = frame.collect()
    return _count_users(bound_contributions(pairs, bound, priority(pairs), rng), ["query"])


def _count_clicks(
    frame: pl.LazyFrame, rng: RandomSource, *, queries: pl.DataFrame, bound: int
) -> pl.DataFrame:
    kept = bound_contributions(click_pairs(frame, queries, rng), bound, None, rng)
    return _count_users(kept, ["query", "url"])


def _count_users(pairs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    return pairs.group_by(keys).agg(count=pl.len())


def _release_counts(
    table: Table,
    work: PartitionFunction,
    keys: list[str],
    mechanism: ThresholdedCounts,
    rng: RandomSource,
    noise: NoiseSource,
) -> pl.DataFrame:
    """Count the users of each key, with noise; return the keys above the threshold."""
    counts = aggregate(table, work, keys, rng, at_least=("count", mechanism.min_users))
    counts = counts.sort(keys)  # keys get noise in a fixed order, for a given seed
    indices, noisy = mechanism.release(counts["count"].to_numpy().astype(np.int64), noise)
    return counts[indices].with_columns(count=pl.Series(noisy))


def _name_transitions(counts: pl.DataFrame, queries: pl.DataFrame) -> pl.DataFrame:
    """Replace the numbers of released queries by their texts."""
    return counts.select(
        query=queries["query"].gather(counts["number"] - 1),
        next=queries["query"].gather(counts["next"] - 1),
        count="count",
    )
