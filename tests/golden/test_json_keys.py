"""The keys of every JSON document that a command prints: programs depend on them.

`UPDATE_GOLDEN=1 pytest tests/golden` writes them anew. That is right only where a change means to
rename or add keys, and docs/decisions.md lists them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from conftest import Run

GOLDEN = Path(__file__).with_name("json_keys.json")
# Their keys are reasons, file names, specs, names of stages or numbers of
# friends, and not part of the form.
OPEN = {
    "alternatives", "baselines", "blanked", "columns", "counts", "dropped", "excluded_users",
    "by_degree", "degrees",
    "files", "generated", "measures", "normalized", "objections", "parameters", "params",
    "prevents", "rejected", "seconds", "scores", "sha256",
}  # fmt: skip
COMMANDS = {
    "synth": "synth -o log.tsv --users 300 --seed 7",
    "profile": "profile log.tsv --taxonomy wordnet",
    "advise": "advise log.tsv --users 20000 --recipient team --purpose benchmark",
    "advise without users": "advise log.tsv",
    "plan frequent-queries": "plan log.tsv --method frequent-queries --min-users 6",
    "plan dp-statistics": "plan log.tsv --method dp-statistics --epsilon 1 --expected-users 50000",
    "anonymize frequent-queries": "anonymize log.tsv -o out --method frequent-queries "
    "--min-users 6",
    "anonymize semantic-microaggregation": "anonymize log.tsv -o groups --k 3 "
    "--method semantic-microaggregation",
    "anonymize dp-statistics": "anonymize log.tsv -o tables --method dp-statistics --epsilon 9 "
    "--delta 1e-3 --expected-users 50000 --yes",
    "verify": "verify out",
    "pack": "pack out",
    "ledger limit": "ledger limit log.tsv --epsilon 30 --delta 0.01",
    "ledger show": "ledger show log.tsv",
    "ledger check": "ledger check log.tsv",
    "methods": "methods",
    "formats": "formats",
    "measures": "measures",
    "measure": "measure log.tsv out --measures uniqueness,query-coverage,information-loss",
    "compare": "compare log.tsv -o compared --methods frequent-queries:min-users=6 "
    "--measures uniqueness,query-coverage",
    "taxonomy list": "taxonomy list",
    "taxonomy show": "taxonomy show wordnet",
    "taxonomy check": "taxonomy check wordnet",
    "taxonomy search": "taxonomy search wordnet dog",
    "taxonomy map": "taxonomy map dog",
    "peers simulate": "peers simulate log.tsv --seed 7",
}


def paths(value: Any, path: str = "") -> set[str]:
    """Return the path of every key; keys of open mappings are replaced by a star."""
    if isinstance(value, list):
        return set().union(*(paths(item, f"{path}[]") for item in value))
    if not isinstance(value, dict):
        return set()
    is_open = path.rpartition(".")[2].removesuffix("[]") in OPEN
    keys = set[str]()
    for key, item in value.items():
        here = f"{path}.{'*' if is_open else key}"
        keys |= {here} | paths(item, here)
    return keys


@pytest.mark.usefixtures("one_mapper", "small_sketch")
def test_keys_of_json_documents(cli: Run) -> None:
    printed = {}
    for name, line in COMMANDS.items():
        ran = cli(*line.split(), "--json")
        assert ran.code == 0, f"{name}: {ran.err}"
        printed[name] = sorted(paths(json.loads(ran.out)))
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(json.dumps(printed, indent=1) + "\n", "utf-8")
    known = json.loads(GOLDEN.read_text("utf-8"))
    assert printed.keys() == known.keys()
    for name, keys in known.items():
        assert printed[name] == keys, name
