"""What is said of the noise is right, and follows from public parameters and tables alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import queryveil as qv
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.dp.seeded_noise import SeededNoise
from queryveil.log.query_log import QueryLog
from queryveil.methods.click_graph import ClickGraph
from queryveil.methods.runner import run_method
from queryveil.methods.statistics.dp_statistics import DpStatistics
from queryveil.release.formats import read_public_tables
from queryveil.release.noise import CountNoise, describe_noise

KEYS = 40
Rows = list[tuple[str, str, str | None, int | None, str | None]]


def noise(kind: str, scale: float) -> CountNoise:
    return CountNoise("queries", kind, scale, "A query shows.", "each person counts for one.")


def draws(kind: str, scale: float, size: int) -> np.ndarray:
    from fractions import Fraction

    source = SeededNoise(RandomSource(7).uint64s)
    draw = source.laplace if kind == "laplace" else source.gaussian
    return draw(size, Fraction(scale))


# --- the figures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.25, 1.0, 3.5, 20.0, 68.0, 1500.0])
def test_the_interval_is_the_least_that_holds_95_of_100_draws(kind: str, scale: float) -> None:
    told, size = noise(kind, scale), 200_000
    drawn = np.abs(draws(kind, scale, size))
    assert (drawn <= told.interval).mean() >= 0.95 - 0.002
    if told.interval:
        assert (drawn <= told.interval - max(1, scale / 50)).mean() < 0.95 + 0.002


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [5.0, 20.0, 68.0])
def test_differences_and_sums(kind: str, scale: float) -> None:
    told, size = noise(kind, scale), 200_000
    one, two = draws(kind, scale, 2 * size).reshape(2, size)
    assert 0.95 - 0.002 <= (np.abs(one - two) <= told.difference).mean() <= 0.97
    for counts in (10, 100):
        sums = draws(kind, scale, counts * 20_000).reshape(counts, -1).sum(axis=0)
        held = (np.abs(sums) <= told.sum_interval(counts)).mean()
        assert 0.95 - 0.006 <= held <= 0.96 + 0.006


# --- coverage, on whole releases -----------------------------------------------------------------


def rows_of(users: int) -> Rows:
    """Let users send one query and one more, each clicked: all that they send counts."""
    sent = []
    for user in range(users):
        first = int(KEYS * (user / users) ** 2)  # some queries are more frequent
        for step in range(2):
            text = f"q{(first + step) % KEYS:02}"
            moment = f"2006-03-01 10:0{step}:00"
            sent.append((f"u{user}", text, moment, 1, f"http://{text}.example"))
    return sent


def true_counts(rows: Rows) -> dict[str, dict[tuple, int]]:
    table = pl.DataFrame(rows, schema=["user", "query", "time", "rank", "url"], orient="row")
    steps = table.with_columns(next=pl.col("query").shift(-1).over("user")).drop_nulls("next")
    return {
        "queries": dict(_counted(table, "query")),
        "clicks": dict(_counted(table, "query", "url")),
        "transitions": dict(_counted(steps, "query", "next")),
    }


def _counted(table: pl.DataFrame, *keys: str) -> list[tuple[tuple, int]]:
    counts = table.group_by(keys).agg(count=pl.col("user").n_unique())
    return [(tuple(row[:-1]), row[-1]) for row in counts.rows()]


@pytest.fixture
def lists(tmp_path: Path) -> dict[str, str]:
    pool, results = tmp_path / "pool.txt", tmp_path / "results.tsv"
    names = [f"q{n:02}" for n in range(KEYS)]
    pool.write_text("\n".join(names), "utf-8")
    results.write_text("\n".join(f"{name}\thttp://{name}.example" for name in names), "utf-8")
    return {"public_queries": str(pool), "public_results": str(results)}


Make = Callable[[dict[str, str]], qv.Method]
BOUNDS = {"max_queries_per_user": 2, "max_clicks_per_user": 2}
METHODS: dict[str, Make] = {
    **{
        selection: lambda _, selection=selection: DpStatistics(
            epsilon=2, delta=1e-4, selection=selection, **BOUNDS
        )
        for selection in ("laplace", "gaussian", "weighted", "sips", "guided")
    },
    "pure": lambda lists: DpStatistics(mode="pure", epsilon=2, **BOUNDS, **lists),
    "click-graph": lambda lists: ClickGraph(
        epsilon=2, delta=1e-4, public_results=lists["public_results"], **BOUNDS
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_95_of_100_counts_lie_within_the_interval(name: str, lists: dict[str, str]) -> None:
    """Where the count's own noise decides what shows, that is said of counts well above the cut."""
    rows = rows_of(4_000)
    log, true = QueryLog.from_rows(rows), true_counts(rows)
    method, held, outside = METHODS[name](lists), [], 0
    for seed in range(6):
        release = run_method(method, log, RandomSource(seed), NoProgress())
        for told in release.noise:
            for *key, count in release.tables[told.table].rows():
                low, high = told.around(count)
                truth = true[told.table].get(tuple(key), 0)
                inside = low <= truth <= high
                outside += not inside
                least = release.tables[told.table]["count"].min()
                if not told.own_threshold or truth >= least + told.interval:
                    held.append(inside)
    assert len(held) > 150
    spread = (0.95 * 0.05 / len(held)) ** 0.5
    assert np.mean(held) >= 0.95 - 3 * spread


