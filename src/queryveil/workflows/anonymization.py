"""The main job: protect a log by a method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.folders import check_output_folder
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..engine.table import RemoteTable
from ..errors import InputError, UsageError
from ..log.query_log import QueryLog
from ..log.screening import check_setting, screen
from ..measures.uniqueness import count_unique
from ..methods.base import Method, parse_method
from ..methods.runner import check_parallelism, run_method
from ..release.formats import check_output_format
from ..release.guarantee import SEEDED
from ..release.identifiers import without_identifiers
from ..release.release import Release
from ..release.signing import Signer
from ..release.writing import is_release
from .budget import Reservation, plan_reservation
from .expected_yield import warn_of_yield
from .regrouping import EarlierGroups, read_groups, run_with_groups
from .repeated_releases import GROUPS_OF


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


def owners_figures(log: QueryLog, release: Release, progress: Progress) -> dict[str, Any]:
    """Return how many users a rule singles out, where it links a user's rows; else nothing.

    On a cluster nothing is counted here: whole logs would have to come to one machine.
    """
    rows = release.log
    linked = release.mapping is not None and release.parameters.get("link", "user") == "user"
    if (
        rows is None
        or not linked
        or release.guarantee.model != "none"
        or isinstance(log.table, RemoteTable)
    ):
        return {}
    with progress.stage("count who stands alone"):
        by_rows, users = count_unique(rows)
        by_queries, _ = count_unique(rows.select("user", "query").unique())
    return {
        "uniqueness": {
            "users": users,
            "singled_out": by_rows,
            "singled_out_by_queries_alone": by_queries,
            "value": round(by_rows / max(users, 1), 6),
            "words": (
                f"{by_rows:,} of {users:,} released users have a log that nobody else has; "
                f"{by_queries:,} are alone by the set of their queries, without dates and clicks"
            ),
        }
    }


_COULD_STOP = (
    "the log was read with a limit on rows that cannot be read, above which there would be no "
    "release; whether there is one can therefore depend on one person's rows"
)


def anonymize(
    log: QueryLog,
    method: Method | str,
    *,
    seed: int | None = None,
    dataset: str | None = None,
    identifiers: str = "drop",
    population: int | None = None,
    yes: bool = False,
    groups_of: str | Path | None = None,
    progress: Progress | None = None,
) -> Release:
    """Protect a log by a method, or by its one line ("frequent-queries:n=20").

    With a seed the result can be repeated, and is not for publication. A differentially private
    release is paid for here, in the ledger of the population: that of the log's folder, or of
    `dataset`. Queries that look like an e-mail address, a phone number and the like
    (`queryveil.log.KINDS`) are left out by `identifiers="drop"`, masked by "mask"; with "keep" the
    result is not for publication. With a `population`, about how many people the log has as a
    public figure, a private release that would hold next to nothing is refused before it is paid
    for, unless you say `yes`. With `groups_of`, the folder of an earlier
    k-anonymous release of the same people, its groups are kept whole.

    >>> from queryveil import FrequentQueries, QueryLog
    >>> log = QueryLog.from_rows([(u, "weather", "2006-03-01 10:00:00", None, None)
    ...                           for u in "abc"])
    >>> anonymize(log, FrequentQueries(n=2)).guarantee.model
    'none'
    """
    _check_log(log)
    check_setting(identifiers)
    chosen = parse_method(method) if isinstance(method, str) else method
    warn_of_yield(chosen, population, yes=yes or seed is not None or log.seeded)
    shown = progress or NoProgress()
    account = _account(log, chosen, seed, dataset)
    run = _runner(groups_of, seed, shown)
    return _paid_for(log, chosen, account, run, identifiers, shown)


def anonymize_to_folder(
    log: QueryLog,
    method: Method,
    folder: Path,
    *,
    form: str = "parquet",
    force: bool = False,
    forget_mapping: bool = False,
    seed: int | None = None,
    dataset: str | None = None,
    identifiers: str = "drop",
    population: int | None = None,
    yes: bool = False,
    groups_of: str | Path | None = None,
    sign: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Protect a log and write the release, signed by the key in the file `sign`; return its card.

    A repeat of a differentially private release draws new noise and is paid for anew, whether
    or not the log is still the same; `copy_release` copies one that was paid for.
    """
    check_setting(identifiers)
    check_release_output(folder, form, force)
    signer = None if sign is None else Signer.read(Path(sign))  # before anything is paid for
    warn_of_yield(method, population, yes=yes or seed is not None or log.seeded)
    shown = progress or NoProgress()
    account = _account(log, method, seed, dataset)
    run = _runner(groups_of, seed, shown)
    release = _paid_for(log, method, account, run, identifiers, shown)
    return release.write(
        folder, form=form, force=force, forget_mapping=forget_mapping, signer=signer
    )


