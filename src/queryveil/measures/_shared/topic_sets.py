"""The topics of the measures that compare topic profiles."""

from __future__ import annotations

from ...concepts.similarity.topics import Topics, default_topics, select_topics, topic_preset
from ...concepts.taxonomy.graph import Taxonomy

_PRESETS = ("sanchez4", "sanchez19", "lexicographer", "branches")
TOPICS_HELP = f"auto, one of {', '.join(_PRESETS)}, or concepts with + between them"


def parse_topics(text: str, taxonomy: Taxonomy) -> Topics:
    """Return the topics that a parameter names."""
    if text == "auto":
        return default_topics(taxonomy)
    if text in _PRESETS:
        return topic_preset(taxonomy, text)
    return select_topics(taxonomy, [part.strip() for part in text.split("+")])
