"""Papers done again: claims speak of what is drawn, and say so where they cannot be told."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.comparison.grid import expand_grid
from queryveil.comparison.result import ComparisonRow, RunOptions
from queryveil.replication import batet2013, erola2011
from queryveil.replication.claims import Claim, Evidence, MissingResultError, Paper, Verdict
from queryveil.replication.replicating import PAPERS, replicate
from queryveil.replication.result import Replication

FACTS = erola2011.MethodTimes(
    seconds_by_queries={100: 1.0, 400: 4.0},
    stages={"look up words": 99.5, "group users": 0.5},
    five_categories_seconds=300.0,
    first_level_categories=2,
)
# A paper without figures is simulated: tests/unit/peers/test_paper.py.
WITH_FIGURES = {name: paper for name, paper in PAPERS.items() if paper.figures}
DETAILS = {
    "baselines": {"random_groups": 80.0, "chance": 75.0, "original": 0.5},
    "counts": {"vanished": 5, "users": 10, "tests": 30},
    "difference_low": 0.1, "difference_high": 0.2, "coverage": 0.2, "volume": {"lost": 0.9},
    "levels": dict.fromkeys("12345", 0.6), "reached": dict.fromkeys("12345", 0.57),
    "metrics": {"original": {"p@5": 0.15, "p@10": 0.08}},
}  # fmt: skip


@cache
def drawn(name: str) -> list[ComparisonRow]:
    """Give a row for everything that the paper's figures ask for."""
    return [
        ComparisonRow(
            method=str(run.method),
            label=run.label,
            params=run.params,
            repeat=1,
            measure=figure.measure,
            value=1.0,
            details=DETAILS,
        )
        for figure in PAPERS[name].figures
        for run in expand_grid(figure.methods, figure.sweep)
    ]  # fmt: skip


def rows_of(paper: Paper, **changes: object) -> list[ComparisonRow]:
    return [replace(row, **changes) for row in drawn(paper.name)]


@pytest.mark.parametrize("paper", WITH_FIGURES.values(), ids=WITH_FIGURES)
def test_claims_speak_of_what_is_drawn(paper: Paper) -> None:
    for claim in paper.claims:
        verdict = claim.evaluate(Evidence(rows_of(paper), FACTS))
        assert verdict.holds in (True, False), verdict
        assert verdict.ours
        assert claim.published


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_what_failed_cannot_be_told(paper: Paper) -> None:
    failed = rows_of(paper, value=None, error="it did not run", details={})
    for rows in ([], failed):
        verdicts = [claim.evaluate(Evidence(rows)) for claim in paper.claims]
        assert {verdict.holds for verdict in verdicts} == {None}
        assert all(verdict.why for verdict in verdicts)
    if paper.figures:
        assert any("it did not run" in verdict.why for verdict in verdicts)


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_measures_and_methods_exist(paper: Paper) -> None:
    for figure in paper.figures:
        assert qv.parse_measure(figure.measure)
        assert figure.x in figure.sweep
    assert paper.deviations


def test_a_claim_can_fail() -> None:
    """Semantic microaggregation as the worst: the claims that it is best do not hold."""

    def judged(bad: str) -> dict[str, bool]:
        rows = [
            replace(row, value=(9.0 if row.label == bad else 1.0) / row.params.get("k", 1))
            for row in rows_of(batet2013.PAPER)
        ]
        found = Evidence(rows)
        return {c.claim: c.evaluate(found).holds for c in batet2013.PAPER.claims}

    best = "the proposed method loses least"
    assert judged(batet2013.STRING)[best]
    assert not judged(batet2013.SEMANTIC)[best]
    assert judged(batet2013.STRING)["linkage is highest without semantics"]
    assert not judged(batet2013.SEMANTIC)["linkage is highest without semantics"]


def test_means_over_repeats_and_what_is_told() -> None:
    row = ComparisonRow("m", "m", {"k": 2, "n": 1}, 1, "x", 0.0)
    rows = [replace(row, value=v, details={"a": {"b": v}}) for v in (1.0, 3.0)]
    rows.append(replace(row, params={"k": 2, "n": 2}, value=9.0))
    found = Evidence(rows)
    assert found.series("m", "x", "k", at={"n": 1}) == {2: 2.0}
    assert found.series("m", "x", "n") == {1: 2.0, 2: 9.0}
    assert found.series("m", "x", "k", "a.b") == {2: 2.0}
    with pytest.raises(MissingResultError, match="at 7"):
        found.series("m", "x", "k")[7]
    with pytest.raises(MissingResultError, match="no y"):
        found.series("m", "y", "k")
    with pytest.raises(MissingResultError):
        found.facts_of(erola2011.MethodTimes)
    claim = Claim("c", "p", lambda _: Verdict("o", True, "w"))
    assert claim.evaluate(found) == Verdict("o", True, "w")


def test_a_paper_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        erola2011, "_MIN_SECONDS", math.inf
    )  # on a busy machine anything takes long
    tree = tmp_path / "tree.txt"
    tree.write_text("".join(f"Top/a{i % 3}/b{i % 9}/c{i}/d{i}/e{i}\n" for i in range(20)))
    rows = [(f"u{i % 17}", f"e{i % 20}", None, None, None) for i in range(300)]
    log = qv.QueryLog.from_rows(rows)
    found = replicate("erola2011", log, RunOptions(seed=1), taxonomy=str(tree))
    claims = {claim.claim: claim for claim in found.claims}
    assert claims["more than 1/k remains"].holds is not None
    assert "% of concepts" in claims["queries that have a category on level 5"].ours
    assert "too short to measure" in claims["time grows with the number of queries"].why
    assert not found.comparison.options.synthetic
    assert f"--taxonomy {tree}" in found.comparison.command
    assert Replication.from_dict(json.loads(found.to_json())) == found
    assert repr(found).startswith("Replication(")
    page = found.write(tmp_path / "out") / "report.html"
    assert "more than 1/k remains" in page.read_text()


def test_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(qv.UsageError, match="erola2011"):
        replicate("erola2010")
    with pytest.raises(qv.UsageError, match="synthetic"):
        replicate("erola2011", qv.QueryLog.from_rows([]), users=5)
