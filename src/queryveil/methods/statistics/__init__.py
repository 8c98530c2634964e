"""Differentially private statistics of a log: noisy counts of queries, clicks and transitions."""
