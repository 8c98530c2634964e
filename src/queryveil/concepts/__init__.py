"""What queries mean: a query becomes concepts of a taxonomy."""

from .arrays import Lists, Texts
from .draft import Draft, Repairs
from .loaders import taxonomy_of_paths
from .taxonomy import Taxonomy

__all__ = ["Draft", "Lists", "Repairs", "Taxonomy", "Texts", "taxonomy_of_paths"]
