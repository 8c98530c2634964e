"""Differential privacy: noise, thresholds, what they cost, and the ledger of what was spent."""
