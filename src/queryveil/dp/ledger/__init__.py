"""What was spent on a population: a file to which rows are only ever added."""

from .chain import Head
from .entries import KINDS, Budget, Entry, Kind, State, warnings_of
from .ledger import Ledger
from .place import ledger_path
from .streams import Stream

__all__ = [
    "KINDS",
    "Budget",
    "Entry",
    "Head",
    "Kind",
    "Ledger",
    "State",
    "Stream",
    "ledger_path",
    "warnings_of",
]
