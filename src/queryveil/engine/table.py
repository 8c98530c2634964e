"""A table that lies elsewhere, and what its shares are run through.

A far table is kept in shares of whole users, each small enough for one process. All that methods
do with a log is made of a few steps: run every share through a function of ours, add up what
comes out key by key, or bring it here. So the functions are the same here and there. On this
machine the whole log is one share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from ..core.randomness import RandomSource

# What is done with one share: a table of whole users in, any table out; it must take an empty one.
PartitionFunction = Callable[[pl.LazyFrame, RandomSource], pl.DataFrame]


@dataclass(frozen=True, repr=False)
class PartitionOutput:
    """What becomes of one share: rows to publish, who is who, and counts by what they count.

    `told` is what every share tells alike.
    """

    rows: pl.DataFrame
    mapping: pl.DataFrame | None = None
    counts: dict[str, int] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)


ProtectFunction = Callable[[pl.LazyFrame, RandomSource], PartitionOutput]


@dataclass(frozen=True, repr=False)
class ProtectedTable:
    """What becomes of all shares; the rows of different shares are mixed, in random order."""

    rows: pl.LazyFrame
    mapping: pl.DataFrame | pl.LazyFrame | None
    counts: dict[str, int]
    shared: dict[str, Any] = field(default_factory=dict)


class RemoteTable(ABC):
    """A table on other machines, in shares; see `steps` for what each step means."""

    engine: str

    @abstractmethod
    def map_partitions(self, work: PartitionFunction, chance: RandomSource) -> RemoteTable:
        """Make the table of what a function gives for each share, once and for all."""

    @abstractmethod
    def aggregate_remote(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        chance: RandomSource | None,
        tops: Sequence[str],
    ) -> RemoteTable:
        """Add up by keys what a function gives for each share; the shares are those of keys."""

    @abstractmethod
    def aggregate(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        chance: RandomSource | None,
        tops: Sequence[str],
        at_least: tuple[str, int] | None,
    ) -> pl.DataFrame:
        """Add up by keys what a function gives for each share, and bring it here."""

    @abstractmethod
    def count_distinct(self, column: str) -> int:
        """Count the different values of a column."""

    @abstractmethod
    def protect_partitions(
        self, work: ProtectFunction, chance: RandomSource, at_once: int
    ) -> ProtectedTable:
        """Run each share through a function that makes it fit for publication, once.

        Shares of a machine are taken together up to so many rows.
        """

    @abstractmethod
    def repartition(self, blocks: RemoteTable) -> RemoteTable:
        """Cut the table into other shares: `blocks`, derived from it, has user and block."""

    @abstractmethod
    def count_users_by_flags(
        self, key: str, sizes: RemoteTable, marks: PartitionFunction
    ) -> pl.DataFrame:
        """Count users by the marks that their keys have."""


Table = pl.LazyFrame | RemoteTable
