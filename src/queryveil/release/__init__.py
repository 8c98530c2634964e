"""What may be published: the release, its guarantee, its cards, and the proof on the files."""

from .checks import Finding
from .guarantee import Check, Guarantee
from .pack import pack
from .pseudonyms import pseudonymize
from .release import Release
from .verify import load_card, verify_public

__all__ = [
    "Check",
    "Finding",
    "Guarantee",
    "Release",
    "load_card",
    "pack",
    "pseudonymize",
    "verify_public",
]
