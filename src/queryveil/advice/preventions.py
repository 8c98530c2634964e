"""What a method prevents: a sentence for each thing that must never happen, or None.

It follows from the guarantee and the parameters of the method alone, never from its name, so that
a wrong row in the table of rules cannot propose a method that breaks an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from ..methods.base import Method
from ..release.explanations import explain_guarantee, explain_k, explain_probability
from ..release.guarantee import Guarantee, reasons_of
from .answers import NEVERS, Never

RARE = 5  # users; a query of fewer is rare
_UNCONDITIONAL = ("pure-dp", "approx-dp")


def prevented_by(method: Method) -> dict[Never, str]:
    """Return how a method prevents each thing that it prevents.

    >>> from queryveil.methods.base import parse_method
    >>> list(prevented_by(parse_method("frequent-queries:pseudonym-scope=none")))
    ['reveal-a-rare-query', 'link-two-queries']
    >>> list(prevented_by(parse_method("string-microaggregation:k=5")))
    ['identify-a-user', 'reveal-a-rare-query']
    """
    return dict(_prevented_by(method))


@cache
def _prevented_by(method: Method) -> tuple[tuple[Never, str], ...]:
    answers = [(never, _PREVENTIONS[never](method)) for never in NEVERS]
    return tuple((never, text) for never, text in answers if text is not None)


def _is_private(guarantee: Guarantee) -> bool:
    """Return whether one user's whole log is covered without condition, by a small epsilon."""
    return guarantee.model in _UNCONDITIONAL and not reasons_of(guarantee)


def _prevents_identification(method: Method) -> str | None:
    guarantee = method.guarantee()
    if _is_private(guarantee):
        return "what the release can show about any one person is bounded by the guarantee above"
    if guarantee.model == "k-anonymity" and guarantee.k:
        return explain_k(guarantee.k)
    return None


def _prevents_rare_queries(method: Method) -> str | None:
    if _is_private(method.guarantee()):
        return _describe_selection(method)
    values = method.params()
    users = int(values.get("min_users") or values.get("k") or 0)
    return f"at least {users:,} users sent each released text" if users >= RARE else None


def _describe_selection(method: Method) -> str:
    forecast = method.forecast(1)  # thresholds do not depend on the number of users
    for table in forecast.tables if forecast else ():
        if table.table == "queries":
            probability = table.single_user_probability
            if not probability:
                return "only texts of a public list can be released, no matter who sent them"
            return (
                "a query that only one user sent is released with a probability of at most "
                f"{explain_probability(probability)}; about "
                f"{table.median_release_count:,} users are typical"
            )
    return "released texts are names of concepts, not texts of users"


def _prevents_linking(method: Method) -> str | None:
    guarantee = method.guarantee()
    if _is_private(guarantee):
        return "which queries one person sent is covered by epsilon, like everything about them"
    if guarantee.model == "none" and method.params().get("pseudonym_scope") == "none":
        return (
            "no two rows share a pseudonym; what a reader knows from elsewhere can still join rows"
        )
    return None


def _prevents_dependence(method: Method) -> str | None:
    guarantee = method.guarantee()
    return explain_guarantee(guarantee) if _is_private(guarantee) else None


_PREVENTIONS: Mapping[Never, Callable[[Method], str | None]] = {
    "identify-a-user": _prevents_identification,
    "reveal-a-rare-query": _prevents_rare_queries,
    "link-two-queries": _prevents_linking,
    "depend-on-one-user": _prevents_dependence,
}
