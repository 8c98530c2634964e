"""A table that lies elsewhere, and what its shares are run through.

A far table is kept in shares of whole users, each small enough for one process. All that methods
do with a log is made of a few steps: run every share through a function of ours, add up what
comes out key by key, or bring it here. So the functions are the same here and there. On this
machine the whole log is one share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from ..core.randomness import RandomSource
from ..errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from .spark.session import SparkCluster


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


ENGINES = ("local", "spark")


@dataclass(frozen=True)
class EngineConfig:
    """Where the steps of methods run.

    name
        `local`, which is this machine, or `spark`
    master
        the cluster; without it the session that runs already, else this machine
    scratch
        a folder that all machines of the cluster see; it holds the log while this runs
    settings
        further settings of Spark, by their names
    """

    name: str = "local"
    master: str | None = None
    scratch: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise UsageError(
                f'there is no engine "{self.name}"', hint=did_you_mean(self.name, ENGINES)
            )
        if not self.is_remote and (self.master or self.scratch or self.settings):
            raise UsageError("a cluster is named, but not the engine", hint="--engine spark")

    @property
    def is_remote(self) -> bool:
        """Whether the log goes to other machines."""
        return self.name != "local"

    def open(self) -> SparkCluster:
        """Start the engine, or take the session that runs; only here is Spark imported."""
        try:
            from .spark.session import open_spark
        except ImportError as error:
            raise UsageError(
                "the Spark engine needs PySpark and Arrow", hint="pip install 'queryveil[spark]'"
            ) from error
        return open_spark(self.master, self.scratch, self.settings)
