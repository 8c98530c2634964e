"""A node that a person can run: encrypted links to friends, a local page, a search engine."""

from .daemon import NODE_SETTINGS, Node, SearchOutcome
from .engines import SearchEngine, WebSearchEngine, parse_engine
from .friends import (
    Friend,
    add_friend,
    format_fingerprint,
    make_invitation,
    read_friends,
    read_invitation,
    remove_friend,
)
from .home import NodeDirectory
from .identity import Identity, load_identity
from .serve import NodeConfig, serve_engine, serve_node
from .site import make_app
from .status import status
from .toy_engine import DemoSearchEngine

__all__ = [
    "NODE_SETTINGS",
    "DemoSearchEngine",
    "Friend",
    "Identity",
    "Node",
    "NodeConfig",
    "NodeDirectory",
    "SearchEngine",
    "SearchOutcome",
    "WebSearchEngine",
    "add_friend",
    "format_fingerprint",
    "load_identity",
    "make_app",
    "make_invitation",
    "parse_engine",
    "read_friends",
    "read_invitation",
    "remove_friend",
    "serve_engine",
    "serve_node",
    "status",
]
