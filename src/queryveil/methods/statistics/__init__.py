"""Differentially private statistics of a log: noisy counts of queries, clicks and transitions."""

from .method import DpStatistics

__all__ = ["DpStatistics"]
