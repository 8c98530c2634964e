"""From queries to concepts: phrases, labels, names, and what was found."""

from .explain import explain_query
from .found import ConceptMapping
from .index import MATCH_KINDS
from .mapper import TAGGERS, Mapper

__all__ = ["MATCH_KINDS", "TAGGERS", "ConceptMapping", "Mapper", "explain_query"]
