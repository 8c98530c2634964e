"""Methods side by side: what is asked, the runs and who performs them, and what was found."""

from .compare import How, compare, compare_figures
from .comparison import Comparison, check_comparison_target, write_comparison
from .figures import PRESETS, Asked, Figure, figures_of, preset_figures
from .journal import Journal, journal_of
from .sweeps import expand, read_sweeps

__all__ = [
    "PRESETS",
    "Asked",
    "Comparison",
    "Figure",
    "How",
    "Journal",
    "check_comparison_target",
    "compare",
    "compare_figures",
    "expand",
    "figures_of",
    "journal_of",
    "preset_figures",
    "read_sweeps",
    "write_comparison",
]
