"""Erola, Castellà-Roca, Navarro-Arribas, Torra 2011: semantic microaggregation by categories.

SPEC 3.6 has the settings, 9.2 what is reported.
"""

from __future__ import annotations

from typing import Any

from ..comparison.grid import Figure
from ..concepts.loaders.registry import open_taxonomy
from ..core.progress import NoProgress, Progress
from ..core.randomness import RandomSource
from ..log.query_log import QueryLog
from ..methods.microaggregation.category import CategoryMicroaggregation
from .claims import Claim, Curve, Evidence, MissingResultError, Paper, Verdict, format_series

REMAINS = "semantic-remain:level=1"
_LEVELS = (1, 2, 3, 4, 5)
_LONG = 0.5  # seconds that a run must take to tell how time grows
_K = {"k": ("2", "3", "4", "5")}


def _line(levels: int, categories: int) -> str:
    return (
        f"category-microaggregation:min-users=1:max-share=1:levels={levels}:categories={categories}"
    )


def _at(found: Evidence, levels: int, categories: int, level: int) -> Curve:
    return found.series(_line(levels, categories), REMAINS, "k", f"levels.{level}")


def _figures() -> tuple[Figure, ...]:
    lines = tuple(_line(levels, categories) for levels in (1, 5) for categories in (1, 5))
    return tuple(
        Figure(f"What remains on level {level}", lines, _measure(level), _K, "k")
        for level in _LEVELS
    )


def _measure(level: int) -> str:
    return f"semantic-remain:level={level}"


def _above(found: Evidence) -> Verdict:
    worst = {
        (k, level): value - 1 / k
        for categories in (1, 5)
        for level in _LEVELS
        for k, value in _at(found, 5, categories, level).items()
    }
    (k, level), least = min(worst.items(), key=lambda one: one[1])
    ours = f"least above 1/k: {100 * least:+.1f} points, at k={k} on level {level}"
    return Verdict(ours, least > 0)


def _above_random(found: Evidence) -> Verdict:
    gains = [
        found.series(_line(5, 1), _measure(level), "k")[k] - floor
        for level in _LEVELS
        for k, floor in found.series(_line(5, 1), _measure(level), "k", "random_groups").items()
    ]
    return Verdict(f"{100 * min(gains):+.1f} to {100 * max(gains):+.1f} points", min(gains) > 0)


def _same_at_one(found: Evidence) -> Verdict:
    if found.fact("categories of level 1") < 2:
        raise MissingResultError("the first level of this taxonomy is one category for all")
    one, five = _at(found, 1, 1, 1), _at(found, 1, 5, 1)
    apart = {k: 100 * (five[k] - one[k]) for k in one}
    return Verdict(f"points apart: {format_series(apart)}", max(map(abs, apart.values())) <= 2)


def _gain(found: Evidence) -> Verdict:
    one, five = _at(found, 5, 1, 5), _at(found, 5, 5, 5)
    return Verdict(
        f"{100 * (five[5] - one[5]):+.1f} points (k=5, level 5)", five[5] - one[5] >= 0.05
    )


def _reached(found: Evidence) -> Verdict:
    share = 100 * _at_all(found, "reached.5")
    return Verdict(f"{share:.0f}% of concepts", abs(share - 57) <= 10)


def _at_all(found: Evidence, name: str) -> float:
    return next(iter(found.series(_line(5, 1), REMAINS, "k", name).values()))


def _dear(found: Evidence) -> Verdict:
    ratio = found.fact("seconds of five categories") / found.fact("seconds of one category")
    return Verdict(f"{ratio:.1f} times", 2 <= ratio <= 4)


def _linear(found: Evidence) -> Verdict:
    times: dict[int, float] = found.fact("seconds by queries")
    if len(times) < 2:
        raise MissingResultError("the log is too small to be timed at several sizes")
    (few, short), *_, (many, long) = sorted(times.items())
    growth = (long / short) / (many / few)
    shown = ", ".join(f"{n:,}: {seconds:.2f} s" for n, seconds in times.items())
    if long < _LONG:
        raise MissingResultError(f"it takes no time that could tell: {shown}")
    holds = 0.67 <= growth <= 1.5
    why = "" if holds or growth > 1 else "less: part of it is the same for any log"
    return Verdict(f"{shown}; {growth:.1f} times linear", holds, why)


def _small_part(found: Evidence) -> Verdict:
    stages: dict[str, float] = found.fact("stages")
    share = 100 * stages["group users"] / sum(stages.values())
    why = (
        ""
        if share < 1
        else "words are looked up in an index here, so that grouping is what is left"
    )
    return Verdict(f"{share:.0f}%", share < 1, why)


def _timed(log: QueryLog, taxonomy: str, progress: Progress) -> dict[str, Any]:
    """Time the method at a quarter, half and all of the users, and with five categories."""
    users, k = log.count_distinct("user"), 2
    if users < 8 * k:
        return {}
    times: dict[int, float] = {}
    with progress.stage("time the method", 4) as advance:
        # The first run opens the taxonomy, which is not timed.
        for part in (8, 4, 2, 1):
            some = log if part == 1 else log.sample_users(users // part, RandomSource(0))
            shown = _stages(
                some, CategoryMicroaggregation(k, taxonomy=taxonomy, min_users=1, max_share=1.0)
            )
            times[some.accounting.kept] = sum(shown.values())
            advance(1)
    five = CategoryMicroaggregation(
        k, taxonomy=taxonomy, min_users=1, max_share=1.0, categories="5"
    )
    return {
        "seconds by queries": dict(list(times.items())[1:]),
        "stages": shown,
        "categories of level 1": _first_level(taxonomy),
        "seconds of one category": sum(shown.values()),
        "seconds of five categories": sum(_stages(log, five).values()),
    }


def _first_level(taxonomy: str) -> int:
    return int((open_taxonomy(taxonomy).depths == 1).sum())


def _stages(log: QueryLog, method: CategoryMicroaggregation) -> dict[str, float]:
    shown = NoProgress()
    method.run(log, RandomSource(0), shown)
    return shown.seconds


PAPER = Paper(
    name="erola2011",
    title="Erola, Castellà-Roca, Navarro-Arribas, Torra 2011",
    users=1000,
    figures=_figures(),
    claims=(
        Claim("more than 1/k remains", "at all levels, k = 2..5", _above),
        Claim("more remains than in random groups", "their line is the floor", _above_random),
        Claim("one and five categories are alike with one level", "equal", _same_at_one),
        Claim("five categories gain with five levels", "about 10 points at k=5", _gain),
        Claim("queries that have a category on level 5", "57%", _reached),
        Claim("five categories cost more time", "about 3 times", _dear),
        Claim("time grows with the number of queries", "linearly", _linear),
        Claim("the partition is a small part of the time", "below 1%", _small_part),
    ),
    deviations=(
        "the paper's categories are those of the Open Directory, ours WordNet's unless another "
        "taxonomy is given: its levels are others, and its first is one category for all",
        "what remains is counted of phrases' concepts, the paper counts words",
        "the paper has 1,000 users of AOL's log; ours are synthetic unless a log is given",
    ),
    facts=_timed,
)
