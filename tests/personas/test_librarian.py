"""A librarian with a thesaurus: the fields of the thesaurus group the readers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

import queryveil as qv
from page_commands import Outcome

from .conftest import printed


def test_the_way_of_a_librarian(follow: Callable[[str], list[Outcome]], tmp_path: Path) -> None:
    ran = follow("librarian")

    refused, imported = printed(ran, "taxonomy import")
    assert "a second root" in refused
    assert "--repair" in refused
    assert "concepts 15" in imported
    assert "branches: medicine (5), history (5), botany (5)" in imported
    assert "middle ages" in printed(ran, "taxonomy map")[0]
    assert "medicine" in printed(ran, "profile")[0]

    assert qv.verify(tmp_path / "release")
    released = pl.read_csv(tmp_path / "release/public/log.csv")
    fields = {
        "medicine": {"allergy", "vaccination", "nursing", "surgery"},
        "history": {"middle ages", "revolution", "archaeology", "migration"},
        "botany": {"orchids", "moss", "trees", "seeds"},
    }
    mixed = 0
    for (_,), rows in released.group_by("user"):
        queries = set(rows["query"])
        mixed += sum(bool(queries & terms) for terms in fields.values()) > 1
    assert mixed < released["user"].n_unique() / 10
