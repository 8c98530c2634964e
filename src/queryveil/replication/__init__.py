"""."""

from .replicating import PAPERS, replicate

__all__ = ["PAPERS", "replicate"]
