"""Run a method on a log without identifiers and sensitive topics, and search its output again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..errors import InputError, UsageError
from ..log.detectors import check_local, drop_detected, open_detectors
from ..log.query_log import QueryLog
from ..log.screening import check_setting, screen
from ..log.sensitive import drop_topics, normalize_sensitive
from ..methods.base import Method
from ..methods.runner import run_method
from ..release.detectors import without_detected
from ..release.identifiers import without_identifiers
from ..release.release import Release
from ..release.sensitive import without_topics
from .known_names import users_for_names


@dataclass(frozen=True)
class Screening:
    """What happens to identifiers and sensitive topics, and which detectors look for the former."""

    identifiers: str = "drop"
    sensitive: str = "keep"
    detectors: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, identifiers: str, sensitive: str = "keep", detectors: str | Sequence[str] = ()
    ) -> Screening:
        """Return checked settings.

        Raises:
            UsageError: There is no such setting or detector, or a detector does not work.
        """
        check_setting(identifiers)
        names = tuple(detector.name for detector in open_detectors(detectors))
        if names and identifiers == "keep":
            raise UsageError(
                "detectors flag identifiers, and `identifiers` is keep",
                hint="use drop or mask, or leave the detectors out",
            )
        return cls(identifiers, normalize_sensitive(sensitive), names)

    def check_log(self, log: QueryLog) -> None:
        """Raise an error if the log cannot be screened in this way where it is."""
        if self.detectors:
            check_local(log)


DEFAULT = Screening()


def searched(log: QueryLog, method: Method, screening: Screening, progress: Progress) -> QueryLog:
    """Return the log as a method may read it: identifiers and sensitive topics by their settings.

    If neighboring logs have the same users (replace-one), no user may vanish. Otherwise the set
    of released users would reveal who sent nothing but identifiers.
    """
    users_stay = method.guarantee().relation == "replace-one"
    if screening.sensitive != "keep":
        with progress.stage("drop sensitive topics"):
            log = drop_topics(log, screening.sensitive, users_stay=users_stay)
    with progress.stage("look for identifiers"):
        setting, at_least = screening.identifiers, users_for_names(method)
        log = screen(log, setting, users_stay=users_stay, min_name_users=at_least)
        # Detectors see masked queries: what our rules masked need not be dropped.
        return drop_detected(log, screening.detectors, users_stay=users_stay)


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


def finished(release: Release, log: QueryLog, screening: Screening) -> Release:
    """Return a release of a screened log, screened again: methods may release other texts.

    The input figures on the cards are those of the log as it was read.
    """
    whole = replace(log, accounting=release.source.accounting)
    cleaned = without_identifiers(replace(release, source=whole), screening.identifiers)
    cleaned = without_topics(cleaned, screening.sensitive)
    return without_detected(cleaned, screening.detectors)


def run_screened(
    method: Method,
    log: QueryLog,
    rng: RandomSource,
    progress: Progress,
    screening: Screening,
    *,
    allow_empty: bool = False,
) -> Release:
    """Run a method on a log as `anonymize` does: screen, run, screen again."""
    screened = searched(log, method, screening, progress)
    release = run_method(method, screened, rng, progress, allow_empty=allow_empty)
    return finished(release, log, screening)
