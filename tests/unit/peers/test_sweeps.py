"""Simulations that a person asks for: one, many, the best of them, and what is written."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from queryveil.comparison.grid import parse_sweeps
from queryveil.errors import OutputError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.peers.simulation.scenario import Scenario
from queryveil.peers.simulation.sweeps import average_runs, mark_best, simulate, sweep, write_sweep

ROWS = [(f"u{i % 40:02}", f"word{i % 9} {i}", None, None, None) for i in range(600)]
NAMES = {"pel", "uncertainty", "above_70", "above_80", "hops", "refusals", "guess_rate"}


@pytest.fixture
def log() -> QueryLog:
    return QueryLog.from_rows(ROWS)


def test_one_object_with_named_figures(log: QueryLog) -> None:
    found = simulate(lambda: log, Scenario(selfish=0.2), seed=3)
    assert set(found) >= NAMES
    for name in ("pel", "uncertainty"):
        assert set(found[name]) == {"mean", "by_degree", "honest", "selfish"}
    assert found["scenario"]["selfish"] == 0.2
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found == simulate(log, Scenario(selfish=0.2), seed=3)
    assert found != simulate(log, Scenario(selfish=0.2))


def test_a_sweep(log: QueryLog, tmp_path: Path) -> None:
    grid = parse_sweeps(["submit=0.2,0.8", "hops=1..2"])
    found = sweep(log, grid, seed=1, repeat=2)
    assert [row["swept"] for row in found.settings] == [
        {"submit": submit, "hops": hops} for submit in (0.2, 0.8) for hops in (1, 2)
    ]
    assert all(len(row["runs"]) == 2 for row in found.settings)
    first = found.settings[0]
    assert first["pel"] == pytest.approx(sum(run["pel"]["honest"] for run in first["runs"]) / 2)
    assert sum(row["best"] for row in found.settings) == 1
    assert found.best is not None
    assert found.best["front"]
    out = write_sweep(found, tmp_path / "out")
    assert {path.name for path in out.iterdir()} == {
        "settings.csv", "sweep.json", "report.html", "peers.svg",
    }  # fmt: skip
    assert all(path.stat().st_mode & 0o077 == 0 for path in out.iterdir())
    assert pl.read_csv(out / "settings.csv")["hops"].to_list() == [1, 2, 1, 2]
    whole = json.loads((out / "sweep.json").read_text("utf-8"))
    assert whole["best"]["swept"] == found.best["swept"]
    assert "Best: submit=" in (out / "report.html").read_text("utf-8")
    assert len(ElementTree.parse(out / "peers.svg").findall(".//{*}polyline")) == 4 * 2
    with pytest.raises(OutputError):
        write_sweep(found, out)
    write_sweep(found, out, force=True)


def test_parameters_of_the_graph_and_nothing_swept(log: QueryLog, tmp_path: Path) -> None:
    found = sweep(log, {"m": ["1", "3"]}, Scenario(hops=1), seed=1)
    assert [row["swept"] for row in found.settings] == [{"m": 1}, {"m": 3}]
    assert found.about["classes"] is None  # with m=3 nobody has one friend
    assert found.settings[0]["pel"] > found.settings[1]["pel"]
    alone = sweep(log, {}, seed=1)
    assert alone.settings[0]["best"]
    page = (write_sweep(alone, tmp_path / "out") / "report.html").read_text("utf-8")
    assert "as asked" in page
    ElementTree.parse(tmp_path / "out" / "peers.svg")


def test_all_selfish(log: QueryLog, tmp_path: Path) -> None:
    """Without honest users there is no best setting, and the page says so by its silence."""
    found = sweep(log, {"hops": ["1"]}, Scenario(selfish=1.0), seed=1)
    assert found.best is None
    assert found.settings[0]["pel_selfish"] == pytest.approx(100)
    write_sweep(found, tmp_path / "out")


def test_wrong_usage(log: QueryLog) -> None:
    with pytest.raises(UsageError, match='no "hop"'):
        sweep(log, {"hop": ["1"]})
    with pytest.raises(UsageError, match="repeats"):
        sweep(log, {"hops": ["1"]}, repeat=0)
    with pytest.raises(UsageError, match="settings"):
        sweep(log, {"hops": range(20), "submit": [i / 100 for i in range(1, 90)]})


def test_the_best_setting_by_hand() -> None:
    told = [(30.0, 1.0), (10.0, 2.0), (5.0, 3.0), (10.0, 1.5), (None, 1.0)]
    rows = mark_best([{"learned": learned, "mean_hops": hops} for learned, hops in told], 2.0)
    assert [row["best"] for row in rows] == [False, False, False, True, False]
    assert [row["front"] for row in rows][:4] == [True, False, True, True]
    slow = mark_best([{"learned": 5.0, "mean_hops": 3.0}, {"learned": 9.0, "mean_hops": 2.5}], 2.0)
    assert [row["best"] for row in slow] == [False, True]


def test_sums_of_runs(log: QueryLog) -> None:
    run = simulate(log, Scenario(dishonest=0.2), seed=1)
    sums = average_runs([run, run])
    assert sums["learned"] == max(run["pel"]["honest"], 100 * run["guess_rate"])
    assert sums["pel_selfish"] is None
    assert sums["pel_fewest"] == next(iter(run["pel"]["by_degree"].values()))
    assert sums["refusals"] == run["refusals"] / run["queries"]
