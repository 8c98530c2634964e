"""How alike concepts and users are: distances, similarities, profiles, levels, topics."""

from .prefixes import ancestors_at_depth, level_matrices
from .profiles import (
    UNMAPPED,
    Profiles,
    build_profiles,
    centroid_concept,
    count_concepts,
    profile_distance,
    profile_distances,
)
from .similarity import (
    concept_distance,
    concept_similarity,
    pairwise_distances,
    pairwise_similarities,
)
from .tables import distance_table
from .topics import Topics, default_topics, select_topics, topic_preset

__all__ = [
    "UNMAPPED",
    "Profiles",
    "Topics",
    "ancestors_at_depth",
    "build_profiles",
    "centroid_concept",
    "concept_distance",
    "concept_similarity",
    "count_concepts",
    "default_topics",
    "distance_table",
    "level_matrices",
    "pairwise_distances",
    "pairwise_similarities",
    "profile_distance",
    "profile_distances",
    "select_topics",
    "topic_preset",
]
