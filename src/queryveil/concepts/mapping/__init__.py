"""From queries to concepts: phrases, labels, names, and what was found."""

from .explain import explain
from .found import Mapping
from .index import HOW
from .mapper import TAGGERS, Mapper

__all__ = ["HOW", "TAGGERS", "Mapper", "Mapping", "explain"]
