"""Advice: which method, k or epsilon fits a log, its recipients and their purpose."""

from .advising import advise
from .answers import Answers
from .result import Advice, Proposal

__all__ = ["Advice", "Answers", "Proposal", "advise"]
