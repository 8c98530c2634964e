"""The interface of a table on a cluster, and the functions that its partitions are passed to.

A remote table consists of partitions of whole users, each small enough for one process. Methods
need only a few operations: apply a function to every partition, sum the results by key, or collect
them. So the functions are the same for the local engine, where the whole log is one partition.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from ..core.randomness import RandomSource
from ..errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from .spark.session import SparkCluster


# Receives a partition of whole users and returns any table; must accept an empty partition.
PartitionFunction = Callable[[pl.LazyFrame, RandomSource], pl.DataFrame]


@dataclass(frozen=True, repr=False)
class PartitionOutput:
    """The result of one partition: protected rows, the mapping of pseudonyms, and counts by name.

    `texts` has further texts by name, which are the same for every partition.
    """

    rows: pl.DataFrame
    mapping: pl.DataFrame | None = None
    counts: dict[str, int] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)


ProtectFunction = Callable[[pl.LazyFrame, RandomSource], PartitionOutput]


@dataclass(frozen=True, repr=False)
class ProtectedTable:
    """The results of all partitions; their rows are mixed and in random order."""

    rows: pl.LazyFrame
    mapping: pl.DataFrame | pl.LazyFrame | None
    counts: dict[str, int]
    texts: dict[str, list[str]] = field(default_factory=dict)


class RemoteTable(ABC):
    """A table in partitions on other machines; `operations` documents each operation."""

    engine: str

    @abstractmethod
    def map_partitions(self, work: PartitionFunction, rng: RandomSource) -> RemoteTable:
        """Apply a function to each partition once, and store the results as a table."""

    @abstractmethod
    def aggregate_remote(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        rng: RandomSource | None,
        tops: Sequence[str],
    ) -> RemoteTable:
        """Sum the results of a function by key; the result is partitioned by key, not by user."""

    @abstractmethod
    def aggregate(
        self,
        work: PartitionFunction,
        keys: Sequence[str],
        rng: RandomSource | None,
        tops: Sequence[str],
        at_least: tuple[str, int] | None,
    ) -> pl.DataFrame:
        """Sum the results of a function by key, and collect the sums."""

    @abstractmethod
    def count_distinct(self, column: str) -> int:
        """Count the distinct values of a column."""

    @abstractmethod
    def protect_partitions(
        self, work: ProtectFunction, rng: RandomSource, at_once: int
    ) -> ProtectedTable:
        """Apply a function that returns protected rows to each partition, once.

        Partitions of one task are merged up to `at_once` rows.
        """

    @abstractmethod
    def repartition(self, blocks: RemoteTable) -> RemoteTable:
        """Repartition by block; `blocks` is derived from this table and has user and block."""

    @abstractmethod
    def count_users_by_flags(
        self, key: str, key_sizes: RemoteTable, flag_keys: PartitionFunction
    ) -> pl.DataFrame:
        """Count users by the union of the flags of their keys."""


Table = pl.LazyFrame | RemoteTable


ENGINES = ("local", "spark")


@dataclass(frozen=True)
class EngineConfig:
    """Where the operations of methods run.

    Attributes:
        name: `local`, which is this process, or `spark`.
        spark_master: The cluster; by default the active session, otherwise this machine.
        spark_scratch: A folder that all machines of the cluster can access; it holds the log during
            the run.
        spark_config: Further settings of Spark, by name.
    """

    name: str = "local"
    spark_master: str | None = None
    spark_scratch: str | None = None
    spark_config: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise UsageError(
                f'there is no engine "{self.name}"', hint=did_you_mean(self.name, ENGINES)
            )
        if not self.is_remote and (self.spark_master or self.spark_scratch or self.spark_config):
            raise UsageError(
                "the options of a cluster need the engine spark", hint='add `engine="spark"`'
            )

    @property
    def is_remote(self) -> bool:
        """Whether the log is processed by Spark."""
        return self.name != "local"

    def open(self) -> SparkCluster:
        """Start Spark, or use the active session. Spark is not imported before this call."""
        from .spark.session import open_spark  # noqa: PLC0415  (an optional package)

        return open_spark(self.spark_master, self.spark_scratch, self.spark_config)
