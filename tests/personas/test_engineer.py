"""An engineer with OpenSearch dumps: a table within a budget, and a refusal beyond it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import queryveil as qv
from page_commands import Outcome

from .conftest import printed


def test_the_way_of_an_engineer(follow: Callable[[str], list[Outcome]], tmp_path: Path) -> None:
    ran = follow("engineer")

    assert json.loads((tmp_path / "profile.json").read_text())["schema"] == 1
    assert "Nothing was written or spent" in printed(ran, "plan")[0]
    assert qv.verify(tmp_path / "table")
    lines = (tmp_path / "table/public/queries.tsv").read_text().splitlines()
    assert 10 <= len(lines) - 1 <= 20  # 20 queries were sent
    assert (tmp_path / "table/public/queries.about.txt").exists()

    released, refused = printed(ran, "anonymize")
    assert "parameters chosen after seeing the data" in released
    assert "needs epsilon 5, but 3 is left" in refused
    assert not (tmp_path / "more").exists()
    assert "epsilon 3" in printed(ran, "ledger show")[0]
