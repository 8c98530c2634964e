"""An IR researcher in a notebook: a frame, a comparison, a release to cite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import queryveil as qv
from page_commands import REPO, blocks


def test_the_way_of_a_researcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = REPO / "docs" / "tutorials" / "researcher.md"
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(blocks(page, "python")):
        exec(compile(cell, f"cell {number}", "exec"), names)

    assert "did you mean `k`?" in capsys.readouterr().out
    grouped, table = names["grouped"], names["table"]
    assert (grouped.guarantee.model, grouped.guarantee.k) == ("k-anonymity", 5)
    assert set(table["k"].drop_nulls()) == {3, 5, 10}
    assert table.height == 8  # three values of k and a baseline, by two measures
    assert table["error"].null_count() == table.height
    assert names["attack"].interval is not None
    assert names["attack"].baselines["chance"] > 0
    assert names["card"].public.standing == "formal"
    assert qv.verify(tmp_path / "release")
