"""Differential privacy: noise, thresholds, what they cost, and the ledger of what was spent."""

from .amounts import check_delta, check_epsilon, exact_text, read_delta, read_epsilon, show_amount
from .ledger import (
    COMPOSITIONS,
    KINDS,
    Budget,
    Composition,
    Entry,
    Head,
    Kind,
    Ledger,
    Limit,
    State,
    Stream,
    ledger_path,
    warnings_of,
)
from .losses import RELATIONS, Loss, Relation, losses_of, pure_rho
from .noise import Noise
from .sketch import Sketch
from .tables import NoisyCounts, Shape, gaussian_tables, laplace_tables
from .union import KnownCounts, UnionTables, WeightedSelection, union_tables

__all__ = [
    "COMPOSITIONS",
    "KINDS",
    "RELATIONS",
    "Budget",
    "Composition",
    "Entry",
    "Head",
    "Kind",
    "KnownCounts",
    "Ledger",
    "Limit",
    "Loss",
    "Noise",
    "NoisyCounts",
    "Relation",
    "Shape",
    "Sketch",
    "State",
    "Stream",
    "UnionTables",
    "WeightedSelection",
    "check_delta",
    "check_epsilon",
    "exact_text",
    "gaussian_tables",
    "laplace_tables",
    "ledger_path",
    "losses_of",
    "pure_rho",
    "read_delta",
    "read_epsilon",
    "show_amount",
    "union_tables",
    "warnings_of",
]
