"""Looking at private data to choose parameters: no epsilon covers that, so the ledger tells it."""

from __future__ import annotations

from ..errors import QueryveilError
from ..ledger.ledger import Ledger
from ..log.query_log import QueryLog
from ..methods.base import Method
from ..workflows.budget import DATA_ACCESS_NOTE, ledger_of, log_fingerprint, plan_reservation

__all__ = ["DATA_ACCESS_RECORDED", "is_differentially_private", "note_look", "record_data_access"]

DATA_ACCESS_RECORDED = f"Noted in the ledger, for all later releases: {DATA_ACCESS_NOTE}."

_PRIVATE = ("pure-dp", "approx-dp", "conditional-dp")


def is_differentially_private(method: Method) -> bool:
    """Tell whether a method promises differential privacy, of any kind."""
    return method.guarantee().model in _PRIVATE


def record_data_access(
    log: QueryLog, method: Method, dataset: str | None, what: str | None = None
) -> None:
    """Note in the ledger that the log is looked at for a method, or for `what`, before it is."""
    account = plan_reservation(log, method, method.guarantee(), dataset=dataset, seeded=False)
    if account.path is None:
        return
    with Ledger.open(account.path) as ledger:
        ledger.reserve(
            kind="look",
            method=what or str(method),
            log_digest=account.digest,
            notes=(DATA_ACCESS_NOTE,),
        )


def note_look(log: QueryLog, dataset: str | None, what: str) -> list[str]:
    """Note in the ledger that exact figures of a log are looked at; return what its owner is told.

    Nobody is kept from looking: if the ledger cannot be written, that is told instead. One note of
    a kind is enough. A log that comes from no file has no ledger, unless the population is named.
    """
    if not log.sources and dataset is None:
        return []
    try:
        with Ledger.open(ledger_of(log, dataset)) as ledger:
            if not any((e.kind, e.method) == ("look", what) for e in ledger.entries()):
                ledger.reserve(
                    kind="look",
                    method=what,
                    log_digest=log_fingerprint(log),
                    notes=(DATA_ACCESS_NOTE,),
                )
    except (QueryveilError, OSError) as error:
        return [f"Not noted in a ledger, though it should be ({error}). {_KNOW}"]
    return [DATA_ACCESS_RECORDED]


_KNOW = "Say it yourself where a private release is published: parameters were chosen after looking"
