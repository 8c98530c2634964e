"""Differentially private statistics of a log: queries, clicks and transitions."""
