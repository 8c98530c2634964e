"""Lists of words that come with the program: names of people, sensitive topics.

They stand below the log and the concepts, so that both can use them. Functions take a column of
texts and return a column; each distinct word is looked up once.
"""

from .people import contains_full_name, is_full_name, is_known_person
from .sensitive import flag_topics, has_topic, topic_bits
from .sensitive_terms import TOPICS

__all__ = [
    "TOPICS",
    "contains_full_name",
    "flag_topics",
    "has_topic",
    "is_full_name",
    "is_known_person",
    "topic_bits",
]
