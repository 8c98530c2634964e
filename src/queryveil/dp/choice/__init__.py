"""Choosing one of many: the exponential mechanism on integer weights, calibrated exactly."""

from .calibration import calibrate_bounded_range, calibrate_exact, calibrate_nominal
from .choices import Candidates
from .draw import sample
from .flip import check_permute_and_flip, permute_and_flip
from .scores import ScoreFunction, ScoreTable
from .weights import ExponentialWeights, max_log_ratio

__all__ = [
    "Candidates",
    "ExponentialWeights",
    "ScoreFunction",
    "ScoreTable",
    "calibrate_bounded_range",
    "calibrate_exact",
    "calibrate_nominal",
    "check_permute_and_flip",
    "max_log_ratio",
    "permute_and_flip",
    "sample",
]
