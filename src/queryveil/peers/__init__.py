"""The client side: friends submit each other's queries, so that a search engine knows nobody's."""

from .core import Peer, ProtocolSettings, Route

__all__ = ["Peer", "ProtocolSettings", "Route"]
