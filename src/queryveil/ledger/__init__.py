"""The ledger: the privacy budget of all releases about a population, in one append-only file."""

from .entries import ENTRY_KINDS, EntryDetails, EntryKind, EntryState, LedgerEntry
from .ledger import Ledger
from .limits import COMPOSITIONS, Budget, Composition, Limit
from .location import locate_ledger
from .reservation import Reservation
from .state import warnings_of
from .store import ChainHead
from .streams import ReleaseStream

__all__ = [
    "COMPOSITIONS",
    "ENTRY_KINDS",
    "Budget",
    "ChainHead",
    "Composition",
    "EntryDetails",
    "EntryKind",
    "EntryState",
    "Ledger",
    "LedgerEntry",
    "Limit",
    "ReleaseStream",
    "Reservation",
    "locate_ledger",
    "warnings_of",
]
