"""Simulations that a person asks for: one, many, the best of them, and what is written."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from queryveil.comparison.grid import parse_sweeps
from queryveil.errors import OutputError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.peers.output import write_sweep
from queryveil.peers.simulation.results import (
    DegreeCounts,
    PeerSweep,
    Setting,
    SettingFigures,
    Simulation,
)
from queryveil.peers.simulation.scenario import Scenario
from queryveil.peers.simulation.sweeps import (
    average_runs,
    degree_extremes,
    mark_best,
    simulate,
    sweep,
)

ROWS = [(f"u{i % 40:02}", f"word{i % 9} {i}", None, None, None) for i in range(600)]
NAMES = {"pel", "uncertainty", "above_70", "above_80", "hops", "refusals", "guess_rate"}


@pytest.fixture
def log() -> QueryLog:
    return QueryLog.from_rows(ROWS)


def test_one_object_with_named_figures(log: QueryLog) -> None:
    run = simulate(lambda: log, Scenario(selfish=0.2), seed=3)
    document = run.to_dict()
    assert set(document) >= NAMES
    for name in ("pel", "uncertainty"):
        assert set(document[name]) == {"mean", "by_degree", "honest", "selfish"}
    assert document["scenario"]["selfish"] == 0.2
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert Simulation.from_dict(document) == run
    assert run == simulate(log, Scenario(selfish=0.2), seed=3)
    assert run != simulate(log, Scenario(selfish=0.2))


def test_a_sweep(log: QueryLog, tmp_path: Path) -> None:
    grid = parse_sweeps(["submit-probability=0.2,0.8", "max-hops=1..2"])
    result = sweep(log, grid, seed=1, repeats=2)
    assert [row.params for row in result.settings] == [
        {"submit_probability": submit, "max_hops": hops} for submit in (0.2, 0.8) for hops in (1, 2)
    ]
    assert all(len(row.runs) == 2 for row in result.settings)
    first = result.settings[0]
    assert first.figures.pel == pytest.approx(sum(run.pel.honest for run in first.runs) / 2)
    assert sum(row.best for row in result.settings) == 1
    assert result.best is not None
    assert result.best.front
    out = write_sweep(result, tmp_path / "out")
    assert {path.name for path in out.iterdir()} == {
        "settings.csv", "sweep.json", "report.html", "peers.svg",
    }  # fmt: skip
    assert all(path.stat().st_mode & 0o077 == 0 for path in out.iterdir())
    assert pl.read_csv(out / "settings.csv")["max_hops"].to_list() == [1, 2, 1, 2]
    whole = json.loads((out / "sweep.json").read_text("utf-8"))
    assert PeerSweep.from_dict(whole) == result
    assert whole["best"]["params"] == dict(result.best.params)
    assert "Best: submit_probability=" in (out / "report.html").read_text("utf-8")
    assert len(ElementTree.parse(out / "peers.svg").findall(".//{*}polyline")) == 4 * 2
    with pytest.raises(OutputError):
        write_sweep(result, out)
    write_sweep(result, out, overwrite=True)


def test_parameters_of_the_graph_and_nothing_swept(log: QueryLog, tmp_path: Path) -> None:
    result = sweep(log, {"m": ["1", "3"]}, Scenario(max_hops=1), seed=1)
    assert [row.params for row in result.settings] == [{"m": 1}, {"m": 3}]
    assert result.classes is None  # with m=3 nobody has one friend
    assert result.settings[0].figures.pel > result.settings[1].figures.pel
    alone = sweep(log, {}, seed=1)
    assert alone.settings[0].best
    page = (write_sweep(alone, tmp_path / "out") / "report.html").read_text("utf-8")
    assert "as requested" in page
    ElementTree.parse(tmp_path / "out" / "peers.svg")


def test_all_selfish(log: QueryLog, tmp_path: Path) -> None:
    """Without honest users there is no best setting, and the page says so by its silence."""
    result = sweep(log, {"max_hops": ["1"]}, Scenario(selfish=1.0), seed=1)
    assert result.best is None
    assert result.settings[0].figures.pel_selfish == pytest.approx(100)
    write_sweep(result, tmp_path / "out")


def test_wrong_usage(log: QueryLog) -> None:
    with pytest.raises(UsageError, match='no "hop"'):
        sweep(log, {"hop": ["1"]})
    with pytest.raises(UsageError, match="repeat"):
        sweep(log, {"max_hops": ["1"]}, repeats=0)
    with pytest.raises(UsageError, match="settings"):
        sweep(log, {"max_hops": range(20), "submit_probability": [i / 100 for i in range(1, 90)]})


def setting(learned: float | None, hops: float) -> Setting:
    names = [field.name for field in fields(SettingFigures)]
    figures = dict.fromkeys(names) | {"learned": learned, "mean_hops": hops}
    return Setting(params={}, figures=SettingFigures(**figures), front=False, best=False)


def test_the_best_setting_by_hand() -> None:
    values = [(30.0, 1.0), (10.0, 2.0), (5.0, 3.0), (10.0, 1.5), (None, 1.0)]
    rows = mark_best([setting(*pair) for pair in values], 2.0)
    assert [row.best for row in rows] == [False, False, False, True, False]
    assert [row.front for row in rows][:4] == [True, False, True, True]
    slow = mark_best([setting(5.0, 3.0), setting(9.0, 2.5)], 2.0)
    assert [row.best for row in slow] == [False, True]


def test_sums_of_runs(log: QueryLog) -> None:
    run = simulate(log, Scenario(dishonest=0.2), seed=1).summary
    sums = average_runs([run, run])
    assert sums.learned == max(run.pel.honest, 100 * run.guess_rate)
    assert sums.pel_selfish is None
    assert sums.pel_fewest == next(iter(run.pel.by_degree.values()))
    assert sums.refusals == run.traffic.refusals / run.queries


def test_extremes_have_at_least_five_users(log: QueryLog) -> None:
    run = simulate(log, seed=1).summary
    counts = {"1": DegreeCounts(1, 0, 0), "2": DegreeCounts(60, 0, 0), "20+": DegreeCounts(7, 0, 0)}
    extremes = degree_extremes(replace(run, degrees=counts))
    assert (extremes.fewest, extremes.most) == ("2", "20+")
