"""Three tables under (epsilon, delta), of keys that nobody knows beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

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
from ...engine import Chance, Progress
from ...errors import UsageError
from ...log import QueryLog
from .contributions import at_most, click_pairs, query_pairs, shortness, transition_pairs
from .union import select_queries

__all__ = ["Mechanisms", "mechanisms", "release_tables"]

_GUIDE = Fraction(1, 20)  # of the noise's budget shows users which of their queries are frequent
_FOUND = Fraction(18, 19)  # of what is left finds them, and the rest counts them
_LEAN = 1.5  # how much more a user weighs her shorter queries
_TRUST = 4.0  # noise units that one step of shortness is worth
_SEED = 20160717  # of the public hash: any number that is not taken from a log


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
        pairs = query_pairs(log.frame, chance)
        liking = _liking(pairs, made.guide, prefer, noise)
        if made.union is not None:
            found = select_queries(pairs, made.union, chance, noise, liking)
        elif made.queries is not None:
            chosen = at_most(pairs, made.queries.keys, liking, chance)
            found = _counted(chosen, ["query"], made.queries, noise)
        del pairs
    tables = {"queries": found}
    if made.clicks:
        with progress.stage("clicks"):
            clicks = at_most(click_pairs(log.frame, found, chance), made.clicks.keys, None, chance)
            tables["clicks"] = _counted(clicks, ["query", "url"], made.clicks, noise)
    if made.transitions:
        with progress.stage("transitions"):
            steps = transition_pairs(log.frame, found, chance)
            steps = at_most(steps, made.transitions.keys, None, chance)
            counted = _counted(steps, ["number", "next"], made.transitions, noise)
            tables["transitions"] = _named(counted, found)
    return {name: _published(table) for name, table in tables.items()}


def _liking(
    pairs: pl.DataFrame, guide: Sketch | None, prefer: str, noise: Noise
) -> np.ndarray | None:
    """Say how much a user likes to contribute each query; by chance alone if None."""
    if guide is None and prefer != "short":
        return None
    queries = pairs["query"].unique()
    code, codes = pairs["query"].to_physical().to_numpy(), queries.to_physical().to_numpy()
    short = np.zeros(int(codes.max(initial=0)) + 1)  # by the number that stands for a query
    if prefer == "short":
        short[codes] = shortness(queries)
    if guide is None:
        return np.asarray(short[code])
    bucket = np.zeros(len(short), np.int32)
    bucket[codes] = (queries.cast(pl.String).hash(_SEED) % guide.buckets).to_numpy()
    user = pairs["user"].to_physical().to_numpy()
    seen = guide.release(user, code, bucket, np.exp(_LEAN * short), noise)
    return np.asarray((seen[bucket] + _TRUST * short).astype(np.float32)[code])


def _counted(
    pairs: pl.DataFrame, keys: list[str], mechanism: NoisyCounts, noise: Noise
) -> pl.DataFrame:
    """Count the users of each key, with noise; keys that do not show are gone."""
    counts = pairs.group_by(keys).agg(count=pl.len())
    counts = counts.filter(pl.col("count") >= mechanism.least)
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


def _published(table: pl.DataFrame) -> pl.DataFrame:
    """Sort by what is published, so that the order tells nothing else."""
    texts = [name for name in table.columns if name != "count"]
    named = table.with_columns(pl.col(texts).cast(pl.String))
    return named.sort("count", *texts, descending=[True, *(False for _ in texts)])
