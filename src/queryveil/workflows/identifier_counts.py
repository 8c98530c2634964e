"""Count the identifiers of a log by kind, and the users who sent rare queries, for its profile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from ..core.randomness import RandomSource
from ..engine.operations import aggregate, map_partitions
from ..engine.table import Table
from ..log.detectors import Detector, flag_texts
from ..log.identifiers import IDENTIFIER_KINDS, flag_identifiers, mask_identifiers
from .log_profile import IdentifierCount

ALONE, RARE = 1, 2  # flags of a query; those of identifiers are the next bits
_FEW = 5  # users; a query of fewer is rare
_MAX_EXAMPLES = 3
_COUNTS = {"kind": pl.Int64, "queries": pl.Int64}


def flag_queries(sizes: Table, detectors: Sequence[Detector] = ()) -> Table:
    """Return each query with its flags, a bit mask `marks`: few users sent it, identifiers.

    The rules are slow, so each distinct query is tested once. The flags of detectors come last.
    """
    return map_partitions(sizes, partial(_flag_partition, detectors=detectors), RandomSource())


def _flag_partition(
    sizes: pl.LazyFrame, _: RandomSource, *, detectors: Sequence[Detector]
) -> pl.DataFrame:
    queries = sizes.select("query", "users").collect()
    texts = queries["query"].cast(pl.String)
    flags = flag_identifiers(texts).get_columns()
    flags += [flag_texts(detector, texts) for detector in detectors]
    rare = (pl.col("users") == 1).cast(pl.Int64) * ALONE
    rare += (pl.col("users") < _FEW).cast(pl.Int64) * RARE
    bits = [pl.lit(own).cast(pl.Int64) * _bit(number) for number, own in enumerate(flags)]
    return queries.select("query", "users", marks=pl.sum_horizontal(rare, *bits))


def _bit(kind_index: int) -> int:
    return RARE << (1 + kind_index)


def _has(bit: int) -> pl.Expr:
    return pl.col("marks") & bit != 0


def select_flags(flags: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    """Return the queries of a partition with their flags."""
    return flags.select("query", "marks").collect()


def count_flagged_users(users: pl.DataFrame, bit: int) -> int:
    """Return how many users have a query with a flag."""
    return int(users.filter(_has(bit))["count"].sum())


def count_identifiers(
    flags: Table, users: pl.DataFrame, detectors: Sequence[Detector] = ()
) -> dict[str, IdentifierCount]:
    """Count queries and users by kind of identifier, and by detector.

    What a detector flags has no examples: only what our own rules find can be masked.

    Args:
        flags: Out of `flag_queries`.
        users: Numbers of users by the union of the flags of their queries: `marks` and `count`.
        detectors: As for `flag_queries`.
    """
    names = [(kind.name, kind.title) for kind in IDENTIFIER_KINDS]
    names += [(f"detector-{each.name}", f"{each.title} ({each.name})") for each in detectors]
    count = partial(_count_kinds, kinds=len(names))
    queries = dict(aggregate(flags, count, ["kind"]).select("kind", "queries").rows())
    examples = aggregate(flags, _select_examples, ["kind", "text"]).sort("text")
    return {
        name: IdentifierCount(
            title,
            queries.get(number, 0),
            count_flagged_users(users, _bit(number)),
            tuple(
                mask_identifiers(text)
                for text in examples.filter(pl.col("kind") == number)["text"].head(_MAX_EXAMPLES)
            ),
        )
        for number, (name, title) in enumerate(names)
    }


def _count_kinds(flags: pl.LazyFrame, _: RandomSource, *, kinds: int) -> pl.DataFrame:
    sums = flags.select(_has(_bit(n)).sum().alias(str(n)) for n in range(kinds)).collect()
    return pl.DataFrame({"kind": range(kinds), "queries": sums.row(0)}, schema=_COUNTS)


def _select_examples(flags: pl.LazyFrame, _: RandomSource) -> pl.DataFrame:
    texts = flags.filter(pl.col("marks") >= _bit(0)).select(
        "marks", text=pl.col("query").cast(pl.String)
    )
    rows = texts.sort("text").collect()
    return pl.concat(
        rows.filter(_has(_bit(n))).head(_MAX_EXAMPLES).select("text", kind=pl.lit(n, pl.Int64))
        for n in range(len(IDENTIFIER_KINDS))
    )
