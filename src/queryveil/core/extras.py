"""Packages that a plain installation does not have: imported when a measure needs them."""

from __future__ import annotations

import importlib
from types import ModuleType

from ..errors import UsageError


def import_extra(module: str, purpose: str, *, of: str = "measures") -> ModuleType:
    """Import a module of an optional package, or say how to get it: with which of our extras."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(
            f"{purpose} needs {module.partition('.')[0]}",
            hint=f"pip install 'queryveil[{of}]'",
        ) from error
