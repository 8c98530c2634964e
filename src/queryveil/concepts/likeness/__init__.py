"""How alike concepts and users are: distances, similarities, profiles, levels, topics."""

from .prefixes import level_matrices, prefixes
from .profiles import (
    UNMAPPED,
    Profiles,
    centre_concept,
    count_concepts,
    profile_distance,
    profile_distances,
    profiles_of,
)
from .similarity import distance, distances, similarities, similarity
from .tables import distance_table
from .topics import Topics, default_topics, preset, topics_of

__all__ = [
    "UNMAPPED",
    "Profiles",
    "Topics",
    "centre_concept",
    "count_concepts",
    "default_topics",
    "distance",
    "distance_table",
    "distances",
    "level_matrices",
    "prefixes",
    "preset",
    "profile_distance",
    "profile_distances",
    "profiles_of",
    "similarities",
    "similarity",
    "topics_of",
]
