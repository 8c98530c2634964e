"""Anonymize a log with the groups of an earlier release of the same users.

Two releases with different groups hide a user only among the few users who share a group with
them in both. If the groups of the earlier release are kept, the k or more users of a group were
either all in one group of the earlier release, or none of them was in that release. The same holds
for the releases whose groups the earlier release kept: a user who is absent from a release is
listed in its `private/absent.tsv`, with the group of the last release that had them.
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
from ..methods import runner
from ..methods.base import Method
from ..methods.microaggregation.base import Microaggregation
from ..release.formats import read_public_log
from ..release.reading import read_pseudonyms
from ..release.release import Release
from .previous_release import PreviousRelease, open_previous_release

# This note is on published cards, and `read_groups` looks for it there: do not reword it.
GROUPS_KEPT_NOTE = (
    "the groups are those of an earlier release of the same people, and of those whose groups that "
    "one kept: everybody here shares each of these logs, or is absent from it, with the same k or "
    "more users; what differs between the logs of a group is not covered"
)


@dataclass(frozen=True)
class EarlierGroups:
    """Groups of an earlier release, and the digest of its public card.

    `groups` has the columns `user` and `group`. Users who are absent from that release, but were
    in one before it, have group numbers above those of the release itself.
    """

    digest: str
    groups: pl.DataFrame = field(repr=False)


def read_groups(folder: Path, progress: Progress) -> EarlierGroups:
    """Read the groups of an unchanged k-anonymous release."""
    previous = open_previous_release(folder, progress)
    if previous.card.guarantee.model != "k-anonymity":
        raise UsageError(
            "this release has no groups: it is not k-anonymous",
            where=folder,
            hint="`groups_of` is for releases of the microaggregation family",
        )
    path = folder / "private" / "mapping.tsv"
    if not path.is_file():
        raise InputError(
            "private/mapping.tsv is missing, so the groups of this release are unknown",
            where=folder,
            hint="this release was written with `include_mapping=False`",
        )
    mapping = read_pseudonyms(path)
    _check_mapping(mapping, previous, path)
    groups = _select_groups(mapping)
    if GROUPS_KEPT_NOTE in previous.card.public.notes:
        groups = pl.concat([groups, _read_absent(folder, groups)])
    return EarlierGroups(previous.digest, groups)


def _select_groups(table: pl.DataFrame) -> pl.DataFrame:
    """Return users and groups, with group numbers as integers."""
    return table.select("user", pl.col("group").cast(pl.Int64))


def _read_absent(folder: Path, groups: pl.DataFrame) -> pl.DataFrame:
    """Read the users of still earlier releases who are absent from this one, and their groups."""
    path = folder / "private" / "absent.tsv"
    if not path.is_file():
        raise InputError(
            "private/absent.tsv is missing: users of earlier releases would be taken for new users",
            where=folder,
            hint="a release that keeps groups has this file beside private/mapping.tsv",
        )
    table = read_pseudonyms(path, ("user",))
    is_valid = {"user", "group"} <= set(table.columns) and (
        not sum(table.null_count().row(0))
        and table["group"].str.contains(r"^\d{1,18}$").all()
        and table["user"].is_unique().all()
    )
    # A damaged table is replaced by `groups`, which overlaps itself and so fails below.
    absent = _select_groups(table) if is_valid else groups
    if any(absent.join(groups, on=name, how="semi").height for name in ("user", "group")):
        raise VerificationError("this list is damaged", where=path)
    return absent


def _check_mapping(mapping: pl.DataFrame, previous: PreviousRelease, path: Path) -> None:
    """Raise an error unless each pseudonym occurs once and all groups have k equal logs or more."""
    log = read_public_log(previous.folder / "public")
    is_valid = {"user", "pseudonym", "group"} <= set(mapping.columns) and log is not None
    if is_valid and log is not None:
        users = mapping.select("user", "pseudonym", "group")
        pseudonyms = log.select(pseudonym="user").unique().collect(engine="streaming")
        too_small = users.group_by("group").len().filter(pl.col("len") < previous.card.guarantee.k)
        is_valid = (
            not sum(users.null_count().row(0))
            and users["user"].is_unique().all()
            and users["pseudonym"].is_unique().all()
            and pseudonyms.height == users.height
            and pseudonyms.join(users, on="pseudonym", how="semi").height == users.height
            and users["group"].str.contains(r"^\d{1,18}$").all()
            and not too_small.height
            and _has_equal_logs(log, users)
        )
    if not is_valid:
        raise VerificationError("this mapping is damaged", where=path)


def _has_equal_logs(log: pl.LazyFrame, users: pl.DataFrame) -> bool:
    """Return whether the users of each group have equal logs.

    Logs are compared by their number of rows and the sum of the hashes of their rows, which
    does not depend on the order of the rows.
    """
    rows = log.select(pseudonym="user", row=pl.struct(pl.exclude("user")).hash())
    logs = rows.group_by("pseudonym").agg(pl.col("row").sum(), pl.len())
    distinct = logs.join(users.lazy(), on="pseudonym").group_by("group").n_unique()
    return bool(distinct.select((pl.col("row", "len") == 1).all()).collect().to_numpy().all())


def run_with_groups(
    method: Method, log: QueryLog, earlier: EarlierGroups, rng: RandomSource, progress: Progress
) -> Release:
    """Anonymize a log with the groups of an earlier release.

    Only groups that still have k users are kept. The remaining users of smaller groups are
    dropped, and so are new users if they are fewer than k. In a group with other users they
    would be a subset of fewer than k, which an attacker with both releases can identify.
    """
    if not isinstance(method, Microaggregation):
        raise UsageError(
            f"{method.name} has no groups", hint="`groups_of` is for the microaggregation family"
        )
    if isinstance(log.table, RemoteTable):
        raise UsageError(
            f"`groups_of` needs the whole log on one machine, but it is on {log.engine}",
            hint="leave `engine` out",
        )
    users = log.local_frame.group_by("user").agg(rows=pl.len()).collect(engine="streaming")
    users = users.with_columns(name=pl.col("user").cast(pl.String))
    users = users.join(earlier.groups.rename({"user": "name"}), on="name", how="left")
    if users["group"].is_null().all():
        raise InputError(
            "no user of this log is in the earlier release",
            hint="`groups_of` is for a release of the same users",
        )
    size = pl.len().over("group")  # new users have a null group and are counted together
    kept = users.filter(size >= method.k)
    if not kept.height:
        raise EmptyReleaseError(
            f"no group of the earlier release still has {method.k} users, and fewer than "
            f"{method.k} users are new",
            hint="a smaller `k` keeps more groups",
        )
    known = kept.drop_nulls("group").select("group", user="name")
    rows = log.local_frame.join(kept.lazy().select("user"), on="user", how="semi").collect()
    accounting = replace(log.accounting, dropped=dict(log.accounting.dropped))
    dropped = users.filter(size < method.k)
    is_new = pl.col("group").is_null()
    accounting.drop(_count_rows_by_reason({
        f"fewer than {method.k} users of the earlier group are left": dropped.filter(~is_new),
        f"fewer than {method.k} users are new since the earlier release": dropped.filter(is_new),
    }))  # fmt: skip
    remaining = replace(log, table=rows.lazy(), accounting=accounting)
    release = runner.run_with_groups(method, remaining, known, rng, progress)
    absent = _list_absent_users(earlier, kept["name"], release)
    return replace(release, absent=absent, notes=(*release.notes, GROUPS_KEPT_NOTE))


def _list_absent_users(
    earlier: EarlierGroups, present: pl.Series, release: Release
) -> pl.DataFrame:
    """Return the users of earlier releases who are absent from this one, with their groups.

    Their group numbers are above those of this release. Users of one group who are absent
    together keep one number; users who are present are removed from them.
    """
    if release.mapping is None:
        raise UsageError(f"{release.method} keeps no mapping of its users")
    first_number = release.mapping.lazy().select(pl.col("group").max()).collect().item() + 1
    absent = earlier.groups.join(present.to_frame("user"), on="user", how="anti")
    number = first_number + pl.col("group").rank("dense").cast(pl.Int64) - 1
    return absent.with_columns(group=number).sort("user")


def _count_rows_by_reason(reasons: dict[str, pl.DataFrame]) -> dict[str, int]:
    return {reason: int(users["rows"].sum()) for reason, users in reasons.items() if users.height}
