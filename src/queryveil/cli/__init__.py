"""The commands: thin, no logic of their own."""

from __future__ import annotations

import sys

from ..errors import QueryveilError
from .screen import show_error

__all__ = ["main"]


def main() -> None:
    """Run a command: 0 when done, 1 on an error that it explains, 2 on wrong usage."""
    from .commands import app  # noqa: PLC0415  (errors while importing are errors too)

    try:
        app()
    except QueryveilError as error:
        show_error(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("Stopped. Nothing was written.\n")
        sys.exit(130)
    except MemoryError:
        show_error(QueryveilError("there is not enough memory for this", hint="--sample-users 10%"))
        sys.exit(1)
