"""What may be published: the release, its guarantee, its cards, and the proof on the files."""

from .checks import Finding
from .folder import check_target, is_ours, read_card, whole_folder
from .formats import check_format
from .guarantee import Check, Guarantee
from .identifying import promised, without_identifiers
from .names import data_of
from .noise import CountNoise
from .pack import archive_public
from .pseudonyms import pseudonymize
from .release import Release
from .standing import SEEDED, Level, Standing, standing_of, words_of
from .verify import file_digest, load_card, verify_public
from .write import is_release

__all__ = [
    "SEEDED",
    "Check",
    "CountNoise",
    "Finding",
    "Guarantee",
    "Level",
    "Release",
    "Standing",
    "archive_public",
    "check_format",
    "check_target",
    "data_of",
    "file_digest",
    "is_ours",
    "is_release",
    "load_card",
    "promised",
    "pseudonymize",
    "read_card",
    "standing_of",
    "verify_public",
    "whole_folder",
    "without_identifiers",
    "words_of",
]
