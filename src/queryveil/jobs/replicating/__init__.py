"""Evaluations of papers, done again: figures, claims, and which of them hold."""
