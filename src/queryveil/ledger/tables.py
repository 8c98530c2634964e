"""The entries of a ledger as a table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import polars as pl

from .entries import LedgerEntry


def entries_to_polars(entries: Sequence[LedgerEntry]) -> pl.DataFrame:
    """Return one row per entry; epsilon and delta as the nearest floats."""
    return pl.DataFrame(
        [
            pl.Series("number", [entry.number for entry in entries], pl.Int64),
            pl.Series("time", [entry.time.replace(tzinfo=None) for entry in entries], pl.Datetime),
            pl.Series("kind", [entry.kind for entry in entries], pl.String),
            pl.Series("method", [entry.method for entry in entries], pl.String),
            pl.Series("epsilon", [_as_float(entry.epsilon) for entry in entries], pl.Float64),
            pl.Series("delta", [_as_float(entry.delta) for entry in entries], pl.Float64),
            pl.Series("relation", [entry.relation for entry in entries], pl.String),
            pl.Series("state", [entry.state for entry in entries], pl.String),
        ]
    )


def _as_float(amount: Fraction | None) -> float | None:
    return None if amount is None else float(amount)
