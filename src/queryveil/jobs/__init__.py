"""What a person asks for. Jobs wire the rooms; the commands and the page only call them."""

from .anonymize import anonymize, anonymize_to, check_release_target
from .demo import demo
from .pack import pack
from .plan import plan
from .profile import profile
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
    "TAXONOMY_KINDS",
    "anonymize",
    "anonymize_to",
    "check_release_target",
    "check_taxonomy_file",
    "demo",
    "import_taxonomy",
    "list_taxonomies",
    "make_mapper",
    "map_file",
    "map_log",
    "map_queries",
    "pack",
    "plan",
    "profile",
    "search_taxonomy",
    "show_taxonomy",
    "synth",
    "verify",
]
