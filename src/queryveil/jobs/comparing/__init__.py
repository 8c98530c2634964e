"""Methods side by side: what is asked, the runs and who performs them, and what was found."""

from .compare import RunOptions, compare, compare_figures
from .comparison import Comparison, check_comparison_output, write_comparison
from .figures import PRESETS, Figure, FigureRequest, get_preset, request_figures
from .journal import Journal, open_journal
from .sweeps import expand_grid, parse_sweeps

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
    "get_preset",
    "open_journal",
    "parse_sweeps",
    "request_figures",
    "write_comparison",
]
