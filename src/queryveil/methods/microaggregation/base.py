"""The base classes of the microaggregation methods: their parameters and their guarantee."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, Self

import polars as pl

from ...concepts.mapping.guessing import GuessedLanguage
from ...concepts.mapping.options import AUTO, GUESSED_HELP, SAME, TERMS_HELP, MappingOptions
from ...core.parameters import parameter
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...core.records import Scalar
from ...engine.operations import aggregate, unique_queries
from ...engine.table import RemoteTable
from ...errors import CoverageError, ParameterError
from ...log.query_log import QueryLog
from ...release.guarantee import Check, Guarantee
from ..base import Method, MethodOutput
from .blocking import repartition_by_similarity
from .emission import EmissionRules

_MAX_FRACTION = 0.4  # of a group's log, that one member may contribute


@dataclass(frozen=True)
class Microaggregation(Method):
    """The base class of the microaggregation methods: k, and thresholds for rare texts."""

    parallelism: ClassVar[Literal["no", "steps", "users", "blocks"]] = "blocks"

    k: int = parameter(
        5, "minimum number of users who share each released log", min=2, max=10**9, unit="users"
    )
    min_users: int = parameter(
        0,
        "minimum number of users of each released text, click and day; 0: as k",
        min=0,
        max=10**9,
        unit="users",
    )
    max_member_fraction: float = parameter(
        0.0,
        "maximum fraction of a group's log from one user; 0: the larger of 0.4 and 1/k",
        min=0,
        max=1,
    )
    time_precision: str = parameter("day", "time precision", choices=("none", "month", "day"))
    include_clicks: bool = parameter(True, "release clicks for the released queries")
    taxonomy: str = parameter("wordnet", "taxonomy of concepts: wordnet, shop, or a file")
    language: str = parameter(SAME, GUESSED_HELP)
    terms: str = parameter("", TERMS_HELP)
    as_published: bool = parameter(
        False, "group users and select texts exactly as in the paper, to compare with it"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.mapping_options.check()
        if 0 < self.max_member_fraction < 1 / self.k - 1e-9:
            raise ParameterError(
                f"`max_member_fraction` is {self.max_member_fraction:g}, but {self.k} users cannot "
                f"each contribute less than 1/{self.k}",
                hint=f"use {1 / self.k:.3g} to 1",
            )

    @property
    def member_fraction(self) -> float:
        """The maximal fraction of a group's log from one member."""
        return self.max_member_fraction or max(_MAX_FRACTION, 1 / self.k)

    @property
    def mapping_options(self) -> MappingOptions:
        """How queries are mapped to concepts."""
        return MappingOptions(self.taxonomy, self.language, self.terms)

    def fit(self, log: QueryLog) -> Self:
        """Return the method with the language of the log, if it is to be guessed."""
        if self.language != AUTO:
            return self
        return replace(self, language=self.mapping_options.fit(self._guess_language(log)).language)

    def _guess_language(self, log: QueryLog) -> GuessedLanguage:
        work = partial(_count_languages, options=self.mapping_options)
        return GuessedLanguage.of(aggregate(log.table, work, ["language"]))

    def input_files(self) -> tuple[Path, ...]:
        """Return the files of the taxonomy and of custom terms."""
        return self.mapping_options.files()

    @property
    def min_senders(self) -> int:
        """The minimal number of users of a text, a click and a day; k by default."""
        return self.min_users or self.k

    @abstractmethod
    def run(
        self,
        log: QueryLog,
        rng: RandomSource,
        progress: Progress,
        groups: pl.DataFrame | None = None,
    ) -> MethodOutput:
        """Group the users, select the texts of each group, and emit one log per group.

        Args:
            groups: Groups of an earlier release (user, group), each of at least k users here.
                Users who were not in it are grouped among themselves: none, or at least k.
        """

    def emission_rules(self) -> EmissionRules:
        """Return what texts, times and clicks need to be released."""
        return EmissionRules(
            self.mapping_options,
            self.min_senders,
            self.member_fraction,
            self.time_precision,
            self.include_clicks,
        )

    def repartition(self, rows: RemoteTable, progress: Progress) -> RemoteTable:
        """Repartition a log into blocks of similar users, each of at least k users."""
        options = self.mapping_options
        return repartition_by_similarity(rows, options, self.k, self.min_senders, progress)

    def public_params(self) -> dict[str, Scalar]:
        """Return the parameters for the card; the folders of files are private."""
        resolved = {"min_users": self.min_senders, "max_member_fraction": self.member_fraction}
        return {**self.params(), **resolved, **self.mapping_options.public_params()}

    def reasons_not_to_publish(self) -> tuple[str, ...]:
        """Return that texts of one user alone can be released, if one user is enough."""
        single = "the parameters keep queries that only one user sent, and such clicks and days"
        return (single,) if self.min_senders == 1 else ()

    def guarantee(self) -> Guarantee:
        """Return k-anonymity: each released log is shared by at least k users."""
        return self._state_guarantee("Every query in it was sent by")

    def _state_guarantee(self, texts: str) -> Guarantee:
        """Return the guarantee; `texts` begins the sentence on the users of a text."""
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
                f"by itself leaves at least {self.k} users who match equally well, so that a guess "
                f"links a user to their pseudonym with a probability of at most 1/{self.k}. "
                f"{texts} at least {self.min_senders} users of the log"
                f"{self._about_clicks()}{self._about_times()}. {self._about_shares()}"
            ),
            assumptions=(
                "a user name of the log stands for one person, and one person has one user name",
                f"nobody controls {max(self.min_senders - 1, 1)} or more accounts of the log: "
                "somebody who does can send the query of one other user, and so lift it over the "
                f"threshold; somebody who controls {self.k - 1} accounts of a group knows the "
                "last member's log",
                "the data owner keeps private/ secret",
            ),
            not_covered=self._not_covered(),
            checks=tuple(checks),
        )

    def _about_clicks(self) -> str:
        return (
            f", and every click, for that query, made by at least {self.min_senders}, at that rank "
            f"by at least {self.min_senders}"
            if self.include_clicks
            else "; no clicks are released"
        )

    def _about_shares(self) -> str:
        shared = f"All {self.k} or more pseudonyms of a group carry the interests of their group"
        if self.member_fraction == 1:
            return f"{shared}; one member alone can have sent all texts of its log."
        limit = f"{self.member_fraction:.0%} of its rows, or one row"
        return f"{shared}: no member alone of their group sent the texts of more than {limit}."

    def _about_times(self) -> str:
        if self.time_precision == "none":
            return "; no times are released"
        return f"; every released {self.time_precision} is one of at least {self.min_senders} users"

    def _not_covered(self) -> tuple[str, ...]:
        few = (
            f"a text, a click and a day need {self.min_senders} users only, fewer than k = "
            f"{self.k}: someone who controls {max(self.min_senders - 1, 1)} accounts can publish "
            "the query of one other user",
        )
        return (
            *(few if self.min_senders < self.k else ()),
            "k-anonymity is not differential privacy: the release depends on every user, and "
            "comparing two releases made with and without a user can reveal facts about them",
            "the users of a group are similar by design: someone who knows that a user is in the "
            "log can guess their interests from the logs that would match them",
            "queries are real queries of the log: one that names a person is released unchanged, "
            f"if at least {self.min_senders} users sent it",
            "that a query was sent at all, and roughly how often",
            "how many users the log has",
        )


