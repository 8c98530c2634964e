"""A ledger that an earlier version wrote opens, and its spending is never reset."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from queryveil.dp.losses import losses_of
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


WRITTEN = [
    {"event": "opened", "format": 1, "time": "T"},
    {
        "delta": None,
        "entry": 1,
        "epsilon": None,
        "event": "reserved",
        "extra": {"groups_of": "q"},
        "kind": "k-anonymity",
        "log": "x",
        "method": "m:k=3",
        "notes": ["a é"],
        "recipe": "r",
        "time": "T",
    },
    {"entry": 1, "event": "confirmed", "place": "/o", "release": "abc", "time": "T"},
    {"entry": 2, "event": "copied", "of": 1, "place": "/p", "time": "T"},
    {"entry": 3, "event": "rewritten", "of": 1, "place": "/q", "release": "def", "time": "T"},
    {"entry": 4, "event": "rewritten", "of": 1, "place": "/r", "release": "def", "time": "T"},
    {
        "composition": "either",
        "delta": "1/1000",
        "epsilon": "10",
        "event": "bounded",
        "order": "695341/262144",
        "relation": "replace-one",
        "time": "T",
    },
    {
        "delta": "1/1000000000",
        "entry": 5,
        "epsilon": "1/3",
        "event": "charged",
        "extends": None,
        "extra": {"b": [1, {"c": 2.5}], "most": 3, "since": "2025-01-01"},
        "kind": "dp",
        "log": "y",
        "losses": [
            {"delta": "0", "relation": "add-remove", "rho": "0.142857142858"},
            {"delta": "0", "relation": "replace-one", "rho": "0.285714285715"},
        ],
        "method": "dp",
        "notes": [],
        "recipe": "dp",
        "relation": "add-remove",
        "time": "T",
    },
    {"entry": 5, "event": "confirmed", "place": "/s", "release": "zz", "time": "T"},
    {
        "delta": "0",
        "entry": 6,
        "epsilon": "0",
        "event": "charged",
        "extends": 5,
        "extra": {},
        "kind": "dp",
        "log": "y",
        "losses": [],
        "method": "dp",
        "notes": [],
        "recipe": "dp",
        "relation": None,
        "time": "T",
    },
    {
        "composition": "sum",
        "delta": "0",
        "epsilon": "1/3",
        "event": "bounded",
        "order": None,
        "relation": "replace-one",
        "time": "T",
    },
]


def test_rows_are_written_in_the_form_that_other_versions_read(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    charged = {"epsilon": Fraction(1, 3), "delta": Fraction(1, 10**9), "relation": "add-remove"}
    extra = {"most": 3, "b": [1, {"c": 2.5}], "since": "2025-01-01"}
    with Ledger.open(path) as ledger:
        ledger.reserve(kind="k-anonymity", method="m:k=3", recipe="r", log_digest="x",
                       notes=["a é"], extra={"groups_of": "q"})  # fmt: skip
        ledger.confirm(1, "abc", "/o")
        ledger.record_copy(1, "/p")
        ledger.rewritten(1, "def", "/q")
        ledger.record_copy(3, "/r")
        ledger.set_limit(Fraction(10), Fraction(1, 1000))
        ledger.reserve(kind="dp", method="dp", log_digest="y", **charged, extra=extra,
                       losses=losses_of(Fraction(1, 7)))  # fmt: skip
        ledger.confirm(5, "zz", "/s")
        ledger.reserve(kind="dp", method="dp", log_digest="y", epsilon=Fraction(0), extends=5)
        ledger.set_limit(Fraction(1, 3), Fraction(0), composition="sum")
    with closing(sqlite3.connect(path)) as connection:
        texts = [text for (text,) in connection.execute("SELECT event FROM events ORDER BY number")]
    time = re.compile(r'"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"')
    assert [time.sub('"time":"T"', text) for text in texts] == [*map(canonical_json, WRITTEN)]


def test_a_summary_comes_back_from_its_json(tmp_path: Path) -> None:
    write_old(tmp_path / "ledger.db")
    with Ledger.open(tmp_path / "ledger.db", create=False) as ledger:
        summary = summarize_ledger(ledger, with_entries=True)
    document = json.loads(summary.to_json())
    assert LedgerSummary.from_dict(document) == summary
    assert document["schema"] == 1
    assert document["entries"][0]["protection"] == "dp"
    assert "/data/out" not in repr(summary)
