"""What may be published: the release, its guarantee, its cards, and the proof on the files."""

from .checks import CheckResult
from .folder import atomic_folder, check_output_folder, is_queryveil_folder, read_json_card
from .formats import check_output_format
from .guarantee import Check, Guarantee
from .identifying import promised, without_identifiers
from .names import data_of
from .noise import CountNoise
from .pack import archive_public
from .pseudonyms import pseudonymize
from .release import Release
from .standing import SEEDED, Level, Standing, standing_of, words_of
from .verify import file_digest, read_public_card, verify_public
from .write import is_release

__all__ = [
    "SEEDED",
    "Check",
    "CheckResult",
    "CountNoise",
    "Guarantee",
    "Level",
    "Release",
    "Standing",
    "archive_public",
    "atomic_folder",
    "check_output_folder",
    "check_output_format",
    "data_of",
    "file_digest",
    "is_queryveil_folder",
    "is_release",
    "promised",
    "pseudonymize",
    "read_json_card",
    "read_public_card",
    "standing_of",
    "verify_public",
    "without_identifiers",
    "words_of",
]
