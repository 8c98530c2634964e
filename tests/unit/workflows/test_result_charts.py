"""Charts of a profile, of measured values and of released tables."""

from __future__ import annotations

from pathlib import Path

import pytest

import queryveil as qv


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> qv.QueryLog:
    path = tmp_path_factory.mktemp("log") / "log.tsv"
    qv.write_synthetic_log(path, users=60)
    return qv.read_log(path)


def test_a_profile_shows_users_at_risk(log: qv.QueryLog) -> None:
    profile = qv.profile(log)
    (panel,) = profile.plot().panels
    assert panel.bars[0].text == f"{profile.risks.users_with_unique_query} of {profile.size.users}"
    assert isinstance(profile.plot(), qv.Chart)


def test_measured_values_stand_beside_their_baselines(log: qv.QueryLog) -> None:
    release = qv.anonymize(log, qv.StringMicroaggregation(k=3))
    results = qv.measure(log, release, ["query-coverage", "record-linkage"])
    (panel,) = results.plot().panels
    risk, utility = panel.bars
    assert (risk.label, utility.label) == ("record-linkage", "query-coverage")  # risks first
    assert len(risk.references) == len(results["record-linkage"].baselines)
    assert "by chance" in risk.tooltip


def test_counts_have_the_interval_of_their_noise(log: qv.QueryLog, tmp_path: Path) -> None:
    rows = [(str(user), "tennis", None, None, None) for user in range(60)]
    method = qv.DpStatistics(epsilon=9.0, delta=1e-4, max_queries_per_user=2, budget_split="1/0/0")
    release = qv.anonymize(qv.QueryLog.from_rows(rows), method, ledger=str(tmp_path))
    chart = release.plot()
    (bar,) = chart.panels[0].bars
    assert bar.label == "tennis"
    count, interval = release.table("queries")["count"][0], release.noise[0].interval
    assert bar.text == f"{count} \N{PLUS-MINUS SIGN} {interval}"
    assert not chart.private
    with pytest.raises(qv.UsageError) as raised:
        release.plot("querys")
    assert raised.value.hint == 'did you mean "queries"?'
    with pytest.raises(qv.UsageError, match="from 1 to 50, got 0"):
        release.plot(top=0)
    with pytest.raises(qv.UsageError, match="no table of counts"):
        qv.anonymize(log, qv.StringMicroaggregation(k=3)).plot()
