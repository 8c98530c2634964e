"""The rows that are published: a label for each concept, a number for each slot, no clicks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from ...concepts import Taxonomy
from ...concepts.likeness.naming import names_of
from ...engine import Chance

__all__ = ["Written", "encoded", "write_rows"]


@dataclass(frozen=True, eq=False)
class Written:
    """The published rows, what each means, and who got which pseudonym."""

    log: pl.DataFrame
    concepts: pl.DataFrame
    mapping: pl.DataFrame


def write_rows(
    taxonomy: Taxonomy, mapping: pl.DataFrame, rows: pl.DataFrame, chance: Chance
) -> Written:
    """Name users and concepts of rows of user (a place in `mapping`), slot (from 0) and concept.

    Rows stand in the order of pseudonyms, which are random, and slots: that tells nothing.
    """
    order = mapping["pseudonym"].arg_sort().to_numpy()
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    table = rows.with_columns(user=pl.Series(rank[rows["user"].to_numpy()])).sort("user", "slot")
    who = encoded(mapping["pseudonym"].gather(order)).gather(table["user"])
    names = names_of(taxonomy)
    labels = names.drawn(table["concept"].to_numpy(), chance.numbers(table.height))
    log = pl.DataFrame(
        {"user": who, "query": encoded(names.texts).gather(labels), "time": table["slot"] + 1}
    ).with_columns(rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))
    return Written(log, pl.DataFrame({"user": who, "concept": table["concept"]}), mapping)


def encoded(texts: pl.Series) -> pl.Series:
    """Hold each text once, however often it is gathered."""
    return texts.cast(pl.Categorical(pl.Categories.random()))
