"""Grids of parameter values, written as `k=2..7`, and the figures over them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.parameters import parse_spec
from ..core.records import Scalar
from ..errors import UsageError, did_you_mean
from ..measures.base import Measure, parse_measure
from ..methods.base import Method, parse_method

_MAX_VALUES = 1000  # of one parameter; a longer range is taken for a typing error


@dataclass(frozen=True)
class MethodRun:
    """A method to run, the spec it comes from, and its swept values."""

    method: Method
    label: str
    params: Mapping[str, Scalar]


def parse_sweep(text: str) -> tuple[str, tuple[str, ...]]:
    """Parse the values of a swept parameter.

    >>> parse_sweep("epsilon=0.1,1,10"), parse_sweep("k=2..4")
    (('epsilon', ('0.1', '1', '10')), ('k', ('2', '3', '4')))
    """
    name, equals, values = text.partition("=")
    expanded = [value for part in values.split(",") for value in _expand_range(part.strip())]
    if not equals or not name.strip() or "" in expanded:
        raise UsageError(
            f'"{text}" is no sweep', hint="write NAME=VALUES, such as epsilon=0.1,1,10 or k=2..7"
        )
    return name.strip().replace("-", "_"), tuple(dict.fromkeys(expanded))


def _expand_range(part: str) -> list[str]:
    ends = re.fullmatch(r"(\d{1,9})\s*\.\.\s*(\d{1,9})", part)
    if not ends:
        return [part]
    low, high = int(ends[1]), int(ends[2])
    if not low <= high < low + _MAX_VALUES:
        raise UsageError(
            f'"{part}" is no range',
            hint=f"write LOW..HIGH, such as 2..7, with at most {_MAX_VALUES:,} values",
        )
    return [str(value) for value in range(low, high + 1)]


def parse_sweeps(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Parse several sweeps, each of a different parameter."""
    sweeps: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, values = parse_sweep(text)
        if name in sweeps:
            raise UsageError(f'"{name}" is swept twice', hint="give all its values at once")
        sweeps[name] = values
    return sweeps


def expand_grid(
    methods: Sequence[str | Method], sweep: Mapping[str, Sequence[Scalar]]
) -> list[MethodRun]:
    """Return every method at every combination of the swept values that apply to it.

    A method without a swept parameter, or whose spec sets it, has one run.

    >>> sweep = {"min_users": ["5", "7"]}
    >>> runs = expand_grid(["frequent-queries", "frequent-queries:min-users=9"], sweep)
    >>> [(str(run.method), run.label) for run in runs]  # doctest: +NORMALIZE_WHITESPACE
    [('frequent-queries:min-users=5', 'frequent-queries'),
     ('frequent-queries:min-users=7', 'frequent-queries'),
     ('frequent-queries:min-users=9', 'frequent-queries:min-users=9')]
    """
    wanted = {name.replace("-", "_"): values for name, values in sweep.items()}
    parsed = [
        parse_method(method_or_spec) if isinstance(method_or_spec, str) else method_or_spec
        for method_or_spec in methods
    ]
    _check_names(parsed, wanted)
    runs = [
        run
        for spec, method in zip(methods, parsed, strict=True)
        for run in _expand_method(str(spec).strip(), method, wanted)
    ]
    if not runs:
        raise UsageError("there is nothing to compare", hint="name methods, and values to sweep")
    return list({(run.label, str(run.method)): run for run in runs}.values())


def _expand_method(
    label: str, method: Method, sweep: Mapping[str, Sequence[Scalar]]
) -> list[MethodRun]:
    _, own = parse_spec(label)
    names = [name for name in sweep if name in method.params() and name not in own]
    runs = []
    for values in itertools.product(*(sweep[name] for name in names)):
        variant = method.from_params(method.params() | dict(zip(names, values, strict=True)))
        runs.append(MethodRun(variant, label, {name: getattr(variant, name) for name in names}))
    return runs


