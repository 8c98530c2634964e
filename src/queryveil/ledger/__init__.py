"""The ledger: what all releases about a population cost, kept in one append-only file."""

from .entries import ENTRY_KINDS, EntryKind, EntryState, LedgerEntry
from .ledger import Ledger, locate_ledger
from .limits import COMPOSITIONS, Budget, Composition, Limit
from .state import warnings_of
from .store import ChainHead
from .streams import ReleaseStream

__all__ = [
    "Budget",
    "COMPOSITIONS",
    "ChainHead",
    "Composition",
    "ENTRY_KINDS",
    "EntryKind",
    "EntryState",
    "Ledger",
    "LedgerEntry",
    "Limit",
    "ReleaseStream",
    "locate_ledger",
    "warnings_of",
]
