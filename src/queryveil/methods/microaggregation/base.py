"""What all methods of the family share: the way from a log to a k-anonymous release."""

from __future__ import annotations

from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from ...concepts.loaders.registry import public_names
from ...concepts.similarity.distance import cache_distances
from ...concepts.similarity.profiles import UNMAPPED, Profiles, profile_distance_matrix
from ...concepts.taxonomy.arrays import IntArray
from ...concepts.taxonomy.graph import Taxonomy
from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...engine.operations import shuffle_rows
from ...engine.table import RemoteTable
from ...errors import InputError, ParameterError
from ...log.query_log import QueryLog
from ...release.guarantee import Check, Guarantee
from ...release.release import Release
from ..base import Method
from ..publication import pseudonymize
from .blocking import repartition_by_similarity, split_into_blocks
from .contributions import check_contributions, within_bound
from .emission import copy_to_members, sample_clicks, sample_times, substitute_rare_queries
from .grouping import check_groups, check_users, mdav
from .refinement import refine_groups

_SHARE = 0.4  # of a group's log, that one member may give
_SHORT = "row not made: beyond a member's share of the log of the group"
EXACT_USERS = 5_000  # up to here `auto` compares all users with each other
BLOCK_USERS = 1_000


def partition_profiles(
    taxonomy: Taxonomy | None,
    profiles: Profiles,
    k: int,
    how: str,
    refined: bool,
    progress: Progress,
) -> IntArray:
    """Partition users into groups of at least k by MDAV: exactly, or block by block."""
    exact = how == "exact" or (how == "auto" and len(profiles) <= EXACT_USERS)
    if exact:
        blocks: list[IntArray] = [np.arange(len(profiles))]
    else:
        with progress.stage("cut into blocks"):
            blocks = split_into_blocks(taxonomy, profiles, max(BLOCK_USERS, 4 * k))
    if taxonomy is not None:
        concepts = np.unique(profiles.lists.items)
        cache_distances(taxonomy, concepts[concepts != UNMAPPED])
    group = np.empty(len(profiles), np.int64)
    first = 0
    with progress.stage("group users", len(profiles)) as advance, ThreadPoolExecutor(2) as pool:

        def work(users: IntArray) -> IntArray:
            part = profiles if exact else profiles.select(users)
            matrix = profile_distance_matrix(taxonomy, part, advance if exact else lambda _: None)
            found = mdav(matrix, k)
            return refine_groups(matrix, found, k) if refined else found

        for users, found in zip(blocks, pool.map(work, blocks), strict=True):
            group[users] = first + found
            first += int(found.max()) + 1
            if not exact:
                advance(len(users))
    check_groups(group, k)
    return group


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Groups, and the texts that their members share.

    members
        user and group, sorted by the user's name
    texts
        group, query and the user who gave it: her place in `members`, or nobody
    short
        rows by which each group's log is shorter, because one member may not give more
    """

    members: pl.DataFrame = field(repr=False)
    texts: pl.DataFrame = field(repr=False)
    short: IntArray = field(repr=False)

    def bounded(self, share: float) -> Prototypes:
        """Return the same with no member beyond her share, and check that it is so."""
        group = self.members["group"].to_numpy()
        texts = within_bound(self.texts, group, share)
        check_contributions(texts, share)
        rows = (np.bincount(all_["group"].to_numpy()) for all_ in (self.texts, texts))
        before, after = rows
        return Prototypes(self.members, texts, self.short + before - after)


@dataclass(frozen=True)
class Microaggregation(Method):
    """The base of the family: k, the rule for rare texts, times and clicks."""

    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "blocks"

    k: int = parameter(5, "users who share one log at least", min=2, max=10**9, unit="users")
    min_users: int = parameter(
        0, "users who must have sent a text, made a click or had a day; 0 is k", min=0, max=10**9,
        unit="users",
    )  # fmt: skip
    max_share: float = parameter(
        0.0, "share of a group's log that one member gives at most; 0 is 0.4, or 1/k", min=0, max=1
    )
    time: str = parameter("day", "how fine times are given", choices=("none", "month", "day"))
    clicks: bool = parameter(True, "whether clicks are drawn for the released queries")
    taxonomy: str = parameter("wordnet", "what queries mean: wordnet, or a taxonomy's file")

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.max_share < 1 / self.k - 1e-9:
            raise ParameterError(
                f"--max-share is {self.max_share:g}, but {self.k} users cannot each give less than "
                f"1/{self.k}",
                hint=f"take {1 / self.k:.3g} to 1",
            )

    @property
    def most_share(self) -> float:
        """The share of a group's log that one member may give."""
        return self.max_share or max(_SHARE, 1 / self.k)

    @property
    def least(self) -> int:
        """The users whom a text, a click and a day need: k if nothing else was asked for."""
        return self.min_users or self.k

    @abstractmethod
    def _prototypes(
        self, log: QueryLog, known: pl.DataFrame | None, chance: RandomSource, progress: Progress
    ) -> Prototypes:
        """Group the users, and choose the texts that each group shares.

        Users who stand in `known` (user, group) keep their groups.
        """

    def _frequent(
        self,
        texts: pl.DataFrame,
        members: pl.DataFrame,
        log: QueryLog,
        chance: RandomSource,
        progress: Progress,
    ) -> pl.DataFrame:
        """Let frequent queries stand in for those that too few users sent."""
        if self.least == 1:
            return texts.select("group", "user", "query")
        return substitute_rare_queries(
            texts, members, log, self.taxonomy, self.least, chance, progress
        )

    def run(self, log: QueryLog, chance: RandomSource, progress: Progress) -> Release:
        """Group the users, give each group one log, rename, shuffle."""
        return self._released(log, None, chance, progress)

    def run_with_groups(
        self, log: QueryLog, known: pl.DataFrame, chance: RandomSource, progress: Progress
    ) -> Release:
        """Do the same with groups of an earlier release (user, group), each of at least k here.

        Users whom it did not have are grouped among themselves: none of them, or at least k.
        """
        return self._released(log, known, chance, progress)

    def _released(
        self, log: QueryLog, known: pl.DataFrame | None, chance: RandomSource, progress: Progress
    ) -> Release:
        check_users(log.count_distinct("user"), self.k)
        prototypes = self._prototypes(log, known, chance, progress).bounded(self.most_share)
        members = prototypes.members
        short = int((prototypes.short * np.bincount(members["group"].to_numpy())).sum())
        with progress.stage("fill the prototypes"):
            filled, blanked = self._filled(log, members, prototypes.texts, chance)
            # As categories: all members get these texts, and each is then held once.
            filled = filled.with_columns(pl.col("query", "url").cast(pl.Categorical))
        with progress.stage("rename and shuffle"):
            rows = shuffle_rows(copy_to_members(filled, members).lazy(), chance).collect()
            public, mapping = pseudonymize(rows, "user", chance)
            mapping = mapping.join(members.with_columns(pl.col("user").cast(pl.String)), on="user")
        return Release(
            method=self.name,
            parameters=self._published(),
            guarantee=self.guarantee(),
            source=log,
            log=public.lazy().select("user", "query", "time", "rank", "url"),
            mapping=mapping,
            dropped={"replaced by the log of the group": log.accounting.kept},
            generated={"rows of the groups' logs": public.height},
            blanked=blanked | ({_SHORT: short} if short else {}),
            not_release_grade=self.unfit(),
            progress=progress,
        )

    def repartition(self, rows: RemoteTable, progress: Progress) -> RemoteTable:
        """Cut a log into blocks of users of similar interests, each of at least k."""
        return repartition_by_similarity(rows, self.taxonomy, self.k, self.least, progress)

    def _published(self) -> dict[str, Any]:
        """Give the parameters as the card shows them: where a taxonomy's file lies is private."""
        names = ",".join(public_names(self.taxonomy))
        resolved = {"min_users": self.least, "max_share": self.most_share}
        return {**self.params(), **resolved, "taxonomy": names}

    def _filled(
        self, log: QueryLog, members: pl.DataFrame, prototypes: pl.DataFrame, chance: RandomSource
    ) -> tuple[pl.DataFrame, dict[str, int]]:
        """Give the texts of the prototypes a time and a click each; count what they lack."""
        if prototypes["group"].n_unique() < members["group"].n_unique():
            raise InputError("a group has an empty log", hint="this is a defect: please report it")
        numbers = members.with_row_index("number").lazy()
        grouped = log.local_frame.join(numbers, on="user", maintain_order="left")
        lines = grouped.select("group", "time", user="number").collect()
        group = prototypes["group"].to_numpy()
        times, dayless = sample_times(lines, group, self.time, self.least, self.most_share, chance)
        filled = prototypes.select("group", "query", times)
        rows = np.bincount(members["group"].to_numpy())[group]  # of the release, for each
        reason = f"{self.time} of fewer than {self.least} users, or beyond a member's share"
        lacks = {reason: int(rows[dayless].sum())}
        if self.clicks:
            clicks = sample_clicks(log.local_frame, prototypes["query"], self.least, chance)
            filled = filled.with_columns(clicks["rank"], clicks["url"])
            for what, had, name in (("click", "click", "url"), ("rank", "ranked", "rank")):
                gone = clicks.select(pl.col(had).fill_null(False) & pl.col(name).is_null())
                number = int(rows[gone.to_series().to_numpy()].sum())
                lacks[f"{what} of fewer than {self.least} users"] = number
        else:
            filled = filled.with_columns(rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))
        return filled, {reason: number for reason, number in lacks.items() if number}

    def unfit(self) -> tuple[str, ...]:
        """Return that what one person alone had can show, where no more users are asked for."""
        single = "the parameters keep queries that only one person sent, and clicks and days alike"
        return (single,) if self.least == 1 else ()

    def guarantee(self) -> Guarantee:
        """Promise that each released log is shared by at least k users."""
        checks = [Check("equal-logs", {"k": self.k}), Check("time-step", {"step": self.time})]
        if not self.clicks:
            checks.append(Check("no-clicks", {}))
        return Guarantee(
            model="k-anonymity",
            k=self.k,
            statement=(
                f"Every user's released log is the same, row for row, as that of at least "
                f"{self.k - 1} other users: whatever somebody knows of a person, this release by "
                f"itself leaves at least {self.k} users who fit equally well. "
                f"{self._about_texts()} at least {self.least} users of the log"
                f"{self._about_clicks()}{self._about_times()}. {self._about_shares()}"
            ),
            assumptions=(
                "a user name of the log stands for one person, and one person has one user name",
                f"nobody controls {max(self.least - 1, 1)} or more accounts of the log: who does "
                "can send what one other person sent and so lift it over the threshold; whoever "
                f"controls {self.k - 1} accounts of a group knows whose log is the last one's",
                "who made the release keeps private/ to herself",
            ),
            not_covered=self._limits(),
            checks=tuple(checks),
        )

    def _about_texts(self) -> str:
        return "Every query in it was sent by"

    def _about_clicks(self) -> str:
        return (
            f", and every click, for that query, made by at least {self.least}, at that rank "
            f"by at least {self.least}"
            if self.clicks
            else "; no clicks are given"
        )

    def _about_shares(self) -> str:
        shared = f"All {self.k} or more pseudonyms of a group carry the interests of their group"
        if self.most_share == 1:
            return f"{shared}; one member can have given all of its log."
        return f"{shared}: no member gave more than {self.most_share:.0%} of its rows, or one row."

    def _about_times(self) -> str:
        if self.time == "none":
            return "; no times are given"
        return f"; every {self.time} that is given is one of at least {self.least} users"

    def _limits(self) -> tuple[str, ...]:
        few = (
            f"a text, a click and a day need {self.least} users only, fewer than k = {self.k}: "
            f"whoever controls {max(self.least - 1, 1)} accounts can publish what one other "
            "person sent",
        )
        return (
            *(few if self.least < self.k else ()),
            "k-anonymity is no differential privacy: the release depends on every user, and "
            "comparing two releases made with and without a person can tell about her",
            "the users of a group are alike by choice: whoever knows that a person is in the log "
            "can guess her interests from the logs that would fit her",
            "queries are real queries of the log: one that names a person names her, if at least "
            f"{self.least} users sent it",
            "that a query was sent at all, and roughly how often, is seen",
            "how many users the log has is seen",
        )

    def alternatives(self, log: QueryLog) -> list[dict[str, Any]]:  # noqa: ARG002
        """Say nothing of other values: each needs a run of its own."""
        return []
