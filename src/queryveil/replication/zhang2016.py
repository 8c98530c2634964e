"""Zhang, Yang, Singh 2016: retrieval with anonymized logs.

SPEC 4 has the steps and their defects, 9.3 the reported values. The steps as printed (`mode=paper`)
are measured beside the repaired ones. With q_f = c_f = 100 and epsilon 29.99 the scale b is 10.
"""

from __future__ import annotations

from functools import partial

from ..comparison.grid import FigureSpec
from .claims import Claim, Curve, Evidence, Paper, Verdict, format_series

_BOUNDS = "max-queries-per-user=100:max-clicks-per-user=100"
PUBLISHED = f"dp-statistics:mode=paper:{_BOUNDS}"
REPAIRED = f"dp-statistics:{_BOUNDS}:delta=0.000001"
GRAPH = "click-graph:delta=0.000001:max-queries-per-user=100:max-clicks-per-user=100"
# b = 299 / epsilon: 10, 50, 100 and 500.
_EPSILON = {"epsilon": ("29.99", "5.98", "2.99", "0.598")}
_K = {"published_threshold": ("10", "100", "500")}
WALK = "retrieval-effectiveness:ranker=random-walk"
FEEDBACK = "retrieval-effectiveness:ranker=implicit-feedback:feedback=test"
_PUBLISHED = {
    WALK: "nDCG@10 .6658 original, .6675 anonymized",
    FEEDBACK: "nDCG@10 .6919 original, .6897 anonymized",
}


def _released(model: str) -> str:
    return f"{model}:scope=released"


def _all(model: str) -> str:
    return f"{model}:scope=all"


def _figures() -> tuple[FigureSpec, ...]:
    drawn = [
        FigureSpec(
            f"{title}, {scope}",
            (f"{PUBLISHED}:published-threshold=500", REPAIRED, GRAPH),
            named(model),
            _EPSILON,
            "epsilon",
            "log",
        )
        for model, title in ((WALK, "Random walk"), (FEEDBACK, "Implicit feedback"))
        for named, scope in ((_released, "searches that are released"), (_all, "all searches"))
    ]
    grid = FigureSpec(
        "Implicit feedback over K and b",
        (PUBLISHED,),
        _released(FEEDBACK),
        {**_EPSILON, **_K},
        "epsilon",
        "log",
    )
    return (*drawn, grid)


_EQUIVALENCE_MARGIN = 0.05  # of nDCG@10: smaller differences count as none


def _same(evidence: Evidence, measure: str) -> Verdict:
    """Compare the anonymized log with the original, as the paper does, at its b and K.

    A large p alone proves nothing over few searches: the interval must be narrow too.
    """

    def at_published(name: str) -> float:
        label = f"{PUBLISHED}:published-threshold=500"
        return evidence.series(label, measure, "epsilon", name)[29.99]

    low, high = at_published("difference_low"), at_published("difference_high")
    ours = (
        f"{at_published('baselines.original'):.4f} original, {at_published('value'):.4f} "
        f"anonymized over {at_published('counts.tests'):.0f} searches, difference {low:+.3f} to "
        f"{high:+.3f}; {100 * at_published('coverage'):.0f}% of searches get a ranking"
    )
    if low >= -_EQUIVALENCE_MARGIN and high <= _EQUIVALENCE_MARGIN:
        return Verdict(ours, True)
    if low <= 0 <= high:
        return Verdict(ours, None, "no significant difference, but too few searches to exclude one")
    return Verdict(ours, False)


def _grid(evidence: Evidence, k: int) -> Curve:
    at = {"published_threshold": k}
    return evidence.series(PUBLISHED, _released(FEEDBACK), "epsilon", at=at)


def _by_scale(curve: dict[float, float]) -> str:
    return format_series(
        {f"b={299 / epsilon:.0f}": value for epsilon, value in curve.items()}, ".3f"
    )


def _falls(evidence: Evidence) -> Verdict:
    curve = _grid(evidence, 10)
    return Verdict(f"K=10, {_by_scale(curve)}", curve[0.598] < curve[29.99] - 0.005)


def _insensitive(evidence: Evidence) -> Verdict:
    curve = _grid(evidence, 500)
    return Verdict(f"K=500, {_by_scale(curve)}", abs(curve[5.98] - curve[29.99]) <= 0.02)


def _one_relevant(evidence: Evidence) -> Verdict:
    five = _original(evidence, "p@5") * 5
    ten = _original(evidence, "p@10") * 10
    return Verdict(f"{five:.2f} in the first 5, {ten:.2f} in the first 10", 0.5 <= ten <= 1.5)


def _original(evidence: Evidence, metric: str) -> float:
    name, label = f"metrics.original.{metric}", f"{PUBLISHED}:published-threshold=500"
    return evidence.series(label, _released(WALK), "epsilon", name)[29.99]


def _equivalence_claims(model: str) -> tuple[Claim, Claim]:
    title = model.partition("=")[2].partition(":")[0].replace("-", " ")
    return (
        Claim(
            f"{title} is as good with the anonymized log (searches that are released)",
            f"{_PUBLISHED[model]}, no difference",
            partial(_same, measure=_released(model)),
        ),
        Claim(
            f"{title} is as good with the anonymized log (all searches)",
            "not reported",
            partial(_same, measure=_all(model)),
        ),
    )


PAPER = Paper(
    name="zhang2016",
    title="Zhang, Yang, Singh 2016",
    users=20_000,
    figures=_figures(),
    claims=(
        *_equivalence_claims(WALK),
        *_equivalence_claims(FEEDBACK),
        Claim("nDCG@10 falls with b", "falls", _falls),
        Claim("nDCG@10 does not depend on b while b is far below K", "insensitive", _insensitive),
        Claim(
            "about one URL is relevant", "0.74 in the first 5, 0.78 in the first 10", _one_relevant
        ),
    ),
    deviations=(
        "the paper has all of AOL's log; ours is synthetic and smaller unless a log is given, so "
        "fewer queries are above K",
        "q_f and c_f are not stated in the paper; 100 each give b = 10 at its epsilon",
        "folds are of users; a click of a synthetic user predicts the clicks of others well",
        "the claim of pure differential privacy does not hold for these steps at all: "
        "docs/privacy/dp-statistics.md",
    ),
)
