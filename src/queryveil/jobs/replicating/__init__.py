"""Evaluations of papers, done again: figures, claims, and which of them hold."""

from .replicate import PAPERS, replicate

__all__ = ["PAPERS", "replicate"]
