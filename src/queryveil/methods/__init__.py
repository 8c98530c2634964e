"""The published methods, one file each."""

from .base import Method, Parameter
from .frequent_queries import FrequentQueries
from .microaggregation.category import CategoryMicroaggregation
from .microaggregation.semantic import SemanticMicroaggregation, StringMicroaggregation
from .microaggregation.spelling import SyntacticMicroaggregation
from .registry import all_methods, method_named, parse_method

__all__ = [
    "CategoryMicroaggregation",
    "FrequentQueries",
    "Method",
    "Parameter",
    "SemanticMicroaggregation",
    "StringMicroaggregation",
    "SyntacticMicroaggregation",
    "all_methods",
    "method_named",
    "parse_method",
]
