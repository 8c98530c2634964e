"""The main job: protect a log by a method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ..engine import Chance, Progress, Silent
from ..errors import InputError, UsageError
from ..log import QueryLog
from ..methods import Method, check_spread, parse_method, run_method
from ..release import Release, check_format, check_target, is_release
from .repeat import copy_earlier
from .spending import Account, open_account

__all__ = ["anonymize", "anonymize_to", "check_release_target"]

_SEEDED = "a fixed seed was used: whoever knows it can draw the same order, names and sample"


def anonymize(
    log: QueryLog,
    method: Method | str,
    *,
    seed: int | None = None,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> Release:
    """Protect a log by a method, or by its one line ("frequent-queries:n=20").

    With a seed the result can be repeated, and is not for publication. A differentially private
    release is paid for here, in the ledger of the population: that of the log's folder, or of
    `dataset`.

    >>> from queryveil import FrequentQueries, QueryLog
    >>> log = QueryLog.from_rows([(u, "weather", "2006-03-01 10:00:00", None, None)
    ...                           for u in "abc"])
    >>> anonymize(log, FrequentQueries(n=2)).guarantee.model
    'none'
    """
    chosen = parse_method(method) if isinstance(method, str) else method
    account = _account(log, chosen, seed, dataset)
    return _paid_for(log, chosen, account, seed, progress or Silent())


def anonymize_to(
    log: QueryLog,
    method: Method,
    folder: Path,
    *,
    form: str = "parquet",
    force: bool = False,
    forget_mapping: bool = False,
    seed: int | None = None,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Protect a log and write the release; give the internal card.

    The same differentially private release of the same log is not drawn again, but copied, if
    it still stands where it was written: new noise would cost anew.
    """
    check_release_target(folder, form, force)
    account = _account(log, method, seed, dataset)
    earlier = copy_earlier(account, folder, form=form, force=force, forget_mapping=forget_mapping)
    if earlier is not None:
        return earlier
    release = _paid_for(log, method, account, seed, progress or Silent())
    return release.write(folder, form=form, force=force, forget_mapping=forget_mapping)


def check_release_target(folder: Path, form: str, force: bool) -> None:
    """Refuse a folder or form that cannot be written, before any work is done."""
    check_format(form)
    check_target(folder, force, is_release)


def _account(log: QueryLog, method: Method, seed: int | None, dataset: str | None) -> Account:
    """Find what a release costs and where that is written; refuse what cannot be released."""
    if not log.tally.kept:
        raise InputError("no row of the log is left to protect", hint="see `queryveil profile`")
    check_spread(method, log)
    method.prepare()
    seeded = seed is not None or log.seeded
    account = open_account(log, method, method.guarantee(), dataset=dataset, seeded=seeded)
    if account.spends and log.sampled:
        raise UsageError(
            "a sample of users cannot be released under differential privacy: who is drawn "
            "depends on how many there are",
            hint="take the whole log, or --max-queries-per-user for less work",
        )
    return account


def _paid_for(
    log: QueryLog, method: Method, account: Account, seed: int | None, progress: Progress
) -> Release:
    """Pay, then run the method."""
    paid = account.reserve()
    release = run_method(method, log, Chance(seed), progress)
    seeded = seed is not None or log.seeded
    why_not = (*release.not_release_grade, *((_SEEDED,) * seeded))
    return paid.on(replace(release, not_release_grade=why_not, recipe=str(method)))
