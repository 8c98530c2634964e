"""Figures to draw: which methods, at which values, by which measure; also those of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import UsageError, did_you_mean
from ...measures.base import Measure
from ...measures.registry import parse_measure
from ...methods.base import Method

__all__ = ["PRESETS", "Figure", "FigureRequest", "get_preset", "request_figures"]


@dataclass(frozen=True)
class Figure:
    """One figure: a line for each method, over the swept parameter `x`.

    `scale` is that of x: linear, log, names, or auto, which looks at the values.
    """

    title: str
    methods: Sequence[str | Method]
    measure: str
    sweep: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    x: str | None = None
    scale: str = "auto"


@dataclass(frozen=True)
class FigureRequest:
    """Figures that somebody asks for, and the words of a command line that does."""

    figures: tuple[Figure, ...]
    arguments: tuple[str, ...] = ()


def request_figures(
    methods: Sequence[str | Method],
    measures: Sequence[str | Measure],
    sweep: Mapping[str, Sequence[Any]],
) -> FigureRequest:
    """Ask for one figure a measure; the first swept parameter is its x axis."""
    if not methods or not measures:
        raise UsageError("there is nothing to compare", hint="name methods and measures")
    lines, over = [str(measure) for measure in measures], dict(sweep)
    words = ["--methods", ",".join(map(str, methods)), "--measures", ",".join(lines)]
    for name, values in over.items():
        words += ["--sweep", f"{name.replace('_', '-')}={','.join(map(str, values))}"]
    x = next(iter(over), None)
    drawn = tuple(Figure(_title(line), methods, line, over, x) for line in lines)
    return FigureRequest(drawn, tuple(words))


def _title(line: str) -> str:
    """Call a figure by its measure, and by what tells it from another figure of the same one."""
    title, given = parse_measure(line).title, line.partition(":")[2]
    return title[0].upper() + title[1:] + (f" ({given.replace(':', ', ')})" if given else "")


# Sanchez et al. 2018, figures of the loss over epsilon (SPEC 6.3). The paper spends epsilon on a
# user's whole log by its words, and on each query by its curves: both are drawn. In setting A a
# query stays within its own domain, in B and C it may become any abstraction; C asks for less, as
# its profiles tell four topics only.
_EPSILON = ("0.1", "0.3", "1", "3", "10")
_TOPICS = {"A": "sanchez19", "B": "sanchez19", "C": "sanchez4"}
_BUDGETS = ("per-user", "per-query")
_REPLACEMENTS = (
    "criterion=sqc1:calibration=nominal",
    "criterion=sqc2:calibration=nominal",
    "criterion=nsqc:calibration=nominal",
    "criterion=sqc2:calibration=exact",
    "criterion=nsqc:calibration=exact",
)
_MECHANISMS = {
    "A": ("auto", "uniform"),
    "B": ("auto", "population", "uniform"),
    "C": ("auto", "population", "uniform"),
}


def _sanchez(setting: str, budget: str) -> Figure:
    where = f"budget={budget}:domain={setting}"
    return Figure(
        title=f"Setting {setting}, epsilon {budget.replace('-', ' ')}",
        methods=(
            *(f"semantic-replacement:{how}:{where}:keep-length=true" for how in _REPLACEMENTS),
            f"concept-histogram:{where}",
            *(f"profile-first:mechanism={how}:{where}" for how in _MECHANISMS[setting]),
        ),
        measure=f"profile-divergence:topics={_TOPICS[setting]}",
        sweep={"epsilon": _EPSILON},
        x="epsilon",
        scale="log",
    )


PRESETS: dict[str, tuple[Figure, ...]] = {
    "sanchez2018": tuple(_sanchez(setting, budget) for setting in _TOPICS for budget in _BUDGETS),
}


def get_preset(name: str) -> FigureRequest:
    """Ask for the figures of a preset.

    >>> [figure.title for figure in preset_figures("sanchez2018").figures][:2]
    ['Setting A, epsilon per user', 'Setting A, epsilon per query']
    """
    if name not in PRESETS:
        raise UsageError(f'there is no preset "{name}"', hint=did_you_mean(name, PRESETS))
    return FigureRequest(PRESETS[name], ("--preset", name))
