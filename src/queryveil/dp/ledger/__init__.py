"""What was spent on a population: a file to which rows are only ever added."""

from .chain import ChainHead
from .entries import ENTRY_KINDS, EntryKind, EntryState, LedgerEntry
from .ledger import Ledger
from .limits import COMPOSITIONS, Budget, Composition, Limit
from .place import locate_ledger
from .streams import ReleaseStream
from .warnings import warnings_of

__all__ = [
    "COMPOSITIONS",
    "ENTRY_KINDS",
    "Budget",
    "ChainHead",
    "Composition",
    "EntryKind",
    "EntryState",
    "Ledger",
    "LedgerEntry",
    "Limit",
    "ReleaseStream",
    "locate_ledger",
    "warnings_of",
]
