"""Run a method on a log without identifiers and sensitive topics, and search its output again."""

from __future__ import annotations

from dataclasses import replace

from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..errors import InputError
from ..log.query_log import QueryLog
from ..log.screening import screen
from ..log.sensitive import drop_topics
from ..methods.base import Method
from ..methods.runner import run_method
from ..release.identifiers import without_identifiers
from ..release.release import Release
from ..release.sensitive import without_topics
from .known_names import users_for_names


def searched(
    log: QueryLog, method: Method, setting: str, progress: Progress, sensitive: str = "keep"
) -> QueryLog:
    """Return the log as a method may read it: identifiers and sensitive topics by their settings.

    If neighboring logs have the same users (replace-one), no user may vanish. Otherwise the set
    of released users would reveal who sent nothing but identifiers.
    """
    users_stay = method.guarantee().relation == "replace-one"
    if sensitive != "keep":
        with progress.stage("drop sensitive topics"):
            log = drop_topics(log, sensitive, users_stay=users_stay)
    with progress.stage("look for identifiers"):
        return screen(log, setting, users_stay=users_stay, min_name_users=users_for_names(method))


def check_left(log: QueryLog) -> None:
    """Raise an error if no row is left.

    Not for methods that spend a budget: there the error itself would reveal facts of the log.
    """
    if not log.accounting.kept:
        raise InputError(
            "every query looks like an identifier or is of a dropped sensitive topic, so no row is "
            "left to anonymize",
            hint='`identifiers="mask"` keeps the other words of a query; `sensitive="keep"` keeps '
            "sensitive topics",
        )


def finished(release: Release, log: QueryLog, setting: str, sensitive: str = "keep") -> Release:
    """Return a release of a screened log, screened again: methods may release other texts.

    The input figures on the cards are those of the log as it was read.
    """
    whole = replace(log, accounting=release.source.accounting)
    return without_topics(without_identifiers(replace(release, source=whole), setting), sensitive)


def run_screened(
    method: Method,
    log: QueryLog,
    rng: RandomSource,
    progress: Progress,
    setting: str,
    *,
    sensitive: str = "keep",
    allow_empty: bool = False,
) -> Release:
    """Run a method on a log as `anonymize` does: screen, run, screen again."""
    screened = searched(log, method, setting, progress, sensitive)
    release = run_method(method, screened, rng, progress, allow_empty=allow_empty)
    return finished(release, log, setting, sensitive)
