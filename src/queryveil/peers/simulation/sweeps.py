"""Play a log through the peers' protocol, at one setting or at many, and write what was found."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl

from ..._version import __version__
from ...core.folders import atomic_folder, check_output_folder, is_queryveil_folder
from ...core.progress import NoProgress, Progress
from ...core.randomness import RandomSource
from ...errors import UsageError
from ...log.query_log import QueryLog
from ...workflows.budget import note_look
from ..report import render_sweep, sweep_svg
from .population import Population, population_from_log
from .run import run_simulation
from .scenario import Scenario
from .summary import summarize

Row = dict[str, Any]
_SOME = 5  # users, for their mean to tell something


def average_runs(runs: Sequence[Mapping[str, Any]]) -> Row:
    """Return the main figures of a setting: means of its runs, nothing where a run has none."""
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
    >>> degree_extremes({"degrees": told})
    ('2', '20+')
    """
    classes: Mapping[str, Any] = run["degrees"]
    known = [name for name, some in classes.items() if some["users"] >= _SOME] or list(classes)
    return (known[0], known[-1]) if known else ("", "")


def mark_best(settings: Sequence[Row], most_hops: float) -> list[Row]:
    """Mark the best setting, and those that no other beats in what is learned and in hops.

    >>> told = [(9.0, 2.5), (10.0, 1.5), (11.0, 1.6)]
    >>> rows = mark_best([{"learned": learned, "mean_hops": hops} for learned, hops in told], 2.0)
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
    """Return the rule by which a setting is the best."""
    return (
        "the engine learns least, by the worse of two figures (the mean PEL of honest users, and "
        "how often it finds who is behind a submission, in percent), among settings of at most "
        f"{most_hops:g} hops on average; if there is none, the fewest hops"
    )


Log = QueryLog | Callable[[], QueryLog]
MAX_MEAN_HOPS = 2.0
_MOST = 500  # settings of one sweep
_FILES = {"settings.csv", "sweep.json", "report.html", "peers.svg"}


def simulate(
    log: Log,
    scenario: Scenario | None = None,
    *,
    seed: int | None = None,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Let each user of a log send her queries through her friends, and tell who learns what.

    The figures are exact ones of the log, so the ledger notes that it was looked at; `dataset`
    says which ledger.

    >>> rows = [(user, f"{user} {i}", None, None, None) for user in "abcdef" for i in range(9)]
    >>> found = simulate(QueryLog.from_rows(rows), seed=1)
    >>> found["pel"]["honest"] < 100, found["submissions"]
    (True, 54)
    """
    asked, shown = scenario or Scenario(), progress or NoProgress()
    read = log() if callable(log) else log
    notes = note_look(read, dataset, "peers simulate")
    figures = _played(population_from_log(read, asked.queries), asked, RandomSource(seed), shown)
    about = {"queryveil": __version__, "seed": seed, "scenario": asked.as_dict()}
    return about | figures | {"notes": notes}


def _played(
    people: Population, asked: Scenario, chance: RandomSource, shown: Progress
) -> dict[str, Any]:
    outcome = run_simulation(people, asked, chance, shown)
    with shown.stage("guess and measure"):
        return summarize(outcome)


@dataclass(frozen=True)
class PeerSweep:
    """What was asked (`about`), and a row a setting: what was swept, its figures, its marks."""

    about: dict[str, Any]
    settings: list[dict[str, Any]]

    @property
    def best(self) -> dict[str, Any] | None:
        """The setting that the rule chooses."""
        return next((row for row in self.settings if row["best"]), None)

    def as_dict(self) -> dict[str, Any]:
        """Return it as one JSON document."""
        best = self.best and {name: self.best[name] for name in self.best if name != "runs"}
        return {**self.about, "best": best, "settings": self.settings}

    def table(self) -> pl.DataFrame:
        """Return the settings as a table, each swept parameter in a column of its own."""
        rows = [{n: v for n, v in row.items() if n != "runs"} for row in self.settings]
        flat = [{**row.pop("swept"), **row} for row in rows]
        return pl.DataFrame(flat, infer_schema_length=None)


