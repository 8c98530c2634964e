"""What a person asks for. Jobs wire the rooms; the commands and the page only call them."""

from .anonymize import anonymize, anonymize_to, check_release_target
from .append import append_to
from .comparing import (
    PRESETS,
    Asked,
    Comparison,
    Figure,
    How,
    Journal,
    check_comparison_target,
    compare,
    compare_figures,
    figures_of,
    journal_of,
    preset_figures,
    read_sweeps,
    write_comparison,
)
from .demo import demo
from .measure import measure
from .owners_report import measure_to
from .pack import pack
from .plan import plan
from .profile import profile
from .replicating import PAPERS, replicate
from .simulate import PeerSweep, check_sweep_target, simulate_peers, sweep_peers, write_sweep
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
    "PAPERS",
    "PRESETS",
    "TAXONOMY_KINDS",
    "Asked",
    "Comparison",
    "Figure",
    "How",
    "Journal",
    "PeerSweep",
    "anonymize",
    "anonymize_to",
    "append_to",
    "check_comparison_target",
    "check_release_target",
    "check_sweep_target",
    "check_taxonomy_file",
    "compare",
    "compare_figures",
    "demo",
    "figures_of",
    "import_taxonomy",
    "journal_of",
    "list_taxonomies",
    "make_mapper",
    "map_file",
    "map_log",
    "map_queries",
    "measure",
    "measure_to",
    "pack",
    "plan",
    "preset_figures",
    "profile",
    "read_sweeps",
    "replicate",
    "search_taxonomy",
    "show_taxonomy",
    "simulate_peers",
    "sweep_peers",
    "synth",
    "verify",
    "write_comparison",
    "write_sweep",
]
