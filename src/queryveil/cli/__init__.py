"""The commands: thin, no logic of their own."""

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
    """Run a command: 0 when done, 1 on an error that it explains, 2 on wrong usage."""
    _clean_up_when_stopped()
    _print_any_text()
    try:
        from .app import app

        app()
    except QueryveilError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except MemoryError:
        print_error(
            QueryveilError("there is not enough memory for this", hint="--sample-users 10%")
        )
        sys.exit(1)
    except BrokenPipeError:
        # Whoever read the output has enough of it: the work itself is done.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print_error(QueryveilError(error.strerror or str(error), where=error.filename))
        sys.exit(1)
    except SystemExit as stop:
        if stop.code in {128 + number for number in _STOPS}:
            sys.stderr.write(
                "Stopped. What was not whole was not written; a comparison goes on when it "
                "is asked for again.\n"
            )
        raise
    finally:
        for number in _STOPS:  # the work is over; a late signal would only garble the end
            if signal.getsignal(number) is _stop:
                signal.signal(number, _late)


def _clean_up_when_stopped() -> None:
    """Leave by an exception when told to stop, so that nothing half-done stays behind."""
    for number in _STOPS:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, _late):
            signal.signal(number, _stop)


def _stop(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise SystemExit(128 + number)


def _late(number: int, frame: FrameType | None) -> None:
    """Take no notice: nothing is left to stop."""


def _print_any_text() -> None:
    """Let no terminal that lacks a letter end a run."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