def _check_log(log: object) -> None:
    """Raise where a path was given in place of a log, as is easily done in a notebook."""
    if not isinstance(log, QueryLog):
        raise UsageError(
            f"a log is needed, not a value of type {type(log).__name__}",
            hint='read it first: anonymize(read_log("log.tsv"), ...)',
        )


def check_release_output(folder: Path, form: str, force: bool) -> None:
    """Refuse a folder or form that cannot be written, before any work is done."""
    check_output_format(form)
    check_output_folder(folder, force, is_release)


def _account(log: QueryLog, method: Method, seed: int | None, dataset: str | None) -> Reservation:
    """Find what a release costs and where that is written; refuse what cannot be released."""
    check_parallelism(method, log)
    method.check_ready()
    seeded = seed is not None or log.seeded
    account = plan_reservation(log, method, method.guarantee(), dataset=dataset, seeded=seeded)
    if not log.accounting.kept and not account.spends_budget:
        raise InputError(
            "no row of the log is left to protect",
            hint="see `queryveil profile`; if its columns have other names: --columns",
        )
    if account.spends_budget and log.sampled:
        raise UsageError(
            "a sample of users cannot be released under differential privacy: who is drawn "
            "depends on how many there are",
            hint="take the whole log, or --max-queries-per-user for less work",
        )
    return account


@dataclass(frozen=True)
class _Runner:
    """How a method is run: by what chance, and with which groups of an earlier release."""

    seed: int | None
    earlier: EarlierGroups | None

    def run(self, method: Method, log: QueryLog, progress: Progress) -> Release:
        """Run it."""
        if self.earlier is None:
            return run_method(method, log, RandomSource(self.seed), progress)
        return run_with_groups(method, log, self.earlier, RandomSource(self.seed), progress)

    def noted(self, account: Reservation) -> Reservation:
        """Return the account with the release whose groups are kept."""
        if self.earlier is None:
            return account
        return replace(account, extra={**account.extra, GROUPS_OF: self.earlier.digest})


def _runner(groups_of: str | Path | None, seed: int | None, progress: Progress) -> _Runner:
    if groups_of is None:
        return _Runner(seed, None)
    if seed is not None:
        raise UsageError(
            "a seed with groups of an earlier release: what can be drawn again would be linked "
            "to a real release",
            hint="leave --seed out",
        )
    return _Runner(seed, read_groups(Path(groups_of), progress))


def _paid_for(
    log: QueryLog,
    method: Method,
    account: Reservation,
    how: _Runner,
    identifiers: str,
    progress: Progress,
) -> Release:
    """Pay, then run the method on what is no identifier."""
    rest = searched(log, method, identifiers, progress)
    if not account.spends_budget:
        check_left(rest)
    paid = how.noted(account).reserve()
    release = finished(how.run(method, rest, progress), log, identifiers)
    seeded = how.seed is not None or log.seeded
    against = (*release.not_release_grade, *((SEEDED,) * seeded))
    notes = (
        *release.notes,
        *((_COULD_STOP,) * (account.spends_budget and log.could_stop)),
    )
    release = replace(release, notes=notes, not_release_grade=against, method_spec=str(method))
    return paid.on(replace(release, measured=owners_figures(log, release, progress)))
