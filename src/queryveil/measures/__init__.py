"""Measures of disclosure risk and of utility, one module each."""

from .base import MEASURES, Measure, Rerun, RerunMeasure, parse_measure
from .concept_linkage import ConceptLinkage
from .context import MeasureContext
from .epsilon_audit import EpsilonAudit
from .information_loss import InformationLoss
from .longest_own_run import LongestOwnRun
from .membership_inference import MembershipInference
from .next_query_prediction import NextQueryPrediction
from .partial_knowledge_linkage import PartialKnowledgeLinkage
from .profile_divergence import ProfileDivergence
from .profile_exposure import ProfileExposure
from .profile_similarity import ProfileSimilarity
from .query_coverage import QueryCoverage
from .query_frequency_error import QueryFrequencyError
from .rare_query_exposure import RareQueryExposure
from .record_linkage import RecordLinkage
from .result import Interval, MeasureResult, MeasureResults
from .retrieval_effectiveness import RetrievalEffectiveness
from .semantic_remain import SemanticRemain
from .sensitive_homogeneity import SensitiveHomogeneity
from .uniqueness import Uniqueness
from .word_frequency_error import WordFrequencyError

__all__ = [
    "MEASURES",
    "ConceptLinkage",
    "EpsilonAudit",
    "InformationLoss",
    "Interval",
    "LongestOwnRun",
    "Measure",
    "MeasureContext",
    "MeasureResult",
    "MeasureResults",
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
    "SensitiveHomogeneity",
    "Uniqueness",
    "WordFrequencyError",
    "parse_measure",
]
