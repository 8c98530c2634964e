"""Looking at private data to choose parameters: no epsilon covers that, so the ledger tells it."""

from __future__ import annotations

from ..dp import Ledger
from ..log import QueryLog
from ..methods import Method
from .spending import PEEKED, open_account

__all__ = ["NOTED", "is_private", "note_peek"]

NOTED = f"Noted in the ledger, for all later releases: {PEEKED}."

_PRIVATE = ("pure-dp", "approx-dp", "conditional-dp")


def is_private(method: Method) -> bool:
    """Tell whether a method promises differential privacy, of any kind."""
    return method.guarantee().model in _PRIVATE


def note_peek(log: QueryLog, method: Method, dataset: str | None, what: str | None = None) -> None:
    """Note in the ledger that the log is looked at for a method, or for `what`, before it is."""
    account = open_account(log, method, method.guarantee(), dataset=dataset, seeded=False)
    if account.path is None:
        return
    with Ledger.open(account.path) as ledger:
        ledger.reserve(
            kind="look", method=what or str(method), log_digest=account.digest, notes=(PEEKED,)
        )
