"""Which setting of the peers' protocol is best, among those that were simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

__all__ = ["average_runs", "degree_extremes", "describe_rule", "mark_best"]

Row = dict[str, Any]
_SOME = 5  # users, for their mean to tell something


def average_runs(runs: Sequence[Mapping[str, Any]]) -> Row:
    """Give the main figures of a setting: means of its runs, nothing where a run has none."""
    found = [_main(run) for run in runs]
    return {
        name: None if any(one[name] is None for one in found) else fmean(one[name] for one in found)
        for name in found[0]
    }


def _main(run: Mapping[str, Any]) -> Row:
    pel, guessed = run["pel"], 100 * run["guess_rate"]
    few, many = (pel["by_degree"].get(end) for end in degree_extremes(run))
    return {
        "learned": None if pel["honest"] is None else max(pel["honest"], guessed),
        "pel": pel["honest"],
        "pel_selfish": pel["selfish"],
        "pel_fewest": few,
        "pel_most": many,
        "above_70": run["above_70"],
        "above_80": run["above_80"],
        "guess_rate": run["guess_rate"],
        "friends_know": run["dishonest"]["queries_known"],
        "mean_hops": run["hops"],
        "refusals": run["refusals"] / run["queries"],
        "duplicates": run["duplicates"] / run["queries"],
        "service": run["service"]["words"]["honest"],
        "busiest": run["load"]["submissions"]["max_over_mean"],
    }


def degree_extremes(run: Mapping[str, Any]) -> tuple[str, str]:
    """Name the fewest and the most friends that honest users have: at least five of them do.

    >>> told = {"1": {"users": 1}, "2": {"users": 60}, "20+": {"users": 7}}
    >>> ends({"degrees": told})
    ('2', '20+')
    """
    classes: Mapping[str, Any] = run["degrees"]
    known = [name for name, some in classes.items() if some["users"] >= _SOME] or list(classes)
    return (known[0], known[-1]) if known else ("", "")


def mark_best(settings: Sequence[Row], most_hops: float) -> list[Row]:
    """Mark the best setting, and those that no other beats in what is learned and in hops.

    >>> told = [(9.0, 2.5), (10.0, 1.5), (11.0, 1.6)]
    >>> rows = marked([{"learned": learned, "mean_hops": hops} for learned, hops in told], 2.0)
    >>> [(row["front"], row["best"]) for row in rows]
    [(True, False), (True, True), (False, False)]
    """
    best = _best(settings, most_hops)
    return [
        {**row, "front": not any(_beats(other, row) for other in settings), "best": row is best}
        for row in settings
    ]


def _best(settings: Sequence[Row], most_hops: float) -> Row | None:
    told = [row for row in settings if row["learned"] is not None]
    quick = [row for row in told if row["mean_hops"] <= most_hops]
    if quick:
        return min(quick, key=lambda row: (row["learned"], row["mean_hops"]))
    return min(told, key=lambda row: (row["mean_hops"], row["learned"]), default=None)


def _beats(one: Row, other: Row) -> bool:
    if one["learned"] is None or other["learned"] is None:
        return False
    mine, its = (one["learned"], one["mean_hops"]), (other["learned"], other["mean_hops"])
    return mine != its and all(a <= b for a, b in zip(mine, its, strict=True))


def describe_rule(most_hops: float) -> str:
    """Say by which rule a setting is the best."""
    return (
        "the engine learns least, by the worse of two figures (the mean PEL of honest users, and "
        "how often it finds who is behind a submission, in percent), among settings of at most "
        f"{most_hops:g} hops on average; if there is none, the fewest hops"
    )
