"""One loader for each form in which knowledge bases come."""

from .paths import PathTree, taxonomy_of_paths

__all__ = ["PathTree", "taxonomy_of_paths"]
