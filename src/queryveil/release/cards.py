"""The cards: a release's data sheet, one for the public and one for the owner.

The public card holds nothing that the other public files do not tell anyway. How many rows
and users the log had, what was dropped, digests and timings could each tell whether a person
is in the log: they stand on the internal card alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

__all__ = ["figures_of", "public_card"]


def figures_of(
    log: pl.LazyFrame | None, tables: Mapping[str, pl.DataFrame] | None = None
) -> dict[str, int]:
    """Count what anyone can count: rows, different user names, queries and URLs; rows of tables."""
    given = dict(tables or {})
    sizes = {f"{name}.tsv": table.height for name, table in given.items()}
    if log is None:
        queries = given["queries"].height if "queries" in given else 0
        urls = given["clicks"]["url"].n_unique() if "clicks" in given else 0
        return {"rows": 0, "ids": 0, "queries": queries, "urls": urls} | sizes
    figures = log.select(
        rows=pl.len(),
        ids=pl.col("user").drop_nulls().n_unique(),
        queries=pl.col("query").drop_nulls().n_unique(),
        urls=pl.col("url").drop_nulls().n_unique(),
    )
    found = figures.collect(engine="streaming").row(0, named=True)
    return {name: int(n) for name, n in found.items()} | sizes


def public_card(
    *,
    version: str,
    method: str,
    parameters: dict[str, Any],
    guarantee: dict[str, Any],
    release_grade: bool,
    why_not: list[str],
    notes: list[str],
    figures: dict[str, int],
    files: dict[str, str],
) -> dict[str, Any]:
    """Put the public card together."""
    return {
        "queryveil": version,
        "method": method,
        "parameters": parameters,
        "guarantee": guarantee,
        "release_grade": release_grade,
        "not_release_grade_because": why_not,
        "notes": notes,
        "figures": figures,
        "files": files,
    }
