"""The result of a check of a release."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.records import Record


@dataclass(frozen=True, repr=False)
class CheckResult(Record):
    """The result of a check; `holds` is None where this version of queryveil cannot decide."""

    shown = ("check", "holds", "message")

    check: str
    holds: bool | None
    message: str
