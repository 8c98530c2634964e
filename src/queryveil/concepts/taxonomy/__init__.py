"""Concepts in flat arrays: the graph, its file, how it is made, checked, combined and searched."""
