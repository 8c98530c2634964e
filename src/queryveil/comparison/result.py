"""The result of a comparison, as one object, as a table, and as files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ..core.folders import atomic_folder, check_output_folder, is_queryveil_folder
from .journal import FILE, Journal
from .page import render_comparison

_FILES = {"results.csv", "results.parquet", "comparison.json", "report.html", FILE}


@dataclass(frozen=True)
class Comparison:
    """The request (`about`, `measures`, `figures`) and the results: one row per run and measure.

    A row has method (the full spec), label (the spec as requested), swept (parameter: value),
    repeat, measure, value, seconds, error, and told: the other results of the measure.
    """

    about: dict[str, Any]
    measures: dict[str, dict[str, Any]]
    figures: list[dict[str, Any]]
    rows: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as one JSON document."""
        return {
            **self.about,
            "measures": self.measures,
            "figures": self.figures,
            "rows": [row | {"swept": dict(row["swept"])} for row in self.rows],
        }

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a table, with one column per swept parameter."""
        names = list(dict.fromkeys(name for row in self.rows for name in row["swept"]))
        flat = ("measure", "value", "seconds", "error")
        return pl.DataFrame(
            [
                *(self._texts(name) for name in ("method", "label")),
                *(_column(name, [row["swept"].get(name) for row in self.rows]) for name in names),
                pl.Series("repeat", [row["repeat"] for row in self.rows], pl.Int64),
                *(pl.Series(n, [row.get(n) for row in self.rows], _DTYPES[n]) for n in flat),
                pl.Series("told", [json.dumps(row["told"]) for row in self.rows], pl.String),
            ]
        )

    def _texts(self, name: str) -> pl.Series:
        return pl.Series(name, [row[name] for row in self.rows], pl.String)

    def write(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write table, figures and page into a folder that only the data owner can read."""
        return write_comparison(self, Path(folder), overwrite)


_DTYPES = {"measure": pl.String, "value": pl.Float64, "seconds": pl.Float64, "error": pl.String}


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Build a column of swept values; parameters of one name may differ in type by method."""
    types = {type(value) for value in values if value is not None}
    for python_type, dtype in ((bool, pl.Boolean), (int, pl.Int64)):
        if types == {python_type}:
            return pl.Series(name, values, dtype)
    if types <= {int, float}:
        return pl.Series(name, values, pl.Float64, strict=False)
    texts = [None if value is None else str(value) for value in values]
    return pl.Series(name, texts, pl.String)


def check_comparison_output(folder: Path, overwrite: bool) -> None:
    """Raise if a folder cannot be written, before any work is done."""
    check_output_folder(folder, overwrite, _is_comparison)


def write_comparison(
    comparison: Comparison, folder: Path, overwrite: bool = False, journal: Journal | None = None
) -> Path:
    """Write results.csv, results.parquet, comparison.json and report.html, or nothing.

    With a journal its rows are written too, so that a later comparison need not rerun them.
    """
    data, table = comparison.to_dict(), comparison.to_polars()
    with atomic_folder(folder, lambda: check_comparison_output(folder, overwrite)) as part:
        table.write_csv(part / "results.csv")
        table.write_parquet(part / "results.parquet")
        _write_text(part / "comparison.json", json.dumps(data, indent=2, ensure_ascii=False))
        _write_text(part / "report.html", render_comparison(data))
        if journal is not None:
            (part / FILE).write_text(journal.text(), encoding="utf-8")
        for path in part.iterdir():
            path.chmod(0o600)  # figures of private data
    if journal is not None:
        journal.close()
    return folder


def _write_text(path: Path, text: str) -> None:
    path.write_text(text + os.linesep, encoding="utf-8", errors="backslashreplace")


def _is_comparison(folder: Path) -> bool:
    return is_queryveil_folder(folder, "comparison.json", _FILES)
