"""Anonymize a log with a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack, overload

from ..core.arguments import guided
from ..core.folders import check_output_folder
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..errors import InputError, UsageError
from ..ledger.reservation import Reservation
from ..log.keywords import ReadingKeywords
from ..log.opening import LogLike, open_log
from ..log.query_log import QueryLog
from ..methods.base import Method
from ..methods.runner import check_parallelism, run_method
from ..release.cards import PrivateCard
from ..release.formats import check_output_format
from ..release.guarantee import COULD_STOP_NOTE, SEEDED
from ..release.release import Release
from ..release.signing import Signer
from ..release.writing import is_release
from .budget import attach_reservation, is_differentially_private, plan_reservation
from .expected_yield import warn_of_yield
from .method_arguments import MethodLike, take_method
from .owners_figures import with_owners_figures
from .regrouping import EarlierGroups, read_groups, run_with_groups
from .screened_runs import Screening, check_left, finished, searched


@overload
def anonymize(
    log: LogLike,
    method: Method,
    *,
    seed: int | None = None,
    ledger: str | None = None,
    identifiers: str = "drop",
    sensitive: str = "keep",
    detectors: str | Sequence[str] = (),
    expected_users: int | None = None,
    yes: bool = False,
    groups_of: str | Path | None = None,
    progress: Progress | None = None,
    **more: Unpack[ReadingKeywords],
) -> Release: ...


@overload
def anonymize(
    log: LogLike,
    method: str | type[Method],
    *,
    seed: int | None = None,
    ledger: str | None = None,
    identifiers: str = "drop",
    sensitive: str = "keep",
    detectors: str | Sequence[str] = (),
    expected_users: int | None = None,
    yes: bool = False,
    groups_of: str | Path | None = None,
    progress: Progress | None = None,
    **more: Any,
) -> Release: ...


def anonymize(
    log: LogLike,
    method: MethodLike,
    *,
    seed: int | None = None,
    ledger: str | None = None,
    identifiers: str = "drop",
    sensitive: str = "keep",
    detectors: str | Sequence[str] = (),
    expected_users: int | None = None,
    yes: bool = False,
    groups_of: str | Path | None = None,
    progress: Progress | None = None,
    **more: Any,
) -> Release:
    """Anonymize a log with a method.

    A differentially private release is charged here, before noise is drawn, to the ledger of the
    population: that of the log's folder, or of `ledger`. A frame has no folder, so that its
    private release needs `ledger="NAME"`.

    Args:
        log: A log, or what `read_log` reads: files, or a frame of pandas, Polars or PyArrow.
        method: A method, such as `FrequentQueries(min_users=20)`; or its spec,
            "frequent-queries:min-users=20"; or its name, with parameters as keyword arguments.
        seed: Makes the release reproducible; it is then not for publication.
        ledger: Name of the population whose budget is spent, or folder of its ledger.
        identifiers: What happens to queries that look like an e-mail address, a phone number
            or similar (`queryveil.log.identifiers.IDENTIFIER_KINDS`): "drop" or "mask" them;
            with "keep" the release is not for publication.
        sensitive: What happens to queries about health, sexuality, religion, politics, crime or
            self-harm: "keep" or "drop" them, or "drop:health,crime" for some of these topics.
        detectors: Names of detectors of other distributions, "NAME" or "NAME,NAME": queries that
            one of them flags are dropped.
        expected_users: About how many users the log has, as a public figure. A private release
            that is expected to be almost empty is refused before it is charged.
        yes: Confirms that such a release is to be charged nevertheless.
        groups_of: Folder of an earlier k-anonymous release of the same users, whose groups are
            kept.
        progress: Receives the stages of the work.
        more: Options of `read_log`, such as `columns`; parameters of a method that is named.

    Returns:
        The release in memory. `write` writes it, with its cards; `to_pandas` and `to_polars`
        return its rows.

    Raises:
        ParameterError: A parameter of the method is unknown or out of range.
        BudgetError: The ledger has too little budget left.
        LowYieldError: A private release is expected to be almost empty.
        EmptyReleaseError: No row would be released.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"user": ["ann", "bob"], "query": ["Weather", "weather"]})
    >>> release = anonymize(frame, "frequent-queries", min_users=2)
    >>> release.guarantee.model, release.to_polars()["query"].to_list()
    ('none', ['weather', 'weather'])
    """
    chosen, reading = take_method(anonymize, method, more)
    screening = Screening.of(identifiers, sensitive, detectors)
    seeded, shown = _is_seeded(log, seed), progress or NoProgress()
    warn_of_yield(chosen, expected_users, yes=yes or seeded)
    opened = _open(log, chosen, reading, seed, shown)
    screening.check_log(opened)
    reservation = _plan_reservation(opened, chosen, seed, ledger)
    runner = _build_runner(groups_of, seed, shown)
    return _reserve_and_run(opened, chosen, reservation, runner, screening, shown)


def _is_seeded(log: LogLike, seed: int | None) -> bool:
    return seed is not None or (isinstance(log, QueryLog) and log.seeded)


def _open(
    log: LogLike, method: Method, reading: ReadingKeywords, seed: int | None, progress: Progress
) -> QueryLog:
    """Return the log; rows that cannot be read stop no run that spends budget."""
    may_stop = seed is not None or not is_differentially_private(method)
    return open_log(log, reading, may_stop=may_stop, seed=seed, progress=progress)


@guided
def anonymize_to_folder(
    log: LogLike,
    method: MethodLike,
    folder: str | Path,
    *,
    format: str = "parquet",  # noqa: A002  (the name that Polars and pandas have for it)
    overwrite: bool = False,
    include_mapping: bool = True,
    seed: int | None = None,
    ledger: str | None = None,
    identifiers: str = "drop",
    sensitive: str = "keep",
    detectors: str | Sequence[str] = (),
    expected_users: int | None = None,
    yes: bool = False,
    groups_of: str | Path | None = None,
    sign: str | Path | None = None,
    progress: Progress | None = None,
) -> PrivateCard:
    """Anonymize a log, write the release and return its private card.

    To repeat a differentially private release draws new noise and is charged again, whether or not
    the log is unchanged; `copy_release` copies a release at no cost.

    Args:
        log: A log, or what `read_log` reads with its default options.
        method: A method or its spec.
        folder: The folder to write, with `public/` and `private/`.
        format: The format of the released log: "parquet", "csv", "tsv" or "jsonl".
        overwrite: Whether a release in `folder` is replaced.
        include_mapping: Whether the private folder has the pseudonyms of the users.
        seed: As for `anonymize`.
        ledger: As for `anonymize`.
        identifiers: As for `anonymize`.
        sensitive: As for `anonymize`.
        detectors: As for `anonymize`.
        expected_users: As for `anonymize`.
        yes: As for `anonymize`.
        groups_of: As for `anonymize`.
        sign: File of a private key that signs the release.
        progress: Receives the stages of the work.

    Returns:
        The private card, with exact figures that only the data owner may know.

    Raises:
        OutputError: The folder cannot be written, or has something else in it.

    >>> import tempfile
    >>> from queryveil import FrequentQueries, make_log
    >>> folder = tempfile.mkdtemp() + "/release"
    >>> anonymize_to_folder(make_log(50), FrequentQueries(min_users=5), folder).method
    'frequent-queries'
    """
    screening = Screening.of(identifiers, sensitive, detectors)
    target, (chosen, _) = Path(folder), take_method(anonymize_to_folder, method, {})
    check_release_output(target, format, overwrite)
    signer = None if sign is None else Signer.read(Path(sign))  # fail before anything is charged
    warn_of_yield(chosen, expected_users, yes=yes or _is_seeded(log, seed))
    shown = progress or NoProgress()
    opened = _open(log, chosen, {}, seed, shown)
    screening.check_log(opened)
    reservation = _plan_reservation(opened, chosen, seed, ledger)
    runner = _build_runner(groups_of, seed, shown)
    release = _reserve_and_run(opened, chosen, reservation, runner, screening, shown)
    return release.write(
        target, format=format, overwrite=overwrite, include_mapping=include_mapping, signer=signer
    )


def check_release_output(folder: Path, output_format: str, overwrite: bool) -> None:
    """Raise an error, before any work is done, if the folder or format cannot be written."""
    check_output_format(output_format)
    check_output_folder(folder, overwrite, is_release)


def _plan_reservation(
    log: QueryLog, method: Method, seed: int | None, ledger: str | None
) -> Reservation:
    """Return the reservation of a release; raise an error if it cannot be released."""
    check_parallelism(method, log)
    method.check_ready()
    seeded = seed is not None or log.seeded
    reservation = plan_reservation(log, method, method.guarantee(), ledger=ledger, seeded=seeded)
    if not log.accounting.kept and not reservation.spends_budget:
        raise InputError(
            "no row of the log is left to anonymize",
            hint="see `profile()`; if its columns have other names: `columns`",
        )
    if reservation.spends_budget and log.sampled:
        raise UsageError(
            "a sample of users cannot be released under differential privacy: which users are "
            "sampled depends on how many there are",
            hint="use the whole log, or a smaller contribution bound for a shorter run",
        )
    return reservation


@dataclass(frozen=True)
class _Runner:
    """The seed of a run, and the groups of an earlier release that it keeps."""

    seed: int | None
    earlier: EarlierGroups | None

    def run(self, method: Method, log: QueryLog, progress: Progress) -> Release:
        """Run a method, with the earlier groups if there are any."""
        if self.earlier is None:
            return run_method(method, log, RandomSource(self.seed), progress)
        return run_with_groups(method, log, self.earlier, RandomSource(self.seed), progress)

    def add_groups_of(self, reservation: Reservation) -> Reservation:
        """Return the reservation with the digest of the release whose groups are kept."""
        if self.earlier is None:
            return reservation
        details = replace(reservation.details, groups_of=self.earlier.digest)
        return replace(reservation, details=details)


def _build_runner(groups_of: str | Path | None, seed: int | None, progress: Progress) -> _Runner:
    if groups_of is None:
        return _Runner(seed, None)
    if seed is not None:
        raise UsageError(
            "a seed cannot be combined with the groups of an earlier release: a release that can "
            "be reproduced would be linked to a real one",
            hint="leave `seed` out",
        )
    return _Runner(seed, read_groups(Path(groups_of), progress))


def _reserve_and_run(
    log: QueryLog,
    method: Method,
    reservation: Reservation,
    runner: _Runner,
    screening: Screening,
    progress: Progress,
) -> Release:
    """Reserve the cost, then run the method on the screened log.

    The cost is written to the ledger before noise is drawn: a run that is interrupted later
    may already have shown its result.
    """
    screened = searched(log, method, screening, progress)
    if not reservation.spends_budget:
        check_left(screened)
    reserved = runner.add_groups_of(reservation).reserve()
    release = finished(runner.run(method, screened, progress), log, screening)
    seeded = runner.seed is not None or log.seeded
    reasons = (*release.not_release_grade_because, *((SEEDED,) * seeded))
    notes = (
        *release.notes,
        *((COULD_STOP_NOTE,) * (reservation.spends_budget and log.could_stop)),
    )
    release = replace(
        release, notes=notes, not_release_grade_because=reasons, method_spec=str(method)
    )
    return attach_reservation(with_owners_figures(log, release, progress), reserved)
