"""Differential privacy: budgets, accounting, noise and mechanisms, with proofs in docs/privacy."""

from .budget import (
    check_delta,
    check_epsilon,
    format_amount,
    format_exact,
    parse_delta,
    parse_epsilon,
)
from .exponential.calibration import calibrate_bounded_range, calibrate_exact, calibrate_nominal
from .exponential.sampling import check_permute_and_flip, permute_and_flip, sample
from .exponential.weights import (
    Candidates,
    ExponentialWeights,
    ScoreFunction,
    ScoreTable,
    max_log_ratio,
)
from .losses import RELATIONS, Loss, Relation, losses_of, pure_rho
from .noise import NoiseSource
from .set_union import GaussianCounts, SetUnionRelease, WeightedSelection, calibrate_set_union
from .sketch import NoisySketch
from .thresholded_counts import (
    TableBudget,
    ThresholdedCounts,
    calibrate_gaussian,
    calibrate_laplace,
)

__all__ = [
    "RELATIONS",
    "Candidates",
    "ExponentialWeights",
    "GaussianCounts",
    "Loss",
    "NoiseSource",
    "NoisySketch",
    "Relation",
    "ScoreFunction",
    "ScoreTable",
    "SetUnionRelease",
    "TableBudget",
    "ThresholdedCounts",
    "WeightedSelection",
    "calibrate_bounded_range",
    "calibrate_exact",
    "calibrate_gaussian",
    "calibrate_laplace",
    "calibrate_nominal",
    "calibrate_set_union",
    "check_delta",
    "check_epsilon",
    "check_permute_and_flip",
    "format_amount",
    "format_exact",
    "losses_of",
    "max_log_ratio",
    "parse_delta",
    "parse_epsilon",
    "permute_and_flip",
    "pure_rho",
    "sample",
]
