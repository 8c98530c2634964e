"""The protocol played on a log: who learns what of whom, and what it costs."""

from .figures import figures_of
from .graphs import GRAPHS
from .population import Population, population_of
from .profiles import users_of
from .scenario import TESTS, Scenario
from .simulate import Outcome, play

__all__ = [
    "GRAPHS",
    "TESTS",
    "Outcome",
    "Population",
    "Scenario",
    "figures_of",
    "play",
    "population_of",
    "users_of",
]
