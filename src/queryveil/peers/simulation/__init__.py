"""The protocol played on a log: who learns what of whom, and what it costs."""

from .figures import summarize
from .graphs import GRAPHS
from .population import Population, population_from_log
from .profiles import user_metrics
from .scenario import EXPERIMENTS, Scenario
from .simulate import SimulationRun, run_simulation

__all__ = [
    "EXPERIMENTS",
    "GRAPHS",
    "Population",
    "Scenario",
    "SimulationRun",
    "population_from_log",
    "run_simulation",
    "summarize",
    "user_metrics",
]
