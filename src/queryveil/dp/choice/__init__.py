"""Choosing one of many: the exponential mechanism on integer weights, calibrated exactly."""

from .calibration import apart_by, calibrate, nominal
from .choices import Choices
from .draw import draw
from .flip import check_flip, flip
from .scores import Scores, TableScores
from .weights import Weights, worst_ratio

__all__ = [
    "Choices",
    "Scores",
    "TableScores",
    "Weights",
    "apart_by",
    "calibrate",
    "check_flip",
    "draw",
    "flip",
    "nominal",
    "worst_ratio",
]
