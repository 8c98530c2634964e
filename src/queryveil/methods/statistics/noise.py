"""The noise of each table of dp-statistics, from its public parameters."""

from __future__ import annotations

from collections.abc import Mapping

from ...dp.public_counts import PublicCounts
from ...dp.set_union import SetUnionRelease
from ...dp.thresholded_counts import ThresholdedCounts
from ...release.noise import CountNoise
from .approximate import TableMechanisms

__all__ = ["approx_noise", "paper_noise", "public_noise"]

_ONE = {"queries": "A query", "clicks": "A click", "transitions": "A transition"}


def approx_noise(made: TableMechanisms) -> tuple[CountNoise, ...]:
    """Tell the noise of the tables of mode approx."""
    named = {"queries": made.queries, "clicks": made.clicks, "transitions": made.transitions}
    tables = [_table_noise(name, table) for name, table in named.items() if table]
    return (*([] if made.union is None else [_set_union_noise(made.union)]), *tables)


def public_noise(name: str, made: PublicCounts, cells: int) -> CountNoise:
    """Tell the noise of a table over public cells."""
    shows = (
        f"{_ONE[name]} shows if its count with noise is {made.threshold:,} or more. All of "
        f"{cells:,} public cells have noise, so about one shows that nobody has."
    )
    return CountNoise(
        name, "laplace", float(made.scale), shows, _bounded(name, made.contribution_bound)
    )


def paper_noise(scale: float, threshold: int, most: Mapping[str, int]) -> tuple[CountNoise, ...]:
    """Tell the noise of the paper's tables."""
    least = {"queries": threshold + 1, "clicks": 1, "transitions": 1}
    return tuple(
        CountNoise(
            name,
            "laplace",
            scale,
            f"{_ONE[name]} shows if its count with noise is {least[name]:,} or more.",
            f"the first {most[name]:,} of each person count.",
        )
        for name in most
    )


def _table_noise(name: str, table: ThresholdedCounts) -> CountNoise:
    shows = f"{_ONE[name]} shows if its count with noise is {table.median_release_count:,} or more."
    return CountNoise(
        name, table.noise, float(table.scale), shows, _bounded(name, table.contribution_bound)
    )


def _set_union_noise(union: SetUnionRelease) -> CountNoise:
    """Tell the noise of queries that were found by other noise than their counts have."""
    last, keys = union.rounds[-1], union.counts.keys
    rounds = "" if len(union.rounds) == 1 else f", in {len(union.rounds)} rounds"
    shows = (
        f"Which queries show was decided before, by other noise{rounds}: a query needs about "
        f"{last.median_release_count:,} people if each of them sent {keys:,} queries or more, and fewer if they "
        "sent less."
    )
    return CountNoise(
        "queries", "gaussian", float(union.counts.scale), shows, _bounded("queries", keys),
        own_threshold=False, floor=1,
    )  # fmt: skip


def _bounded(name: str, keys: int) -> str:
    return f"each person counts for at most {keys:,} {name}, once each."
