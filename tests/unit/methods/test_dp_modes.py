"""dp-statistics in its three modes: what may show, what is refused, what is promised."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from recounts import recount_tables

from conftest import python_calls
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.dp.noise import NoiseSource
from queryveil.dp.public_counts import PublicCounts
from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.methods.base import parse_method
from queryveil.methods.runner import run_method
from queryveil.methods.statistics.as_published import AsPublished
from queryveil.methods.statistics.dp_statistics import DpStatistics
from queryveil.methods.statistics.public_lists import read_public_queries, read_public_results
from queryveil.release.release import Release
from queryveil.synthetic.generator import generate_blocks
from queryveil.testing import KitCheck, method_checks
from queryveil.workflows.anonymization import anonymize
from queryveil.workflows.verification import verify

Line = tuple[str, str, str | None, int | None, str | None]

SURE = 100.0  # an epsilon at which noise hardly matters


def moment(number: int) -> str:
    return f"2006-03-01 {number // 60:02}:{number % 60:02}:00"


def lines(users: int, *queries: str, url: bool = True) -> list[Line]:
    """Let every user send these queries, a minute apart, with a click each."""
    return [
        (f"u{user}", query, moment(n), 1 if url else None, f"http://{n}.example" if url else None)
        for user in range(users)
        for n, query in enumerate(queries)
    ]


def run(rows: list[Line], seed: int | None = None, **values: object) -> Release:
    log = QueryLog.from_rows(rows)
    return run_method(DpStatistics.from_params(values), log, RandomSource(seed), NoProgress())


def table(release: Release, name: str) -> dict[tuple[str, ...], int]:
    return {tuple(row[:-1]): row[-1] for row in release.tables[name].rows()}


@pytest.fixture
def pool(tmp_path: Path) -> str:
    path = tmp_path / "pool.txt"
    path.write_text("weather\nnews today\n  MAPS \n\nnews  today\nzebra\n", "utf-8")
    return str(path)


@pytest.fixture
def urls(tmp_path: Path) -> str:
    path = tmp_path / "urls.tsv"
    path.write_text(
        "weather\thttp://0.example\nweather\thttp://9.example\nWeather\thttp://0.example\n"
        "zebra\thttp://z.example\n\n",
        "utf-8",
    )
    return str(path)


# --- the parameter -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "mode", "model"),
    [
        ("dp-statistics", "approx", "approx-dp"),
        ("dp-statistics:mode=approx:delta=1e-6", "approx", "approx-dp"),
        ("dp-statistics:mode=pure", "pure", "pure-dp"),
        ("dp-statistics:mode=pure:delta=0", "pure", "pure-dp"),
        (
            "dp-statistics:mode=pure:public-queries=list.txt:public-results=urls.tsv",
            "pure",
            "pure-dp",
        ),
        (
            "dp-statistics:mode=paper:published-threshold=100:public-queries=list.txt",
            "paper",
            "none",
        ),
    ],
)
def test_modes_by_their_line_and_by_their_values(line: str, mode: str, model: str) -> None:
    method = parse_method(line)
    assert method.mode == mode
    assert method.guarantee().model == model
    assert parse_method(str(method)) == method
    assert DpStatistics.from_params(method.params()) == method
    assert DpStatistics.from_params({k: str(v) for k, v in method.params().items()}) == method


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"mode": "exact"}, "one of approx, pure, paper"),
        ({"mode": "pure", "delta": 1e-6}, "pure mode has no `delta`"),
        ({"mode": "paper", "delta": 1e-6}, "paper mode has no `delta`"),
        ({"delta": 0.0}, "approx mode needs at least"),
        ({"delta": 1e-31}, "`delta` cannot be"),
        ({"public_queries": "list.txt"}, "approx mode has no `public_queries`"),
        ({"public_results": "urls.tsv"}, "approx mode has no `public_results`"),
        ({"mode": "paper", "public_results": "urls.tsv"}, "paper mode has no `public_results`"),
        ({"mode": "pure", "published_threshold": 9}, "use `mode` paper"),
        ({"mode": "pure", "selection": "laplace"}, "pure mode has no `selection`"),
        ({"mode": "paper", "budget_split": "1/1/1"}, "use `mode` approx or pure"),
        ({"mode": "pure", "budget_split": "1"}, "`budget_split` cannot be"),
        ({"mode": "pure", "public_results": "u", "budget_split": "1/0/1"}, "no weight for clicks"),
    ],
)
def test_refusals(values: dict[str, object], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        DpStatistics.from_params(values)


def test_noise_that_cannot_be_drawn_is_refused_before_it_is_paid_for() -> None:
    wide = {"epsilon": 0.001, "max_queries_per_user": 3_000}
    assert DpStatistics(mode="pure", **wide).guarantee().epsilon == 0.001
    with pytest.raises(UsageError, match="no threshold is high enough"):
        DpStatistics(mode="pure", budget_split="1/0/99", **wide).guarantee()


def test_defaults() -> None:
    method = DpStatistics(mode="pure")
    assert (method.public_queries, method.public_results, method.published_threshold) == (
        "wordnet",
        "",
        500,
    )
    assert method.budget == (1, 0)
    assert DpStatistics().budget == (1, Fraction(1, 10**9))


# --- public lists --------------------------------------------------------------------------------


def test_a_list_is_normalised_as_a_log_is(pool: str) -> None:
    assert read_public_queries(pool).to_list() == ["weather", "news today", "maps", "zebra"]


def test_the_list_inside() -> None:
    labels = read_public_queries("wordnet")
    assert len(labels) > 110_000
    assert labels.n_unique() == len(labels)
    assert {"weather", "credit card", "dog"} <= set(labels.to_list())


def test_results_are_pairs(urls: str) -> None:
    assert read_public_results(urls).rows() == [
        ("weather", "http://0.example"),
        ("weather", "http://9.example"),
        ("zebra", "http://z.example"),
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read"),
        (b"", "has no queries"),
        (b" \n\t\n", "has no queries"),
        (b"\xff\xfe\x00w", "not UTF-8 text"),
        (b"weather\0news", "NUL"),
    ],
)
def test_a_list_that_is_none(content: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "list"
    if content is not None:
        path.write_bytes(content)
    for mode in ("pure", "paper"):
        with pytest.raises(InputError, match=says):
            run(lines(3, "weather"), mode=mode, public_queries=str(path))
    with pytest.raises(InputError, match="cannot be read"):
        run(lines(3, "weather"), mode="pure", public_queries=str(tmp_path))


@pytest.mark.parametrize("content", ["weather\n", "weather\t\n", "\thttp://a\n", "a\tb\tc\n"])
def test_results_that_are_none(content: str, tmp_path: Path, pool: str) -> None:
    (tmp_path / "bad").write_text("weather\thttp://a\n" + content)
    with pytest.raises(InputError, match="line 2 is not a query, a tab and a URL"):
        run(
            lines(3, "weather"),
            mode="pure",
            public_queries=pool,
            public_results=str(tmp_path / "bad"),
        )
    (tmp_path / "bad").write_text("\n")
    with pytest.raises(InputError, match="no results"):
        run(
            lines(3, "weather"),
            mode="pure",
            public_queries=pool,
            public_results=str(tmp_path / "bad"),
        )


# --- pure ----------------------------------------------------------------------------------------


def test_pure_counts_users_once(pool: str, urls: str) -> None:
    rows = lines(300, "weather", "news today", "weather", "maps")
    rows += lines(40, "news today")  # the same users again
    release = run(rows, mode="pure", epsilon=SURE, public_queries=pool, public_results=urls)
    queries = table(release, "queries")
    assert queries.keys() >= {("weather",), ("news today",), ("maps",)}
    assert all(abs(queries[(q,)] - 300) < 40 for q in ("weather", "news today", "maps"))
    clicks = table(release, "clicks")  # only what is a public result
    assert clicks.keys() <= set(read_public_results(urls).rows())
    assert abs(clicks["weather", "http://0.example"] - 300) < 40
    steps = table(release, "transitions")
    for pair in (("weather", "news today"), ("news today", "weather"), ("weather", "maps")):
        assert abs(steps[pair] - 300) < 40
    assert all(one != other for one, other in steps)
    assert release.not_release_grade_because == ()


@pytest.mark.parametrize("seed", [None, 1])
def test_a_query_that_is_not_public_never_shows(pool: str, seed: int | None) -> None:
    rows = lines(400, "my secret", "weather", "other secret")
    release = run(rows, seed, mode="pure", epsilon=SURE, public_queries=pool)
    known = set(read_public_queries(pool).to_list())
    assert ("weather",) in table(release, "queries")
    for frame in release.tables.values():
        for column in set(frame.columns) - {"count", "url"}:
            assert set(frame[column].to_list()) <= known


def test_only_public_queries_use_up_a_users_number(pool: str) -> None:
    rows = lines(200, *(f"x{n}" for n in range(30)), "weather", url=False)
    release = run(rows, mode="pure", epsilon=SURE, public_queries=pool, max_queries_per_user=1)
    assert abs(table(release, "queries")["weather",] - 200) < 20


def test_without_public_results_no_clicks(pool: str) -> None:
    rows = lines(300, "weather", "maps")
    release = run(rows, mode="pure", epsilon=SURE, public_queries=pool)
    assert release.tables["clicks"].height == 0
    assert release.tables["clicks"].columns == ["query", "url", "count"]
    assert "clicks" not in run(rows, mode="pure", public_queries=pool, budget_split="1/0/1").tables
    assert set(run(rows, mode="pure", public_queries=pool, budget_split="1/0/0").tables) == {
        "queries"
    }


def test_the_share_of_clicks_goes_to_the_others(pool: str, urls: str, monkeypatch) -> None:
    made = []
    whole = PublicCounts.release

    def release(self, *given):
        made.append(self)
        return whole(self, *given)

    monkeypatch.setattr(PublicCounts, "release", release)
    for given, tables in (({}, 2), ({"public_results": urls}, 3)):
        made.clear()
        run(lines(50, "weather"), mode="pure", epsilon=0.5, public_queries=pool, **given)
        assert len(made) == tables
        assert Fraction("0.49") < sum(one.epsilon for one in made) <= Fraction("0.5")


@pytest.mark.parametrize(
    "rows",
    [lines(1, "weather"), lines(1, "secret"), lines(50, "weather"), lines(2, "maps", url=False),
     [("u", "weather", None, None, None)]],
    ids=["one user", "nothing public", "all alike", "no clicks", "no time"],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["approx", "pure", "paper"])
def test_tiny_logs(rows: list[Line], mode: str, pool: str, tmp_path: Path) -> None:
    given = {"selection": "laplace"} if mode == "approx" else {"public_queries": pool}
    release = run(rows, mode=mode, **given)
    assert set(release.tables) == {"queries", "clicks", "transitions"}
    release.write(tmp_path / "out")
    assert verify(tmp_path / "out").holds


@pytest.mark.parametrize("mode", ["approx", "pure", "paper"])
def test_the_same_seed_gives_the_same_tables(mode: str, pool: str) -> None:
    rows = lines(700, "weather", "maps", "weather")
    given = {"selection": "laplace"} if mode == "approx" else {"public_queries": pool}
    one, two, other = (
        run(rows, seed, mode=mode, epsilon=9.0, **given).tables for seed in (1, 1, 2)
    )
    assert all(one[name].equals(two[name]) for name in one)
    assert any(not one[name].equals(other[name]) for name in one)


def test_a_list_of_a_million_queries_takes_no_loop_over_it(tmp_path: Path) -> None:
    path = tmp_path / "million"
    path.write_text("\n".join(f"query {n}" for n in range(10**6)))
    rows = lines(400, "query 7", "query 999999", "secret")
    with python_calls() as made:
        release = run(rows, mode="pure", epsilon=20.0, public_queries=str(path))
    assert len(made) < 500_000  # an eighth of that
    found = table(release, "queries")
    assert found.keys() >= {("query 7",), ("query 999999",)}
    assert len(found) < 20
    assert "1,000,000 public cells" in release.noise[0].shows


def test_the_list_inside_on_a_synthetic_log(tmp_path: Path) -> None:
    log = QueryLog.from_clean_frame(pl.concat(generate_blocks(users=300, seed=3)))
    method = DpStatistics(mode="pure", epsilon=SURE, max_queries_per_user=5)
    release = run_method(method, log, RandomSource(), NoProgress())
    assert release.tables["queries"].height > 0
    assert set(release.tables["queries"]["query"].to_list()) <= set(
        read_public_queries("wordnet").to_list()
    )
    release.write(tmp_path / "out")
    assert verify(tmp_path / "out").holds


def test_the_card_of_pure_mode(pool: str, urls: str, tmp_path: Path) -> None:
    log = QueryLog.from_rows(lines(300, "weather", "maps"))
    method = DpStatistics.from_params(
        {"mode": "pure", "public_queries": pool, "public_results": urls}
    )
    anonymize(log, method, ledger=f"{tmp_path}/").write(tmp_path / "out")
    card = json.loads((tmp_path / "out" / "public" / "release.json").read_text("utf-8"))
    promise = card["guarantee"]
    assert (promise["model"], promise["epsilon"], promise["delta"]) == ("pure-dp", 1.0, None)
    assert card["release_grade"]
    assert card["parameters"]["delta"] == 0
    assert card["parameters"]["public_queries"] == "pool.txt"  # where it lies is private
    assert card["parameters"]["public_results"] == "urls.tsv"
    assert str(tmp_path) not in json.dumps(card)
    names = [check.get("table") for check in promise["checks"]]
    assert names == ["queries", "clicks", "transitions", None]  # the last: no identifiers
    assert verify(tmp_path / "out").holds


def test_a_file_that_is_called_wordnet(tmp_path: Path) -> None:
    (tmp_path / "wordnet").write_text("weather\n")
    release = run(lines(9, "weather"), mode="pure", public_queries=str(tmp_path / "wordnet"))
    assert release.parameters["public_queries"] == "./wordnet"
    release.write(tmp_path / "out")
    assert verify(tmp_path / "out").holds


def test_the_forecast_of_pure_mode(pool: str) -> None:
    told = DpStatistics(mode="pure", public_queries=pool).forecast(1000)
    assert told is not None
    assert told.tables[0].public_keys == 4
    assert DpStatistics(mode="paper").forecast(1000) is None


# --- paper ---------------------------------------------------------------------------------------


def slowly(rows: list[Line], most: int, clicks: int) -> dict[str, Counter]:
    """Do steps 1, 2 and 6 on plain lists; each line is one submission here."""
    times = Counter(query for _, query, *_ in rows)
    users = defaultdict(set)
    for user, query, *_ in rows:
        for term in query.split():
            users[term].add(user)
    left = {q for q in times if times[q] >= 5 and all(len(users[t]) > 1 for t in q.split())}
    queries, urls, steps = Counter(), Counter(), Counter()
    for user in dict.fromkeys(user for user, *_ in rows):
        own = sorted((row for row in rows if row[0] == user and row[1] in left), key=lambda r: r[2])
        sent = [row[1] for row in own][:most]
        queries.update((query,) for query in sent)
        steps.update(pairwise(sent))
        urls.update([(row[1], row[4]) for row in own if row[4]][:clicks])
    return {"queries": queries, "clicks": urls, "transitions": steps}


def test_the_papers_steps_without_noise(pool: str, monkeypatch) -> None:
    monkeypatch.setattr(NoiseSource, "laplace", lambda self, size, scale: pl.zeros(size, eager=True)
                        .cast(pl.Int64).to_numpy())  # fmt: skip
    monkeypatch.setattr(PublicCounts, "release", lambda self, places, counts, cells, source: (
        places[counts >= self.threshold], counts[counts >= self.threshold]))  # fmt: skip
    rows = lines(7, "weather", "maps", "news today", "weather", "last")
    rows += lines(3, "rare")
    rows += [("u0", "unique-term x", moment(100 + n), None, None) for n in range(0, 60, 2)]
    rows += [("u0", "maps", moment(101 + n), 1, "http://only-u0.example") for n in range(0, 60, 2)]
    values = {"mode": "paper", "public_queries": pool, "published_threshold": 4, "epsilon": 1.0}
    most = {"max_queries_per_user": 8, "max_clicks_per_user": 9}
    release = run(rows, **values, **most)
    expected = slowly(rows, 8, 9)
    shown = {key: n for key, n in expected["queries"].items() if n > 4}
    assert table(release, "queries") == shown
    names = {query for (query,) in shown}
    assert names == {"weather", "maps", "news today", "last"}
    assert table(release, "clicks") == expected["clicks"]
    assert table(release, "transitions") == {
        pair: n for pair, n in expected["transitions"].items() if set(pair) <= names
    }
    # What is wrong with it: a person's own URL is there for all to see.
    assert ("maps", "http://only-u0.example") in table(release, "clicks")


def test_the_papers_noise() -> None:
    made = AsPublished("wordnet", Fraction("2.5"), 20, 10, 500)
    assert made.scale * 256 % 1 == 0
    b = made.scale
    assert Fraction("2.49") < 20 / b + 10 / b + 19 / b <= Fraction("2.5")


def test_paper_mode_is_not_for_publication(pool: str, tmp_path: Path) -> None:
    release = run(lines(900, "weather", "maps"), mode="paper", public_queries=pool)
    assert {("weather",), ("maps",)} <= table(release, "queries").keys()
    release.write(tmp_path / "out")
    found = verify(tmp_path / "out")
    assert found.holds
    assert not found.release_grade
    card = json.loads((tmp_path / "out" / "public" / "release.json").read_text("utf-8"))
    assert card["guarantee"]["model"] == "none"
    assert card["guarantee"]["epsilon"] is None
    assert len(card["guarantee"]["not_covered"]) == 5
    assert card["guarantee"]["checks"] == [
        {"check": "min-count", "table": "queries", "at_least": 501}
    ]
    assert "do not give the epsilon" in card["not_release_grade_because"][0]


SPECS = [
    "dp-statistics:epsilon=9:delta=1e-3",
    "dp-statistics:epsilon=9:delta=1e-3:selection=gaussian",
    "dp-statistics:mode=pure:epsilon=9",
    "dp-statistics:mode=paper:epsilon=9:published-threshold=5",
]
CHECKS = [
    check
    for selection in ("auto", "laplace", "gaussian")
    for check in method_checks(
        DpStatistics(
            epsilon=99,
            delta=1e-3,
            max_queries_per_user=3,
            max_clicks_per_user=3,
            selection=selection,
        ),
        recount=recount_tables,
    )
]


@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
