"""What each mode of dp-statistics promises, from its parameters alone: no file is read for it."""

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
    "how the files are read (format, columns, form of times) was fixed without looking at the log",
    "a user name of the log stands for one person, and one person has one user name",
    READ_ALONE,
    "who made the release keeps the ledger, and adds up what other releases cost",
)
_NOT_COVERED = (
    "what is true of many people: a count tells about everybody who sent the query",
    "several people who send the same, such as a family, count as several",
    "how long the run took, and the files under private/",
    FAILURES,
)
PUBLISHED_BLOCKER = (
    "the steps of the paper do not give the epsilon that it claims: a URL or a transition of one "
    "person alone is shown for certain, and is not there without her"
)
_DEFECTS = (
    "queries: those of the log can show though they are not in the pool; one that a single person "
    "sent can show with her and cannot without her, so that no epsilon is large enough",
    "cleaning: rare queries and unique terms are removed by exact counts before users are bounded, "
    "so that one person changes the counts of queries by more than the noise is made for",
    "clicks: every clicked URL of a released query is listed, without a threshold; one that a "
    "single person clicked gives her away (delta 1)",
    "transitions: pairs of released queries are listed as they occur, without a threshold; one "
    "that a single person made gives her away (delta 1)",
    "order of steps: each user's first queries are taken after the cleaning, so that what one "
    "person sent decides what others contribute",
)


def approx_guarantee(method: DpStatistics) -> Guarantee:
    """Promise (epsilon, delta) for a user's whole log."""
    made = method.mechanisms()
    epsilon, delta = (format_amount(amount) for amount in method.budget)
    return Guarantee(
        model="approx-dp",
        statement=(
            f"Whether any one person's whole log is in or not changes the chance of any "
            f"outcome by at most a factor of e^{epsilon}, but for a chance of {delta}. "
            + _each(method)
        ),
        neighbours=_NEIGHBOURS,
        epsilon=method.epsilon,
        delta=method.delta,
        relation="add-remove",
        losses=losses_of(made.rho, made.chance),
        assumptions=_ASSUMPTIONS,
        not_covered=_NOT_COVERED,
        checks=tuple(_least(name, least) for name, least in made.min_counts.items()),
    )


def pure_guarantee(method: DpStatistics) -> Guarantee:
    """Promise epsilon alone for a user's whole log.

    Thresholds hang on the length of the public lists, and are of no weight here: the release
    tells them in its notes.
    """
    rho = method.public_list_release().rho  # which refuses noise that cannot be drawn
    tables = [name for name, share in zip(_TABLES, method.budget_weights, strict=True) if share]
    listed = "the nouns of WordNet" if method.pool == WORDNET else Path(method.pool).name
    results = f", and only results on {Path(method.url_pool).name}" if method.url_pool else ""
    return Guarantee(
        model="pure-dp",
        statement=(
            f"Whether any one person's whole log is in or not changes the chance of any "
            f"outcome by at most a factor of e^{format_amount(method.budget[0])}. Only queries on a "
            f"public list ({listed}) can show{results}. {_each(method)}"
        ),
        neighbours=_NEIGHBOURS,
        epsilon=method.epsilon,
        relation="add-remove",
        losses=losses_of(rho),
        assumptions=(
            *_ASSUMPTIONS,
            "the public lists were fixed without looking at the log",
        ),
        not_covered=(
            *_NOT_COVERED,
            "a key that nobody has can show: about one a table is there by noise alone",
        ),
        checks=tuple(_least(name, 1) for name in tables),
    )


def published_guarantee(method: DpStatistics) -> Guarantee:
    """Promise nothing about a person, and say why."""
    return Guarantee(
        model="none",
        statement=(
            "The steps of Zhang, Yang and Singh 2016 as they are printed, for comparison. The "
            f"paper claims epsilon {format_amount(method.budget[0])} for them; they do not keep it. "
            f"A query shows if its noisy count is above {method.paper_threshold:,}."
        ),
        not_covered=_DEFECTS,
        checks=(_least("queries", method.paper_threshold + 1),),
    )


_TABLES = ("queries", "clicks", "transitions")


def _each(method: DpStatistics) -> str:
    return (
        f"Each person counts for at most {method.max_queries_per_user} queries and as many "
        f"steps between queries, and {method.max_clicks_per_user} clicks, once each."
    )


def _least(table: str, count: int) -> Check:
    return Check("min-count", {"table": table, "at_least": count})
