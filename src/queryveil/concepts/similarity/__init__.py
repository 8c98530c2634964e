"""Distances of concepts, profiles of users, domains and topics."""
