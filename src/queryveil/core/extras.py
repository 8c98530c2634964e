"""Import optional packages only when they are needed."""

from __future__ import annotations

import importlib
from types import ModuleType

from ..errors import UsageError


def import_extra(module: str, purpose: str, *, of: str = "measures") -> ModuleType:
    """Import a module of an optional package; if it is missing, name the extra to install.

    Args:
        purpose: What needs the module, as the subject of the error message.
        of: The extra of queryveil that installs the package.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(
            f"{purpose} needs {module.partition('.')[0]}",
            hint=f"pip install 'queryveil[{of}]'",
        ) from error
