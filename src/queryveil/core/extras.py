"""Import packages of optional extras only when they are needed."""

from __future__ import annotations

import importlib
from types import ModuleType

from ..errors import UsageError


def import_extra(module: str, purpose: str, *, of: str) -> ModuleType:
    """Import a module that a plain installation lacks, or say in one line what to install.

    Args:
        purpose: What needs the module, as the subject of the error message.
        of: The extra of queryveil that installs the package.

    Raises:
        UsageError: The module, or a package that it imports, is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = (error.name or module).partition(".")[0]
        command = f"pip install 'queryveil[{of}]'"
        raise UsageError(f"{purpose} needs {package}, which is not installed: {command}") from error
