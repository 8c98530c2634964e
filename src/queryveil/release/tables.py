"""Statistics as they are published: one TSV a table, texts first, then the count."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from .formats import harmless, original

__all__ = ["TABLES", "read_public_tables", "write_public_tables"]

TABLES = {
    "queries": ("query",),
    "clicks": ("query", "url"),
    "transitions": ("query", "next"),
}
_SIGNS = {"\t": "%09", "\r": "%0D", "\n": "%0A"}  # what a cell without quotes cannot hold


def write_public_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> list[Path]:
    """Write each table, in its order, as NAME.tsv."""
    paths = []
    for name, table in tables.items():
        cells = [
            harmless(pl.col(text).str.replace_many(_SIGNS)).alias(text) for text in TABLES[name]
        ]
        path = folder / f"{name}.tsv"
        rows = table.select(*TABLES[name], "count").with_columns(cells)
        rows.write_csv(path, separator="\t", quote_style="never")
        paths.append(path)
    return paths


def read_public_tables(folder: Path) -> dict[str, pl.DataFrame]:
    """Read back what was published."""
    found = {}
    for name, texts in TABLES.items():
        path = folder / f"{name}.tsv"
        if path.exists():
            kinds = dict.fromkeys(texts, pl.String) | {"count": pl.Int64}
            rows = pl.read_csv(path, separator="\t", quote_char=None, schema=kinds, glob=False)
            found[name] = rows.with_columns(original(pl.col(text)).alias(text) for text in texts)
    return found
