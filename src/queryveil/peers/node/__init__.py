"""A node that a person can run: encrypted links to friends, a local page, a search engine."""

from .daemon import NODE_SETTINGS, Node, Outcome
from .engines import Engine, WebEngine, open_engine
from .friends import Friend, accept, forget, friends_of, invitation, read_invitation, spoken
from .home import Home
from .identity import Identity, open_identity
from .serve import Plan, serve_engine, serve_node
from .site import site
from .status import status
from .toy_engine import ToyEngine

__all__ = [
    "NODE_SETTINGS",
    "Engine",
    "Friend",
    "Home",
    "Identity",
    "Node",
    "Outcome",
    "Plan",
    "ToyEngine",
    "WebEngine",
    "accept",
    "forget",
    "friends_of",
    "invitation",
    "open_engine",
    "open_identity",
    "read_invitation",
    "serve_engine",
    "serve_node",
    "site",
    "spoken",
    "status",
]
