"""What risk and what use are left: one small file a measure."""

from .base import Measure
from .epsilon_audit import EpsilonAudit
from .frequency_error import FrequencyError
from .information_loss import InformationLoss
from .membership import Membership
from .next_query import NextQuery
from .original import Original
from .own_run import OwnRun
from .partial_knowledge_linkage import PartialKnowledgeLinkage
from .personalisation import Personalisation
from .profile_divergence import ProfileDivergence
from .profile_exposure import ProfileExposure
from .query_coverage import QueryCoverage
from .rare_query_exposure import RareQueryExposure
from .record_linkage import RecordLinkage
from .registry import all_measures, measure_named, parse_measure
from .rerunning import Again, Rerunning
from .retrieval import Retrieval
from .semantic_remain import SemanticRemain
from .uniqueness import Uniqueness
from .word_frequency import WordFrequency

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
