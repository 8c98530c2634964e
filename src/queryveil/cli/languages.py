"""Name the languages of a release on the screen."""

from __future__ import annotations

from ..concepts.loaders.registry import BUILT_IN
from ..concepts.mapping.language import get_language
from ..concepts.mapping.options import MappingOptions
from ..release.cards import PublicCard


def describe_language(card: PublicCard) -> str:
    """Return the languages in which a method mapped queries, or an empty text."""
    options = MappingOptions.of(card.parameters)
    if "language" not in card.parameters:
        return ""
    if not options.languages():
        return "English" if options.taxonomy in BUILT_IN else "the language of the taxonomy"
    return " and ".join(get_language(name).name.title() for name in options.languages())
