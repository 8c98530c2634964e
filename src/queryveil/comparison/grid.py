"""Methods at many values of their parameters, as a person writes them: `k=2..7`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.parameters import parse_spec
from ..errors import UsageError, did_you_mean
from ..measures.base import Measure, parse_measure
from ..methods.base import Method, parse_method

_MOST = 1000  # values of one parameter; more is a slip of the keys


@dataclass(frozen=True)
class MethodRun:
    """A method to run: the line it comes from, and the values that were swept."""

    method: Method
    label: str
    params: Mapping[str, Any]


def parse_sweep(text: str) -> tuple[str, tuple[str, ...]]:
    """Read which values a parameter shall take.

    >>> parse_sweep("epsilon=0.1,1,10"), parse_sweep("k=2..4")
    (('epsilon', ('0.1', '1', '10')), ('k', ('2', '3', '4')))
    """
    name, equals, values = text.partition("=")
    found = [value for part in values.split(",") for value in _values(part.strip())]
    if not equals or not name.strip() or "" in found:
        raise UsageError(f'"{text}" is no sweep', hint="write epsilon=0.1,1,10 or k=2..7")
    return name.strip().replace("-", "_"), tuple(dict.fromkeys(found))


def _values(part: str) -> list[str]:
    ends = re.fullmatch(r"(\d{1,9})\s*\.\.\s*(\d{1,9})", part)
    if not ends:
        return [part]
    low, high = int(ends[1]), int(ends[2])
    if not low <= high < low + _MOST:
        raise UsageError(f'"{part}" is no range', hint=f"write 2..7; at most {_MOST:,} values")
    return [str(value) for value in range(low, high + 1)]


def parse_sweeps(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read several, each of a parameter of its own."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, values = parse_sweep(text)
        if name in found:
            raise UsageError(f'"{name}" is swept twice', hint="give all its values at once")
        found[name] = values
    return found


def expand_grid(
    methods: Sequence[str | Method], sweep: Mapping[str, Sequence[Any]]
) -> list[MethodRun]:
    """Give every method at every combination of the swept values that concern it.

    A method without a swept parameter, or whose line sets it, is there once.

    >>> runs = expand_grid(["frequent-queries", "frequent-queries:n=9"], {"n": ["5", "7"]})
    >>> [(str(run.method), run.label) for run in runs]  # doctest: +NORMALIZE_WHITESPACE
    [('frequent-queries:n=5', 'frequent-queries'), ('frequent-queries:n=7', 'frequent-queries'),
     ('frequent-queries:n=9', 'frequent-queries:n=9')]
    """
    wanted = {name.replace("-", "_"): values for name, values in sweep.items()}
    made = [parse_method(one) if isinstance(one, str) else one for one in methods]
    _check_names(made, wanted)
    runs = [
        run
        for given, method in zip(methods, made, strict=True)
        for run in _at_all_values(str(given).strip(), method, wanted)
    ]
    if not runs:
        raise UsageError("there is nothing to compare", hint="name methods, and values to sweep")
    return list({(run.label, str(run.method)): run for run in runs}.values())


def _at_all_values(
    label: str, method: Method, sweep: Mapping[str, Sequence[Any]]
) -> list[MethodRun]:
    _, own = parse_spec(label)
    names = [name for name in sweep if name in method.params() and name not in own]
    runs = []
    for values in itertools.product(*(sweep[name] for name in names)):
        one = method.from_params(method.params() | dict(zip(names, values, strict=True)))
        runs.append(MethodRun(one, label, {name: getattr(one, name) for name in names}))
    return runs


def _check_names(methods: Sequence[Method], sweep: Mapping[str, Sequence[Any]]) -> None:
    known = {name for method in methods for name in method.params()}
    for name, values in sweep.items():
        if isinstance(values, str) or not values:
            raise UsageError(f'"{name}" is swept over no list of values', hint='{"k": [2, 3]}')
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f'none of the methods has the parameter "{name}"', hint=hint)


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

    >>> [figure.title for figure in get_preset("sanchez2018").figures][:2]
    ['Setting A, epsilon per user', 'Setting A, epsilon per query']
    """
    if name not in PRESETS:
        raise UsageError(f'there is no preset "{name}"', hint=did_you_mean(name, PRESETS))
    return FigureRequest(PRESETS[name], ("--preset", name))
