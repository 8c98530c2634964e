"""queryveil anonymizes web-search query logs, says what that promises, and proves it.

import queryveil as qv

log = qv.read_log("log.tsv")
release = qv.anonymize(log, qv.FrequentQueries(n=30))
release.write("out")
qv.verify("out")
"""

from .concepts import Mapper, Mapping, Taxonomy, open_taxonomy
from .engine import Engine
from .errors import (
    BudgetError,
    ColumnError,
    FormatError,
    InputError,
    NothingLeftError,
    OutputError,
    ParameterError,
    QueryveilError,
    RejectedError,
    UsageError,
    VerificationError,
)
from .jobs import (
    Comparison,
    anonymize,
    anonymize_to,
    append_to,
    compare,
    demo,
    import_taxonomy,
    make_mapper,
    map_log,
    measure,
    pack,
    plan,
    profile,
    replicate,
    simulate_peers,
    synth,
    verify,
)
from .log import QueryLog, ReadOptions, read_log
from .measures import Measure, ProfileDivergence, all_measures, parse_measure
from .methods import (
    CategoryMicroaggregation,
    ClickGraph,
    ConceptHistogram,
    DisconnectedGraph,
    DpStatistics,
    FrequentQueries,
    Method,
    ProfileFirst,
    SemanticMicroaggregation,
    SemanticReplacement,
    StringMicroaggregation,
    SyntacticMicroaggregation,
    all_methods,
    parse_method,
)
from .release import Guarantee, Release
from .version import __version__

__all__ = [
    "BudgetError",
    "CategoryMicroaggregation",
    "ClickGraph",
    "ColumnError",
    "Comparison",
    "ConceptHistogram",
    "DisconnectedGraph",
    "DpStatistics",
    "Engine",
    "FormatError",
    "FrequentQueries",
    "Guarantee",
    "InputError",
    "Mapper",
    "Mapping",
    "Measure",
    "Method",
    "NothingLeftError",
    "OutputError",
    "ParameterError",
    "ProfileDivergence",
    "ProfileFirst",
    "QueryLog",
    "QueryveilError",
    "ReadOptions",
    "RejectedError",
    "Release",
    "SemanticMicroaggregation",
    "SemanticReplacement",
    "StringMicroaggregation",
    "SyntacticMicroaggregation",
    "Taxonomy",
    "UsageError",
    "VerificationError",
    "__version__",
    "all_measures",
    "all_methods",
    "anonymize",
    "anonymize_to",
    "append_to",
    "compare",
    "demo",
    "import_taxonomy",
    "make_mapper",
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
    "simulate_peers",
    "synth",
    "verify",
]
