"""A shop owner with a German CSV export: from a first error to an archive for a partner."""

from __future__ import annotations

import csv
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import queryveil as qv
from page_commands import Outcome

from .conftest import printed


@pytest.mark.filterwarnings("default")
def test_the_way_of_a_shop_owner(follow: Callable[[str], list[Outcome]], tmp_path: Path) -> None:
    ran = follow("shop-owner")

    refused, profiled = printed(ran, "profile")
    assert "not UTF-8" in refused
    assert "--encoding cp1252" in refused
    assert "gürtel" not in refused  # no content of a row
    assert "user=Kundennummer, query=Suchbegriff, time=Zeitpunkt" in profiled
    assert "users with a query that only they sent 5.0%" in profiled

    (advice,) = printed(ran, "advise")
    assert "string-microaggregation with k 5" in advice
    assert "--encoding cp1252" in advice

    report = qv.verify(tmp_path / "release")
    assert report
    with (tmp_path / "release/public/log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    logs: dict[str, Counter[tuple[str, str]]] = {}
    for row in rows:
        logs.setdefault(row["user"], Counter())[row["query"], row["time"]] += 1
    shared = Counter(frozenset(log.items()) for log in logs.values())
    assert len(logs) == 2000
    assert min(shared.values()) >= 5
    assert not any("reklamation" in row["query"] for row in rows)
    assert any("mütze" in row["query"] for row in rows)  # letters are as the customers wrote them

    assert "of 1,000 tries" in printed(ran, "measure")[0]
    with tarfile.open(tmp_path / "release.tar.gz") as archive:
        names = archive.getnames()
    assert not any("private" in name for name in names)
    assert any(name.endswith("report.html") for name in names)
