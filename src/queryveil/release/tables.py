"""Statistics as they are published: one TSV a table, texts first, then the count."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO

import polars as pl

from .formats import escape_formula, unescape_formula

__all__ = ["PUBLIC_TABLES", "read_public_tables", "write_public_tables", "write_table"]

PUBLIC_TABLES = {
    "queries": ("query",),
    "clicks": ("query", "url"),
    "transitions": ("query", "next"),
}
_SIGNS = {"\t": "%09", "\r": "%0D", "\n": "%0A"}  # what a cell without quotes cannot hold


def write_public_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> list[Path]:
    """Write each table, in its order, as NAME.tsv."""
    paths = []
    for name, table in tables.items():
        paths.append(folder / f"{name}.tsv")
        write_table(table, name, paths[-1])
    return paths


def write_table(table: pl.DataFrame, name: str, target: Path | IO[bytes]) -> None:
    """Write one table, in its order, to a path or to what takes bytes."""
    cells = [
        escape_formula(pl.col(text).str.replace_many(_SIGNS)).alias(text)
        for text in PUBLIC_TABLES[name]
    ]
    rows = table.select(*PUBLIC_TABLES[name], "count").with_columns(cells)
    rows.write_csv(target, separator="\t", quote_style="never")


def read_public_tables(folder: Path) -> dict[str, pl.DataFrame]:
    """Read back what was published."""
    found = {}
    for name, texts in PUBLIC_TABLES.items():
        path = folder / f"{name}.tsv"
        if path.exists():
            kinds = dict.fromkeys(texts, pl.String) | {"count": pl.Int64}
            rows = pl.read_csv(path, separator="\t", quote_char=None, schema=kinds, glob=False)
            found[name] = rows.with_columns(
                unescape_formula(pl.col(text)).alias(text) for text in texts
            )
    return found
