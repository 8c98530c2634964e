"""Microaggregation: users become alike in groups of at least k.

The family shares three parts: how far users are from each other, how they are partitioned into
groups (`partition`), and the prototype, the log that all users of a group get (`prototype`).
"""
