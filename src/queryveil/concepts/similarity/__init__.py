"""Distances between concepts, profiles of users, domains and topics."""
