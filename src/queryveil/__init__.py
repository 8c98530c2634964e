"""Anonymize web-search query logs, state the guarantee, and verify it on the written files.

import queryveil as qv

log = qv.read_log("log.tsv")
release = qv.anonymize(log, qv.FrequentQueries(min_users=30))
release.write("out")
qv.verify("out")
"""

from typing import TYPE_CHECKING

from ._version import __version__
from .comparison.comparing import compare
from .comparison.result import ClaimResult, Comparison, ComparisonRow, RunOptions
from .concepts.loaders.registry import open_taxonomy
from .concepts.mapping.mapper import Mapper
from .concepts.mapping.result import ConceptMapping
from .concepts.taxonomy.graph import Taxonomy
from .engine.table import EngineConfig
from .errors import (
    BudgetError,
    ColumnError,
    CoverageError,
    EmptyReleaseError,
    FormatError,
    InputError,
    LowYieldError,
    OutputError,
    ParameterError,
    PopulationWarning,
    QueryveilError,
    TooManyRejectedError,
    UnknownVersionError,
    UsageError,
    VerificationError,
)
from .ledger.ledger import Ledger
from .ledger.location import open_ledger
from .log.options import ReadOptions
from .log.query_log import QueryLog
from .log.reading import read_log
from .measures.base import MEASURES, Measure, parse_measure
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
from .release.checks import CheckResult
from .release.guarantee import Guarantee
from .release.reading import read_release
from .release.release import Release
from .replication.replicating import replicate
from .replication.result import Replication
from .synthetic.generator import make_log
from .synthetic.output import write_synthetic_log
from .workflows.anonymization import anonymize, anonymize_to_folder
from .workflows.copying import copy_release
from .workflows.demonstration import demo
from .workflows.extension import extend_release
from .workflows.log_profile import LogProfile
from .workflows.measurement import measure
from .workflows.planning import Plan, plan
from .workflows.profiling import profile
from .workflows.signing import make_signing_key, show_signing_key, sign
from .workflows.taxonomies import import_taxonomy, make_mapper, map_log
from .workflows.verification import VerificationReport, pack, verify

__all__ = [
    "MEASURES",
    "METHODS",
    "BudgetError",
    "CategoryMicroaggregation",
    "CheckResult",
    "ClaimResult",
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
    "EpsilonAudit",
    "Forecast",
    "FormatError",
    "FrequentQueries",
    "Guarantee",
    "InformationLoss",
    "InputError",
    "Ledger",
    "LogProfile",
    "LongestOwnRun",
    "LowYieldError",
    "Mapper",
    "Measure",
    "MeasureResult",
    "MeasureResults",
    "MembershipInference",
    "Method",
    "NextQueryPrediction",
    "OutputError",
    "ParameterError",
    "PartialKnowledgeLinkage",
    "Plan",
    "PopulationWarning",
    "PrivateCard",
    "ProfileDivergence",
    "ProfileExposure",
    "ProfileFirst",
    "ProfileSimilarity",
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
    "RunOptions",
    "SemanticMicroaggregation",
    "SemanticRemain",
    "SemanticReplacement",
    "StringMicroaggregation",
    "SyntacticMicroaggregation",
    "Taxonomy",
    "TooManyRejectedError",
    "Uniqueness",
    "UnknownVersionError",
    "UsageError",
    "VerificationError",
    "VerificationReport",
    "WordFrequencyError",
    "__version__",
    "anonymize",
    "anonymize_to_folder",
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
    "show_signing_key",
    "sign",
    "verify",
    "write_synthetic_log",
]

if not TYPE_CHECKING:  # a type checker must go on to reject a name that does not exist

    def __getattr__(name: str) -> type[Method | Measure]:
        """Return the class of any other method or measure, those of other distributions too."""
        for kind in (*METHODS.values(), *MEASURES.values()):
            if kind.__name__ == name:
                return kind
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
