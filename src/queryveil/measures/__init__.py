"""What risk and what use are left: one small file a measure."""

from .base import Measure
from .original import Original
from .registry import all_measures, measure_named, parse_measure
from .rerunning import Again, Rerunning
from .risk.epsilon_audit import EpsilonAudit
from .risk.membership import Membership
from .risk.own_run import OwnRun
from .risk.partial_knowledge_linkage import PartialKnowledgeLinkage
from .risk.profile_exposure import ProfileExposure
from .risk.rare_query_exposure import RareQueryExposure
from .risk.record_linkage import RecordLinkage
from .risk.uniqueness import Uniqueness
from .use.frequency_error import FrequencyError
from .use.information_loss import InformationLoss
from .use.next_query import NextQuery
from .use.personalisation import Personalisation
from .use.profile_divergence import ProfileDivergence
from .use.query_coverage import QueryCoverage
from .use.retrieval import Retrieval
from .use.semantic_remain import SemanticRemain
from .use.word_frequency import WordFrequency

__all__ = [
    "Again",
    "EpsilonAudit",
    "FrequencyError",
    "InformationLoss",
    "Measure",
    "Membership",
    "NextQuery",
    "Original",
    "OwnRun",
    "PartialKnowledgeLinkage",
    "Personalisation",
    "ProfileDivergence",
    "ProfileExposure",
    "QueryCoverage",
    "RareQueryExposure",
    "RecordLinkage",
    "Rerunning",
    "Retrieval",
    "SemanticRemain",
    "Uniqueness",
    "WordFrequency",
    "all_measures",
    "measure_named",
    "parse_measure",
]
