"""What risk and what use are left: one small file a measure."""

from .base import Measure
from .original import MeasureContext
from .registry import all_measures, get_measure, parse_measure
from .rerunning import Rerun, RerunMeasure
from .risk.epsilon_audit import EpsilonAudit
from .risk.membership import MembershipInference
from .risk.own_run import LongestOwnRun
from .risk.partial_knowledge_linkage import PartialKnowledgeLinkage
from .risk.profile_exposure import ProfileExposure
from .risk.rare_query_exposure import RareQueryExposure
from .risk.record_linkage import RecordLinkage
from .risk.uniqueness import Uniqueness
from .use.frequency_error import QueryFrequencyError
from .use.information_loss import InformationLoss
from .use.next_query import NextQueryPrediction
from .use.personalisation import ProfileSimilarity
from .use.profile_divergence import ProfileDivergence
from .use.query_coverage import QueryCoverage
from .use.retrieval import RetrievalEffectiveness
from .use.semantic_remain import SemanticRemain
from .use.word_frequency import WordFrequencyError

__all__ = [
    "EpsilonAudit",
    "InformationLoss",
    "LongestOwnRun",
    "Measure",
    "MeasureContext",
    "MembershipInference",
    "NextQueryPrediction",
    "PartialKnowledgeLinkage",
    "ProfileDivergence",
    "ProfileExposure",
    "ProfileSimilarity",
    "QueryCoverage",
    "QueryFrequencyError",
    "RareQueryExposure",
    "RecordLinkage",
    "Rerun",
    "RerunMeasure",
    "RetrievalEffectiveness",
    "SemanticRemain",
    "Uniqueness",
    "WordFrequencyError",
    "all_measures",
    "get_measure",
    "parse_measure",
]
