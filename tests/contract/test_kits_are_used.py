"""Every built-in method, measure, reader and loader passes its kit, in a test file of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from queryveil.concepts.loaders.registry import TAXONOMY_LOADERS
from queryveil.log.readers.registry import local_readers
from queryveil.measures.base import MEASURES, Measure
from queryveil.methods.base import METHODS, Method

UNIT = Path(__file__).parents[1] / "unit"


def texts(folder: str) -> str:
    return "\n".join(path.read_text("utf-8") for path in (UNIT / folder).glob("test_*.py"))


@pytest.mark.parametrize("kind", MEASURES.values(), ids=MEASURES)
def test_each_measure_passes_its_kit(kind: type[Measure]) -> None:
    assert f"measure_checks({kind.__name__}(" in texts("measures")


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
def test_each_method_passes_its_kit(kind: type[Method]) -> None:
    """With an oracle of its own, which counts again what the method promises."""
    used = re.search(rf"method_checks\(\s*{kind.__name__}\(.*?\brecount=", texts("methods"), re.S)
    assert used
    assert used[0].count("method_checks(") == 1


def test_each_reader_and_each_loader_passes_its_kit() -> None:
    used = re.findall(r"\b(?:reader_checks|check_reader)\((\w+)", texts("log"))
    assert sorted(name.lower() for name in used) == sorted(r.name for r in local_readers())
    used = re.findall(r"taxonomy_loader_checks\((\w+)", texts("concepts"))
    names = [name.lower().replace("table", "csv") for name in used]
    assert sorted(names) == sorted(TAXONOMY_LOADERS)
