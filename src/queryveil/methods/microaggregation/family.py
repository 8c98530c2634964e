"""What all methods of the family share: the way from a log to a k-anonymous release."""

from __future__ import annotations

from abc import abstractmethod
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from ...concepts import UNMAPPED, Profiles, Taxonomy, file_names
from ...concepts.likeness.matrix import profile_matrix
from ...concepts.likeness.tables import keep_table
from ...concepts.taxonomy import Ints
from ...engine import Chance, Far, Progress, permute
from ...errors import InputError, ParameterError
from ...log import QueryLog
from ...release import Check, Guarantee, Release, pseudonymize
from ..base import Method, parameter
from .blocks import similar_blocks
from .emission import draw_clicks, draw_times, given_to_all
from .far_blocks import block_table
from .partition import check_groups, mdav
from .refine import refine
from .stand_ins import frequent_texts

__all__ = ["Microaggregation", "partition_profiles"]

EXACT_USERS = 5_000  # up to here `auto` compares all users with each other
BLOCK_USERS = 1_000


def partition_profiles(
    taxonomy: Taxonomy | None,
    profiles: Profiles,
    k: int,
    how: str,
    refined: bool,
    progress: Progress,
) -> Ints:
    """Partition users into groups of at least k by MDAV: exactly, or block by block."""
    exact = how == "exact" or (how == "auto" and len(profiles) <= EXACT_USERS)
    if exact:
        blocks: list[Ints] = [np.arange(len(profiles))]
    else:
        with progress.stage("cut into blocks"):
            blocks = similar_blocks(taxonomy, profiles, max(BLOCK_USERS, 4 * k))
    if taxonomy is not None:
        concepts = np.unique(profiles.lists.items)
        keep_table(taxonomy, concepts[concepts != UNMAPPED])
    group = np.empty(len(profiles), np.int64)
    first = 0
    with progress.stage("group users", len(profiles)) as advance, ThreadPoolExecutor(2) as pool:

        def work(users: Ints) -> Ints:
            part = profiles if exact else profiles.some(users)
            matrix = profile_matrix(taxonomy, part, advance if exact else lambda _: None)
            found = mdav(matrix, k)
            return refine(matrix, found, k) if refined else found

        for users, found in zip(blocks, pool.map(work, blocks), strict=True):
            group[users] = first + found
            first += int(found.max()) + 1
            if not exact:
                advance(len(users))
    check_groups(group, k)
    return group


