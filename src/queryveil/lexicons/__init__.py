"""Lists of words that come with the program: names of people, sensitive topics.

They stand below the log and the concepts, so that both can use them. Functions take a column of
texts and return a column; each distinct word is looked up once.
"""

from .people import contains_full_name, is_full_name, is_known_person
from .sensitive import TOPICS, flag_topics, topic_bits

__all__ = [
    "TOPICS",
    "contains_full_name",
    "flag_topics",
    "is_full_name",
    "is_known_person",
    "topic_bits",
]
