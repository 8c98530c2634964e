"""Risks of the people in a log: what attackers find, and what a release gives away."""
