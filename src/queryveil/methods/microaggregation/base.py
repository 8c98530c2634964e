"""The base class of the microaggregation methods: from a log to a k-anonymous release."""

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
from ..base import Method, MethodOutput
from ..publication import pseudonymize
from .blocking import repartition_by_similarity, split_into_blocks
from .contributions import check_contributions, within_bound
from .emission import copy_to_members, sample_clicks, sample_times, substitute_rare_queries
from .grouping import check_groups, check_users, mdav
from .refinement import refine_groups

_MAX_FRACTION = 0.4  # of a group's log, that one member may contribute
_SHORT = "row not made: beyond a member's share of the log of the group"
EXACT_USERS = 5_000  # the maximum for which `auto` compares all users with each other
BLOCK_USERS = 1_000


def partition_profiles(
    taxonomy: Taxonomy | None,
    profiles: Profiles,
    k: int,
    how: str,
    refined: bool,
    progress: Progress,
) -> IntArray:
    """Group users by MDAV, at least k in a group: all users at once, or block by block."""
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
            labels = mdav(matrix, k)
            return refine_groups(matrix, labels, k) if refined else labels

        for users, labels in zip(blocks, pool.map(work, blocks), strict=True):
            group[users] = first + labels
            first += int(labels.max()) + 1
            if not exact:
                advance(len(users))
    check_groups(group, k)
    return group


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Groups, and the texts that their members share.

    Attributes:
        members: user and group, sorted by user name.
        texts: group, query, and the user who contributed it: a row of `members`, or `NOBODY`.
        short: The rows that each group's log lacks because of the contribution bound.
    """

    members: pl.DataFrame = field(repr=False)
    texts: pl.DataFrame = field(repr=False)
    short: IntArray = field(repr=False)

    def bounded(self, share: float) -> Prototypes:
        """Return prototypes within the contribution bound, and check them."""
        group = self.members["group"].to_numpy()
        texts = within_bound(self.texts, group, share)
        check_contributions(texts, share)
        before, after = (np.bincount(rows["group"].to_numpy()) for rows in (self.texts, texts))
        return Prototypes(self.members, texts, self.short + before - after)


@dataclass(frozen=True)
class Microaggregation(Method):
    """The base class of the microaggregation methods: k, and thresholds for rare texts."""

    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "blocks"

    k: int = parameter(
        5, "minimal number of users who share one log", min=2, max=10**9, unit="users"
    )
    min_users: int = parameter(
        0, "minimal number of users of a text, a click and a day; 0 is k", min=0, max=10**9,
        unit="users",
    )  # fmt: skip
    max_share: float = parameter(
        0.0, "maximal fraction of a group's log from one member; 0 is 0.4, or 1/k", min=0, max=1
    )
    time_precision: str = parameter(
        "day", "resolution of released times", choices=("none", "month", "day")
    )
    include_clicks: bool = parameter(True, "whether clicks are drawn for the released queries")
    taxonomy: str = parameter("wordnet", "taxonomy of concepts: wordnet, or a file")

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.max_share < 1 / self.k - 1e-9:
            raise ParameterError(
                f"--max-share is {self.max_share:g}, but {self.k} users cannot each contribute "
                f"less than 1/{self.k}",
                hint=f"use {1 / self.k:.3g} to 1",
            )

    @property
    def most_share(self) -> float:
        """The maximal fraction of a group's log from one member."""
        return self.max_share or max(_MAX_FRACTION, 1 / self.k)

    @property
    def least(self) -> int:
        """The minimal number of users of a text, a click and a day; k by default."""
        return self.min_users or self.k

    @abstractmethod
    def _prototypes(
        self, log: QueryLog, known: pl.DataFrame | None, rng: RandomSource, progress: Progress
    ) -> Prototypes:
        """Group the users, and choose the texts that each group shares.

        Users in `known` (user, group) keep their groups.
        """

    def _substitute_rare(
        self,
        texts: pl.DataFrame,
        members: pl.DataFrame,
        log: QueryLog,
        rng: RandomSource,
        progress: Progress,
    ) -> pl.DataFrame:
        """Replace queries of too few users by frequent ones."""
        if self.least == 1:
            return texts.select("group", "user", "query")
        return substitute_rare_queries(
            texts, members, log, self.taxonomy, self.least, rng, progress
        )

    def run(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Group the users, build one log per group, shuffle and pseudonymize."""
        return self._run(log, None, rng, progress)

    def run_with_groups(
        self, log: QueryLog, known: pl.DataFrame, rng: RandomSource, progress: Progress
    ) -> MethodOutput:
        """Run with the groups of an earlier release (user, group), each of at least k users here.

        Users who were not in it are grouped among themselves: none of them, or at least k.
        """
        return self._run(log, known, rng, progress)

    def _run(
        self, log: QueryLog, known: pl.DataFrame | None, rng: RandomSource, progress: Progress
    ) -> MethodOutput:
        check_users(log.count_distinct("user"), self.k)
        prototypes = self._prototypes(log, known, rng, progress).bounded(self.most_share)
        members = prototypes.members
        short = int((prototypes.short * np.bincount(members["group"].to_numpy())).sum())
        with progress.stage("fill the prototypes"):
            filled, blanked = self._add_times_and_clicks(log, members, prototypes.texts, rng)
            # Categorical: all members get these texts, and each text is stored once.
            filled = filled.with_columns(pl.col("query", "url").cast(pl.Categorical))
        with progress.stage("rename and shuffle"):
            rows = shuffle_rows(copy_to_members(filled, members).lazy(), rng).collect()
            public, mapping = pseudonymize(rows, "user", rng)
            mapping = mapping.join(members.with_columns(pl.col("user").cast(pl.String)), on="user")
        return MethodOutput(
            log=public.lazy().select("user", "query", "time", "rank", "url"),
            mapping=mapping,
            dropped={"replaced by the log of the group": log.accounting.kept},
            generated={"rows of the groups' logs": public.height},
            blanked=blanked | ({_SHORT: short} if short else {}),
        )

    def repartition(self, rows: RemoteTable, progress: Progress) -> RemoteTable:
        """Repartition a log into blocks of similar users, each of at least k users."""
        return repartition_by_similarity(rows, self.taxonomy, self.k, self.least, progress)

    def public_params(self) -> dict[str, Any]:
        """Return the parameters for the card; the folder of a taxonomy file is private."""
        names = ",".join(public_names(self.taxonomy))
        resolved = {"min_users": self.least, "max_share": self.most_share}
        return {**self.params(), **resolved, "taxonomy": names}

    def _add_times_and_clicks(
        self, log: QueryLog, members: pl.DataFrame, prototypes: pl.DataFrame, rng: RandomSource
    ) -> tuple[pl.DataFrame, dict[str, int]]:
        """Draw a time and a click for each text of the prototypes; count the blanked cells."""
        if prototypes["group"].n_unique() < members["group"].n_unique():
            raise InputError("a group has an empty log", hint="this is a bug: please report it")
        numbers = members.with_row_index("number").lazy()
        grouped = log.local_frame.join(numbers, on="user", maintain_order="left")
        rows = grouped.select("group", "time", user="number").collect()
        group = prototypes["group"].to_numpy()
        times, dayless = sample_times(
            rows, group, self.time_precision, self.least, self.most_share, rng
        )
        filled = prototypes.select("group", "query", times)
        copies = np.bincount(members["group"].to_numpy())[group]  # released rows of each text
        reason = (
            f"{self.time_precision} of fewer than {self.least} users, or beyond a member's share"
        )
        blanked = {reason: int(copies[dayless].sum())}
        if self.include_clicks:
            clicks = sample_clicks(log.local_frame, prototypes["query"], self.least, rng)
            filled = filled.with_columns(clicks["rank"], clicks["url"])
            for noun, flag, name in (("click", "click", "url"), ("rank", "ranked", "rank")):
                missing = clicks.select(pl.col(flag).fill_null(False) & pl.col(name).is_null())
                count = int(copies[missing.to_series().to_numpy()].sum())
                blanked[f"{noun} of fewer than {self.least} users"] = count
        else:
            filled = filled.with_columns(rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))
        return filled, {reason: count for reason, count in blanked.items() if count}

    def reasons_not_to_publish(self) -> tuple[str, ...]:
        """Return that texts of one user alone can be released, if one user is enough."""
        single = "the parameters keep queries that only one user sent, and such clicks and days"
        return (single,) if self.least == 1 else ()

    def guarantee(self) -> Guarantee:
        """Return k-anonymity: each released log is shared by at least k users."""
        checks = [
            Check("equal-logs", {"k": self.k}),
            Check("time-step", {"step": self.time_precision}),
        ]
        if not self.include_clicks:
            checks.append(Check("no-clicks", {}))
        return Guarantee(
            model="k-anonymity",
            k=self.k,
            statement=(
                f"Every user's released log is the same, row for row, as that of at least "
                f"{self.k - 1} other users: whatever an attacker knows of a user, this release "
                f"by itself leaves at least {self.k} users who match equally well. "
                f"{self._about_texts()} at least {self.least} users of the log"
                f"{self._about_clicks()}{self._about_times()}. {self._about_shares()}"
            ),
            assumptions=(
                "a user name of the log stands for one person, and one person has one user name",
                f"nobody controls {max(self.least - 1, 1)} or more accounts of the log: whoever "
                "does can send the query of one other user and so lift it over the threshold; "
                f"whoever controls {self.k - 1} accounts of a group knows the last member's log",
                "whoever made the release keeps private/ secret",
            ),
            not_covered=self._not_covered(),
            checks=tuple(checks),
        )

    def _about_texts(self) -> str:
        return "Every query in it was sent by"

    def _about_clicks(self) -> str:
        return (
            f", and every click, for that query, made by at least {self.least}, at that rank "
            f"by at least {self.least}"
            if self.include_clicks
            else "; no clicks are released"
        )

    def _about_shares(self) -> str:
        shared = f"All {self.k} or more pseudonyms of a group carry the interests of their group"
        if self.most_share == 1:
            return f"{shared}; one member can have contributed all of its log."
        limit = f"{self.most_share:.0%} of its rows, or one row"
        return f"{shared}: no member contributed more than {limit}."

    def _about_times(self) -> str:
        if self.time_precision == "none":
            return "; no times are released"
        return f"; every released {self.time_precision} is one of at least {self.least} users"

    def _not_covered(self) -> tuple[str, ...]:
        few = (
            f"a text, a click and a day need {self.least} users only, fewer than k = {self.k}: "
            f"whoever controls {max(self.least - 1, 1)} accounts can publish the query of "
            "one other user",
        )
        return (
            *(few if self.least < self.k else ()),
            "k-anonymity is not differential privacy: the release depends on every user, and "
            "comparing two releases made with and without a user can reveal facts about them",
            "the users of a group are similar by design: whoever knows that a user is in the log "
            "can guess their interests from the logs that would match them",
            "queries are real queries of the log: one that names a person is released unchanged, "
            f"if at least {self.least} users sent it",
            "that a query was sent at all, and roughly how often",
            "how many users the log has",
        )
