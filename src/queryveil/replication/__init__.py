"""Replication of published experiments: figures, claims and whether they hold."""

from .replicating import PAPERS, replicate

__all__ = ["PAPERS", "replicate"]
