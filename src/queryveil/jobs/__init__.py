"""What a person asks for. Jobs wire the rooms; the commands and the page only call them."""

from .anonymize import anonymize, anonymize_to, check_release_target
from .append import append_to
from .compare import compare, compare_figures, compare_preset
from .comparison import Comparison, check_comparison_target, write_comparison
from .demo import demo
from .figures import PRESETS, Figure
from .measure import measure
from .pack import pack
from .plan import plan
from .profile import profile
from .sweeps import read_sweeps
from .synth import synth
from .taxonomy import (
    TAXONOMY_KINDS,
    check_taxonomy_file,
    import_taxonomy,
    list_taxonomies,
    make_mapper,
    map_file,
    map_log,
    map_queries,
    search_taxonomy,
    show_taxonomy,
)
from .verify import verify

__all__ = [
    "PRESETS",
    "TAXONOMY_KINDS",
    "Comparison",
    "Figure",
    "anonymize",
    "anonymize_to",
    "append_to",
    "check_comparison_target",
    "check_release_target",
    "check_taxonomy_file",
    "compare",
    "compare_figures",
    "compare_preset",
    "demo",
    "import_taxonomy",
    "list_taxonomies",
    "make_mapper",
    "map_file",
    "map_log",
    "map_queries",
    "measure",
    "pack",
    "plan",
    "profile",
    "read_sweeps",
    "search_taxonomy",
    "show_taxonomy",
    "synth",
    "verify",
    "write_comparison",
]
