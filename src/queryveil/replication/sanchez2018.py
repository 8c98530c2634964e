"""Sánchez, Batet, Viejo, Rodríguez-García, Castellà-Roca 2018: differentially private queries.

SPEC 6.3 has the settings, 9.5 the reported values. Each claim is checked twice: with an epsilon for
a user's whole log, as in the text of the paper, and with one for each query, as its curves suggest.
"""

from __future__ import annotations

from collections.abc import Callable

from ..comparison.grid import PRESETS, FigureSpec
from .claims import Claim, Curve, Evidence, Paper, Verdict, format_series

_CRITERIA = ("sqc1", "sqc2", "nsqc")
_SETTINGS = {"A": "sanchez19", "B": "sanchez19", "C": "sanchez4"}
_BUDGETS = {"user": "epsilon of a person", "query": "epsilon of a query"}
_SAME = "profile-divergence:topics=sanchez4"


def _spec(criterion: str, setting: str, budget: str) -> str:
    how = f"criterion={criterion}:calibration=nominal:budget-unit={budget}:domain={setting}"
    return f"semantic-replacement:{how}:preserve-length=true"


def _loss(evidence: Evidence, criterion: str, setting: str, budget: str) -> Curve:
    measure = f"profile-divergence:topics={_SETTINGS[setting]}"
    return evidence.series(_spec(criterion, setting, budget), measure, "epsilon")


def _histogram(evidence: Evidence, setting: str, budget: str) -> Curve:
    measure = f"profile-divergence:topics={_SETTINGS[setting]}"
    return evidence.series(
        f"concept-histogram:budget-unit={budget}:domain={setting}", measure, "epsilon"
    )


def _none_lost(evidence: Evidence, budget: str) -> Verdict:
    losses = [
        value
        for criterion in _CRITERIA
        for value in evidence.series(_spec(criterion, "A", budget), _SAME, "epsilon").values()
    ]
    return Verdict(f"at most {max(losses):.4f}", max(losses) <= 0.001)


def _falls(evidence: Evidence, budget: str) -> Verdict:
    curve = _loss(evidence, "sqc2", "B", budget)
    first, last = curve[min(curve)], curve[max(curve)]
    why = (
        ""
        if last < 0.95 * first
        else "a hundredth of epsilon for each query is too small to have an effect"
    )
    return Verdict(f"sqc2 in B: {format_series(curve, '.3f')}", last < 0.95 * first, why)


def _best(evidence: Evidence, budget: str) -> Verdict:
    at_ten = {criterion: _loss(evidence, criterion, "B", budget)[10.0] for criterion in _CRITERIA}
    apart = at_ten["nsqc"] / at_ten["sqc2"]
    holds = at_ten["sqc2"] < at_ten["sqc1"] <= at_ten["nsqc"] and apart >= 1.5
    return Verdict(f"at 10 in B: {format_series(at_ten, '.3f')}; {apart:.1f} times", holds)


def _histogram_worst(evidence: Evidence, budget: str) -> Verdict:
    worst = []
    for setting in _SETTINGS:
        own = _histogram(evidence, setting, budget)
        others = [_loss(evidence, criterion, setting, budget) for criterion in _CRITERIA]
        worst += [own[at] > max(curve[at] for curve in others) for at in own]
    return Verdict(f"at {sum(worst)} of {len(worst)} points", all(worst))


def _histogram_flat(evidence: Evidence, budget: str) -> Verdict:
    a, b = _histogram(evidence, "A", budget), _histogram(evidence, "B", budget)
    ratio = min(b[at] / a[at] for at in a)
    flat = max(b.values()) - min(b.values()) < 0.05
    return Verdict(f"{ratio:.1f} times that in A; {format_series(b, '.3f')}", ratio >= 2 and flat)


def _sums(evidence: Evidence, budget: str) -> Verdict:
    shown = {}
    for criterion in _CRITERIA:
        a, b, c = (_loss(evidence, criterion, setting, budget)[10.0] for setting in _SETTINGS)
        shown[criterion] = (a + c) / b
    holds = all(0.8 <= ratio <= 1.25 for ratio in shown.values())
    return Verdict(f"(A + C) / B at 10: {format_series(shown, '.2f')}", holds)


def _least_in_c(evidence: Evidence, budget: str) -> Verdict:
    a, b, c = (_loss(evidence, "sqc2", setting, budget) for setting in _SETTINGS)
    less = [c[at] < min(a[at], b[at]) for at in c]
    return Verdict(f"sqc2: at {sum(less)} of {len(less)} points", all(less))


Check = Callable[[Evidence, str], Verdict]


def _bind(check: Check, budget: str) -> Callable[[Evidence], Verdict]:
    return lambda evidence: check(evidence, budget)


_CHECKS: tuple[tuple[str, str, Check], ...] = (
    ("no loss where the domain is the profile's", "0 at every epsilon", _none_lost),
    ("the loss of sqc2 falls with epsilon", "falls beyond 1", _falls),
    ("sqc2 below sqc1, below nsqc, by half at least", "nsqc about 4 times sqc2 at 10", _best),
    ("the histogram is worst", "in A, B and C", _histogram_worst),
    ("the histogram in B", "more than 2 times that in A, flat", _histogram_flat),
    ("loss in A plus loss in C is that in B", "about equal", _sums),
    ("the loss in C is the least", "below A and B", _least_in_c),
)


def _same_figures() -> tuple[FigureSpec, ...]:
    return tuple(
        FigureSpec(
            title=f"Domain as the topics, epsilon per {budget}",
            methods=tuple(_spec(criterion, "A", budget) for criterion in _CRITERIA),
            measure=_SAME,
            sweep={"epsilon": ("0.1", "0.3", "1", "3", "10")},
            x="epsilon",
            scale="log",
        )
        for budget in _BUDGETS
    )


PAPER = Paper(
    name="sanchez2018",
    title="Sánchez et al. 2018",
    users=1000,
    topical_domain="A",
    figures=(*PRESETS["sanchez2018"], *_same_figures()),
    claims=tuple(
        Claim(f"{claim} ({reading})", published, _bind(check, budget))
        for claim, published, check in _CHECKS
        for budget, reading in _BUDGETS.items()
    ),
    deviations=(
        "the paper's users and topics are not known; ours are synthetic, about its four domains",
        "levels depend on topics and users: shapes and orders are what is compared",
        "the paper's numbers are read from its curves",
    ),
)