def _count_languages(
    frame: pl.LazyFrame, _: RandomSource, *, options: MappingOptions
) -> pl.DataFrame:
    return options.count_languages(unique_queries(frame))


# A log in another language than the taxonomy has hardly any concepts: all users would seem
# similar, and the release would repeat a few queries. English logs, also of shops, are above this
# limit; German and Spanish ones below.
_MIN_COVERAGE = 0.4


@dataclass(frozen=True)
class ByMeaning(Microaggregation):
    """A method that groups users by concepts, and needs a minimal coverage of the log by them."""

    min_coverage: float = parameter(
        _MIN_COVERAGE,
        "minimum fraction of phrases with a concept of the taxonomy; below it, the run stops",
        min=0.0,
        max=1.0,
    )

    def fit(self, log: QueryLog) -> Self:
        """Return the method with the language of the log; raise if it does not fit the log.

        A `min_coverage` of 0 allows any language.
        """
        if self.language != AUTO and not self.min_coverage:
            return self
        guessed = self._guess_language(log)
        options = self.mapping_options.fit(guessed)
        if self.min_coverage:
            options.check_fit(guessed)
        return replace(self, language=options.language)

    def run_partition(self, log: QueryLog, rng: RandomSource, progress: Progress) -> MethodOutput:
        """Anonymize a block of users; the coverage was checked for all blocks together."""
        return replace(self, min_coverage=0.0).run(log, rng, progress)

    def repartition(self, rows: RemoteTable, progress: Progress) -> RemoteTable:
        """Repartition a log into blocks of similar users, after a check of its coverage."""
        return repartition_by_similarity(
            rows,
            self.mapping_options,
            self.k,
            self.min_senders,
            progress,
            covered=self.check_coverage,
        )

    def check_coverage(self, coverage: float) -> float:
        """Raise CoverageError if too few phrases have a concept; return the coverage otherwise."""
        if coverage < self.min_coverage:
            taxonomy = self.public_params()["taxonomy"]
            raise CoverageError(
                f"only {coverage:.0%} of the phrases in this log have a concept of {taxonomy}, but "
                f"{self.min_coverage:.0%} are needed to group users by meaning",
                hint="use a taxonomy in the language of the log (`taxonomy`), or "
                "string-microaggregation, which needs none; or set `min_coverage` lower",
            )
        return coverage
