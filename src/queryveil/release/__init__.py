"""A release: its guarantee, cards, files, and their verification."""

from .cards import PrivateCard, PublicCard
from .check_results import CheckResult
from .formats import check_output_format, data_of
from .guarantee import SEEDED, Check, Guarantee, Level, Standing, standing_of, summarize_standing
from .identifiers import promised, without_identifiers
from .noise import CountNoise
from .release import Release
from .untrusted import file_digest
from .verification import read_public_card, verify_public
from .writing import archive_public, is_release

__all__ = [
    "SEEDED",
    "Check",
    "CheckResult",
    "CountNoise",
    "Guarantee",
    "Level",
    "PrivateCard",
    "PublicCard",
    "Release",
    "Standing",
    "archive_public",
    "check_output_format",
    "data_of",
    "file_digest",
    "is_release",
    "promised",
    "read_public_card",
    "standing_of",
    "summarize_standing",
    "verify_public",
    "without_identifiers",
]
