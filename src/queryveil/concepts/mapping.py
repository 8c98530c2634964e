"""What was found: for each distinct query its phrases, and for each phrase its concept."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from .taxonomy import Taxonomy

__all__ = ["Mapping"]


@dataclass(frozen=True, eq=False)
class Mapping:
    """Distinct queries and their phrases."""

    taxonomy: Taxonomy
    queries: pl.Series
    phrases: pl.DataFrame
