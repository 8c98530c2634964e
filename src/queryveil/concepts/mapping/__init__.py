"""Mapping of queries to concepts of a taxonomy."""
