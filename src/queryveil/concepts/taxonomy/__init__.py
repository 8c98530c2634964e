"""Concepts in flat arrays: the graph, its file, how it is made, checked, combined and searched."""

from .arrays import Bytes, Flags, Ints, Lists, Texts
from .check import check_taxonomy, describe_taxonomy
from .combine import combine
from .draft import Draft, Repairs
from .graph import Taxonomy
from .search import Search, search_path, write_search

__all__ = [
    "Bytes",
    "Draft",
    "Flags",
    "Ints",
    "Lists",
    "Repairs",
    "Search",
    "Taxonomy",
    "Texts",
    "check_taxonomy",
    "combine",
    "describe_taxonomy",
    "search_path",
    "write_search",
]
