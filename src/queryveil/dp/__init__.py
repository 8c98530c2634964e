"""Differential privacy: noise, thresholds, what they cost, and the ledger of what was spent."""

from .amounts import (
    check_delta,
    check_epsilon,
    format_amount,
    format_exact,
    parse_delta,
    parse_epsilon,
)
from .ledger import (
    COMPOSITIONS,
    ENTRY_KINDS,
    Budget,
    ChainHead,
    Composition,
    EntryKind,
    EntryState,
    Ledger,
    LedgerEntry,
    Limit,
    ReleaseStream,
    locate_ledger,
    warnings_of,
)
from .losses import RELATIONS, Loss, Relation, losses_of, pure_rho
from .noise import NoiseSource
from .sketch import NoisySketch
from .tables import TableBudget, ThresholdedCounts, calibrate_gaussian, calibrate_laplace
from .union import GaussianCounts, SetUnionRelease, WeightedSelection, calibrate_set_union

__all__ = [
    "COMPOSITIONS",
    "ENTRY_KINDS",
    "RELATIONS",
    "Budget",
    "ChainHead",
    "Composition",
    "EntryKind",
    "EntryState",
    "GaussianCounts",
    "Ledger",
    "LedgerEntry",
    "Limit",
    "Loss",
    "NoiseSource",
    "NoisySketch",
    "Relation",
    "ReleaseStream",
    "SetUnionRelease",
    "TableBudget",
    "ThresholdedCounts",
    "WeightedSelection",
    "calibrate_gaussian",
    "calibrate_laplace",
    "calibrate_set_union",
    "check_delta",
    "check_epsilon",
    "format_amount",
    "format_exact",
    "locate_ledger",
    "losses_of",
    "parse_delta",
    "parse_epsilon",
    "pure_rho",
    "warnings_of",
]
