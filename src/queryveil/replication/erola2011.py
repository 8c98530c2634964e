"""Erola, Castellà-Roca, Navarro-Arribas, Torra 2011: semantic microaggregation by categories.

SPEC 3.6 has the settings, 9.2 the reported values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..comparison.grid import FigureSpec
from ..concepts.loaders.registry import open_taxonomy
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..log.query_log import QueryLog
from ..methods.microaggregation.category import CategoryMicroaggregation
from ..methods.runner import run_method
from .claims import Claim, Curve, Evidence, MissingResultError, Paper, Verdict, format_series

REMAINS = "semantic-remain:level=1"
_LEVELS = (1, 2, 3, 4, 5)
_MIN_SECONDS = 0.5  # of a run, below which the growth of time cannot be measured
_K = {"k": ("2", "3", "4", "5")}


def _spec(levels: int, categories: int) -> str:
    compared = f"levels={levels}:categories-per-term={categories}"
    return (
        f"category-microaggregation:as-published=yes:min-users=1:max-member-fraction=1:{compared}"
    )


def _at(evidence: Evidence, levels: int, categories: int, level: int) -> Curve:
    return evidence.series(_spec(levels, categories), REMAINS, "k", f"levels.{level}")


def _figures() -> tuple[FigureSpec, ...]:
    lines = tuple(_spec(levels, categories) for levels in (1, 5) for categories in (1, 5))
    return tuple(
        FigureSpec(f"What remains on level {level}", lines, _measure(level), _K, "k")
        for level in _LEVELS
    )


def _measure(level: int) -> str:
    return f"semantic-remain:level={level}"


def _above(evidence: Evidence) -> Verdict:
    margins = {
        (k, level): value - 1 / k
        for categories in (1, 5)
        for level in _LEVELS
        for k, value in _at(evidence, 5, categories, level).items()
    }
    (k, level), smallest = min(margins.items(), key=lambda item: item[1])
    ours = f"smallest margin above 1/k: {100 * smallest:+.1f} points, at k={k} on level {level}"
    return Verdict(ours, smallest > 0)


def _above_random(evidence: Evidence) -> Verdict:
    gains = [
        evidence.series(_spec(5, 1), _measure(level), "k")[k] - baseline
        for level in _LEVELS
        for k, baseline in evidence.series(
            _spec(5, 1), _measure(level), "k", "baselines.random_groups"
        ).items()
    ]
    return Verdict(f"{100 * min(gains):+.1f} to {100 * max(gains):+.1f} points", min(gains) > 0)


def _same_at_one(evidence: Evidence) -> Verdict:
    if evidence.facts_of(MethodTimes).first_level_categories < 2:
        raise MissingResultError("the first level of this taxonomy is one category for all")
    one, five = _at(evidence, 1, 1, 1), _at(evidence, 1, 5, 1)
    apart = {k: 100 * (five[k] - one[k]) for k in one}
    return Verdict(f"points apart: {format_series(apart)}", max(map(abs, apart.values())) <= 2)


def _gain(evidence: Evidence) -> Verdict:
    one, five = _at(evidence, 5, 1, 5), _at(evidence, 5, 5, 5)
    return Verdict(
        f"{100 * (five[5] - one[5]):+.1f} points (k=5, level 5)", five[5] - one[5] >= 0.05
    )


def _reached(evidence: Evidence) -> Verdict:
    percent = 100 * _at_all(evidence, "reached.5")
    return Verdict(f"{percent:.0f}% of concepts", abs(percent - 57) <= 10)


def _at_all(evidence: Evidence, name: str) -> float:
    return next(iter(evidence.series(_spec(5, 1), REMAINS, "k", name).values()))


def _cost_ratio(evidence: Evidence) -> Verdict:
    times = evidence.facts_of(MethodTimes)
    ratio = times.five_categories_seconds / sum(times.stages.values())
    return Verdict(f"{ratio:.1f} times", 2 <= ratio <= 4)


def _linear(evidence: Evidence) -> Verdict:
    times = evidence.facts_of(MethodTimes).seconds_by_queries
    if len(times) < 2:
        raise MissingResultError("the log is too small to be timed at several sizes")
    (few, short), *_, (many, long) = sorted(times.items())
    growth = (long / short) / (many / few)
    shown = ", ".join(f"{n:,}: {seconds:.2f} s" for n, seconds in times.items())
    if long < _MIN_SECONDS:
        raise MissingResultError(f"the runs are too short to measure the growth of time: {shown}")
    holds = 0.67 <= growth <= 1.5
    why = "" if holds or growth > 1 else "less: a part of the time does not depend on the log"
    return Verdict(f"{shown}; {growth:.1f} times linear", holds, why)


def _small_part(evidence: Evidence) -> Verdict:
    stages = evidence.facts_of(MethodTimes).stages
    percent = 100 * stages["group users"] / sum(stages.values())
    why = (
        ""
        if percent < 1
        else "words are looked up in an index here, so that grouping dominates the time"
    )
    return Verdict(f"{percent:.0f}%", percent < 1, why)


@dataclass(frozen=True)
class MethodTimes:
    """The times of the method.

    Attributes:
        seconds_by_queries: The seconds of samples of the log, by their number of queries.
        stages: The seconds of each stage with one category, on the whole log.
        five_categories_seconds: The seconds with five categories, on the whole log.
        first_level_categories: The number of categories of the first level of the taxonomy.
    """

    seconds_by_queries: Mapping[int, float]
    stages: Mapping[str, float]
    five_categories_seconds: float
    first_level_categories: int


def _measure_times(log: QueryLog, taxonomy: str, progress: Progress) -> MethodTimes | None:
    """Measure the time at a quarter, half and all of the users, and with five categories."""
    users, k = log.count_distinct("user"), 2
    if users < 8 * k:
        return None
    times: dict[int, float] = {}
    with progress.stage("time the method", 4) as advance:
        # The first run opens the taxonomy, which is not timed.
        for part in (8, 4, 2, 1):
            sample = log if part == 1 else log.sample_users(users // part, RandomSource(0))
            seconds = _stages(
                sample,
                CategoryMicroaggregation(
                    k, taxonomy=taxonomy, min_users=1, max_member_fraction=1.0
                ),
            )
            times[sample.accounting.kept] = sum(seconds.values())
            advance(1)
    five = CategoryMicroaggregation(
        k, taxonomy=taxonomy, min_users=1, max_member_fraction=1.0, categories_per_term="5"
    )
    return MethodTimes(
        seconds_by_queries=dict(list(times.items())[1:]),
        stages=seconds,
        five_categories_seconds=sum(_stages(log, five).values()),
        first_level_categories=_first_level(taxonomy),
    )


def _first_level(taxonomy: str) -> int:
    return int((open_taxonomy(taxonomy).depths == 1).sum())


def _stages(log: QueryLog, method: CategoryMicroaggregation) -> dict[str, float]:
    progress = NoProgress()
    run_method(method, log, RandomSource(0), progress)
    return progress.seconds


PAPER = Paper(
    name="erola2011",
    title="Erola, Castellà-Roca, Navarro-Arribas, Torra 2011",
    users=1000,
    figures=_figures(),
    claims=(
        Claim("more than 1/k remains", "at all levels, k = 2..5", _above),
        Claim("more remains than in random groups", "their line is the floor", _above_random),
        Claim("one and five categories are equal with one level", "equal", _same_at_one),
        Claim("five categories gain with five levels", "about 10 points at k=5", _gain),
        Claim("queries that have a category on level 5", "57%", _reached),
        Claim("five categories cost more time", "about 3 times", _cost_ratio),
        Claim("time grows with the number of queries", "linearly", _linear),
        Claim("the partition is a small part of the time", "below 1%", _small_part),
    ),
    deviations=(
        "the paper's categories are those of the Open Directory, ours WordNet's unless another "
        "taxonomy is given: its levels are others, and its first is one category for all",
        "what remains is counted of phrases' concepts, the paper counts words",
        "the paper has 1,000 users of AOL's log; ours are synthetic unless a log is given",
    ),
    facts=_measure_times,
)