def _check_names(methods: Sequence[Method], sweep: Mapping[str, Sequence[Scalar]]) -> None:
    known = {name for method in methods for name in method.params()}
    for name, values in sweep.items():
        if isinstance(values, str) or not values:
            raise UsageError(
                f'"{name}" is swept over no list of values', hint='give a list: {"k": [2, 3]}'
            )
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f'none of the methods has the parameter "{name}"', hint=hint)


@dataclass(frozen=True)
class FigureSpec:
    """One figure: a line for each method, over the swept parameter `x`.

    `scale` is that of x: linear, log, names, or auto, which depends on the values.
    """

    title: str
    methods: Sequence[str | Method]
    measure: str
    sweep: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    x: str | None = None
    scale: str = "auto"


@dataclass(frozen=True)
class FigureRequest:
    """Requested figures, and the command-line arguments of the same request."""

    figures: tuple[FigureSpec, ...]
    arguments: tuple[str, ...] = ()


def request_figures(
    methods: Sequence[str | Method],
    measures: Sequence[str | Measure],
    sweep: Mapping[str, Sequence[Scalar]],
) -> FigureRequest:
    """Request one figure per measure; the first swept parameter is the x axis."""
    if not methods or not measures:
        raise UsageError("there is nothing to compare", hint="name methods and measures")
    lines, swept = [str(measure) for measure in measures], dict(sweep)
    arguments = ["--methods", ",".join(map(str, methods)), "--measures", ",".join(lines)]
    for name, values in swept.items():
        arguments += ["--sweep", f"{name.replace('_', '-')}={','.join(map(str, values))}"]
    x = next(iter(swept), None)
    figures = tuple(FigureSpec(_figure_title(line), methods, line, swept, x) for line in lines)
    return FigureRequest(figures, tuple(arguments))


def _figure_title(line: str) -> str:
    """Return the title of a figure: that of its measure, with the parameters of its spec."""
    title, parameters = parse_measure(line).title, line.partition(":")[2]
    return (
        title[0].upper() + title[1:] + (f" ({parameters.replace(':', ', ')})" if parameters else "")
    )


# Sánchez et al. 2018, figures of the loss over epsilon (SPEC 6.3). By its text the paper spends
# epsilon on a user's whole log, by its curves on each query: both are drawn. In setting A a query
# stays within its own domain, in B and C it may become any abstraction; C is easier, as its
# profiles have four topics only.
_EPSILON = ("0.1", "0.3", "1", "3", "10")
_TOPICS = {"A": "sanchez19", "B": "sanchez19", "C": "sanchez4"}
_BUDGETS = ("user", "query")
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


def _sanchez_figure(setting: str, budget: str) -> FigureSpec:
    setting_params = f"budget-unit={budget}:domain={setting}"
    return FigureSpec(
        title=f"Setting {setting}, epsilon per {budget}",
        methods=(
            *(
                f"semantic-replacement:{variant}:{setting_params}:preserve-length=true"
                for variant in _REPLACEMENTS
            ),
            f"concept-histogram:{setting_params}",
            *(
                f"profile-first:mechanism={variant}:{setting_params}"
                for variant in _MECHANISMS[setting]
            ),
        ),
        measure=f"profile-divergence:topics={_TOPICS[setting]}",
        sweep={"epsilon": _EPSILON},
        x="epsilon",
        scale="log",
    )


PRESETS: dict[str, tuple[FigureSpec, ...]] = {
    "sanchez2018": tuple(
        _sanchez_figure(setting, budget) for setting in _TOPICS for budget in _BUDGETS
    ),
}


def get_preset(name: str) -> FigureRequest:
    """Return the figures of a preset.

    >>> [figure.title for figure in get_preset("sanchez2018").figures][:2]
    ['Setting A, epsilon per user', 'Setting A, epsilon per query']
    """
    if name not in PRESETS:
        raise UsageError(f'there is no preset "{name}"', hint=did_you_mean(name, PRESETS))
    return FigureRequest(PRESETS[name], ("--preset", name))
