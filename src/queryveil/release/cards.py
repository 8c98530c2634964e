"""The cards of a release: one for the public and one for the data owner.

The public card holds nothing that does not follow from the other public files. The numbers of rows
and users of the log, dropped rows, digests and timings could each reveal whether a user is in the
log: they are on the private card alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from ..engine.operations import count_rows, values_of
from .guarantee import Standing

# The keys of a public card; an unknown key could hide any text from the checks.
CARD_KEYS = frozenset({
    "queryveil", "method", "parameters", "guarantee", "standing", "release_grade",
    "not_release_grade_because", "warnings", "notes", "noise", "identifiers", "figures", "files",
})  # fmt: skip


class InternalCard(dict[str, Any]):
    """The private card: a dict whose `repr` shows no numbers of the log in a notebook.

    >>> InternalCard({"method": "frequent-queries", "input": {"rows": 17}})
    InternalCard(method='frequent-queries', what it counts of the log is not shown)
    """

    def __repr__(self) -> str:
        method = self.get("method")
        return f"InternalCard(method={method!r}, what it counts of the log is not shown)"


def public_figures(
    log: pl.LazyFrame | None, tables: Mapping[str, pl.DataFrame] | None = None
) -> dict[str, int]:
    """Count rows, distinct pseudonyms, queries and URLs of the public files; rows of tables."""
    tables = tables or {}
    sizes = {f"{name}.tsv": table.height for name, table in tables.items()}
    if log is None:
        queries = tables["queries"].height if "queries" in tables else 0
        urls = tables["clicks"]["url"].n_unique() if "clicks" in tables else 0
        return {"rows": 0, "ids": 0, "queries": queries, "urls": urls} | sizes
    columns = {"ids": "user", "queries": "query", "urls": "url"}
    distinct = {name: values_of(log, column).height for name, column in columns.items()}
    return {"rows": count_rows(log), **distinct} | sizes


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
    """Return the public card."""
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
