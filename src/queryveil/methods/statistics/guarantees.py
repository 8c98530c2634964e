"""The guarantees of the modes of dp-statistics, from their parameters alone; no file is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...dp.budget import format_amount
from ...dp.losses import losses_of
from ...release.guarantee import Check, Guarantee
from ..base import FAILURES, READ_ALONE
from .public_lists import WORDNET

if TYPE_CHECKING:
    from .dp_statistics import DpStatistics


_NEIGHBOURS = "two logs of which one has the whole log of one more user"
_ASSUMPTIONS = (
    "how the files are read (format, columns, form of times) was fixed independently of the log",
    "a user name of the log stands for one person, and one person has one user name",
    READ_ALONE,
    "the data owner keeps the ledger, and adds up the loss of all releases",
)
_NOT_COVERED = (
    "what is true of many users: a count informs about everybody who sent the query",
    "several users who send the same queries, such as a family, count as several",
    "how long the run took, and the files under private/",
    FAILURES,
)
PUBLISHED_BLOCKER = (
    "the steps of the paper do not give the epsilon that it claims: a URL or a transition of one "
    "user alone is always released with this user, and never without them"
)
_DEFECTS = (
    "queries: those of the log can be released though they are not in the pool; one that a single "
    "user sent can be released with this user and cannot without them, so that no epsilon is large "
    "enough",
    "cleaning: rare queries and unique terms are removed by exact counts before contributions are "
    "bounded, so that one user changes the counts of queries by more than the noise allows for",
    "clicks: every clicked URL of a released query is listed, without a threshold; one that a "
    "single user clicked reveals that user (delta 1)",
    "transitions: pairs of released queries are listed as they occur, without a threshold; one "
    "that a single user made reveals that user (delta 1)",
    "order of steps: each user's first queries are taken after the cleaning, so that the queries "
    "of one user decide what others contribute",
)


def approx_guarantee(method: DpStatistics) -> Guarantee:
    """Return (epsilon, delta) for a user's whole log."""
    mechanisms = method.mechanisms()
    epsilon, delta = (format_amount(amount) for amount in method.budget)
    return Guarantee(
        model="approx-dp",
        statement=(
            "Whether or not any one user's whole log is included changes the probability of any "
            f"outcome by at most a factor of e^{epsilon}, except with probability {delta}. "
            + _state_bounds(method)
        ),
        neighbours=_NEIGHBOURS,
        epsilon=method.epsilon,
        delta=method.delta,
        relation="add-remove",
        losses=losses_of(mechanisms.rho, mechanisms.chance),
        assumptions=_ASSUMPTIONS,
        not_covered=_NOT_COVERED,
        checks=tuple(_min_count(name, count) for name, count in mechanisms.min_counts.items()),
    )


def pure_guarantee(method: DpStatistics) -> Guarantee:
    """Return epsilon without a delta for a user's whole log.

    The guarantee does not depend on thresholds, which follow from the length of the public lists:
    the noise description of the release has them.
    """
    rho = method.public_list_release().rho  # raises an error if the noise cannot be drawn
    tables = [name for name, weight in zip(_TABLES, method.budget_weights, strict=True) if weight]
    listed = (
        "the nouns of WordNet"
        if method.public_queries == WORDNET
        else Path(method.public_queries).name
    )
    results = (
        f", and only results on {Path(method.public_results).name}" if method.public_results else ""
    )
    return Guarantee(
        model="pure-dp",
        statement=(
            "Whether or not any one user's whole log is included changes the probability of any "
            f"outcome by at most a factor of e^{format_amount(method.budget[0])}. Only queries on "
            f"a public list ({listed}) can be released{results}. {_state_bounds(method)}"
        ),
        neighbours=_NEIGHBOURS,
        epsilon=method.epsilon,
        relation="add-remove",
        losses=losses_of(rho),
        assumptions=(
            *_ASSUMPTIONS,
            "the public lists were fixed independently of the log",
        ),
        not_covered=(
            *_NOT_COVERED,
            "a key that nobody has can be released: about one per table is there by noise alone",
        ),
        checks=tuple(_min_count(name, 1) for name in tables),
    )


def published_guarantee(method: DpStatistics) -> Guarantee:
    """Return no guarantee, with the defects of the published steps."""
    return Guarantee(
        model="none",
        statement=(
            "The steps of Zhang, Yang and Singh 2016 as they are printed, for comparison. The "
            f"paper claims epsilon {format_amount(method.budget[0])} for them, which is wrong. "
            f"A query is released if its noisy count is above {method.published_threshold:,}."
        ),
        not_covered=_DEFECTS,
        checks=(_min_count("queries", method.published_threshold + 1),),
    )


_TABLES = ("queries", "clicks", "transitions")


def _state_bounds(method: DpStatistics) -> str:
    return (
        f"Each user contributes at most {method.max_queries_per_user} queries, as many "
        f"transitions between queries, and {method.max_clicks_per_user} clicks, each once."
    )


def _min_count(table: str, count: int) -> Check:
    return Check("min-count", {"table": table, "at_least": count})
