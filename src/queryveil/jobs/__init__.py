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
from .copying import copy_release
from .demo import demo
from .measure import measure
from .owners_report import measure_to
from .pack import pack
from .peeking import is_private
from .plan import plan
from .profile import profile
from .replicating import PAPERS, replicate
from .signing import make_signing_key, show_signing_key, sign
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
from .yields import HANDFUL, check_yield, low_yield, people_needed

__all__ = [
    "HANDFUL",
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
    "check_yield",
    "compare",
    "compare_figures",
    "copy_release",
    "demo",
    "figures_of",
    "import_taxonomy",
    "is_private",
    "journal_of",
    "list_taxonomies",
    "low_yield",
    "make_mapper",
    "make_signing_key",
    "map_file",
    "map_log",
    "map_queries",
    "measure",
    "measure_to",
    "pack",
    "people_needed",
    "plan",
    "preset_figures",
    "profile",
    "read_sweeps",
    "replicate",
    "search_taxonomy",
    "show_signing_key",
    "show_taxonomy",
    "sign",
    "simulate_peers",
    "sweep_peers",
    "synth",
    "verify",
    "write_comparison",
    "write_sweep",
]
