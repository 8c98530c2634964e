"""Concepts in flat arrays: the graph, its file, how it is made, checked, combined and searched."""

from .arrays import BoolArray, ByteArray, IntArray, RaggedArray, StringArray
from .check import check_taxonomy, describe_taxonomy
from .combine import merge_taxonomies
from .draft import RepairLog, TaxonomyBuilder
from .graph import Taxonomy
from .search import SearchIndex, index_path, write_index

__all__ = [
    "BoolArray",
    "ByteArray",
    "IntArray",
    "RaggedArray",
    "RepairLog",
    "SearchIndex",
    "StringArray",
    "Taxonomy",
    "TaxonomyBuilder",
    "check_taxonomy",
    "describe_taxonomy",
    "index_path",
    "merge_taxonomies",
    "write_index",
]
