"""Verify a release against the log that it was made of."""

from __future__ import annotations

from pathlib import Path

from ..core.progress import Progress
from ..errors import InputError, UsageError
from ..log.query_log import QueryLog
from ..methods.base import METHODS
from ..release.cards import PublicCard
from ..release.check_results import CheckResult
from ..release.reading import check_same_log, read_private_card, read_pseudonyms
from ..release.source_checks import SourceRules, check_source
from ..release.untrusted import read_data
from .screened_runs import Screening, searched


def check_against_log(
    folder: Path, card: PublicCard, log: QueryLog, progress: Progress
) -> list[CheckResult]:
    """Count again in the log what the card promises about its users.

    The log is screened as it was for the release: identifiers and sensitive topics by the card.

    Raises:
        UsageError: Nothing on the card can be counted in the log, or it is another log.
        InputError: There is no private card.
    """
    rules = SourceRules.of(card)
    if rules is None:
        raise UsageError(
            f"there is nothing to count again in the log for {card.method}: its guarantee does "
            "not follow from numbers of users",
            where=folder,
            hint="verify it without the log",
        )
    private = read_private_card(folder)
    if private is None:
        raise InputError(
            "private/card.json is missing, so nobody knows whether this is the log of the release",
            where=folder,
            hint="name the whole folder of the release, not a copy of public/",
        )
    check_same_log(private.input, log, folder, by_counts=True)
    public = folder / "public"
    released, _ = read_data(public, ours=False)
    if released is None:
        return [CheckResult("log", False, "the published log is missing")]
    method = METHODS.find(card.method).from_params(dict(card.parameters))
    detectors = [use.name for use in card.detectors]
    screening = Screening.of(card.identifiers or "keep", card.sensitive or "keep", detectors)
    screened = searched(log, method, screening, progress)
    path = folder / "private" / "mapping.tsv"
    mapping = read_pseudonyms(path) if path.is_file() else None
    with progress.stage("count in the log"):
        return check_source(screened.local_frame, released, mapping, rules)