def sweep(
    log: Log,
    sweep: Mapping[str, Sequence[Any]],
    scenario: Scenario | None = None,
    *,
    seed: int | None = None,
    repeat: int = 1,
    most_hops: float = MAX_MEAN_HOPS,
    dataset: str | None = None,
    progress: Progress | None = None,
) -> PeerSweep:
    """Simulate all combinations of swept values, and name the best setting.

    With a seed all settings of the same graph meet the very same one.
    """
    asked, shown = scenario or Scenario(), progress or NoProgress()
    wanted = _settings(asked, sweep)
    if repeat < 1:
        raise UsageError(f"{repeat} repeats are none", hint="take 1 or more")
    read = log() if callable(log) else log
    notes = note_look(read, dataset, "peers simulate")
    found = []
    with shown.stage("simulate", len(wanted) * repeat) as advance:
        for swept, one in wanted:
            runs = []
            people = population_from_log(read, one.queries)
            for turn in range(repeat):
                chance = RandomSource(None if seed is None else seed + turn)
                runs.append(_played(people, one, chance, NoProgress()))
                advance(1)
            found.append({"swept": swept, **average_runs(runs), "runs": runs})
    about = _about(read, asked, sweep, {"seed": seed, "repeat": repeat, "most_hops": most_hops})
    about |= {"classes": _classes(found), "notes": notes}
    return PeerSweep(about, mark_best(found, most_hops))


def _classes(settings: Sequence[Mapping[str, Any]]) -> dict[str, str] | None:
    """Name the fewest and the most friends that honest users have, if all settings agree."""
    found = {degree_extremes(run) for row in settings for run in row["runs"]}
    return dict(zip(("fewest", "most"), found.pop(), strict=True)) if len(found) == 1 else None


def _settings(
    asked: Scenario, sweep: Mapping[str, Sequence[Any]]
) -> list[tuple[dict[str, Any], Scenario]]:
    """Return every combination of swept values, checked before any of them is played."""
    names = list(sweep)
    found = []
    for values in itertools.product(*sweep.values()):
        one = asked.with_value(dict(zip(names, values, strict=True)))
        found.append(({name: one.value(name) for name in names}, one))
    if not 1 <= len(found) <= _MOST:
        raise UsageError(f"{len(found):,} settings", hint=f"sweep 1 to {_MOST}")
    return found


def _about(
    log: QueryLog, asked: Scenario, sweep: Mapping[str, Sequence[Any]], how: dict[str, Any]
) -> dict[str, Any]:
    return {
        "queryveil": __version__,
        **how,
        "rule": describe_rule(how["most_hops"]),
        "scenario": asked.as_dict(),
        "swept": {name: list(values) for name, values in sweep.items()},
        "log": {
            "files": {source.path: source.sha256 for source in log.sources},
            "rows": log.accounting.kept,
            "users": log.count_distinct("user"),
        },
    }


def check_sweep_output(folder: Path, force: bool) -> None:
    """Refuse a folder that cannot be written, before any work is done."""
    check_output_folder(folder, force, _is_sweep)


def write_sweep(found: PeerSweep, folder: Path, force: bool = False) -> Path:
    """Write settings.csv, sweep.json, report.html and peers.svg, or nothing."""
    whole = found.as_dict()
    texts = {
        "sweep.json": json.dumps(whole, indent=2, ensure_ascii=False) + os.linesep,
        "report.html": render_sweep(whole),
        "peers.svg": sweep_svg(whole),
    }
    with atomic_folder(folder, lambda: check_sweep_output(folder, force)) as part:
        found.table().write_csv(part / "settings.csv")
        for name, text in texts.items():
            (part / name).write_text(text, encoding="utf-8", errors="backslashreplace")
        for path in part.iterdir():
            path.chmod(0o600)  # figures of private data
    return folder


def _is_sweep(folder: Path) -> bool:
    return is_queryveil_folder(folder, "sweep.json", _FILES)
