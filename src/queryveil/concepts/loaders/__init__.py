"""Importers for taxonomies in other file formats, and the registry that opens taxonomies."""
