"""Specs under which each method releases something of a small log.

A test file in `unit/methods` declares them as a list of texts, `SPECS`. The first of a method is
the one for tests of all methods; a method without any is run with its defaults. The golden
digests are of all of them.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from queryveil.methods.base import METHODS

_TESTS = Path(__file__).parent / "unit" / "methods"


def built_in_methods() -> list[str]:
    """Return the names of the methods of this distribution."""
    return [name for name in METHODS if METHODS.distribution(name) is None]


@cache
def declared_specs() -> dict[str, list[str]]:
    """Return the specs that test files declare, by method."""
    specs: dict[str, list[str]] = {}
    for path in sorted(_TESTS.glob("test_*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SPECS":
                for spec in ast.literal_eval(node.value):
                    specs.setdefault(spec.partition(":")[0], []).append(spec)
    return specs


def small_spec(method: str) -> str:
    """Return the spec of a method for a small log."""
    return declared_specs().get(method, [method])[0]


# What a log in which everybody sends everything needs instead.
CROWDED_SPECS = {
    "dp-statistics": "dp-statistics:epsilon=30:delta=1e-4:synthetic-users=20",
    "disconnected-graph": "disconnected-graph:min-documents=1:min-sites=1",
    "click-graph": "click-graph:epsilon=30:delta=1e-4",
}


def crowded_specs() -> list[str]:
    """Return a spec of each method for a log in which everybody sends everything."""
    return [CROWDED_SPECS.get(name, small_spec(name)) for name in built_in_methods()]
