"""The P2P paper: its claims are checked on simulations, and no method is run."""

from __future__ import annotations

from pathlib import Path

import queryveil as qv
from queryveil.comparison.result import RunOptions
from queryveil.core.progress import NoProgress
from queryveil.peers.paper import PAPER
from queryveil.replication.claims import Evidence
from queryveil.replication.replicating import replicate

ROWS = [(f"u{i % 60}", f"q{i % 7} {i}", None, None, None) for i in range(900)]


def test_each_claim_is_decided() -> None:
    facts = PAPER.facts(qv.QueryLog.from_rows(ROWS), "wordnet", NoProgress())
    for claim in PAPER.claims:
        verdict = claim.evaluate(Evidence([], facts))
        assert verdict.holds in (True, False), verdict
        assert verdict.ours
        assert claim.published


def test_the_whole_paper(tmp_path: Path) -> None:
    result = replicate("p2p", qv.QueryLog.from_rows(ROWS), RunOptions(seed=1))
    claims = {claim.claim: claim for claim in result.claims}
    assert claims["users with few friends are most exposed"].holds
    assert claims["selfish users are penalized: more exposed"].holds
    assert claims["T1: its user stays hidden among those who submit it"].holds
    page = result.write(tmp_path / "out") / "report.html"
    assert "penalized" in page.read_text()


def test_a_small_network_decides_nothing() -> None:
    small = replicate("p2p", qv.QueryLog.from_rows(ROWS[:5]), RunOptions(seed=1))
    assert {claim.holds for claim in small.claims} == {None}
