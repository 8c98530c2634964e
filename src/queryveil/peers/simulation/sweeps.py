"""Play a log through the peers' protocol, at one setting or at many, and write what was found."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ..._version import __version__
from ...core.folders import atomic_folder, check_output_folder, is_queryveil_folder
from ...core.progress import NoProgress, Progress
from ...core.randomness import RandomSource
from ...errors import UsageError
from ...jobs.best_setting import average_runs, degree_extremes, describe_rule, mark_best
from ...jobs.peeking import note_look
from ...log.query_log import QueryLog
from ...report.peers_picture import sweep_svg
from ..report import render_sweep
from .population import Population, population_from_log
from .scenario import Scenario
from .simulate import run_simulation
from .summary import summarize

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
    >>> found = simulate_peers(QueryLog.from_rows(rows), seed=1)
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
        """Give it as one JSON document."""
        best = self.best and {name: self.best[name] for name in self.best if name != "runs"}
        return {**self.about, "best": best, "settings": self.settings}

    def table(self) -> pl.DataFrame:
        """Give the settings as a table, each swept parameter in a column of its own."""
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
    """Give every combination of swept values, checked before any of them is played."""
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
