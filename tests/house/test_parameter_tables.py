"""The tables of parameters in the docs are those of the declarations."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from queryveil.measures.base import MEASURES
from queryveil.methods.base import METHODS

TOOL = Path(__file__).parents[2] / "tools" / "write_parameter_tables.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_parameter_tables", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_up_to_date(tool: ModuleType) -> None:
    """Else run tools/write_parameter_tables.py."""
    texts = {page.name: page.read_text("utf-8") for page in tool.pages()}
    assert [name for name, text in texts.items() if tool.fill_tables(text) != text] == []


def test_every_method_and_measure_with_parameters_has_one_table(tool: ModuleType) -> None:
    kinds = [*METHODS.values(), *MEASURES.values()]
    expected = [kind.name for kind in kinds if kind.user_parameters()]
    assert sorted(tool.documented()) == sorted(expected)
