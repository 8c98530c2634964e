"""Workflows of a data owner: anonymize, plan, verify, measure and profile a log."""

from .anonymization import anonymize, anonymize_to_folder, check_release_output
from .budget import is_differentially_private
from .copying import copy_release
from .expected_yield import HANDFUL, check_yield, low_yield, people_needed
from .extension import extend_release
from .measurement import measure
from .planning import plan
from .profiling import profile
from .signing import make_signing_key, show_signing_key, sign
from .taxonomies import (
    check_taxonomy_file,
    describe_concept,
    describe_taxonomy_file,
    explain_queries,
    import_taxonomy,
    list_taxonomies,
    make_mapper,
    map_log,
    map_to_file,
    search_taxonomy,
)
from .verification import pack, verify

__all__ = [
    "HANDFUL",
    "anonymize",
    "anonymize_to_folder",
    "check_release_output",
    "check_taxonomy_file",
    "check_yield",
    "copy_release",
    "describe_concept",
    "describe_taxonomy_file",
    "explain_queries",
    "extend_release",
    "import_taxonomy",
    "is_differentially_private",
    "list_taxonomies",
    "low_yield",
    "make_mapper",
    "make_signing_key",
    "map_log",
    "map_to_file",
    "measure",
    "pack",
    "people_needed",
    "plan",
    "profile",
    "search_taxonomy",
    "show_signing_key",
    "sign",
    "verify",
]
