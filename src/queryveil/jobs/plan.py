"""What would be released, before anything is written."""

from __future__ import annotations

from typing import Any

from ..engine import Progress, Silent
from ..log import QueryLog
from ..methods import Method
from .anonymize import anonymize

__all__ = ["plan"]


def plan(log: QueryLog, method: Method, *, progress: Progress | None = None) -> dict[str, Any]:
    """Give the internal card as it would be, and what other parameters would give.

    Nothing is written. The figures are exact figures of the log: they are for its owner.
    """
    shown = progress or Silent()
    with shown.stage("compare"):
        alternatives = method.alternatives(log)
    card = anonymize(log, method, progress=shown).planned_card()
    return card | {"alternatives": alternatives}
