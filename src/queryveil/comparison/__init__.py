"""Comparison of methods over a grid of parameters, with pages and charts."""

from .comparing import compare, compare_figures
from .frontier import frontier_svg
from .grid import (
    PRESETS,
    FigureRequest,
    FigureSpec,
    expand_grid,
    get_preset,
    parse_sweeps,
    request_figures,
)
from .journal import Journal, open_journal
from .means import MeanValue, RunMeans
from .page import render_comparison
from .private_report import render_private_report
from .release_measurement import ReleaseMeasurement, measure_folder
from .result import (
    ClaimResult,
    Comparison,
    ComparisonRow,
    Figure,
    LogSummary,
    MeasureInfo,
    RunOptions,
)
from .series import short_labels
from .writing import check_comparison_output, write_comparison, write_documents

__all__ = [
    "PRESETS",
    "ClaimResult",
    "Comparison",
    "ComparisonRow",
    "Figure",
    "FigureRequest",
    "FigureSpec",
    "Journal",
    "LogSummary",
    "MeanValue",
    "MeasureInfo",
    "ReleaseMeasurement",
    "RunMeans",
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
    "write_documents",
]
