"""Three tables under (epsilon, delta), of keys that nobody knows beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
import polars as pl

from ...dp import (
    Noise,
    NoisyCounts,
    Shape,
    Sketch,
    UnionTables,
    gaussian_tables,
    laplace_tables,
    union_tables,
)
from ...engine import Chance, Progress, Table, Work, derive, summed
from ...errors import UsageError
from ...log import QueryLog
from .contributions import at_most, click_pairs, query_pairs, step_counts
from .liking import Liking, liking_for
from .published import published
from .union import select_queries

__all__ = ["Mechanisms", "mechanisms", "release_tables"]

_GUIDE = Fraction(1, 20)  # of the noise's budget shows users which of their queries are frequent
_FOUND = Fraction(18, 19)  # of what is left finds them, and the rest counts them


@dataclass(frozen=True)
class Mechanisms:
    """What makes the tables: none for a share of 0, and perhaps a guide.

    The queries are found and counted at once (`queries`), or found by weights and then counted
    (`union`).
    """

    selection: str
    queries: NoisyCounts | None
    clicks: NoisyCounts | None
    transitions: NoisyCounts | None
    guide: Sketch | None = None
    union: UnionTables | None = None

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
        return sum((table.keys * table.chance for table in self._tables), Fraction(0))

    @property
    def _tables(self) -> list[NoisyCounts]:
        return [table for table in (self.queries, self.clicks, self.transitions) if table]

    @property
    def least(self) -> dict[str, int]:
        """The least count that each table can show."""
        shown = {"queries": self.queries, "clicks": self.clicks, "transitions": self.transitions}
        found = {"queries": 1} if self.union else {}
        return found | {name: table.users for name, table in shown.items() if table}


@lru_cache(maxsize=32)  # exact calibration takes half a second, and comparisons run it often
def mechanisms(
    selection: str,
    epsilon: Fraction,
    delta: Fraction,
    keys: tuple[int, int, int],
    shares: tuple[Fraction, Fraction, Fraction],
) -> Mechanisms:
    """Choose noise and thresholds from public parameters alone."""
    shapes = [Shape(n, share) for n, share in zip(keys, shares, strict=True) if share]
    if selection == "auto":
        selection = _best(shapes, epsilon, delta)
    if selection in ("laplace", "gaussian"):
        tables = (
            laplace_tables(shapes, epsilon, delta)
            if selection == "laplace"
            else gaussian_tables(shapes, epsilon, delta)[0]
        )
        return Mechanisms(selection, tables[0], *_in_order(tables[1:], shares))
    rounds = (1, 3, 9) if selection == "sips" else (1,)
    guided = {"rest": _GUIDE, "select": _FOUND} if selection == "guided" else {}
    union = union_tables(shapes, epsilon, delta, rounds, **guided)
    guide = Sketch.for_rho(union.rest) if union.rest else None
    return Mechanisms(selection, None, *_in_order(union.others, shares), guide, union)


def _in_order(
    tables: Sequence[NoisyCounts], shares: tuple[Fraction, Fraction, Fraction]
) -> tuple[NoisyCounts | None, NoisyCounts | None]:
    """Give the tables of clicks and of transitions, None for a share of 0."""
    left = list(tables)
    clicks, transitions = (left.pop(0) if share else None for share in shares[1:])
    return clicks, transitions


def _best(shapes: list[Shape], epsilon: Fraction, delta: Fraction) -> str:
    """Take Laplace noise where its threshold is lower: for one or two queries a user."""
    gaussian = gaussian_tables(shapes, epsilon, delta)[0][0].users
    try:
        laplace = laplace_tables(shapes, epsilon, delta)[0].users
    except UsageError:  # its delta cannot be paid
        return "guided"
    return "laplace" if laplace <= gaussian else "guided"


def release_tables(
    log: QueryLog, made: Mechanisms, prefer: str, chance: Chance, noise: Noise, progress: Progress
) -> dict[str, pl.DataFrame]:
    """Bound, count, add noise and cut off: queries first, then what happens between them."""
    with progress.stage("queries"):
        pairs = derive(log.rows, query_pairs, chance)
        like = liking_for(pairs, made.guide, prefer, noise)
        if made.union is not None:
            found = select_queries(pairs, made.union, chance, noise, like)
        elif made.queries is not None:
            mine = partial(_liked_counts, like=like, most=made.queries.keys)
            found = _counted(pairs, mine, ["query"], made.queries, chance, noise)
        del pairs
    tables = {"queries": found}
    if made.clicks:
        with progress.stage("clicks"):
            mine = partial(_click_counts, queries=found, most=made.clicks.keys)
            tables["clicks"] = _counted(
                log.rows, mine, ["query", "url"], made.clicks, chance, noise
            )
    if made.transitions:
        with progress.stage("transitions"):
            mine = partial(step_counts, queries=found, most=made.transitions.keys)
            steps = ["number", "next"]
            counted = _counted(log.rows, mine, steps, made.transitions, chance, noise)
            tables["transitions"] = _named(counted, found)
    return {name: published(table) for name, table in tables.items()}


def _liked_counts(frame: pl.LazyFrame, chance: Chance, *, like: Liking, most: int) -> pl.DataFrame:
    pairs = frame.collect()
    return _users_of(at_most(pairs, most, like(pairs), chance), ["query"])


def _click_counts(
    frame: pl.LazyFrame, chance: Chance, *, queries: pl.DataFrame, most: int
) -> pl.DataFrame:
    mine = at_most(click_pairs(frame, queries, chance), most, None, chance)
    return _users_of(mine, ["query", "url"])


def _users_of(pairs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    return pairs.group_by(keys).agg(count=pl.len())


def _counted(
    table: Table,
    mine: Work,
    keys: list[str],
    mechanism: NoisyCounts,
    chance: Chance,
    noise: Noise,
) -> pl.DataFrame:
    """Count the users of each key, with noise; keys that do not show are gone."""
    counts = summed(table, mine, keys, chance, at_least=("count", mechanism.least))
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
