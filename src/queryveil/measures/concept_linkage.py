"""Linkage by meaning: an attacker assigns each user to the released log most similar in meaning.

`record-linkage` compares texts. Here texts do not matter: the attacker maps the original log and
the release to concepts. So this measures a release whose texts were replaced by similar ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..concepts.similarity.cross_distances import cross_distance_matrix
from ..concepts.similarity.profiles import Profiles, build_profiles
from ..concepts.similarity.topics import OFF_TOPIC, Topics
from ..core.parameters import parameter
from ..errors import InputError
from ..release.release import Release
from ._shared.queries import group_equal_logs, true_pairs
from ._shared.topic_sets import TOPICS_HELP, parse_topics
from .base import ConceptMeasure
from .context import MeasureContext, released_log_concepts
from .result import MeasureResult

_TIE = 1e-7  # smaller differences of similarities are rounding errors, also of 32-bit distances
_CELLS = 1 << 23  # of a table of similarities (users by distinct logs) at a time: 64 MB
_MAX_USERS = 10_000  # for distances, whose table has a cell for each user and each distinct log

_HOW = {
    "concepts": "cosine of counts of concepts",
    "distances": "distance Ds of concepts",
    "topics": "Hellinger distance of fractions of topics",
}


@dataclass(frozen=True, eq=False, repr=False)
class _NumberedProfiles:
    """Profiles of users or of logs; `rows` has owner (a number), text (a feature) and count.

    A user without any feature has no rows. Equal logs have one number.
    """

    names: pl.Series
    rows: pl.DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class _DistinctLogs:
    """The distinct released logs: their profiles, and how many released logs each stands for.

    `of_log` has the number of the distinct log of each released log; -1 if it has no feature.
    """

    profiles: _NumberedProfiles
    sizes: NDArray[np.int64]
    of_log: NDArray[np.int64]


@dataclass(frozen=True)
class ConceptLinkage(ConceptMeasure):
    """The percentage of users who are linked to their released log by concepts or by topics."""

    name: ClassVar[str] = "concept-linkage"
    title: ClassVar[str] = "users linked by the meaning of their queries"
    description: ClassVar[str] = (
        "the percentage of users re-identified by an attacker who has the whole original log, "
        "ignores texts, and assigns each user to the released log with the most similar concepts "
        "or topics"
    )
    paper: ClassVar[str] = "none; record linkage of Batet et al. 2013, on concepts and on topics"
    unit: ClassVar[str] = "percent of the log's users"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    by: str = parameter(
        "concepts",
        "what is compared: counts of concepts (their cosine), distances of concepts (Ds), or "
        "fractions of topics (their Hellinger distance)",
        choices=("concepts", "distances", "topics"),
    )
    topics: str = parameter("auto", f"topics, for by=topics: {TOPICS_HELP}")

    def prepare(self, context: MeasureContext) -> None:
        """Build the profiles of the log, and raise if no user has one."""
        self._original_profiles(context)

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the percentage of linked users, that of guessing, and the bound by k."""
        users = self._original_profiles(context)
        pairs, note = released_log_concepts(context, release, self.mapping_options)
        names = _log_names(release, pairs)
        logs = _group_logs(_number_owners(self._count_features(context, pairs), names))
        owned = true_pairs(users.names, names, release)
        linked = float(self._link(context, users, logs, owned).sum())
        return self._build_result(context, release, linked, users, names, owned, note)

    def _build_result(
        self,
        context: MeasureContext,
        release: Release,
        linked: float,
        users: _NumberedProfiles,
        names: pl.Series,
        owned: pl.DataFrame,
        note: str,
    ) -> MeasureResult:
        number = len(users.names)
        value = 100 * linked / max(number, 1)
        guess = 100 * owned.height / max(len(names) * number, 1)
        k = release.guarantee.k
        bound = "" if k is None else f"; groups of {k} equal logs allow at most {100 / k:.3g}"
        return self.result(
            round(value, 6),
            baselines={
                "chance": round(guess, 6),
                "bound_of_k": None if k is None else round(100 / k, 6),
            },
            counts={
                "users": number,
                "vanished": number - owned["user"].n_unique(),
                "left_out": number - users.rows["owner"].n_unique(),
                "logs": len(names),
            },
            summary=(
                f"an attacker who compares {self.by} re-identifies {value:.1f} of 100 users in "
                f"the release; guessing re-identifies {guess:.2g}{bound}"
            ),
            basis=f"{context.taxonomy(self.mapping_options).title}, {_HOW[self.by]}; {note}",
        )

    def _original_profiles(self, context: MeasureContext) -> _NumberedProfiles:
        """Return the profiles of all users of the log."""

        def build() -> _NumberedProfiles:
            pairs = context.concepts(self.mapping_options)
            names = pairs["user"].unique().sort()
            return _number_owners(self._count_features(context, pairs), names)

        profiles = context.cached((self, "profiles"), build)
        if not profiles.rows.height:
            title = context.taxonomy(self.mapping_options).title
            raise InputError(
                f"no user of this log has a concept of {title} to compare",
                hint="use another taxonomy, or other topics",
            )
        if self.by == "distances" and len(profiles.names) > _MAX_USERS:
            raise InputError(
                f"distances compare all pairs: at most {_MAX_USERS:,} users, and this log has "
                f"{len(profiles.names):,}",
                hint=f"`sample_users={_MAX_USERS}`, or by=concepts",
            )
        return profiles

    def _topics(self, context: MeasureContext) -> Topics:
        taxonomy = context.taxonomy(self.mapping_options)
        return context.cached((self, "topics"), lambda: parse_topics(self.topics, taxonomy))

    def _count_features(self, context: MeasureContext, pairs: pl.DataFrame) -> pl.DataFrame:
        """Count the concepts, or the topics, of each user or log: user, text, count."""
        rows = pairs.filter(pl.col("concept") >= 0)
        feature = pl.col("concept").cast(pl.Int64)
        if self.by == "topics":
            topic_of = pl.Series(self._topics(context).topic_of.astype(np.int64))
            feature = pl.lit(topic_of).gather(pl.col("concept"))
        known = rows.select(pl.col("user").cast(pl.String), "count", text=feature)
        known = known.filter(pl.col("text") != OFF_TOPIC)
        return known.group_by("user", "text").agg(pl.col("count").sum().cast(pl.Int64))

    def _link(
        self,
        context: MeasureContext,
        users: _NumberedProfiles,
        logs: _DistinctLogs,
        owned: pl.DataFrame,
    ) -> NDArray[np.float64]:
        """Return the probability that each user is linked to a log of theirs.

        All logs with the greatest similarity are equally likely. A user is linked to no log if no
        log has any similarity.
        """
        linked = np.zeros(len(users.names))
        if not logs.profiles.rows.height:
            return linked
        own_user, own_log = (owned[name].to_numpy().astype(np.int64) for name in ("user", "log"))
        own = logs.of_log[own_log]
        own_user, own = own_user[own >= 0], own[own >= 0]
        order = np.argsort(own_user, kind="stable")
        own_user, own = own_user[order], own[order]
        for first, scores in self._similarities(context, users, logs):
            best = scores.max(axis=1)
            is_best = (scores >= best[:, None] - _TIE) & (best > _TIE)[:, None]
            ties = is_best @ logs.sizes
            block = slice(*np.searchsorted(own_user, (first, first + len(scores))))
            row = own_user[block] - first
            hits = np.bincount(row, is_best[row, own[block]], len(scores))
            linked[first : first + len(scores)] = hits / np.maximum(ties, 1)
        return linked

    def _similarities(
        self, context: MeasureContext, users: _NumberedProfiles, logs: _DistinctLogs
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield blocks of users: the first one, and their similarities to the distinct logs."""
        step = max(1, _CELLS // len(logs.sizes))
        if self.by == "distances":
            yield from self._ds_similarities(context, users, logs.profiles, step)
            return
        width = 1 + max(side.rows["text"].to_numpy().max() for side in (users, logs.profiles))
        length = _topic_length if self.by == "topics" else _cosine_length
        user_vectors, log_vectors = (
            _unit_vectors(length(side.rows), len(side.names), width)
            for side in (users, logs.profiles)
        )
        for first in range(0, len(users.names), step):
            yield first, (user_vectors[first : first + step] @ log_vectors.T).toarray()

    def _ds_similarities(
        self,
        context: MeasureContext,
        users: _NumberedProfiles,
        logs: _NumberedProfiles,
        step: int,
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield 1 - Ds; a user without a concept is similar to no log."""
        before, after = (_as_profiles(side) for side in (users, logs))
        matrix = cross_distance_matrix(context.taxonomy(self.mapping_options), before, after)
        present = users.rows["owner"].unique().sort().to_numpy().astype(np.int64)
        for first in range(0, len(users.names), step):
            scores = np.zeros((min(step, len(users.names) - first), matrix.shape[1]))
            begin, end = np.searchsorted(present, (first, first + len(scores)))
            scores[present[begin:end] - first] = 1 - matrix[begin:end]
            yield first, scores


def _log_names(release: Release, pairs: pl.DataFrame) -> pl.Series:
    """Return the names of all released logs, also of those without a concept."""
    if release.log is None:
        return pairs["user"].cast(pl.String).unique().sort()
    names = release.log.select(pl.col("user").cast(pl.String).unique()).collect()
    return names["user"].drop_nulls().sort()


def _number_owners(counts: pl.DataFrame, names: pl.Series) -> _NumberedProfiles:
    """Replace users by their numbers."""
    numbers = names.cast(pl.String).to_frame("user").with_row_index("owner")
    rows = counts.join(numbers, on="user").select("owner", "text", "count")
    return _NumberedProfiles(names, rows.sort("owner", "text"))


def _group_logs(logs: _NumberedProfiles) -> _DistinctLogs:
    """Keep one of several equal logs, so that equal logs have exactly the same similarities."""
    owners, contents = group_equal_logs(logs.rows)
    of_log = np.full(len(logs.names), -1, np.int64)
    of_log[owners["owner"].to_numpy()] = owners["ask"].to_numpy()
    sizes = np.bincount(of_log[of_log >= 0])
    rows = contents.select(pl.col("ask").alias("owner"), "text", "count")
    return _DistinctLogs(_NumberedProfiles(pl.Series(np.arange(len(sizes))), rows), sizes, of_log)


def _cosine_length(rows: pl.DataFrame) -> pl.DataFrame:
    """Scale counts such that each profile is a vector of length 1."""
    length = (pl.col("count").cast(pl.Float64) ** 2).sum().sqrt().over("owner")
    return rows.with_columns(value=pl.col("count") / length)


def _topic_length(rows: pl.DataFrame) -> pl.DataFrame:
    """Replace counts by roots of fractions; their product falls with the Hellinger distance."""
    total = pl.col("count").sum().over("owner")
    return rows.with_columns(value=(pl.col("count") / total).sqrt())


def _unit_vectors(rows: pl.DataFrame, owners: int, width: int) -> Any:
    from scipy import sparse  # noqa: PLC0415  (slow to import)

    cells = rows["owner"].to_numpy().astype(np.int64), rows["text"].to_numpy()
    return sparse.csr_array((rows["value"].to_numpy(), cells), shape=(owners, width))


def _as_profiles(side: _NumberedProfiles) -> Profiles:
    """Return the profiles of all owners with a concept, in the order of their numbers."""
    name = pl.col("owner").cast(pl.String).str.zfill(12)  # profiles are sorted by name
    return build_profiles(side.rows.select(user=name, concept="text", count="count"))
