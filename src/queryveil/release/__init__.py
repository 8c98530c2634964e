"""What may be published: the release, its guarantee, its cards, and the proof on the files."""

from .checks import Finding
from .folder import check_target, is_ours, read_card, whole_folder
from .formats import check_format
from .guarantee import Check, Guarantee
from .pack import archive_public
from .pseudonyms import pseudonymize
from .release import Release
from .verify import file_digest, load_card, verify_public
from .write import is_release

__all__ = [
    "Check",
    "Finding",
    "Guarantee",
    "Release",
    "archive_public",
    "check_format",
    "check_target",
    "file_digest",
    "is_ours",
    "is_release",
    "load_card",
    "pseudonymize",
    "read_card",
    "verify_public",
    "whole_folder",
]
