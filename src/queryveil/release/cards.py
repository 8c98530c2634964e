"""The cards: a release's data sheet, one for the public and one for the owner.

The public card holds nothing that the other public files do not tell anyway. How many rows
and users the log had, what was dropped, digests and timings could each tell whether a person
is in the log: they stand on the internal card alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from ..engine.operations import count_rows, values_of
from .guarantee import Standing


# What a public card holds; another part of it would be free text for anybody.
CARD_KEYS = frozenset({
    "queryveil", "method", "parameters", "guarantee", "standing", "release_grade",
    "not_release_grade_because", "warnings", "notes", "noise", "identifiers", "figures", "files",
})  # fmt: skip


class InternalCard(dict[str, Any]):
    """The owner's card: a dict, of which a notebook shows only what is public.

    >>> InternalCard({"method": "frequent-queries", "input": {"rows": 17}})
    InternalCard(method='frequent-queries', what it counts of the log is not shown)
    """

    def __repr__(self) -> str:
        method = self.get("method")
        return f"InternalCard(method={method!r}, what it counts of the log is not shown)"


def public_figures(
    log: pl.LazyFrame | None, tables: Mapping[str, pl.DataFrame] | None = None
) -> dict[str, int]:
    """Count what anyone can count: rows, different user names, queries and URLs; rows of tables."""
    given = dict(tables or {})
    sizes = {f"{name}.tsv": table.height for name, table in given.items()}
    if log is None:
        queries = given["queries"].height if "queries" in given else 0
        urls = given["clicks"]["url"].n_unique() if "clicks" in given else 0
        return {"rows": 0, "ids": 0, "queries": queries, "urls": urls} | sizes
    named = {"ids": "user", "queries": "query", "urls": "url"}
    found = {name: values_of(log, column).height for name, column in named.items()}
    return {"rows": count_rows(log), **found} | sizes


def make_public_card(
    *,
    version: str,
    method: str,
    parameters: dict[str, Any],
    guarantee: dict[str, Any],
    standing: Standing,
    warnings: list[str],
    notes: list[str],
    noise: dict[str, Any],
    identifiers: str | None,
    figures: dict[str, int],
    files: dict[str, str],
) -> dict[str, Any]:
    """Put the public card together."""
    return {
        "queryveil": version,
        "method": method,
        "parameters": parameters,
        "guarantee": guarantee,
        "standing": standing.level.value,
        "release_grade": standing.release_grade,
        "not_release_grade_because": list(standing.because),
        "warnings": warnings,
        "notes": notes,
        "noise": noise,
        "identifiers": identifiers,
        "figures": figures,
        "files": files,
    }
