"""Methods that write new logs of concepts: each query replaced, or drawn from a private profile."""

from .histogram import ConceptHistogram
from .profile_first import ProfileFirst
from .semantic import SemanticReplacement

__all__ = ["ConceptHistogram", "ProfileFirst", "SemanticReplacement"]
