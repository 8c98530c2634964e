"""Run a method on a log without identifiers, and look again at what it would release."""

from __future__ import annotations

from dataclasses import replace

from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..errors import InputError
from ..log.query_log import QueryLog
from ..log.screening import screen
from ..methods.base import Method
from ..methods.runner import run_method
from ..release.identifiers import without_identifiers
from ..release.release import Release

__all__ = ["check_left", "finished", "run_screened", "searched"]


def searched(log: QueryLog, method: Method, setting: str, progress: Progress) -> QueryLog:
    """Return the log as a method may see it.

    Of a method whose neighbors are logs of the same users nobody may vanish: who is in the
    release would tell that somebody sent nothing but identifiers.
    """
    with progress.stage("look for identifiers"):
        return screen(log, setting, users_stay=method.guarantee().relation == "replace-one")


def check_left(log: QueryLog) -> None:
    """Raise an error if nothing is left; not for methods that spend: that would tell of the log."""
    if not log.accounting.kept:
        raise InputError(
            "every query looks like an identifier, so none is left to protect",
            hint="--identifiers mask keeps the words beside it",
        )


def finished(release: Release, log: QueryLog, setting: str) -> Release:
    """Return a release of a log that was searched, without what still looks like an identifier.

    What the cards say of the input is about the log as it was read.
    """
    whole = replace(log, accounting=release.source.accounting)
    return without_identifiers(replace(release, source=whole), setting)


def run_screened(
    method: Method, log: QueryLog, chance: RandomSource, progress: Progress, setting: str
) -> Release:
    """Return what a method releases of a log, as `anonymize` would."""
    rest = searched(log, method, setting, progress)
    return finished(run_method(method, rest, chance, progress), log, setting)
