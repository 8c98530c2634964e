"""One loader for each form in which knowledge bases come."""

from .odp import OdpImport, import_odp
from .paths import PathsImport, PathTree, import_paths, taxonomy_from_paths
from .skos import SKOS_ENDINGS, import_skos
from .table import import_table

__all__ = [
    "SKOS_ENDINGS",
    "OdpImport",
    "PathTree",
    "PathsImport",
    "import_odp",
    "import_paths",
    "import_skos",
    "import_table",
    "taxonomy_from_paths",
]
