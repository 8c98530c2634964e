"""Extend an earlier release by new events and new users, within the remaining contributions.

Rows are new from a day on that the data owner names, or from the day after the last day of the
earlier release. This day must not be computed from the rows: the wrong clock of one user could
move it for all users.

No row of the log can stop the run. If no row is new, or no user has contributions left, the
release is written without rows. An error would reveal this, and epsilon would not cover it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import polars as pl

from ..core.arguments import guided
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..engine.operations import count_rows
from ..errors import UsageError, VerificationError
from ..ledger.entries import LedgerEntry
from ..log.opening import LogLike, open_log
from ..log.query_log import QueryLog
from ..methods.base import Method
from ..methods.continuation import ContinuableMethod, PreviousContributions
from ..methods.runner import run_extension
from ..release.cards import PrivateCard, PublicCard
from ..release.release import Release
from ..release.signing import Signer
from .anonymization import check_release_output
from .budget import attach_reservation
from .extension_terms import ExtensionTerms, cannot_extend, compute_extension_terms
from .method_arguments import MethodLike, take_method
from .previous_release import PreviousRelease, base_method, open_previous_release
from .screened_runs import Screening, finished, searched

# These texts are on cards of releases: do not reword them.
_NOTE = (
    "this release goes on with an earlier one of the same people, under the same pseudonyms: the "
    "promise is about all of them together"
)
_OLD = "before the first day that is new"
_NO_TIME = "no time, so not known to be new"


@guided
def extend_release(
    log: LogLike,
    earlier: str | Path,
    folder: str | Path,
    *,
    method: MethodLike | None = None,
    format: str = "parquet",  # noqa: A002  (the name that Polars and pandas have for it)
    overwrite: bool = False,
    include_mapping: bool = True,
    add_budget: bool = False,
    ledger: str | None = None,
    since: date | str | None = None,
    identifiers: str | None = None,
    sensitive: str | None = None,
    detectors: str | Sequence[str] | None = None,
    sign: str | Path | None = None,
    progress: Progress | None = None,
) -> PrivateCard:
    """Anonymize the new rows of a log, write them as an extension and return its private card.

    Users keep their pseudonyms, and use their remaining slots.

    Args:
        log: A log, or what `read_log` reads with its default options.
        earlier: Folder of the release to extend.
        folder: The folder to write.
        format: The format of the released log.
        overwrite: Whether a release in `folder` is replaced.
        include_mapping: Whether the private folder has the pseudonyms of the users.
        ledger: Name of the population, or folder of its ledger.
        progress: Receives the stages of the work.
        method: Required if the method reads files; otherwise that of the earlier release.
        add_budget: Whether each user may use as many slots again; the guarantee is then
            that of the sum.
        since: First new day; else the `since` with which the log was read, else the day after
            the `until` with which the log of the earlier release was read.
        identifiers: How to treat identifiers; else as in the earlier release.
        sensitive: How to treat sensitive topics; else as in the earlier release.
        detectors: Names of detectors; else those of the earlier release.
        sign: File of a private key that signs the release.

    Returns:
        The private card of the extension.

    Raises:
        UsageError: The earlier release cannot be extended.
        BudgetError: The ledger has too little budget left.

    >>> extend_release("log.tsv", "no-release", "more")
    Traceback (most recent call last):
    queryveil.errors.InputError: no-release: there is no such folder. \
