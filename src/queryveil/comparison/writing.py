"""Write a comparison into a folder: its table, its JSON document and its page."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.folders import atomic_folder, check_output_folder, is_queryveil_folder
from ..core.records import Record
from .journal import FILE, Journal
from .page import render_comparison
from .result import Comparison

_FILES = {"results.csv", "results.parquet", "comparison.json", "report.html", FILE}


def check_comparison_output(folder: Path, overwrite: bool) -> None:
    """Raise if a folder cannot be written, before any work is done."""
    check_output_folder(folder, overwrite, _is_comparison)


def write_comparison(
    comparison: Comparison, folder: Path, overwrite: bool = False, journal: Journal | None = None
) -> Path:
    """Write results.csv, results.parquet, comparison.json and report.html, or nothing.

    With a journal its rows are written too, so that a later comparison need not rerun them.
    """
    page = render_comparison(comparison)
    return write_documents(comparison, comparison, page, folder, overwrite, journal)


def write_documents(
    comparison: Comparison,
    document: Record,
    page: str,
    folder: Path,
    overwrite: bool = False,
    journal: Journal | None = None,
) -> Path:
    """Write a comparison with a document and a page that have more than the comparison itself."""
    table = comparison.to_polars()
    with atomic_folder(folder, lambda: check_comparison_output(folder, overwrite)) as part:
        table.write_csv(part / "results.csv")
        table.write_parquet(part / "results.parquet")
        _write_text(part / "comparison.json", document.to_json())
        _write_text(part / "report.html", page)
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
