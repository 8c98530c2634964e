"""Protect a log with the groups of an earlier release of the same people.

Two releases with groups of their own hide a person among few: those who share a group in both.
With the groups of an earlier release, all k or more users of a group were in one group there too,
or none of them was in it at all. The same holds of the releases whose groups that one kept: who
is not in a release is remembered beside it, with the group of the last release that had them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from ..core.progress import Progress
from ..core.randomness import RandomSource
from ..engine.table import RemoteTable
from ..errors import EmptyReleaseError, InputError, UsageError, VerificationError
from ..log.query_log import QueryLog
from ..methods.base import Method
from ..methods.microaggregation.base import Microaggregation
from ..release.formats import read_public_log
from ..release.reading import read_pseudonyms
from ..release.release import Release
from .previous_release import PreviousRelease, open_previous_release

_KEPT = (
    "the groups are those of an earlier release of the same people, and of those whose groups that "
    "one kept: everybody here shares each of these logs, or is absent from it, with the same k or "
    "more users; what differs between the logs of a group is not covered"
)


@dataclass(frozen=True)
class EarlierGroups:
    """Who was in which group of an earlier release: user and group, and the release's digest.

    Users whom that release lacks, but one before it had, stand in groups beyond its own.
    """

    digest: str
    groups: pl.DataFrame = field(repr=False)


def read_groups(folder: Path, progress: Progress) -> EarlierGroups:
    """Open a release that stands untouched, and return its groups."""
    before = open_previous_release(folder, progress)
    if before.card["guarantee"]["model"] != "k-anonymity":
        raise UsageError(
            "this release has no groups: it is not k-anonymous",
            where=folder,
            hint="--groups-of is for releases of the microaggregation family",
        )
    path = folder / "private" / "mapping.tsv"
    if not path.is_file():
        raise InputError(
            "there is no private/mapping.tsv, so its groups are not known",
            where=folder,
            hint="it was written with --forget-mapping",
        )
    mapping = read_pseudonyms(path)
    _check_mapping(mapping, before, path)
    groups = _numbered(mapping)
    if _KEPT in before.card["notes"]:
        groups = pl.concat([groups, _read_absent(folder, groups)])
    return EarlierGroups(before.digest, groups)


def _numbered(table: pl.DataFrame) -> pl.DataFrame:
    return table.select("user", pl.col("group").cast(pl.Int64))


def _read_absent(folder: Path, groups: pl.DataFrame) -> pl.DataFrame:
    """Return the users of still earlier releases whom this one lacks, and their groups."""
    path = folder / "private" / "absent.tsv"
    if not path.is_file():
        raise InputError(
            "there is no private/absent.tsv: who was in an earlier release would count as new",
            where=folder,
            hint="it stands beside mapping.tsv where groups were kept",
        )
    table = read_pseudonyms(path, ("user",))
    whole = {"user", "group"} <= set(table.columns) and (
        not sum(table.null_count().row(0))
        and table["group"].str.contains(r"^\d{1,18}$").all()
        and table["user"].is_unique().all()
    )
    absent = _numbered(table) if whole else groups
    if any(absent.join(groups, on=name, how="semi").height for name in ("user", "group")):
        raise VerificationError("this list is damaged", where=path)
    return absent


def _check_mapping(mapping: pl.DataFrame, before: PreviousRelease, path: Path) -> None:
    """Raise an error unless the mapping is whole: each released name once, groups of k or more."""
    log = read_public_log(before.folder / "public")
    whole = {"user", "pseudonym", "group"} <= set(mapping.columns) and log is not None
    if whole and log is not None:
        named = mapping.select("user", "pseudonym", "group")
        names = log.select(pseudonym="user").unique().collect(engine="streaming")
        small = named.group_by("group").len().filter(pl.col("len") < before.card["guarantee"]["k"])
        whole = (
            not sum(named.null_count().row(0))
            and named["user"].is_unique().all()
            and named["pseudonym"].is_unique().all()
            and names.join(named, on="pseudonym", how="semi").height == names.height == named.height
            and named["group"].str.contains(r"^\d{1,18}$").all()
            and not small.height
            and _has_equal_logs(log, named)
        )
    if not whole:
        raise VerificationError("this mapping is damaged", where=path)


def _has_equal_logs(log: pl.LazyFrame, named: pl.DataFrame) -> bool:
    """Return whether all of a group have the same log, by sums of the numbers of their rows."""
    rows = log.select(pseudonym="user", row=pl.struct(pl.exclude("user")).hash())
    logs = rows.group_by("pseudonym").agg(pl.col("row").sum(), pl.len())
    found = logs.join(named.lazy(), on="pseudonym").group_by("group").n_unique()
    return bool(found.select((pl.col("row", "len") == 1).all()).collect().to_numpy().all())


def run_with_groups(
    method: Method, log: QueryLog, earlier: EarlierGroups, chance: RandomSource, progress: Progress
) -> Release:
    """Protect a log with the groups of an earlier release.

    Whole groups alone are kept. Who is left of a group that has fewer than k users now, and
    newcomers if they are fewer than k, are dropped: with others they would be a part of a group
    that whoever has both releases can tell from the rest.
    """
    if not isinstance(method, Microaggregation):
        raise UsageError(
            f"{method.name} has no groups", hint="--groups-of is for the microaggregation family"
        )
    if isinstance(log.table, RemoteTable):
        raise UsageError(
            f"--groups-of needs the whole log on one machine, and it lies on {log.engine}",
            hint="leave --engine out",
        )
    users = log.local_frame.group_by("user").agg(rows=pl.len()).collect(engine="streaming")
    users = users.with_columns(name=pl.col("user").cast(pl.String))
    users = users.join(earlier.groups.rename({"user": "name"}), on="name", how="left")
    if users["group"].is_null().all():
        raise InputError(
            "nobody of this log is in the earlier release",
            hint="--groups-of is for a release of the same people",
        )
    size = pl.len().over("group")  # newcomers, who have none, are counted together
    kept = users.filter(size >= method.k)
    if not kept.height:
        raise EmptyReleaseError(
            f"no group of the earlier release has {method.k} users left, and so many are not new",
            hint="a smaller --k keeps more groups",
        )
    known = kept.drop_nulls("group").select("group", user="name")
    rows = log.local_frame.join(kept.lazy().select("user"), on="user", how="semi").collect()
    tally = replace(log.accounting, dropped=dict(log.accounting.dropped))
    gone = users.filter(size < method.k)
    is_new = pl.col("group").is_null()
    tally.drop(_counted({
        f"fewer than {method.k} users of the earlier group are left": gone.filter(~is_new),
        f"fewer than {method.k} users are new since the earlier release": gone.filter(is_new),
    }))  # fmt: skip
    left = replace(log, table=rows.lazy(), accounting=tally)
    release = method.run_with_groups(left, known, chance, progress)
    absent = _absent(earlier, kept["name"], release)
    return replace(release, absent=absent, notes=(*release.notes, _KEPT))


def _absent(earlier: EarlierGroups, present: pl.Series, release: Release) -> pl.DataFrame:
    """Return the users of earlier releases whom this one lacks, in groups beyond its own.

    Users of one group who are absent together stay together; who is present parts from them.
    """
    if release.mapping is None:
        raise UsageError(f"{release.method} keeps no mapping of its users")
    own = release.mapping.lazy().select(pl.col("group").max()).collect().item() + 1
    gone = earlier.groups.join(present.to_frame("user"), on="user", how="anti")
    number = own + pl.col("group").rank("dense").cast(pl.Int64) - 1
    return gone.with_columns(group=number).sort("user")


def _counted(reasons: dict[str, pl.DataFrame]) -> dict[str, int]:
    return {reason: int(users["rows"].sum()) for reason, users in reasons.items() if users.height}
