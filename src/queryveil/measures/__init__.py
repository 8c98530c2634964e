"""What risk and what use are left: one small file a measure."""

from .base import Measure
from .original import Original
from .profile_divergence import ProfileDivergence
from .registry import all_measures, measure_named, parse_measure

__all__ = [
    "Measure",
    "Original",
    "ProfileDivergence",
    "all_measures",
    "measure_named",
    "parse_measure",
]
