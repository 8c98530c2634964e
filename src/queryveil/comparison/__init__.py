"""Comparison of methods over a grid of parameters, with pages and charts."""

from .comparing import RunOptions, compare, compare_figures
from .frontier import frontier_svg
from .grid import (
    PRESETS,
    Figure,
    FigureRequest,
    expand_grid,
    get_preset,
    parse_sweeps,
    request_figures,
)
from .journal import Journal, open_journal
from .page import render_comparison
from .private_report import measure_folder, render_private_report
from .result import Comparison, check_comparison_output, write_comparison
from .series import short_labels

__all__ = [
    "PRESETS",
    "Comparison",
    "Figure",
    "FigureRequest",
    "Journal",
    "RunOptions",
    "check_comparison_output",
    "compare",
    "compare_figures",
    "expand_grid",
    "frontier_svg",
    "get_preset",
    "measure_folder",
    "open_journal",
    "parse_sweeps",
    "render_comparison",
    "render_private_report",
    "request_figures",
    "short_labels",
    "write_comparison",
]
