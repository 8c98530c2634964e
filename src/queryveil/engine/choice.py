"""Which engine was asked for, and where its cluster is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from .spark.session import SparkCluster

__all__ = ["ENGINES", "EngineConfig"]

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
