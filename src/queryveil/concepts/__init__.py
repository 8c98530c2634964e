"""What queries mean: a query becomes concepts of a taxonomy.

`Taxonomy` holds concepts (WordNet is inside, `loaders` bring others), `Mapper` finds them in
queries, and `profiles` say what each user is interested in.
"""

from .likeness.prefixes import level_matrices, prefixes
from .likeness.profiles import (
    UNMAPPED,
    Profiles,
    centre_concept,
    count_concepts,
    profile_distance,
    profile_distances,
    profiles_of,
)
from .likeness.similarity import distance, distances, similarities, similarity
from .likeness.tables import distance_table
from .likeness.topics import Topics, default_topics, preset, topics_of
from .loaders import (
    SKOS_ENDINGS,
    OdpImport,
    PathsImport,
    import_odp,
    import_paths,
    import_skos,
    import_table,
    taxonomy_of_paths,
)
from .mapping.explain import explain
from .mapping.found import Mapping
from .mapping.index import HOW
from .mapping.mapper import TAGGERS, Mapper
from .opening import BUILT_IN, file_names, open_taxonomy, read_terms
from .taxonomy.arrays import Lists, Texts
from .taxonomy.check import check_taxonomy, describe_taxonomy
from .taxonomy.combine import combine
from .taxonomy.draft import Draft, Repairs
from .taxonomy.graph import Taxonomy
from .taxonomy.search import Search, search_path, write_search

__all__ = [
    "BUILT_IN",
    "HOW",
    "SKOS_ENDINGS",
    "TAGGERS",
    "UNMAPPED",
    "Draft",
    "Lists",
    "Mapper",
    "Mapping",
    "OdpImport",
    "PathsImport",
    "Profiles",
    "Repairs",
    "Search",
    "Taxonomy",
    "Texts",
    "Topics",
    "centre_concept",
    "check_taxonomy",
    "combine",
    "count_concepts",
    "default_topics",
    "describe_taxonomy",
    "distance",
    "distance_table",
    "distances",
    "explain",
    "file_names",
    "import_odp",
    "import_paths",
    "import_skos",
    "import_table",
    "level_matrices",
    "open_taxonomy",
    "prefixes",
    "preset",
    "profile_distance",
    "profile_distances",
    "profiles_of",
    "read_terms",
    "search_path",
    "similarities",
    "similarity",
    "taxonomy_of_paths",
    "topics_of",
    "write_search",
]
