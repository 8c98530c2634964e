"""What every differentially private method assumes of how its log was read: on all cards alike."""

from __future__ import annotations

__all__ = ["FAILURES", "READ_ALONE"]

READ_ALONE = (
    "each row of the log was read by its own text alone: the file's name, its header and the owner "
    "say how (format, columns, form of times), and no row does; what wrote the log kept rows "
    "apart, so that no query ends its row or begins another"
)
FAILURES = (
    "that a run failed and nothing was published, because a file was damaged or too large as a "
    "whole, or a machine had not enough memory; rows that cannot be read, or none at all, stop none"
)
