"""Simulate the users of a log as peers, at one setting or at many."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from ..._version import __version__
from ...core.progress import NoProgress, Progress
from ...core.randomness import RandomSource
from ...core.records import Scalar
from ...errors import UsageError
from ...log.query_log import QueryLog
from ...workflows.budget import note_look
from .population import Population, population_from_log
from .results import (
    DegreeExtremes,
    PeerSweep,
    Setting,
    SettingFigures,
    Simulation,
    SimulationSummary,
    SweptLog,
)
from .run import run_simulation
from .scenario import Scenario
from .summary import summarize

LogSource = QueryLog | Callable[[], QueryLog]
MAX_MEAN_HOPS = 2.0
_MIN_USERS = 5  # for the mean of a class of users to be reported as an extreme
_MAX_SETTINGS = 500


def simulate(
    log: LogSource,
    scenario: Scenario | None = None,
    *,
    seed: int | None = None,
    ledger: str | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Simulate that the users of a log send their queries through friends.

    The figures are exact figures of the log, so the data access is recorded in the ledger that
    `ledger` names.

    >>> rows = [(user, f"{user} {i}", None, None, None) for user in "abcdef" for i in range(9)]
    >>> simulation = simulate(QueryLog.from_rows(rows), seed=1)
    >>> simulation.summary.pel.honest < 100, simulation.summary.traffic.submissions
    (True, 54)
    """
    scenario, progress = scenario or Scenario(), progress or NoProgress()
    opened = log() if callable(log) else log
    notes = note_look(opened, ledger, "peers simulate")
    people = population_from_log(opened, scenario.queries)
    summary = _run_and_summarize(people, scenario, RandomSource(seed), progress)
    return Simulation(
        queryveil=__version__, seed=seed, scenario=scenario, summary=summary, notes=tuple(notes)
    )


def _run_and_summarize(
    people: Population, scenario: Scenario, rng: RandomSource, progress: Progress
) -> SimulationSummary:
    run = run_simulation(people, scenario, rng, progress)
    with progress.stage("guess and measure"):
        return summarize(run)


# --- figures of a setting ----------------------------------------------------------------------


def average_runs(runs: Sequence[SimulationSummary]) -> SettingFigures:
    """Return the main figures of a setting: means over its runs, None where a run has no value."""
    rows = [_select_figures(run).to_dict() for run in runs]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    means = {name: None if None in v else fmean(v) for name, v in columns.items()}
    return SettingFigures.from_dict(means)


def _select_figures(run: SimulationSummary) -> SettingFigures:
    pel, traffic, extremes = run.pel, run.traffic, degree_extremes(run)
    return SettingFigures(
        learned=None if pel.honest is None else max(pel.honest, 100 * run.guess_rate),
        pel=pel.honest,
        pel_selfish=pel.selfish,
        pel_fewest=pel.by_degree.get(extremes.fewest),
        pel_most=pel.by_degree.get(extremes.most),
        above_70=run.above_70,
        above_80=run.above_80,
        guess_rate=run.guess_rate,
        friends_know=run.dishonest.queries_known,
        mean_hops=traffic.hops,
        refusals=traffic.refusals / run.queries,
        duplicates=traffic.duplicates / run.queries,
        service=run.service.words.honest,
        busiest=run.load.submissions.max_over_mean,
    )


def degree_extremes(run: SimulationSummary) -> DegreeExtremes:
    """Return the fewest and the most friends that at least five honest users have."""
    classes = [name for name, counts in run.degrees.items() if counts.users >= _MIN_USERS]
    classes = classes or list(run.degrees)
    return DegreeExtremes(classes[0], classes[-1]) if classes else DegreeExtremes("", "")


def mark_best(settings: Sequence[Setting], max_mean_hops: float) -> tuple[Setting, ...]:
    """Mark the best setting, and those that no other setting beats in exposure and in hops."""
    best = _choose_best(settings, max_mean_hops)
    return tuple(
        replace(
            setting,
            front=not any(_beats(other.figures, setting.figures) for other in settings),
            best=setting is best,
        )
        for setting in settings
    )