@dataclass(frozen=True)
class Microaggregation(Method):
    """The base of the family: k, the rule for rare texts, times and clicks."""

    spread: ClassVar[Literal["no", "steps", "users", "blocks"]] = "blocks"

    k: int = parameter(5, "users who share one log at least", low=2, high=10**9, unit="users")
    min_users: int = parameter(
        2, "users who must have sent a text, or clicked a URL for it", low=1, high=10**9,
        unit="users",
    )  # fmt: skip
    time: str = parameter("day", "how fine times are given", choices=("none", "month", "day"))
    clicks: bool = parameter(True, "whether clicks are drawn for the released queries")
    taxonomy: str = parameter("wordnet", "what queries mean: wordnet, or a taxonomy's file")

    @abstractmethod
    def _prototypes(
        self, log: QueryLog, chance: Chance, progress: Progress
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Give the users (user, group), and the prototypes' texts (group, query)."""

    def _frequent(
        self,
        texts: pl.DataFrame,
        members: pl.DataFrame,
        log: QueryLog,
        chance: Chance,
        progress: Progress,
    ) -> pl.DataFrame:
        """Let frequent queries stand in for those that too few users sent."""
        if self.min_users == 1:
            return texts.select("group", "query")
        return frequent_texts(texts, members, log, self.taxonomy, self.min_users, chance, progress)

    def run(self, log: QueryLog, chance: Chance, progress: Progress) -> Release:
        """Group the users, give each group one log, rename, shuffle."""
        users = log.distinct("user")
        if users < self.k:
            raise ParameterError(
                f"--k is {self.k}, but the log has {users} users", hint=f"take --k 2 to {users}"
            )
        members, prototypes = self._prototypes(log, chance, progress)
        with progress.stage("fill the prototypes"):
            filled = self._filled(log, members, prototypes, chance)
            # As categories: all members get these texts, and each is then held once.
            filled = filled.with_columns(pl.col("query", "url").cast(pl.Categorical))
        with progress.stage("rename and shuffle"):
            rows = permute(given_to_all(filled, members).lazy(), chance).collect()
            public, mapping = pseudonymize(rows, "user", chance)
            mapping = mapping.join(members.with_columns(pl.col("user").cast(pl.String)), on="user")
        return Release(
            method=self.name,
            parameters=self._published(),
            guarantee=self.guarantee(),
            source=log,
            log=public.lazy().select("user", "query", "time", "rank", "url"),
            mapping=mapping,
            dropped={"replaced by the log of the group": log.tally.kept},
            made={"rows of the groups' logs": public.height},
            not_release_grade=self._why_not(),
            progress=progress,
        )

    def blocks(self, rows: Far, progress: Progress) -> Far:
        """Cut a log into blocks of users of similar interests, each of at least k."""
        return block_table(rows, self.taxonomy, self.k, self.min_users, progress)

    def _published(self) -> dict[str, Any]:
        """Give the parameters as the card shows them: where a taxonomy's file lies is private."""
        return {**self.values(), "taxonomy": ",".join(file_names(self.taxonomy))}

    def _filled(
        self, log: QueryLog, members: pl.DataFrame, prototypes: pl.DataFrame, chance: Chance
    ) -> pl.DataFrame:
        """Give the texts of the prototypes a time and a click each."""
        if prototypes["group"].n_unique() < members["group"].n_unique():
            raise InputError("a group has an empty log", hint="this is a defect: please report it")
        grouped = log.frame.join(members.lazy(), on="user", maintain_order="left")
        lines = grouped.select("group", "time").collect()
        group = prototypes["group"].to_numpy()
        times = draw_times(lines, group, self.time, chance)
        filled = prototypes.with_columns(time=times)
        if not self.clicks:
            return filled.with_columns(rank=pl.lit(None, pl.Int32), url=pl.lit(None, pl.String))
        clicks = draw_clicks(log.frame, prototypes["query"], self.min_users, chance)
        return filled.with_columns(clicks["rank"], clicks["url"])

    def _why_not(self) -> tuple[str, ...]:
        single = "the parameters keep queries and clicks that only one person sent"
        return (single,) if self.min_users == 1 else ()

    def guarantee(self) -> Guarantee:
        """Promise that each released log is shared by at least k users."""
        checks = [Check("equal-logs", {"k": self.k}), Check("time-step", {"step": self.time})]
        if not self.clicks:
            checks.append(Check("no-clicks", {}))
        return Guarantee(
            model="k-anonymity",
            k=self.k,
            says=(
                f"Every user's released log is the same, row for row, as that of at least "
                f"{self.k - 1} other users: whatever somebody knows of a person, the release "
                f"leaves at least {self.k} users who fit equally well. {self._about_texts()} at "
                f"least {self.min_users} users of the log{self._about_clicks()}."
            ),
            assumptions=(
                "a user name of the log stands for one person, and one person has one user name",
                "who made the release keeps private/ to herself",
            ),
            not_covered=self._limits(),
            checks=tuple(checks),
        )

    def _about_texts(self) -> str:
        return "Every query in it was sent by"

    def _about_clicks(self) -> str:
        return (
            f", and every click, for that query, made by at least {self.min_users}"
            if self.clicks
            else "; no clicks are given"
        )

    def _limits(self) -> tuple[str, ...]:
        return (
            "k-anonymity is no differential privacy: the release depends on every user, and "
            "comparing two releases made with and without a person can tell about her",
            "the users of a group are alike by choice: whoever knows that a person is in the log "
            "can guess her interests from the logs that would fit her",
            "queries are real queries of the log: one that names a person names her, if at least "
            f"{self.min_users} users sent it",
            "that a query was sent at all, and roughly how often, is seen",
            "how many users the log has is seen",
        )

    def alternatives(self, log: QueryLog) -> list[dict[str, Any]]:  # noqa: ARG002
        """Say nothing of other values: each needs a run of its own."""
        return []
