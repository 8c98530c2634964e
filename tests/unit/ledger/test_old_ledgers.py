"""A ledger that an earlier version wrote opens, and its spending is never reset."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from queryveil.ledger.ledger import Ledger
from queryveil.ledger.store import START, ChainHead, EventStore, canonical_json, chain_hash
from queryveil.ledger.summary import LedgerSummary, summarize_ledger

# Rows as they were written before relations, losses and extensions were recorded.
OLD = [
    {"event": "reserved", "entry": 1, "time": "2025-01-02T03:04:05+00:00", "kind": "dp",
     "method": "dp-statistics:epsilon=1", "recipe": "r", "log": "d", "epsilon": "1",
     "delta": "1/1000000000", "notes": [], "extra": {}},
    {"event": "confirmed", "entry": 1, "time": "2025-01-02T03:05:05+00:00", "release": "abc",
     "place": "/data/out"},
    {"event": "reserved", "entry": 2, "time": "2025-01-03T03:04:05+00:00", "kind": "dp",
     "method": "of-others:epsilon=1", "recipe": "r", "log": "d", "epsilon": "1/2", "delta": "0",
     "notes": ["seen"], "extra": {}},
    {"event": "copied", "entry": 3, "time": "2025-01-04T03:04:05+00:00", "of": 1,
     "place": "/data/again"},
    {"event": "limited", "time": "2025-01-05T03:04:05+00:00", "epsilon": "10", "delta": "1/1000"},
]  # fmt: skip


def write_old(path: Path) -> None:
    first = {"event": "opened", "format": 1, "time": "2025-01-01T00:00:00+00:00"}
    head = ChainHead(1, chain_hash(START, canonical_json(first)))
    store = EventStore.open(path, create=True, first=first)
    with store.transaction("add"):
        for event in OLD:
            store.append(head, event)
            head = ChainHead(head.number + 1, chain_hash(head, canonical_json(event)))
    store.close()


def test_an_old_ledger_keeps_what_was_spent(tmp_path: Path) -> None:
    write_old(tmp_path / "ledger.db")
    with Ledger.open(tmp_path / "ledger.db", create=False) as ledger:
        entries = ledger.entries()
        # One of known relation costs two steps; one of unknown relation counts as the coarser.
        assert ledger.spent().epsilon == Fraction(3)
        assert ledger.limit().epsilon == 10
        assert [entry.folder for entry in entries] == ["/data/out", None, "/data/again"]
        assert [entry.relation for entry in entries] == ["add-remove", None, "add-remove"]
        number = ledger.reserve(
            kind="dp", method="m", log_digest="d", epsilon=Fraction(1), relation="replace-one"
        )
        ledger.confirm(number, "def", tmp_path / "new")
        assert ledger.spent().epsilon == Fraction(4)
    with Ledger.open(tmp_path / "ledger.db", create=False) as ledger:
        assert ledger.check().number == len(OLD) + 3


def test_a_summary_comes_back_from_its_json(tmp_path: Path) -> None:
    write_old(tmp_path / "ledger.db")
    with Ledger.open(tmp_path / "ledger.db", create=False) as ledger:
        summary = summarize_ledger(ledger, with_entries=True)
    document = json.loads(summary.to_json())
    assert LedgerSummary.from_dict(document) == summary
    assert document["schema"] == 1
    assert document["entries"][0]["protection"] == "dp"
    assert "/data/out" not in repr(summary)
