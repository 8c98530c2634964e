"""Replication of published experiments: figures, claims and whether they hold."""

from .replicating import PAPERS, replicate
from .result import Replication

__all__ = ["PAPERS", "Replication", "replicate"]
