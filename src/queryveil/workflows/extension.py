"""Go on with an earlier release: new events and new users, within what each user has left.

A row is new from a day on that the owner names, or from the day after the last one that the
earlier release was read up to. The rows have no say in it: a day taken from them could be moved by
one person's wrong clock, for everybody.

No row of the log can stop the run: where nothing is new, or nobody has anything left to use, the
release is made and has no rows. A refusal would tell that, and no epsilon would cover it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..engine.operations import count_rows
from ..errors import UsageError, VerificationError
from ..ledger.entries import LedgerEntry
from ..log.query_log import QueryLog
from ..log.screening import check_setting
from ..methods.base import Method
from ..methods.replacement.phrases import PreviousContributions
from ..methods.runner import judged
from ..release.release import Release
from ..release.signing import Signer
from .anonymization import check_release_output, finished, searched
from .extension_terms import ExtensionTerms, compute_extension_terms
from .previous_release import PreviousRelease, base_method, open_previous_release

_NOTE = (
    "this release goes on with an earlier one of the same people, under the same pseudonyms: the "
    "promise is about all of them together"
)
_OLD = "before the first day that is new"
_NO_TIME = "no time, so not known to be new"


def extend_release(
    log: QueryLog,
    earlier: str | Path,
    folder: str | Path,
    *,
    method: Method | None = None,
    form: str = "parquet",
    force: bool = False,
    forget_mapping: bool = False,
    lower_guarantee: bool = False,
    dataset: str | None = None,
    since: date | str | None = None,
    identifiers: str | None = None,
    sign: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Protect what is new in a log since an earlier release; write it, give the internal card.

    What is new begins with the day `since`, or that with which the log was read, or else on the
    day after the `until` with which the log of the earlier release was read.
    Users keep their pseudonyms, and use what they have left of their slots. With
    `lower_guarantee` each user may use as many slots again, and the promise is the sum. The
    method is that of the earlier release; it must be given if it reads files. Identifiers are
    treated as there, unless `identifiers` says otherwise. `sign` is the file of a private key.
    """
    shown, old, new = progress or NoProgress(), Path(earlier), Path(folder)
    check_release_output(new, form, force)
    signer = None if sign is None else Signer.read(Path(sign))  # before anything is paid for
    _check_asked(log, old, new)
    before = open_previous_release(old, shown)
    base = _ready(before, method)
    first = _first_day(log, before, since)
    fresh = _newer(log, first)
    setting = identifiers or before.card.get("identifiers") or "drop"
    check_setting(setting)
    terms = compute_extension_terms(log, base, before, dataset, lower_guarantee)
    extra = {**terms.account.extra, "identifiers": setting, "since": first.isoformat()}
    account = replace(terms.account, extra=extra)
    terms, chance = replace(terms, account=account), RandomSource()
    left = PreviousContributions(
        _used(base, log, before.mapping(), terms.lost, chance), terms.max_contributions
    )
    rest = searched(fresh, terms.method, setting, shown)
    release = finished(_extended(rest, terms, left, chance, shown), fresh, setting)
    return release.write(new, form=form, force=force, forget_mapping=forget_mapping, signer=signer)


def _check_asked(log: QueryLog, old: Path, new: Path) -> None:
    if log.seeded or log.sampled:
        raise UsageError(
            "a sample of users cannot extend a release: who is drawn depends on how many there are",
            hint="take the whole log",
        )
    if old.resolve() in (new.resolve(), *new.resolve().parents):
        raise UsageError(
            "what extends a release cannot take its place", where=new, hint="take another name"
        )


def _ready(before: PreviousRelease, given: Method | None) -> Method:
    base = base_method(before, given)
    if type(base).continue_release is Method.continue_release:
        raise base.cannot_extend()
    base.check_ready()
    return base


