"""The profile exposure level (PEL): the information that a released log has on a user's queries.

The measure of the P2P paper, 100 * I(X;Y) / H(X): X is a query of the user's own log, Y one of
their released log, each sampled by its frequency. The paper does not define the joint distribution
of the two. Here it is the maximal coupling (SPEC 5.3): the common probability mass is on equal
queries, and the rest is independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import polars as pl

from ..core.parameters import parameter
from ..release.release import Release
from ._shared.queries import (
    QueryTextMeasure,
    UserQueryCounts,
    count_user_queries,
    released_log,
    true_pairs,
)
from .context import MeasureContext
from .result import MeasureResult

_DEFINITIONS = ("coupling", "share", "cover")


@dataclass(frozen=True)
class ProfileExposure(QueryTextMeasure):
    """The mean PEL of users; 100: released logs determine their queries, 0: no information."""

    name: ClassVar[str] = "profile-exposure"
    title: ClassVar[str] = "information of released logs on users' own queries"
    description: ClassVar[str] = (
        "the mean percentage of the information on a user's queries that their released log has: "
        "100 if it is their own log, 0 if it has none of their queries"
    )
    paper: ClassVar[str] = (
        "profile exposure level (PEL) of the P2P paper; the joint distribution is ours"
    )
    unit: ClassVar[str] = "percent of the entropy of a user's log"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "utility"]] = "risk"

    variant: str = parameter(
        "coupling",
        "definition of PEL: maximal coupling, fraction of own rows, or entropy of the kept queries",
        choices=_DEFINITIONS,
    )

    def compute(self, context: MeasureContext, release: Release) -> MeasureResult:
        """Return the mean over users for each definition, and the fractions of hidden users."""
        sent = self.original_counts(context, release)
        logs = count_user_queries(released_log(release))
        pairs = true_pairs(sent.users, logs.users, release)
        levels = exposure_levels(_original_texts(sent), _released_texts(logs, pairs, sent))
        means = {way: _mean(levels[way]) for way in _DEFINITIONS}
        hidden = (100 - levels[self.variant]).round(9)
        return self.result(
            means[self.variant],
            counts={
                "users": levels.height,
                "vanished": levels.join(pairs, on="user", how="anti").height,
                "left_out": len(sent.users) - levels.height,
            },
            details={
                "uncertainty": round(100 - means[self.variant], 6),
                "above_70": _mean((hidden > 70).cast(pl.Float64)),
                "above_80": _mean((hidden > 80).cast(pl.Float64)),
                **means,
            },
            summary=(
                f"a released log has on average {means[self.variant]:.1f}% of the information on "
                f"its user's {self.unit_of(release)}"
            ),
            basis=self.basis(release),
        )


def exposure_levels(original: pl.DataFrame, released: pl.DataFrame) -> pl.DataFrame:
    """Return each user's PEL and its alternatives, in percent: user, coupling, share, cover.

    Both frames have the columns user, text and count, each pair once. The result has all users of
    `original`; those without rows in `released` have 0. Other users of `released` are omitted.

    Let p and q be the frequencies of texts before and after, m = min(p, q) and t the sum of m. The
    coupling puts m(x) on the pair (x, x), and r(x) s(y) / (1-t) on each pair (x, y), where
    r = p - m and s = q - m. At no x are r and s both positive, so (x, x) has m(x) alone. Thus

        I = sum m log(m / pq)  +  sum over x, y of  r s / (1-t) * log(r s / ((1-t) p q)),

    and since r and s each add up to 1-t, the double sum separates:

        I = sum m log(m / pq) + sum r log(r / p) + sum s log(s / q) - (1-t) log(1-t).

    If all queries of a user are equal, the entropy is 0: PEL is then defined as 100 q(x).

    >>> was = pl.DataFrame({"user": ["a"] * 4, "text": list("wxyz"), "count": [1] * 4})
    >>> now = pl.DataFrame({"user": ["a"] * 4, "text": list("z123"), "count": [1] * 4})
    >>> exposure_levels(was, now).with_columns(pl.col("coupling").round(1)).rows()
    [('a', 40.6, 25.0, 25.0)]
    """
    casts = [pl.col(name).cast(original.schema[name]) for name in ("user", "text")]
    both = _frequencies(original, "p").join(
        _frequencies(released.with_columns(casts), "q"),
        on=["user", "text"],
        how="full",
        coalesce=True,
    )
    both = both.with_columns(pl.col("p", "q").fill_null(0.0))
    both = both.with_columns(m=pl.min_horizontal("p", "q"))
    sums = both.group_by("user").agg(
        known=(pl.col("p") > 0).any(),
        entropy=-_entropy_term(pl.col("p"), pl.lit(1.0)).sum(),
        information=_information(),
        cover=-_entropy_term(pl.col("p"), pl.lit(1.0)).filter(pl.col("q") > 0).sum(),
        share=pl.col("q").filter(pl.col("p") > 0).sum(),
        several=(pl.col("p") > 0).sum() > 1,
    )
    whole = pl.when("several").then(pl.col("entropy"))
    percent = {
        "coupling": pl.when("several").then(pl.col("information") / whole).otherwise("share"),
        "share": pl.col("share"),
        "cover": pl.when("several").then(pl.col("cover") / whole).otherwise(pl.col("share") > 0),
    }
    columns = [(100 * value.clip(0.0, 1.0)).alias(name) for name, value in percent.items()]
    return sums.filter("known").select("user", *columns).sort("user")


def _frequencies(counts: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return the frequency of each text in its user's log."""
    frequency = pl.col("count") / pl.col("count").sum().over("user")
    return counts.filter(pl.col("count") > 0).select("user", "text", frequency.alias(name))


def _information() -> pl.Expr:
    """Return I of the maximal coupling; see `exposure_levels`."""
    p, q, m = pl.col("p"), pl.col("q"), pl.col("m")
    rest = 1 - m.sum()
    common = _entropy_term(m, p * q)
    independent = _entropy_term(p - m, p) + _entropy_term(q - m, q)
    # Sums of frequencies are inexact: a rest of about 1e-16 is 0.
    return (common + independent).sum() - pl.when(rest > 1e-12).then(rest * rest.log(2)).otherwise(
        0.0
    )


def _entropy_term(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Return part * log2(part / whole), or 0 where part is 0."""
    return pl.when(part > 0).then(part * (part / whole).log(2)).otherwise(0.0)


def _original_texts(sent: UserQueryCounts) -> pl.DataFrame:
    return sent.rows.select(user="owner", text=pl.lit(sent.queries).gather("text"), count="count")


def _released_texts(
    logs: UserQueryCounts, pairs: pl.DataFrame, sent: UserQueryCounts
) -> pl.DataFrame:
    """Return the counts over all released logs of each user: user, text, count."""
    rows = logs.rows.join(pairs, left_on="owner", right_on="log")
    counts = rows.group_by("user", "text").agg(pl.col("count").sum())
    dtype = sent.rows.schema["owner"]
    text = pl.lit(logs.queries).gather("text").alias("text")
    return counts.select(pl.col("user").cast(dtype), text, "count")


def _mean(values: pl.Series) -> float:
    return round(float(values.mean() or 0.0), 6)  # type: ignore[arg-type]
