"""The schemas in the documentation are those of the classes, and written documents fit them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

import queryveil as qv

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_schemas", ROOT / "tools/write_schemas.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_schemas_are_up_to_date(tool: ModuleType) -> None:
    """Else run tools/write_schemas.py."""
    files = tool.schema_files()
    there = {f"schemas/{path.name}" for path in (ROOT / "docs/schemas").iterdir()}
    assert there | {"reference/schemas.md"} == set(files)
    stale = [name for name, text in files.items() if (ROOT / "docs" / name).read_text() != text]
    assert stale == []


def test_written_documents_fit_their_schemas(tool: ModuleType, tmp_path: Path) -> None:
    rows = [(f"user {n}", "weather", "2006-03-01 10:00:00", None, None) for n in range(6)]
    out = tmp_path / "out"
    card = qv.anonymize(qv.QueryLog.from_rows(rows), "frequent-queries:min-users=5").write(out)
    report = qv.verify(out)
    documents = {
        "public-card": (card.public, json.loads((out / "public/release.json").read_text())),
        "private-card": (card, json.loads((out / "private/card.json").read_text())),
        "verification": (report, json.loads(report.to_json())),
    }
    for name, (record, document) in documents.items():
        schema = json.loads((ROOT / f"docs/schemas/{name}.json").read_text())
        assert type(record).from_dict(document) == record
        assert set(schema["required"]) <= document.keys() <= schema["properties"].keys()
        assert document["schema"] == schema["properties"]["schema"]["const"] == 1
