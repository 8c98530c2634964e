"""The folder of a sweep: its settings as a table and as JSON, its page and its charts."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.folders import atomic_folder, check_output_folder, is_queryveil_folder
from .report import render_sweep, sweep_svg
from .simulation.results import PeerSweep

_FILES = {"settings.csv", "sweep.json", "report.html", "peers.svg"}


def check_sweep_output(folder: Path, overwrite: bool) -> None:
    """Raise an OutputError for a folder that cannot be written, before any work is done."""
    check_output_folder(folder, overwrite, _is_sweep)


def write_sweep(sweep: PeerSweep, folder: Path, overwrite: bool = False) -> Path:
    """Write settings.csv, sweep.json, report.html and peers.svg, or nothing."""
    texts = {
        "sweep.json": sweep.to_json() + os.linesep,
        "report.html": render_sweep(sweep),
        "peers.svg": sweep_svg(sweep),
    }
    with atomic_folder(folder, lambda: check_sweep_output(folder, overwrite)) as part:
        sweep.to_polars().write_csv(part / "settings.csv")
        for name, text in texts.items():
            (part / name).write_text(text, encoding="utf-8", errors="backslashreplace")
        for path in part.iterdir():
            path.chmod(0o600)  # figures of private data
    return folder


def _is_sweep(folder: Path) -> bool:
    return is_queryveil_folder(folder, "sweep.json", _FILES)
