"""The published methods, one file each."""

from .base import Method, Parameter, PreviousContributions
from .click_graph import ClickGraph
from .disconnected_graph import DisconnectedGraph
from .frequent_queries import FrequentQueries
from .microaggregation.category import CategoryMicroaggregation
from .microaggregation.family import Microaggregation
from .microaggregation.semantic import SemanticMicroaggregation, StringMicroaggregation
from .microaggregation.spelling import SyntacticMicroaggregation
from .registry import all_methods, get_method, parse_method
from .replacement import ConceptHistogram, ProfileFirst, SemanticReplacement
from .spreading import check_parallelism, judged, run_method
from .statistics import DpStatistics

__all__ = [
    "CategoryMicroaggregation",
    "ClickGraph",
    "ConceptHistogram",
    "DisconnectedGraph",
    "DpStatistics",
    "FrequentQueries",
    "Method",
    "Microaggregation",
    "Parameter",
    "PreviousContributions",
    "ProfileFirst",
    "SemanticMicroaggregation",
    "SemanticReplacement",
    "StringMicroaggregation",
    "SyntacticMicroaggregation",
    "all_methods",
    "check_parallelism",
    "get_method",
    "judged",
    "parse_method",
    "run_method",
]
