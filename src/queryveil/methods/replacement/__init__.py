"""Differentially private replacement of queries by concepts of a taxonomy."""
