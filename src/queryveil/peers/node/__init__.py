"""A peer as a program: links to friends, the local page, search engines."""

from . import packages as packages  # first: it names the extra if a package is missing
from .engines import DemoSearchEngine, SearchEngine, WebSearchEngine, parse_engine
from .identity import (
    Friend,
    Identity,
    add_friend,
    format_fingerprint,
    load_identity,
    make_invitation,
    read_friends,
    read_invitation,
    remove_friend,
)
from .node import Node, SearchOutcome
from .server import NodeConfig, serve_engine, serve_node
from .status import status
from .storage import NodeDirectory
from .web import make_app

__all__ = [
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
