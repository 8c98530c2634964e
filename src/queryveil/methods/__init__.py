"""Anonymization methods from the literature."""

from .base import METHODS, Method, MethodOutput, parse_method
from .click_graph import ClickGraph
from .continuation import ContinuableMethod, PreviousContributions
from .disconnected_graph import DisconnectedGraph
from .frequent_queries import FrequentQueries
from .microaggregation.base import Microaggregation
from .microaggregation.category import CategoryMicroaggregation
from .microaggregation.semantic import SemanticMicroaggregation, StringMicroaggregation
from .microaggregation.syntactic import SyntacticMicroaggregation
from .publication import pseudonymize
from .replacement.concept_histogram import ConceptHistogram
from .replacement.profile_first import ProfileFirst
from .replacement.semantic import SemanticReplacement
from .runner import check_parallelism, run_method
from .statistics.dp_statistics import DpStatistics

__all__ = [
    "METHODS",
    "CategoryMicroaggregation",
    "ClickGraph",
    "ConceptHistogram",
    "ContinuableMethod",
    "DisconnectedGraph",
    "DpStatistics",
    "FrequentQueries",
    "Method",
    "MethodOutput",
    "Microaggregation",
    "PreviousContributions",
    "ProfileFirst",
    "SemanticMicroaggregation",
    "SemanticReplacement",
    "StringMicroaggregation",
    "SyntacticMicroaggregation",
    "check_parallelism",
    "parse_method",
    "pseudonymize",
    "run_method",
]
