"""What a person asks for. Jobs wire the rooms; the commands and the page only call them."""

from .anonymize import anonymize, anonymize_to_folder, check_release_output
from .append import extend_release
from .comparing import (
    PRESETS,
    Comparison,
    Figure,
    FigureRequest,
    Journal,
    RunOptions,
    check_comparison_output,
    compare,
    compare_figures,
    get_preset,
    open_journal,
    parse_sweeps,
    request_figures,
    write_comparison,
)
from .copying import copy_release
from .demo import demo
from .measure import measure
from .owners_report import measure_folder
from .pack import pack
from .peeking import is_differentially_private
from .plan import plan
from .profile import profile
from .replicating import PAPERS, replicate
from .signing import make_signing_key, show_signing_key, sign
from .simulate import PeerSweep, check_sweep_output, simulate, sweep, write_sweep
from .synth import write_synthetic_log
from .taxonomy import (
    TAXONOMY_FORMATS,
    check_taxonomy_file,
    describe_taxonomy_file,
    explain_queries,
    import_taxonomy,
    list_taxonomies,
    make_mapper,
    map_log,
    map_to_file,
    search_taxonomy,
)
from .verify import verify
from .yields import HANDFUL, check_yield, low_yield, people_needed

__all__ = [
    "HANDFUL",
    "PAPERS",
    "PRESETS",
    "TAXONOMY_FORMATS",
    "Comparison",
    "Figure",
    "FigureRequest",
    "Journal",
    "PeerSweep",
    "RunOptions",
    "anonymize",
    "anonymize_to_folder",
    "check_comparison_output",
    "check_release_output",
    "check_sweep_output",
    "check_taxonomy_file",
    "check_yield",
    "compare",
    "compare_figures",
    "copy_release",
    "demo",
    "describe_taxonomy_file",
    "explain_queries",
    "extend_release",
    "get_preset",
    "import_taxonomy",
    "is_differentially_private",
    "list_taxonomies",
    "low_yield",
    "make_mapper",
    "make_signing_key",
    "map_log",
    "map_to_file",
    "measure",
    "measure_folder",
    "open_journal",
    "pack",
    "parse_sweeps",
    "people_needed",
    "plan",
    "profile",
    "replicate",
    "request_figures",
    "search_taxonomy",
    "show_signing_key",
    "sign",
    "simulate",
    "sweep",
    "verify",
    "write_comparison",
    "write_sweep",
    "write_synthetic_log",
]
