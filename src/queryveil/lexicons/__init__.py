"""Lists of words that come with the program: names of people, sensitive topics.

They stand below the log and the concepts, so that both can use them. Functions take a column of
texts and return a column; each distinct word is looked up once.
"""

from .people import contains_full_name, is_full_name, is_known_person

__all__ = ["contains_full_name", "is_full_name", "is_known_person"]
