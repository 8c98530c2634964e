"""Run the commands, which contain no logic of their own."""

from __future__ import annotations

import io
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

from ..errors import QueryveilError
from .terminal import print_error

__all__ = ["main"]

_STOPS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def main() -> None:
    """Run a command and exit with 0 on success, 1 on an error, 2 on wrong usage.

    Exit code 3: a release can be checked only by another version.
    """
    _exit_on_signals()
    _replace_unprintable_characters()
    try:
        _run(sys.argv[1:])
    except QueryveilError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except MemoryError:
        print_error(
            QueryveilError("there is not enough memory for this", hint="--sample-users 10%")
        )
        sys.exit(1)
    except BrokenPipeError:
        # The reader of the output closed it, as `head` does: the work itself is done.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print_error(QueryveilError(error.strerror or str(error), where=error.filename))
        sys.exit(1)
    except SystemExit as stop:
        if stop.code in {128 + number for number in _STOPS}:
            sys.stderr.write(
                "Stopped. No incomplete file was kept; a comparison continues where it stopped "
                "when the command is run again.\n"
            )
        raise
    finally:
        for number in _STOPS:  # a signal after the end of the work must not raise again
            if signal.getsignal(number) is _stop:
                signal.signal(number, _ignore)


def _run(words: list[str]) -> None:
    from .app import app  # noqa: PLC0415 - slow: signal handlers must be set before it
    from .plugins import add_commands, names_own_command  # noqa: PLC0415

    if not names_own_command(app, words):
        add_commands(app)
    app(prog_name="queryveil")


def _exit_on_signals() -> None:
    """Turn signals to stop into an exception, so that incomplete files are removed."""
    for number in _STOPS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, _ignore):
            signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise SystemExit(128 + number)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Ignore a signal: nothing is left to stop."""


def _replace_unprintable_characters() -> None:
    """Replace characters that the terminal's encoding lacks, instead of raising an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
