"""The published methods, one file each."""

from .base import Method, Parameter
from .frequent_queries import FrequentQueries
from .registry import all_methods, method_named, parse_method

__all__ = [
    "FrequentQueries",
    "Method",
    "Parameter",
    "all_methods",
    "method_named",
    "parse_method",
]
