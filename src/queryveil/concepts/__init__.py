"""Taxonomies, the mapping of queries to concepts, and semantic similarity."""

from .loaders.base import LoadedTaxonomy, LoaderOption, TaxonomyLoader
from .loaders.odp import OdpImport, import_odp
from .loaders.paths import PathsImport, PathTree, import_paths, taxonomy_from_paths
from .loaders.registry import (
    BUILT_IN,
    TAXONOMY_LOADERS,
    open_taxonomy,
    public_names,
    read_custom_terms,
)
from .loaders.skos import import_skos
from .loaders.table import import_table
from .mapping.explanation import explain_query
from .mapping.label_index import MATCH_KINDS
from .mapping.language import Language, get_language
from .mapping.mapper import TAGGERS, Mapper
from .mapping.result import ConceptMapping
from .mapping.tagging import MODIFIER, NOUN, OTHER, VERB, Tagger
from .mapping.tokens import Vocabulary, WordFeature, tokenize
from .similarity.distance import (
    concept_distance,
    concept_similarity,
    distance_table,
    pairwise_distances,
    pairwise_similarities,
)
from .similarity.profiles import (
    UNMAPPED,
    Profiles,
    build_profiles,
    centroid_concept,
    count_concepts,
    profile_distance,
    profile_distances,
)
from .similarity.topics import (
    Topics,
    ancestors_at_depth,
    default_topics,
    level_matrices,
    select_topics,
    topic_preset,
)
from .taxonomy.arrays import BoolArray, ByteArray, IntArray, RaggedArray, StringArray
from .taxonomy.builder import RepairLog, TaxonomyBuilder
from .taxonomy.graph import Taxonomy
from .taxonomy.merging import merge_taxonomies
from .taxonomy.search_index import SearchIndex, index_path, write_index
from .taxonomy.validation import check_taxonomy, describe_taxonomy

__all__ = [
    "BUILT_IN",
    "MATCH_KINDS",
    "MODIFIER",
    "NOUN",
    "OTHER",
    "TAGGERS",
    "TAXONOMY_LOADERS",
    "UNMAPPED",
    "VERB",
    "BoolArray",
    "ByteArray",
    "ConceptMapping",
    "IntArray",
    "Language",
    "LoadedTaxonomy",
    "LoaderOption",
    "Mapper",
    "OdpImport",
    "PathTree",
    "PathsImport",
    "Profiles",
    "RaggedArray",
    "RepairLog",
    "SearchIndex",
    "StringArray",
    "Tagger",
    "Taxonomy",
    "TaxonomyBuilder",
    "TaxonomyLoader",
    "Topics",
    "Vocabulary",
    "WordFeature",
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
    "get_language",
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
    "tokenize",
    "topic_preset",
    "write_index",
]
