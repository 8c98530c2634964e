"""Simulation of many peers in memory, and of what an observer learns about them."""

from .results import PeerSweep, Simulation
from .scenario import Scenario
from .sweeps import simulate, sweep

__all__ = ["PeerSweep", "Scenario", "Simulation", "simulate", "sweep"]
