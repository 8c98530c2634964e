"""Simulation of many peers in memory, and of what an observer learns about them."""