# --- where it is told ----------------------------------------------------------------------------


def written(folder: Path, log: QueryLog, method: qv.Method) -> dict:
    qv.anonymize(log, method, seed=3).write(folder)
    return json.loads((folder / "public" / "release.json").read_text("utf-8"))


@pytest.mark.parametrize("name", METHODS)
def test_a_reader_is_told_on_the_page_the_card_and_beside_the_table(
    name: str, lists: dict[str, str], tmp_path: Path
) -> None:
    card = written(tmp_path / "out", QueryLog.from_rows(rows_of(4_000)), METHODS[name](lists))
    public = tmp_path / "out" / "public"
    page, entry = (public / "report.html").read_text(), (public / "dp-deployment.json").read_text()
    assert len(card["noise"]["tables"]) >= 2
    for told in card["noise"]["tables"]:
        first = read_public_tables(public)[told["table"]]["count"][0]
        low, high = first - told["interval_95"], first + told["interval_95"]
        example = f"the first count, {first:,}, may be {max(0, low):,} to {high:,}"
        beside = (public / f"{told['table']}.about.txt").read_text("utf-8")
        assert example in page
        assert example in beside
        assert example in entry
        assert f"scale {told['scale']:,.4g}" in beside
        assert "selected" in beside or "released" in beside
        assert "cannot be distinguished" in beside
    assert qv.verify(tmp_path / "out").holds


def test_what_is_told_follows_from_parameters_and_tables(tmp_path: Path) -> None:
    """Nothing of the log but what is released has a say."""
    method = METHODS["gaussian"]({})
    one, two = (run_method(method, QueryLog.from_rows(rows_of(n)), RandomSource(1), NoProgress())
                for n in (3_000, 4_000))  # fmt: skip
    assert one.noise == two.noise
    assert describe_noise(one.noise, two.tables) == describe_noise(two.noise, two.tables)


def test_verify_sees_words_that_the_tables_do_not_bear_out(tmp_path: Path) -> None:
    written(tmp_path / "out", QueryLog.from_rows(rows_of(4_000)), METHODS["laplace"]({}))
    path = tmp_path / "out" / "public" / "release.json"
    card = json.loads(path.read_text("utf-8"))
    card["noise"]["tables"][0]["interval_95"] = 1
    path.write_text(json.dumps(card), "utf-8")
    found = {finding.check: finding.holds for finding in
             qv.verify(tmp_path / "out").findings}  # fmt: skip
    assert found["noise"] is False


# --- ranks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([], "The table is empty"),
        ([100], "the first count, 100, may be 40 to 160."),
        ([1000, 500, 250, 240, 230, 170], "Ranks 3 to 6 cannot be distinguished from one another."),
        ([1000, 500, 250, 240, 230, 170], "The first 2 rows are each above the next by more"),
        ([100, 90, 80], "None of the ranks can be distinguished from another."),
        ([1000, 500], "The first row is above the next by more than that."),
    ],
)
def test_ranks_in_words(counts: list[int], says: str) -> None:
    table = pl.DataFrame({"query": [str(n) for n in range(len(counts))], "count": counts},
                         schema={"query": pl.String, "count": pl.Int64})  # fmt: skip
    told = describe_noise([noise("laplace", 20.0)], {"queries": table})[0]
    assert says in " ".join(told.statements)
    assert told.interval_95 == 60
    assert told.difference_95 == 83