def _choose_best(settings: Sequence[Setting], max_mean_hops: float) -> Setting | None:
    known = [(row, row.figures.learned) for row in settings if row.figures.learned is not None]
    fast = [(row, learned) for row, learned in known if row.figures.mean_hops <= max_mean_hops]
    if fast:
        return min(fast, key=lambda pair: (pair[1], pair[0].figures.mean_hops))[0]
    slow = min(known, key=lambda pair: (pair[0].figures.mean_hops, pair[1]), default=None)
    return slow and slow[0]


def _beats(figures: SettingFigures, others: SettingFigures) -> bool:
    if figures.learned is None or others.learned is None:
        return False
    values = (figures.learned, figures.mean_hops)
    other_values = (others.learned, others.mean_hops)
    is_no_worse = all(a <= b for a, b in zip(values, other_values, strict=True))
    return is_no_worse and values != other_values


def describe_rule(max_mean_hops: float) -> str:
    """Return the rule by which a setting is the best."""
    return (
        "the engine learns least, by the larger of two figures (the mean PEL of honest users, and "
        "how often it guesses the user behind a submission, in percent), among settings of at most "
        f"{max_mean_hops:g} hops on average; if there is none, the fewest hops"
    )


# --- sweeps ------------------------------------------------------------------------------------


def sweep(
    log: LogSource,
    sweep: Mapping[str, Sequence[Scalar]],
    scenario: Scenario | None = None,
    *,
    seed: int | None = None,
    repeats: int = 1,
    max_mean_hops: float = MAX_MEAN_HOPS,
    ledger: str | None = None,
    progress: Progress | None = None,
) -> PeerSweep:
    """Simulate all combinations of swept values, and choose the best setting.

    With a seed, all settings with the same graph parameters have the same graph.
    """
    scenario, progress = scenario or Scenario(), progress or NoProgress()
    combinations = _combine(scenario, sweep)
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1, got {repeats}", hint="take 1 or more")
    opened = log() if callable(log) else log
    notes = note_look(opened, ledger, "peers simulate")
    settings = []
    with progress.stage("simulate", len(combinations) * repeats) as advance:
        for params, combination in combinations:
            runs = []
            people = population_from_log(opened, combination.queries)
            for number in range(repeats):
                rng = RandomSource(None if seed is None else seed + number)
                runs.append(_run_and_summarize(people, combination, rng, NoProgress()))
                advance(1)
            figures = average_runs(runs)
            settings.append(
                Setting(params=params, figures=figures, runs=tuple(runs), front=False, best=False)
            )
    compared = mark_best(settings, max_mean_hops)
    best = next((setting for setting in compared if setting.best), None)
    return PeerSweep(
        queryveil=__version__,
        seed=seed,
        repeats=repeats,
        max_mean_hops=max_mean_hops,
        rule=describe_rule(max_mean_hops),
        scenario=scenario,
        sweep={name: tuple(values) for name, values in sweep.items()},
        log=_summarize_log(opened),
        classes=_common_extremes(settings),
        notes=tuple(notes),
        best=best and replace(best, runs=()),
        settings=compared,
    )


def _combine(
    scenario: Scenario, sweep: Mapping[str, Sequence[Scalar]]
) -> list[tuple[dict[str, Scalar], Scenario]]:
    """Return every combination of swept values, all checked before the first is simulated."""
    names = list(sweep)
    combinations = []
    for values in itertools.product(*sweep.values()):
        changed = scenario.with_value(dict(zip(names, values, strict=True)))
        combinations.append(({name: changed.value(name) for name in names}, changed))
    if not 1 <= len(combinations) <= _MAX_SETTINGS:
        raise UsageError(f"{len(combinations):,} settings", hint=f"sweep 1 to {_MAX_SETTINGS}")
    return combinations


def _common_extremes(settings: Sequence[Setting]) -> DegreeExtremes | None:
    """Return the fewest and the most friends of honest users, if they agree in all runs."""
    extremes = [degree_extremes(run) for setting in settings for run in setting.runs]
    return extremes[0] if all(other == extremes[0] for other in extremes) else None


def _summarize_log(log: QueryLog) -> SweptLog:
    return SweptLog(
        files={source.path: source.sha256 for source in log.sources},
        rows=log.accounting.kept,
        users=log.count_distinct("user"),
    )
