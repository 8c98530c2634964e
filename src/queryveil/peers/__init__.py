"""Peers: friends who submit each other's queries, simulated and as a program.

A product of its own in this distribution. It uses the public names of queryveil that a contract
test lists, and nothing in queryveil imports it: its commands and its paper are entry
points.
"""
