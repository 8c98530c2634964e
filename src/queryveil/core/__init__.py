"""Helpers that know nothing of query logs: parameters, randomness, progress, files, extras."""
