"""Every built-in method, measure, reader and loader passes its kit, in a test file of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from queryveil.measures.base import MEASURES, Measure

UNIT = Path(__file__).parents[1] / "unit"


def texts(folder: str) -> str:
    return "\n".join(path.read_text("utf-8") for path in (UNIT / folder).glob("test_*.py"))


@pytest.mark.parametrize("kind", MEASURES.values(), ids=MEASURES)
def test_each_measure_passes_its_kit(kind: type[Measure]) -> None:
    assert f"measure_checks({kind.__name__}(" in texts("measures")
