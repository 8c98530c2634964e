"""What shall become of sensitive topics is asked for in one way, and told to the right people."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from screened_logs import METHOD, extend_twice, write_log

import queryveil as qv
from queryveil.comparison.measured_risks import measured_figures
from queryveil.comparison.private_report import render_private_report
from queryveil.errors import UsageError
from queryveil.release.risk_figures import collect_figures
from queryveil.workflows.profiling import profile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_log(tmp_path, {"weather": 9, "breast cancer": 9, "county jail": 4})


def test_a_wrong_setting_is_told_before_any_work(path: Path) -> None:
    log, method = qv.read_log(path), qv.parse_method(METHOD)
    for job in (
        lambda: qv.anonymize(log, method, sensitive="lose"),
        lambda: qv.anonymize_to_folder(log, method, path.parent / "out", sensitive="lose"),
        lambda: qv.plan(log, method, sensitive="lose"),
        lambda: qv.compare(log, METHOD, sensitive="lose"),
    ):
        with pytest.raises(UsageError, match="lose"):
            job()
    assert not (path.parent / "out").exists()


@pytest.mark.parametrize(
    ("setting", "rows"), [("keep", 22), ("drop:crime", 18), ("drop:health,crime", 9), ("drop", 9)]
)
def test_plan_tells_what_anonymize_does(path: Path, setting: str, rows: int) -> None:
    log, method = qv.read_log(path), qv.parse_method(METHOD)
    planned = qv.plan(log, method, sensitive=setting)
    made = qv.anonymize_to_folder(log, method, path.parent / "out", sensitive=setting)
    assert planned.preview.output.rows == made.output.rows == rows
    assert planned.preview.dropped == made.dropped
    assert made.public.sensitive == setting
    assert (made.input.rows, made.input.queries) == (22, 3)  # as it was read
    assert sum(made.dropped.values()) == 22 - rows


def test_what_extends_a_release_treats_them_alike(path: Path, tmp_path: Path) -> None:
    rows = [("u1", "herpes"), ("u1", "golf")]
    alike, other = extend_twice(
        path, tmp_path, rows, {"sensitive": "drop:health"}, {"sensitive": "keep"}
    )
    assert (alike.public.sensitive, alike.output.rows) == ("drop:health", 1)
    assert (other.public.sensitive, other.output.rows) == ("keep", 2)


def test_a_profile_counts_them(path: Path) -> None:
    found = profile(qv.read_log(path))
    assert {name: (of.rows, of.queries, of.users) for name, of in found.sensitive.items()} == {
        "health": (9, 1, 9), "crime": (4, 1, 4), "sexuality": (0, 0, 0), "religion": (0, 0, 0),
        "politics": (0, 0, 0), "self-harm": (0, 0, 0),
    }  # fmt: skip
    assert list(found.sensitive)[:2] == ["health", "crime"]  # the worst first
    assert found.sensitive_summary == (
        "9 of 9 users sent queries about health, the most frequent of 2 sensitive topics (9 rows)."
    )
    figures = found.to_polars()
    assert figures.filter(figure="crime_users")["value"].to_list() == [4]
    assert "cancer" not in repr(found.notebook_view())
    assert "about health" in str(found.plot().panels)


def test_a_log_without_them(tmp_path: Path) -> None:
    rows = [(user, "weather", None, None, None) for user in "ab"]
    found = profile(qv.QueryLog.from_rows(rows))
    assert found.sensitive_summary == (
        "The lists of words flag no query as being about a sensitive topic."
    )


@pytest.mark.parametrize("method", ["semantic", "string", "category", "syntactic"])
def test_the_owner_is_told_of_homogeneous_groups(method: str, tmp_path: Path) -> None:
    """Six users share a log about illnesses, six one about sports; the public learns nothing."""
    ill, well = ["breast cancer", "herpes", "diabetes"], ["tennis", "golf", "weather"]
    rows = [
        (f"u{n}", query, "2006-03-01", None, None)
        for n in range(12)
        for query in (ill if n < 6 else well)
    ]
    log = qv.QueryLog.from_rows(rows)
    folder = tmp_path / "out"
    card = qv.anonymize(log, f"{method}-microaggregation:k=6").write(folder, format="tsv")
    groups = card.sensitive_groups
    assert groups.users == 12
    lines = (folder / "public/log.tsv").read_text().splitlines()[1:]
    released = pl.DataFrame(
        [line.split("\t")[:2] for line in lines], ["user", "query"], orient="row"
    )
    shares = released.group_by("user").agg(pl.col("query").is_in(ill).mean())
    assert groups.users_in_such_groups == shares.filter(pl.col("query") > 0.5).height
    assert (groups.users_in_such_groups, groups.by_topic["health"]) == (6, 1)
    assert sum(groups.by_topic.values()) == 1
    report = (folder / "private/report.html").read_text()
    assert "sensitive topic" in report
    for path in (folder / "public").iterdir():
        assert b"sensitive_groups" not in path.read_bytes()
    assert "in one sensitive topic" not in (folder / "public/report.html").read_text()


def test_a_measured_figure_replaces_that_of_the_card() -> None:
    rows = [(f"u{n}", "herpes", None, None, None) for n in range(4)]
    log = qv.QueryLog.from_rows(rows)
    release = qv.anonymize(log, "string-microaggregation:k=4")
    card = release.preview_card()
    assert any(figure.key == "sensitive-homogeneity" for figure in collect_figures(card))
    measured = qv.measure(log, release, ["sensitive-homogeneity"])
    figures = collect_figures(card, measured_figures(measured))
    assert [one.count for one in figures if one.key == "sensitive-homogeneity"] == [
        "4 of 4 released users"
    ]
    assert "mostly about one sensitive topic" in render_private_report(card, measured)


Run = Callable[..., tuple[int, str, str]]


def test_the_commands_ask_for_it(cli: Run, path: Path, tmp_path: Path) -> None:
    asked = ("anonymize", path, "--method", "frequent-queries", "--min-users", 3,
             "--min-click-users", 3, "--json")  # fmt: skip
    kept = json.loads(cli(*asked, "--out", "a")[1])
    assert (kept["sensitive"], kept["output"]["rows"]) == ("keep", 22)
    dropped = json.loads(cli(*asked, "--sensitive", "drop:crime", "--out", "b")[1])
    assert (dropped["sensitive"], dropped["output"]["rows"]) == ("drop:crime", 18)
    code, _, told = cli(*asked, "--sensitive", "drop:helth", "--out", "c")
    assert code == 2
    assert "did you mean" in told
    code, _, told = cli("anonymize", path, "--copy-of", "a", "--sensitive", "drop", "--out", "d")
    assert code == 2
    assert "--sensitive" in told


def test_the_profile_on_the_screen_has_no_query(cli: Run, path: Path) -> None:
    code, out, _ = cli("profile", path)
    assert code == 0
    assert "Sensitive topics" in out
    assert "9 of 9 users sent queries about health" in out
    assert "cancer" not in out.partition("Sensitive topics")[2]
