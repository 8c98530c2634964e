"""What is exported is what is meant."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import queryveil

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(queryveil.__path__, "queryveil.")
    if not module.name.endswith("__main__")
)


def public_names(path: Path) -> set[str]:
    """Give the names without underscore that a file defines at its top level."""
    names = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("name", ["queryveil", *MODULES])
def test_all_names_exist_and_are_sorted(name: str) -> None:
    module = importlib.import_module(name)
    exported = module.__all__
    assert len(set(exported)) == len(exported)
    assert all(hasattr(module, entry) for entry in exported)


@pytest.mark.parametrize("name", ["queryveil", *MODULES])
def test_what_is_defined_without_underscore_is_exported(name: str) -> None:
    module = importlib.import_module(name)
    assert public_names(Path(module.__file__)) <= set(module.__all__)


def test_the_front_door() -> None:
    assert sorted(queryveil.__all__) == sorted(
        {
            "BudgetError", "CategoryMicroaggregation", "ClickGraph", "DpStatistics", "Engine",
            "SemanticMicroaggregation", "StringMicroaggregation",
            "SyntacticMicroaggregation", "ColumnError", "Comparison", "CoverageError",
            "FormatError",
            "ConceptHistogram", "DisconnectedGraph", "FrequentQueries", "ProfileFirst",
            "SemanticReplacement",
            "Guarantee", "InputError", "LowYieldError", "NothingLeftError", "Mapper",
            "Mapping", "Measure", "Method",
            "OutputError", "ParameterError", "PopulationWarning", "ProfileDivergence", "QueryLog",
            "QueryveilError", "ReadOptions",
            "RejectedError", "Release", "Taxonomy", "UnknownVersionError",
            "UsageError", "VerificationError",
            "__version__",
            "all_measures", "all_methods", "anonymize", "anonymize_to", "append_to", "compare",
            "copy_release", "demo",
            "import_taxonomy",
            "make_mapper", "make_signing_key", "map_log", "measure",
            "open_taxonomy", "pack", "parse_measure", "parse_method", "plan", "profile",
            "read_log", "replicate", "show_signing_key", "sign",
            "simulate_peers", "synth", "verify",
        }
    )  # fmt: skip
