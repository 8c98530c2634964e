"""How much a released log tells of a user's own queries: the profile exposure level (PEL).

The measure of the P2P paper, 100 * I(X;Y) / H(X): X is a query of the user's own log, Y one of
her released log, each drawn by how often it stands there. The paper has no joint law of the two.
Here it is the maximal coupling (SPEC 5.3): what both have in common stays together, and the rest
is independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

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

_WAYS = ("coupling", "share", "cover")


@dataclass(frozen=True)
class ProfileExposure(QueryTextMeasure):
    """The mean PEL of users; 100: released logs tell all of their queries, 0: nothing."""

    name: ClassVar[str] = "profile-exposure"
    title: ClassVar[str] = "what released logs tell of users' own queries"
    description: ClassVar[str] = (
        "how much of what there is to know about a user's queries her released log tells, on "
        "average: 100 where it is her own log, 0 where it has no query of hers"
    )
    paper: ClassVar[str] = "profile exposure level (PEL) of the P2P paper; the joint law is ours"
    unit: ClassVar[str] = "percent of the entropy of a user's log"
    better: ClassVar[Literal["lower", "higher"]] = "lower"
    kind: ClassVar[Literal["risk", "use"]] = "risk"

    way: str = parameter(
        "coupling",
        "PEL by the maximal coupling, the share of own rows, or the entropy of queries that stay",
        choices=_WAYS,
    )

    def compute(self, before: MeasureContext, after: Release) -> dict[str, Any]:
        """Give the mean over the log's users, in each of the ways, and who is well hidden."""
        sent = self.original_counts(before, after)
        logs = count_user_queries(released_log(after))
        pairs = true_pairs(sent.users, logs.users, after)
        found = exposure_levels(_original(sent), _released(logs, pairs, sent))
        means = {way: _mean(found[way]) for way in _WAYS}
        hidden = (100 - found[self.way]).round(9)
        return {
            "value": means[self.way],
            "uncertainty": round(100 - means[self.way], 6),
            "above_70": _mean((hidden > 70).cast(pl.Float64)),
            "above_80": _mean((hidden > 80).cast(pl.Float64)),
            **means,
            "users": found.height,
            "vanished": found.join(pairs, on="user", how="anti").height,
            "left_out": len(sent.users) - found.height,
            "words": (
                f"a released log tells {means[self.way]:.1f}% of what there is to know about its "
                f"user's {self.unit_of(after)}, on average"
            ),
            "ruler": self.basis(after),
        }


def exposure_levels(original: pl.DataFrame, released: pl.DataFrame) -> pl.DataFrame:
    """Give each user's PEL and its alternatives, in percent: user, coupling, share, cover.

    Both have the columns user, text and count, each pair once. Everybody in `original` is in the
    result; who has nothing in `released` has 0. Others in `released` are left out.

    Let p and q be the shares of texts before and after, m = min(p, q) and t the sum of m. The
    coupling puts m(x) on the pair (x, x), and r(x) s(y) / (1-t) on each pair (x, y), where
    r = p - m and s = q - m. At no x are r and s both positive, so (x, x) has m(x) alone. Thus

        I = sum m log(m / pq)  +  sum over x, y of  r s / (1-t) * log(r s / ((1-t) p q)),

    and since r and s each add up to 1-t, the double sum falls apart:

        I = sum m log(m / pq) + sum r log(r / p) + sum s log(s / q) - (1-t) log(1-t).

    Where all queries of a user are one there is nothing to divide by: PEL is 100 q(x).

    >>> was = pl.DataFrame({"user": ["a"] * 4, "text": list("wxyz"), "count": [1] * 4})
    >>> now = pl.DataFrame({"user": ["a"] * 4, "text": list("z123"), "count": [1] * 4})
    >>> exposure_levels(was, now).with_columns(pl.col("coupling").round(1)).rows()
    [('a', 40.6, 25.0, 25.0)]
    """
    kinds = [pl.col(name).cast(original.schema[name]) for name in ("user", "text")]
    both = _shares(original, "p").join(
        _shares(released.with_columns(kinds), "q"), on=["user", "text"], how="full", coalesce=True
    )
    both = both.with_columns(pl.col("p", "q").fill_null(0.0))
    both = both.with_columns(m=pl.min_horizontal("p", "q"))
    sums = both.group_by("user").agg(
        known=(pl.col("p") > 0).any(),
        entropy=-_part_of(pl.col("p"), pl.lit(1.0)).sum(),
        told=_information(),
        cover=-_part_of(pl.col("p"), pl.lit(1.0)).filter(pl.col("q") > 0).sum(),
        share=pl.col("q").filter(pl.col("p") > 0).sum(),
        several=(pl.col("p") > 0).sum() > 1,
    )
    whole = pl.when("several").then(pl.col("entropy"))
    percent = {
        "coupling": pl.when("several").then(pl.col("told") / whole).otherwise("share"),
        "share": pl.col("share"),
        "cover": pl.when("several").then(pl.col("cover") / whole).otherwise(pl.col("share") > 0),
    }
    shown = [(100 * value.clip(0.0, 1.0)).alias(name) for name, value in percent.items()]
    return sums.filter("known").select("user", *shown).sort("user")


def _shares(counts: pl.DataFrame, name: str) -> pl.DataFrame:
    """Give the share of each text in its user's log."""
    share = pl.col("count") / pl.col("count").sum().over("user")
    return counts.filter(pl.col("count") > 0).select("user", "text", share.alias(name))


def _information() -> pl.Expr:
    """Give I of the maximal coupling; see `exposure`."""
    p, q, m = pl.col("p"), pl.col("q"), pl.col("m")
    rest = 1 - m.sum()
    together = _part_of(m, p * q)
    apart = _part_of(p - m, p) + _part_of(q - m, q)
    # Sums of shares are inexact: a rest of some 1e-16 is none.
    return (together + apart).sum() - pl.when(rest > 1e-12).then(rest * rest.log(2)).otherwise(0.0)


def _part_of(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """Give part * log2(part / whole), and 0 where there is no part."""
    return pl.when(part > 0).then(part * (part / whole).log(2)).otherwise(0.0)


def _original(sent: UserQueryCounts) -> pl.DataFrame:
    return sent.rows.select(user="owner", text=pl.lit(sent.queries).gather("text"), count="count")


def _released(logs: UserQueryCounts, pairs: pl.DataFrame, sent: UserQueryCounts) -> pl.DataFrame:
    """Give what stands in all released logs of each user: user, text, count."""
    rows = logs.rows.join(pairs, left_on="owner", right_on="log")
    counts = rows.group_by("user", "text").agg(pl.col("count").sum())
    kind = sent.rows.schema["owner"]
    text = pl.lit(logs.queries).gather("text").alias("text")
    return counts.select(pl.col("user").cast(kind), text, "count")


def _mean(values: pl.Series) -> float:
    return round(float(values.mean() or 0.0), 6)  # type: ignore[arg-type]
