"""Seeded releases of methods, byte for byte: a change of layout or names changes none.

The specs are those that the methods' own test files declare as `SPECS`.

`UPDATE_GOLDEN=1 pytest tests/golden` writes the digests anew. That is right only where a change
means to release other rows, and CHANGELOG.md says so.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from specs import declared_specs

GOLDEN = Path(__file__).with_name("released_bytes.json")
FORMATS = {"frequent-queries": ("tsv", "csv", "jsonl", "parquet")}
CASES = [
    (spec, form)
    for name, specs in declared_specs().items()
    for spec in specs
    for form in FORMATS.get(name, ("tsv",))
]


def digests(public: Path) -> dict[str, str]:
    """Return the digest of each data file; of Parquet the rows, whose bytes its writer chooses."""
    out = {}
    for path in sorted(public.iterdir()):
        if path.suffix == ".parquet":
            text = pl.read_parquet(path).with_columns(pl.col("time").cast(pl.String))
            out[path.name] = sha256(text.write_csv().encode()).hexdigest()
        elif path.suffix in (".tsv", ".csv", ".jsonl"):
            out[path.name] = sha256(path.read_bytes()).hexdigest()
    return out


def test_every_digest_is_compared() -> None:
    known = json.loads(GOLDEN.read_text("utf-8"))
    assert known.keys() == {f"{spec} {form}" for spec, form in CASES}


@pytest.mark.parametrize(("spec", "form"), CASES, ids=str)
def test_released_bytes(spec: str, form: str, synthetic: Path, tmp_path: Path) -> None:
    log = qv.read_log(synthetic)
    qv.anonymize(log, qv.parse_method(spec), seed=7).write(tmp_path / "out", format=form)
    key, released = f"{spec} {form}", digests(tmp_path / "out" / "public")
    assert released
    known = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("UPDATE_GOLDEN"):
        known[key] = released
        GOLDEN.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    assert known.get(key) == released
