"""Results as tables of pandas and Polars: types survive, also where values are missing."""

from __future__ import annotations

from datetime import datetime

import pandas
import polars as pl
import pytest

import queryveil as qv
from queryveil.core.pandas_output import to_pandas


def test_types_survive() -> None:
    frame = pl.DataFrame(
        {
            "number": [1, None],
            "full": [1, 2],
            "flag": [True, None],
            "text": ["a", None],
            "time": [datetime(2024, 5, 1), None],
            "part": [0.5, None],
            "several": [["a"], []],
            "category": pl.Series(["x", None], dtype=pl.Categorical),
        }
    )
    table = to_pandas(frame)
    assert list(table.columns) == frame.columns
    assert table["number"].tolist() == [1, pandas.NA]
    assert str(table["number"].dtype) == "Int64"
    assert str(table["full"].dtype) == "int64"
    assert str(table["flag"].dtype) == "boolean"
    assert table["text"].isna().tolist() == [False, True]
    assert table["time"].tolist() == [pandas.Timestamp(2024, 5, 1), pandas.NaT]
    assert table["part"].isna().tolist() == [False, True]
    assert table["several"].tolist() == [["a"], []]
    assert table["category"].tolist()[0] == "x"
    assert to_pandas(frame.clear()).shape == (0, 8)


def test_everything_tabular_has_both_forms(tmp_path: object) -> None:
    log = qv.make_log(30, lines=300)
    release = qv.anonymize(log, "frequent-queries", min_users=2)
    statistics = qv.anonymize(log, qv.DpStatistics(epsilon=10), ledger=f"{tmp_path}/")
    with qv.open_ledger(f"{tmp_path}/") as ledger:
        tables = [log, release, qv.measure(log, release, ["uniqueness"]), qv.profile(log), ledger]
        tables += [qv.compare(log, "frequent-queries", measures="uniqueness")]
        tables += [qv.show_ledger(ledger=f"{tmp_path}/")]
        for result in tables:
            assert result.to_pandas().shape == result.to_polars().shape
        assert ledger.to_polars()["epsilon"].to_list() == [10.0]
    assert statistics.table("queries").columns == ["query", "count"]
    with pytest.raises(qv.UsageError, match=r'no table "querys".*did you mean "queries"'):
        statistics.table("querys")
