"""A data-protection officer with a release folder: what holds, what fails, what was released."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import queryveil as qv
from page_commands import Outcome

from .conftest import printed


def test_the_way_of_a_data_protection_officer(
    follow: Callable[[str], list[Outcome]], tmp_path: Path
) -> None:
    ran = follow("data-protection-officer")

    holds, signed, changed = printed(ran, "verify")
    assert "The guarantee holds" in holds
    assert "Standing: formal" in holds
    assert "Claims of the data owner that cannot be checked on the files" in holds
    assert "The guarantee holds" in signed
    assert "Do not trust this release" in changed
    assert "the guarantee does not hold" in changed
    assert "log.tsv" in changed
    assert not qv.verify(tmp_path / "changed")

    assert "guessing succeeds" in printed(ran, "measure")[0]
    assert (tmp_path / "release/private/measures.json").exists()
    shown = printed(ran, "ledger show")[0]
    assert "k-anonymity" in shown
    assert "parameters chosen after seeing the data" in shown.replace("  ", " ")
    assert (tmp_path / "release.tar.gz").exists()
