"""Write the JSON schemas of all documents into docs/schemas: tools/write_schemas.py."""

from __future__ import annotations

import json
from pathlib import Path

from queryveil.advice.result import Advice
from queryveil.cli.documents import (
    FormatList,
    MeasureList,
    MethodList,
    PackedRelease,
    PublicKey,
    SignedRelease,
    WrittenComparison,
    WrittenReplication,
)
from queryveil.comparison.journal import JournalEntry
from queryveil.comparison.release_measurement import ReleaseMeasurement
from queryveil.comparison.result import Comparison
from queryveil.concepts.mapping.explanation import QueryExplanation
from queryveil.core.records import Record
from queryveil.core.schemas import json_schema
from queryveil.demonstration.records import Demonstration
from queryveil.ledger.summary import LedgerCheck, LedgerSummary
from queryveil.measures.result import MeasureResults
from queryveil.peers.documents import AddedFriends, Invitation, RemovedFriend, ServedPage
from queryveil.peers.node.records import SavedStatus
from queryveil.peers.simulation.results import Simulation, WrittenSweep
from queryveil.release.cards import PrivateCard, PublicCard
from queryveil.replication.result import Replication
from queryveil.synthetic.output import SyntheticLogSummary
from queryveil.workflows.log_profile import LogProfile
from queryveil.workflows.planning import Plan
from queryveil.workflows.taxonomy_records import (
    ConceptDescription,
    ConceptMatches,
    MappedFile,
    TaxonomyFigures,
    TaxonomyImport,
    TaxonomyList,
    TaxonomyReport,
)
from queryveil.workflows.verification import VerificationReport

DOCS = Path(__file__).parents[1] / "docs"
# The documents that are stored or printed with --json: file, class, and where it is written.
DOCUMENTS: tuple[tuple[str, type[Record], str], ...] = (
    ("public-card", PublicCard, "`public/release.json` of a release"),
    ("private-card", PrivateCard, "`private/card.json` of a release; `anonymize --json`"),
    ("verification", VerificationReport, "`verify --json`"),
    ("ledger", LedgerSummary, "`ledger show --json`, and without entries `ledger limit --json`"),
    ("ledger-check", LedgerCheck, "`ledger check --json`"),
    ("pack", PackedRelease, "`pack --json`"),
    ("sign", SignedRelease, "`sign --json`"),
    ("key", PublicKey, "`keys make --json`, `keys show --json`"),
    ("profile", LogProfile, "`profile --json`"),
    ("plan", Plan, "`plan --json`"),
    ("advice", Advice, "`advise --json`"),
    ("synth", SyntheticLogSummary, "`synth --json`"),
    ("demo", Demonstration, "`demo --json`"),
    ("method-list", MethodList, "`methods --json`"),
    ("format-list", FormatList, "`formats --json`"),
    ("measure-list", MeasureList, "`measures --json`"),
    ("measures", MeasureResults, "results of several measures"),
    ("release-measurement", ReleaseMeasurement, "`measures.json`; `measure --json`"),
    ("comparison", Comparison, "`comparison.json`"),
    ("compare", WrittenComparison, "`compare --json`: a comparison and its folder"),
    ("journal", JournalEntry, "a line of `runs.jsonl`, the journal of a comparison"),
    ("replication", Replication, "the replication of a paper"),
    ("replicate", WrittenReplication, "`replicate --json`: a replication and its folder"),
    ("taxonomy-import", TaxonomyImport, "`taxonomy import --json`"),
    ("taxonomy-list", TaxonomyList, "`taxonomy list --json`"),
    ("taxonomy", TaxonomyFigures, "`taxonomy show NAME --json`"),
    ("concept", ConceptDescription, "`taxonomy show NAME CONCEPT --json`"),
    ("concept-matches", ConceptMatches, "`taxonomy search --json`"),
    ("taxonomy-check", TaxonomyReport, "`taxonomy check --json`"),
    ("query-concepts", QueryExplanation, "`taxonomy map --json`"),
    ("mapped-file", MappedFile, "`taxonomy map --input --json`"),
    ("peers-simulation", Simulation, "`peers simulate --json`"),
    ("peers-sweep", WrittenSweep, "`sweep.json`; `peers simulate --sweep --json`"),
    ("node-status", SavedStatus, "`peers node status --json`"),
    ("node-invitation", Invitation, "`peers node invite --json`"),
    ("node-friends", AddedFriends, "`peers node accept --json`"),
    ("node-friend-removed", RemovedFriend, "`peers node forget --json`"),
    ("node-page", ServedPage, "`peers node run --json`, `peers engine --json`"),
)
_HEAD = """# JSON documents

Each document has the number of its schema, `"schema": 1`, as its first key. The schemas
(JSON Schema, draft 2020-12) are generated from the classes of the results by
`tools/write_schemas.py`, so a key is the name of an attribute: `card["figures"]["rows"]` in JSON
is `card.figures.rows` in Python, and `from_dict` reads a document back.

| document | class | where |
|---|---|---|
"""


def schema_files() -> dict[str, str]:
    """Return the text of each file by its path below docs/."""
    files = {
        f"schemas/{name}.json": json.dumps(json_schema(kind), indent=2) + "\n"
        for name, kind, _ in DOCUMENTS
    }
    rows = [
        f"| [{name}](../schemas/{name}.json) | `{kind.__name__}` | {where} |\n"
        for name, kind, where in DOCUMENTS
    ]
    return {"reference/schemas.md": _HEAD + "".join(rows), **files}


def main() -> None:
    """Write all files."""
    (DOCS / "schemas").mkdir(exist_ok=True)
    for name, text in schema_files().items():
        (DOCS / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
