"""The protocol played on a log: who learns what of whom, and what it costs."""
