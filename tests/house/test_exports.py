"""What is exported is what is meant."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import queryveil

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(queryveil.__path__, "queryveil.")
    if not module.name.endswith("__main__")
)


PACKAGES = [
    name for name in ["queryveil", *MODULES] if hasattr(importlib.import_module(name), "__all__")
]


@pytest.mark.parametrize("name", PACKAGES)
def test_exported_names_exist_once(name: str) -> None:
    package = importlib.import_module(name)
    exported = package.__all__
    assert sorted(set(exported)) == sorted(exported)
    assert all(hasattr(package, entry) for entry in exported)


def test_only_packages_list_their_names() -> None:
    """In a module, a name without underscore is public: a list of them would be a second one."""
    listing = [name for name in PACKAGES if not hasattr(importlib.import_module(name), "__path__")]
    assert listing == []


def test_the_front_door() -> None:
    assert sorted(queryveil.__all__) == sorted(
        {
            "read_release",
            "make_log",
            "open_ledger",
            "Ledger",
            "LogProfile",
            "Plan",
            "Forecast",
            "InformationLoss",
            "RecordLinkage",
            "EpsilonAudit",
            "QueryFrequencyError",
            "MembershipInference",
            "NextQueryPrediction",
            "LongestOwnRun",
            "PartialKnowledgeLinkage",
            "ProfileSimilarity",
            "ProfileExposure",
            "QueryCoverage",
            "RareQueryExposure",
            "RetrievalEffectiveness",
            "SemanticRemain",
            "Uniqueness",
            "WordFrequencyError",
            "BudgetError",
            "CategoryMicroaggregation",
            "ClaimResult",
            "CheckResult",
            "PrivateCard",
            "PublicCard",
            "VerificationReport",
            "ClickGraph",
            "ColumnError",
            "Comparison",
            "ComparisonRow",
            "ConceptHistogram",
            "ConceptMapping",
            "CoverageError",
            "DisconnectedGraph",
            "DpStatistics",
            "EmptyReleaseError",
            "EngineConfig",
            "FormatError",
            "FrequentQueries",
            "Guarantee",
            "InputError",
            "LowYieldError",
            "Mapper",
            "Measure",
            "MeasureResult",
            "MeasureResults",
            "Method",
            "OutputError",
            "ParameterError",
            "PopulationWarning",
            "ProfileDivergence",
            "ProfileFirst",
            "QueryLog",
            "QueryveilError",
            "ReadOptions",
            "Release",
            "Replication",
            "RunOptions",
            "SemanticMicroaggregation",
            "SemanticReplacement",
            "StringMicroaggregation",
            "SyntacticMicroaggregation",
            "Taxonomy",
            "TooManyRejectedError",
            "UnknownVersionError",
            "UsageError",
            "VerificationError",
            "__version__",
            "MEASURES",
            "METHODS",
            "anonymize",
            "anonymize_to_folder",
            "compare",
            "copy_release",
            "demo",
            "extend_release",
            "import_taxonomy",
            "make_mapper",
            "make_signing_key",
            "map_log",
            "measure",
            "open_taxonomy",
            "pack",
            "parse_measure",
            "parse_method",
            "plan",
            "profile",
            "read_log",
            "replicate",
            "show_signing_key",
            "sign",
            "verify",
            "write_synthetic_log",
        }
    )


@pytest.mark.parametrize(
    "kind", [*queryveil.METHODS.values(), *queryveil.MEASURES.values()], ids=lambda kind: kind.name
)
def test_every_method_and_measure_is_at_the_front_door(kind: type) -> None:
    assert getattr(queryveil, kind.__name__) is kind


def test_a_new_method_is_at_the_front_door_without_an_import() -> None:
    class Toy(queryveil.FrequentQueries):
        name = "toy"

    with pytest.raises(AttributeError, match="no attribute 'Toy'"):
        _ = queryveil.Toy
    with queryveil.METHODS.adding("toy", Toy):
        assert queryveil.Toy is Toy
