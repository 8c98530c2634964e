"""Differential privacy: the ledger of what was spent on a population."""

from .amounts import check_delta, check_epsilon, exact_text, read_delta, read_epsilon, show_amount
from .ledger import Ledger
from .ledger_chain import Head
from .ledger_entries import KINDS, Budget, Entry, Kind, State, warnings_of
from .ledger_place import ledger_path

__all__ = [
    "KINDS",
    "Budget",
    "Entry",
    "Head",
    "Kind",
    "Ledger",
    "State",
    "check_delta",
    "check_epsilon",
    "exact_text",
    "ledger_path",
    "read_delta",
    "read_epsilon",
    "show_amount",
    "warnings_of",
]
