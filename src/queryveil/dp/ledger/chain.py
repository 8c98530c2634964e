"""The chain of a ledger's rows.

A row holds an event as canonical JSON, and the SHA-256 of the row before's hash followed by that
JSON. Rows are numbered 1, 2, 3, ... without a gap.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import VerificationError

__all__ = [
    "KEEP",
    "START",
    "ChainHead",
    "canonical_json",
    "chain_error",
    "chain_hash",
    "parse_event",
]

KEEP = "keep the file and bring back a copy from before; a new ledger would forget what was spent"


class ChainHead(NamedTuple):
    """The last row: its number and its hash."""

    number: int
    hash: str


START = ChainHead(0, "0" * 64)


def canonical_json(event: dict[str, Any]) -> str:
    """Write an event in its one form."""
    return json.dumps(event, sort_keys=True, separators=(",", ":"), allow_nan=False)


def chain_hash(before: ChainHead, text: str) -> str:
    """Give the hash of a row after the one before."""
    return sha256(f"{before.hash}\n{text}".encode()).hexdigest()


def parse_event(path: Path, number: int, text: str) -> dict[str, Any]:
    """Read the event of a row."""
    try:
        event = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise chain_error(path, number, "is no JSON") from error
    if not isinstance(event, dict):
        raise chain_error(path, number, "is no event")
    return event


def chain_error(path: Path, number: int, says: str) -> VerificationError:
    """Make the error that tells which row breaks the chain."""
    return VerificationError(f"row {number} {says}", where=path, hint=KEEP)
