"""Taxonomies from files of others, and the registry that opens them."""
