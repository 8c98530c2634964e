"""Anonymize web-search query logs, state the guarantee, and verify it on the written files.

import queryveil as qv

log = qv.read_log("log.tsv")
release = qv.anonymize(log, qv.FrequentQueries(min_users=30))
release.write("out")
qv.verify("out")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:  # for type checkers and editors; at run time `__getattr__` imports a name
    from .advice.advising import advise
    from .advice.answers import Answers
    from .advice.result import Advice, Proposal
    from .comparison.comparing import compare
    from .comparison.result import (
        ClaimResult,
        Comparison,
        ComparisonRow,
        LogSummary,
        MeasureInfo,
        RunOptions,
    )
    from .concepts.loaders.registry import open_taxonomy
    from .concepts.mapping.mapper import Mapper
    from .concepts.mapping.result import ConceptMapping
    from .concepts.taxonomy.graph import Taxonomy
    from .demonstration.demo import demo
    from .engine.table import EngineConfig
    from .errors import (
        ArgumentError,
        BudgetError,
        ColumnError,
        CoverageError,
        EmptyReleaseError,
        FormatError,
        InputError,
        LanguageError,
        LowYieldError,
        OutputError,
        ParameterError,
        PluginWarning,
        PopulationWarning,
        QueryveilError,
        TooManyRejectedError,
        UnknownVersionError,
        UsageError,
        VerificationError,
    )
    from .ledger.entries import LedgerEntry
    from .ledger.ledger import Ledger
    from .ledger.location import open_ledger
    from .ledger.summary import LedgerSummary
    from .log.accounting import RowAccounting, RowCounts
    from .log.options import ReadOptions
    from .log.query_log import QueryLog
    from .log.reading import read_log
    from .measures.base import MEASURES, Measure, parse_measure
    from .measures.concept_linkage import ConceptLinkage
    from .measures.epsilon_audit import EpsilonAudit
    from .measures.information_loss import InformationLoss
    from .measures.longest_own_run import LongestOwnRun
    from .measures.membership_inference import MembershipInference
    from .measures.next_query_prediction import NextQueryPrediction
    from .measures.partial_knowledge_linkage import PartialKnowledgeLinkage
    from .measures.profile_divergence import ProfileDivergence
    from .measures.profile_exposure import ProfileExposure
    from .measures.profile_similarity import ProfileSimilarity
    from .measures.query_coverage import QueryCoverage
    from .measures.query_frequency_error import QueryFrequencyError
    from .measures.rare_query_exposure import RareQueryExposure
    from .measures.record_linkage import RecordLinkage
    from .measures.result import MeasureResult, MeasureResults
    from .measures.retrieval_effectiveness import RetrievalEffectiveness
    from .measures.semantic_remain import SemanticRemain
    from .measures.sensitive_homogeneity import SensitiveHomogeneity
    from .measures.uniqueness import Uniqueness
    from .measures.word_frequency_error import WordFrequencyError
    from .methods.base import METHODS, Method, parse_method
    from .methods.click_graph import ClickGraph
    from .methods.disconnected_graph import DisconnectedGraph
    from .methods.forecast import Forecast
    from .methods.frequent_queries import FrequentQueries
    from .methods.microaggregation.category import CategoryMicroaggregation
    from .methods.microaggregation.semantic import SemanticMicroaggregation, StringMicroaggregation
    from .methods.microaggregation.syntactic import SyntacticMicroaggregation
    from .methods.replacement.concept_histogram import ConceptHistogram
    from .methods.replacement.profile_first import ProfileFirst
    from .methods.replacement.semantic import SemanticReplacement
    from .methods.statistics.dp_statistics import DpStatistics
    from .release.cards import PrivateCard, PublicCard
    from .release.check_results import CheckResult
    from .release.guarantee import Guarantee, Standing
    from .release.reading import read_release
    from .release.release import Release
    from .render.charts.picture import Chart
    from .replication.replicating import replicate
    from .replication.result import Replication
    from .synthetic.generator import make_log
    from .synthetic.output import write_synthetic_log
    from .workflows.anonymization import anonymize, anonymize_to_folder
    from .workflows.budget import check_ledger, set_ledger_limit, show_ledger
    from .workflows.copying import copy_release
    from .workflows.extension import extend_release
    from .workflows.log_profile import LogProfile, LogSize, RiskSummary, TopicSummary
    from .workflows.measurement import measure
    from .workflows.planning import Plan, plan
    from .workflows.profiling import profile
    from .workflows.signing import make_signing_key, show_signing_key, sign
    from .workflows.taxonomies import import_taxonomy, make_mapper, map_log
    from .workflows.verification import VerificationReport, pack, verify

__all__ = [
    "MEASURES",
    "METHODS",
    "Advice",
    "Answers",
    "ArgumentError",
    "BudgetError",
    "CategoryMicroaggregation",
    "Chart",
    "CheckResult",
    "ClaimResult",
    "ClickGraph",
    "ColumnError",
    "Comparison",
    "ComparisonRow",
    "ConceptHistogram",
    "ConceptLinkage",
    "ConceptMapping",
    "CoverageError",
    "DisconnectedGraph",
    "DpStatistics",
    "EmptyReleaseError",
    "EngineConfig",
    "EpsilonAudit",
    "Forecast",
    "FormatError",
    "FrequentQueries",
    "Guarantee",
    "InformationLoss",
    "InputError",
    "LanguageError",
    "Ledger",
    "LedgerEntry",
    "LedgerSummary",
    "LogProfile",
    "LogSize",
    "LogSummary",
    "LongestOwnRun",
    "LowYieldError",
    "Mapper",
    "Measure",
    "MeasureInfo",
    "MeasureResult",
    "MeasureResults",
    "MembershipInference",
    "Method",
    "NextQueryPrediction",
    "OutputError",
    "ParameterError",
    "PartialKnowledgeLinkage",
    "Plan",
    "PluginWarning",
    "PopulationWarning",
    "PrivateCard",
    "ProfileDivergence",
    "ProfileExposure",
    "ProfileFirst",
    "ProfileSimilarity",
    "Proposal",
    "PublicCard",
    "QueryCoverage",
    "QueryFrequencyError",
    "QueryLog",
    "QueryveilError",
    "RareQueryExposure",
    "ReadOptions",
    "RecordLinkage",
    "Release",
    "Replication",
    "RetrievalEffectiveness",
    "RiskSummary",
    "RowAccounting",
    "RowCounts",
    "RunOptions",
    "SemanticMicroaggregation",
    "SemanticRemain",
    "SemanticReplacement",
    "SensitiveHomogeneity",
    "Standing",
    "StringMicroaggregation",
    "SyntacticMicroaggregation",
    "Taxonomy",
    "TooManyRejectedError",
    "TopicSummary",
    "Uniqueness",
    "UnknownVersionError",
    "UsageError",
    "VerificationError",
    "VerificationReport",
    "WordFrequencyError",
    "__version__",
    "advise",
    "anonymize",
    "anonymize_to_folder",
    "check_ledger",
    "compare",
    "copy_release",
    "demo",
    "extend_release",
    "import_taxonomy",
    "make_log",
    "make_mapper",
    "make_signing_key",
    "map_log",
    "measure",
    "open_ledger",
    "open_taxonomy",
    "pack",
    "parse_measure",
    "parse_method",
    "plan",
    "profile",
    "read_log",
    "read_release",
    "replicate",
    "set_ledger_limit",
    "show_ledger",
    "show_signing_key",
    "sign",
    "verify",
    "write_synthetic_log",
]

# Where each name is: imported when it is first used, so that `import queryveil` is quick. The tests
# compare this table with the imports above.
_NAMES_OF_MODULES = {
    "advice.advising": "advise",
    "advice.answers": "Answers",
    "advice.result": "Advice Proposal",
    "comparison.comparing": "compare",
    "comparison.result": "ClaimResult Comparison ComparisonRow LogSummary MeasureInfo RunOptions",
    "concepts.loaders.registry": "open_taxonomy",
    "concepts.mapping.mapper": "Mapper",
    "concepts.mapping.result": "ConceptMapping",
    "concepts.taxonomy.graph": "Taxonomy",
    "demonstration.demo": "demo",
    "engine.table": "EngineConfig",
    "errors": (
        "ArgumentError BudgetError ColumnError CoverageError EmptyReleaseError FormatError "
        "InputError LanguageError LowYieldError OutputError ParameterError PluginWarning "
        "PopulationWarning QueryveilError TooManyRejectedError UnknownVersionError UsageError "
        "VerificationError"
    ),
    "ledger.entries": "LedgerEntry",
    "ledger.ledger": "Ledger",
    "ledger.location": "open_ledger",
    "ledger.summary": "LedgerSummary",
    "log.accounting": "RowAccounting RowCounts",
    "log.options": "ReadOptions",
    "log.query_log": "QueryLog",
    "log.reading": "read_log",
    "measures.base": "MEASURES Measure parse_measure",
    "measures.concept_linkage": "ConceptLinkage",
    "measures.epsilon_audit": "EpsilonAudit",
    "measures.information_loss": "InformationLoss",
    "measures.longest_own_run": "LongestOwnRun",
    "measures.membership_inference": "MembershipInference",
    "measures.next_query_prediction": "NextQueryPrediction",
    "measures.partial_knowledge_linkage": "PartialKnowledgeLinkage",
    "measures.profile_divergence": "ProfileDivergence",
    "measures.profile_exposure": "ProfileExposure",
    "measures.profile_similarity": "ProfileSimilarity",
    "measures.query_coverage": "QueryCoverage",
    "measures.query_frequency_error": "QueryFrequencyError",
    "measures.rare_query_exposure": "RareQueryExposure",
    "measures.record_linkage": "RecordLinkage",
    "measures.result": "MeasureResult MeasureResults",
    "measures.retrieval_effectiveness": "RetrievalEffectiveness",
    "measures.semantic_remain": "SemanticRemain",
    "measures.sensitive_homogeneity": "SensitiveHomogeneity",
    "measures.uniqueness": "Uniqueness",
    "measures.word_frequency_error": "WordFrequencyError",
    "methods.base": "METHODS Method parse_method",
    "methods.click_graph": "ClickGraph",
    "methods.disconnected_graph": "DisconnectedGraph",
    "methods.forecast": "Forecast",
    "methods.frequent_queries": "FrequentQueries",
    "methods.microaggregation.category": "CategoryMicroaggregation",
    "methods.microaggregation.semantic": "SemanticMicroaggregation StringMicroaggregation",
    "methods.microaggregation.syntactic": "SyntacticMicroaggregation",
    "methods.replacement.concept_histogram": "ConceptHistogram",
    "methods.replacement.profile_first": "ProfileFirst",
    "methods.replacement.semantic": "SemanticReplacement",
    "methods.statistics.dp_statistics": "DpStatistics",
    "release.cards": "PrivateCard PublicCard",
    "release.check_results": "CheckResult",
    "release.guarantee": "Guarantee Standing",
    "release.reading": "read_release",
    "release.release": "Release",
    "render.charts.picture": "Chart",
    "replication.replicating": "replicate",
    "replication.result": "Replication",
    "synthetic.generator": "make_log",
    "synthetic.output": "write_synthetic_log",
    "workflows.anonymization": "anonymize anonymize_to_folder",
    "workflows.budget": "check_ledger set_ledger_limit show_ledger",
    "workflows.copying": "copy_release",
    "workflows.extension": "extend_release",
    "workflows.log_profile": "LogProfile LogSize RiskSummary TopicSummary",
    "workflows.measurement": "measure",
    "workflows.planning": "Plan plan",
    "workflows.profiling": "profile",
    "workflows.signing": "make_signing_key show_signing_key sign",
    "workflows.taxonomies": "import_taxonomy make_mapper map_log",
    "workflows.verification": "VerificationReport pack verify",
}
_MODULES = {name: module for module, names in _NAMES_OF_MODULES.items() for name in names.split()}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # a type checker must go on to reject a name that does not exist

    def __getattr__(name: str) -> Any:
        """Import a public name, or find a method or a measure of another distribution."""
        if name in _MODULES:
            value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
            globals()[name] = value
            return value
        if name[:1].isupper() and (kind := _find_class(name)):
            return kind
        if not name.startswith("_") and _is_package(name):
            return importlib.import_module(f".{name}", __name__)
        raise _unknown(name)


def _find_class(name: str) -> type | None:
    """Return the class of any method or measure, those of other distributions too."""
    from .measures.base import MEASURES  # noqa: PLC0415
    from .methods.base import METHODS  # noqa: PLC0415

    kinds: list[type] = [*METHODS.values(), *MEASURES.values()]
    return next((kind for kind in kinds if kind.__name__ == name), None)


def _is_package(name: str) -> bool:
    """Return whether there is a package or a module of this name, as in `queryveil.log`."""
    from importlib.util import find_spec  # noqa: PLC0415

    return name.isidentifier() and find_spec(f"{__name__}.{name}") is not None


def _unknown(name: str) -> AttributeError:
    from difflib import get_close_matches  # noqa: PLC0415

    near = [] if name.startswith("_") else get_close_matches(name, __all__, n=1)
    hint = f". Did you mean {near[0]!r}?" if near else ""
    return AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