Hint: name what `anonymize_to_folder()` wrote
    """
    shown, old, new = progress or NoProgress(), Path(earlier), Path(folder)
    check_release_output(new, format, overwrite)
    signer = None if sign is None else Signer.read(Path(sign))  # fail before anything is charged
    _check_folders(old, new)
    previous = open_previous_release(old, shown)
    named = None if method is None else take_method(extend_release, method, {})[0]
    base = _get_base_method(previous, named)
    opened = open_log(log, {}, may_stop=False, progress=shown)
    _check_log(opened)
    first = _get_first_day(opened, previous, since)
    new_rows = _select_new_rows(opened, first)
    screening = _choose_screening(previous.card.public, identifiers, sensitive, detectors)
    screening.check_log(opened)
    terms = compute_extension_terms(opened, base, previous, ledger, add_budget)
    details = replace(terms.account.details, identifiers=screening.identifiers, since=first)
    terms = replace(terms, account=replace(terms.account, details=details))
    rng = RandomSource()
    mapping = _add_lost_attempts(base, opened, previous.mapping(), terms.lost, rng)
    contributions = PreviousContributions(mapping, terms.max_contributions)
    screened = searched(new_rows, terms.method, screening, shown)
    release = _reserve_and_extend(screened, terms, contributions, rng, shown)
    release = finished(release, new_rows, screening)
    return release.write(
        new, format=format, overwrite=overwrite, include_mapping=include_mapping, signer=signer
    )


def _choose_screening(
    earlier: PublicCard,
    identifiers: str | None,
    sensitive: str | None,
    detectors: str | Sequence[str] | None,
) -> Screening:
    """Return the settings that were named, and else those of the earlier release."""
    setting = identifiers or earlier.identifiers or "drop"
    if detectors is None:
        detectors = [use.name for use in earlier.detectors]
    return Screening.of(setting, sensitive or earlier.sensitive or "keep", detectors)


def _check_log(log: QueryLog) -> None:
    if log.seeded or log.sampled:
        raise UsageError(
            "a sample of users cannot extend a release: which users are sampled depends on how "
            "many there are",
            hint="use the whole log",
        )


def _check_folders(old: Path, new: Path) -> None:
    if old.resolve() in (new.resolve(), *new.resolve().parents):
        raise UsageError(
            "an extension cannot be written onto or into the release that it extends",
            where=new,
            hint="choose another folder",
        )


def _get_base_method(previous: PreviousRelease, method: Method | None) -> ContinuableMethod:
    base = base_method(previous, method)
    if not isinstance(base, ContinuableMethod):
        raise cannot_extend(base)
    base.check_ready()
    return base


def _get_first_day(log: QueryLog, previous: PreviousRelease, since: date | str | None) -> date:
    """Return the first new day, which depends only on what the data owner named."""
    named = date.fromisoformat(since) if isinstance(since, str) else since or log.since
    last = previous.until
    if named is None and last is None:
        raise UsageError(
            "the first new day is unknown, and it must not be computed from the rows",
            where=previous.folder,
            hint='name it: `since="2006-04-01"`',
        )
    if named is not None and last is not None and named <= last:
        raise UsageError(
            f"`since` must be after {last}, the last day of the earlier release, got {named}",
            where=previous.folder,
            hint=f'use `since="{last + timedelta(days=1)}"` or a later day',
        )
    return named or (last or date.min) + timedelta(days=1)


def _select_new_rows(log: QueryLog, first: date | None) -> QueryLog:
    """Keep the rows from the first new day on; count the others as dropped."""
    if first is None:
        return log
    timed = count_rows(log.local_frame.filter(pl.col("time").is_not_null()))
    rows = log.local_frame.filter(pl.col("time") >= first).collect(engine="streaming")
    accounting = replace(log.accounting, dropped=dict(log.accounting.dropped))
    accounting.drop({_NO_TIME: log.accounting.kept - timed, _OLD: timed - rows.height})
    return replace(log, table=rows.lazy(), accounting=accounting)


def _add_lost_attempts(
    base: ContinuableMethod,
    log: QueryLog,
    mapping: pl.DataFrame,
    lost: tuple[LedgerEntry, ...],
    rng: RandomSource,
) -> pl.DataFrame:
    """Add the contributions of attempts that ended early.

    Such an attempt may have shown its result, so all that it would have used counts as used.
    """
    for attempt in lost:
        details = attempt.details
        if details.max_contributions is None:
            raise VerificationError(f"entry {attempt.number} does not state its contribution bound")
        earlier = PreviousContributions(mapping, details.max_contributions)
        # Without a day, detectors and dropped topics, more rows count as used: never too few.
        new_rows = _select_new_rows(log, details.since)
        screening = Screening(details.identifiers or "keep")
        screened = searched(new_rows, base, screening, NoProgress())
        mapping = earlier.updated(base.count_contributions(screened, earlier), rng)
    return mapping


def _reserve_and_extend(
    log: QueryLog,
    terms: ExtensionTerms,
    earlier: PreviousContributions,
    rng: RandomSource,
    progress: Progress,
) -> Release:
    """Reserve the cost, run the method, and check that it used the slots it had announced."""
    if (earlier.mapping["slots"] > earlier.max_contributions).any():
        raise VerificationError(
            "in the mapping a user has used more slots than the ledger counts",
            hint="restore the private/mapping.tsv that was written with the release",
        )
    announced = terms.method.count_contributions(log, earlier)
    reservation = terms.account.reserve()
    release = run_extension(terms.method, log, earlier, rng, progress)
    mapping = None if release.mapping is None else release.mapping.lazy().collect()
    _check_slots(mapping, earlier, announced)
    return attach_reservation(replace(release, notes=(_NOTE, *release.notes)), reservation)


def _check_slots(
    mapping: pl.DataFrame | None, earlier: PreviousContributions, announced: pl.DataFrame
) -> None:
    """Raise an error if a pseudonym changed, or the slots differ from those announced.

    If this attempt were lost, the next one would count the announced slots as used.
    """
    columns = ["user", "pseudonym", "slots"]
    if mapping is not None and set(columns) <= set(mapping.columns):
        current = mapping.select(columns).cast({"slots": pl.Int64})
        renamed = earlier.mapping.join(current, on=["user", "pseudonym"], how="anti").height
        duplicated = current["pseudonym"].n_unique() < current.height
        used = announced.select(pl.col("user").cast(pl.String), pl.col("slots").cast(pl.Int64))
        expected = _sum_slots(pl.concat([earlier.mapping.select("user", "slots"), used]))
        over_limit = (current["slots"] > earlier.max_contributions).any()
        if not (renamed or duplicated or over_limit) and _sum_slots(current).equals(expected):
            return
    raise VerificationError(
        "the method did not use the announced slots, or changed pseudonyms; nothing was written",
        hint="this is a defect: please report it",
    )


def _sum_slots(slots: pl.DataFrame) -> pl.DataFrame:
    summed = slots.group_by("user").agg(pl.col("slots").sum())
    return summed.filter(pl.col("slots") > 0).sort("user")
