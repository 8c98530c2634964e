"""The published experiments, run again: figures, claims and whether they hold."""

from .replicating import PAPERS, replicate

__all__ = ["PAPERS", "replicate"]
