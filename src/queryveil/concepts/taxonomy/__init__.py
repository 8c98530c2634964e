"""Taxonomies: arrays, graph, file format, search index and checks."""
