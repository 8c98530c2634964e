"""Helpers that several measures use."""