def _first_day(log: QueryLog, before: PreviousRelease, since: date | str | None) -> date:
    """Return the first new day, from what the owner said alone."""
    named = date.fromisoformat(since) if isinstance(since, str) else since or log.since
    last = before.until
    if named is None and last is None:
        raise UsageError(
            "which rows are new is not known: no row may decide that",
            where=before.folder,
            hint="name the first new day: --since 2006-04-01",
        )
    if named is not None and last is not None and named <= last:
        raise UsageError(
            f"the release that is extended was read up to {last}",
            where=before.folder,
            hint=f"what is new begins later: --since {last + timedelta(days=1)}",
        )
    return named or (last or date.min) + timedelta(days=1)


def _newer(log: QueryLog, first: date | None) -> QueryLog:
    """Keep what is new; the rest is counted as dropped."""
    if first is None:
        return log
    timed = count_rows(log.local_frame.filter(pl.col("time").is_not_null()))
    rows = log.local_frame.filter(pl.col("time") >= first).collect(engine="streaming")
    tally = replace(log.accounting, dropped=dict(log.accounting.dropped))
    tally.drop({_NO_TIME: log.accounting.kept - timed, _OLD: timed - rows.height})
    return replace(log, table=rows.lazy(), accounting=tally)


def _used(
    base: Method,
    log: QueryLog,
    mapping: pl.DataFrame,
    lost: tuple[LedgerEntry, ...],
    chance: RandomSource,
) -> pl.DataFrame:
    """Count what attempts that ended early may have shown: all that they would have used."""
    for attempt in lost:
        earlier = PreviousContributions(mapping, int(attempt.extra["most"]))
        first = attempt.extra.get("since")  # without one, all rows: that is never too little
        fresh = _newer(log, date.fromisoformat(first) if first else None)
        seen = searched(fresh, base, attempt.extra.get("identifiers", "keep"), NoProgress())
        mapping = earlier.updated(base.count_contributions(seen, earlier), chance)
    return mapping


def _extended(
    fresh: QueryLog,
    terms: ExtensionTerms,
    earlier: PreviousContributions,
    chance: RandomSource,
    progress: Progress,
) -> Release:
    """Pay, then let the method draw; hold it to the slots that it named before."""
    if (earlier.mapping["slots"] > earlier.max_contributions).any():
        raise VerificationError(
            "the mapping says that somebody used more than the ledger counts",
            hint="bring back the mapping that was written with the release",
        )
    uses = terms.method.count_contributions(fresh, earlier)
    account = terms.account.reserve()
    release = terms.method.continue_release(fresh, earlier, chance, progress)
    mapping = None if release.mapping is None else release.mapping.lazy().collect()
    _check_uses(mapping, earlier, uses)
    release = judged(release, terms.method)
    return account.on(replace(release, notes=(_NOTE, *release.notes)))


def _check_uses(
    mapping: pl.DataFrame | None, earlier: PreviousContributions, uses: pl.DataFrame
) -> None:
    """Refuse a release that renames somebody, or used other slots than a retry would count."""
    columns = ["user", "pseudonym", "slots"]
    if mapping is not None and set(columns) <= set(mapping.columns):
        found = mapping.select(columns).cast({"slots": pl.Int64})
        renamed = earlier.mapping.join(found, on=["user", "pseudonym"], how="anti").height
        same_name = found["pseudonym"].n_unique() < found.height
        used = uses.select(pl.col("user").cast(pl.String), pl.col("slots").cast(pl.Int64))
        expected = _sums(pl.concat([earlier.mapping.select("user", "slots"), used]))
        beyond = (found["slots"] > earlier.max_contributions).any()
        if not (renamed or same_name or beyond) and _sums(found).equals(expected):
            return
    raise VerificationError(
        "the method did not use the slots that it said, or renamed users; nothing was written",
        hint="this is a defect: please report it",
    )


def _sums(slots: pl.DataFrame) -> pl.DataFrame:
    summed = slots.group_by("user").agg(pl.col("slots").sum())
    return summed.filter(pl.col("slots") > 0).sort("user")
