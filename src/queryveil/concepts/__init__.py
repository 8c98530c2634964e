"""What queries mean: a query becomes concepts of a taxonomy.

`Taxonomy` holds concepts (WordNet is inside, `loaders` bring others), `Mapper` finds them in
queries, and `profiles` say what each user is interested in.
"""

from .likeness.prefixes import ancestors_at_depth, level_matrices
from .likeness.profiles import (
    UNMAPPED,
    Profiles,
    build_profiles,
    centroid_concept,
    count_concepts,
    profile_distance,
    profile_distances,
)
from .likeness.similarity import (
    concept_distance,
    concept_similarity,
    pairwise_distances,
    pairwise_similarities,
)
from .likeness.tables import distance_table
from .likeness.topics import Topics, default_topics, select_topics, topic_preset
from .loaders import (
    SKOS_ENDINGS,
    OdpImport,
    PathsImport,
    import_odp,
    import_paths,
    import_skos,
    import_table,
    taxonomy_from_paths,
)
from .mapping.explain import explain_query
from .mapping.found import ConceptMapping
from .mapping.index import MATCH_KINDS
from .mapping.mapper import TAGGERS, Mapper
from .opening import BUILT_IN, open_taxonomy, public_names, read_custom_terms
from .taxonomy.arrays import RaggedArray, StringArray
from .taxonomy.check import check_taxonomy, describe_taxonomy
from .taxonomy.combine import merge_taxonomies
from .taxonomy.draft import RepairLog, TaxonomyBuilder
from .taxonomy.graph import Taxonomy
from .taxonomy.search import SearchIndex, index_path, write_index

__all__ = [
    "BUILT_IN",
    "MATCH_KINDS",
    "SKOS_ENDINGS",
    "TAGGERS",
    "UNMAPPED",
    "ConceptMapping",
    "Mapper",
    "OdpImport",
    "PathsImport",
    "Profiles",
    "RaggedArray",
    "RepairLog",
    "SearchIndex",
    "StringArray",
    "Taxonomy",
    "TaxonomyBuilder",
    "Topics",
    "ancestors_at_depth",
    "build_profiles",
    "centroid_concept",
    "check_taxonomy",
    "concept_distance",
    "concept_similarity",
    "count_concepts",
    "default_topics",
    "describe_taxonomy",
    "distance_table",
    "explain_query",
    "import_odp",
    "import_paths",
    "import_skos",
    "import_table",
    "index_path",
    "level_matrices",
    "merge_taxonomies",
    "open_taxonomy",
    "pairwise_distances",
    "pairwise_similarities",
    "profile_distance",
    "profile_distances",
    "public_names",
    "read_custom_terms",
    "select_topics",
    "taxonomy_from_paths",
    "topic_preset",
    "write_index",
]
