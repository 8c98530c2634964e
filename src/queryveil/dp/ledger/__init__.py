"""What was spent on a population: a file to which rows are only ever added."""

from .chain import Head
from .entries import KINDS, Entry, Kind, State
from .ledger import Ledger
from .limits import COMPOSITIONS, Budget, Composition, Limit
from .place import ledger_path
from .streams import Stream
from .warnings import warnings_of

__all__ = [
    "COMPOSITIONS",
    "KINDS",
    "Budget",
    "Composition",
    "Entry",
    "Head",
    "Kind",
    "Ledger",
    "Limit",
    "State",
    "Stream",
    "ledger_path",
    "warnings_of",
]
