"""Words of queries that say something about the others: forms, titles, parts of addresses."""

from __future__ import annotations

import numpy as np

from ..taxonomy.arrays import BoolArray, RaggedArray
from .tokens import Vocabulary

# Nouns that say in which form something is wanted; the words before them name the topic.
GENERAL_NOUNS = (
    "pictures", "picture", "pics", "pic", "photos", "photo", "images", "image", "photographs",
    "videos", "video", "clips", "wallpaper", "wallpapers", "lyrics", "recipe", "recipes", "news",
    "info", "information", "facts", "history", "list", "lists", "tips", "ideas", "reviews",
    "review", "prices", "price", "sale", "sales", "stories", "jokes", "quotes", "games", "game",
    "symptoms", "symptom", "treatment", "treatments", "causes", "site", "sites", "website",
    "websites", "guide", "guides", "supplies", "accessories", "parts", "designs", "plans",
    "patterns", "rental", "rentals", "store", "stores", "shop", "shops", "company", "companies",
    "jobs", "job", "lessons", "classes", "products", "definition", "types", "tattoos", "gifts",
    "forum", "forums", "magazine", "tickets", "ticket", "pages", "cards", "names", "insurance",
    "sets", "set", "packages", "kits", "kit", "brands", "brand", "collection", "styles", "covers",
    "mp3", "mp3s", "dvd", "dvds", "tabs", "tab", "chords", "soundtrack", "cheats", "walkthrough",
    "ringtones", "ringtone", "movie", "movies", "songs", "music", "obituary", "biography", "logo",
    "posters", "merchandise", "problems", "manual", "manuals", "warranty", "coupons",
)  # fmt: skip
# Queries that look like a web address, and the parts of an address that name nothing.
ADDRESS = (
    r"(?i)^\s*(?:https?:|www\b)"
    r"|\.(?:com|net|org|edu|gov|mil|info|biz|co|us|uk|de|ca|au|tv|example)\b"
)
ADDRESS_WORDS = (
    "http", "https", "www", "com", "net", "org", "edu", "gov", "mil", "info", "biz", "co", "us",
    "uk", "de", "ca", "au", "tv", "html", "htm", "php", "asp", "index", "example",
)  # fmt: skip
# What stands beside these is the title of a song, a film or a game: "set it off movie".
_AFTER_TITLE = ("lyrics", "lyric", "movie", "soundtrack", "song", "cheats", "walkthrough")
_BEFORE_TITLE = ("lyrics", "cheats", "walkthrough")


class TitleWords:
    """Find the words of titles, which mean nothing by themselves.

    Names of people and brands among them are found by other rules.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._after, self._before = map(vocabulary.flags, (_AFTER_TITLE, _BEFORE_TITLE))

    def find(self, texts: RaggedArray) -> BoolArray:
        """Return a mask of the words of titles.

        >>> import polars as pl
        >>> words = Vocabulary()
        >>> texts = words.encode(pl.Series(["set it off movie", "movie theater"]))
        >>> TitleWords(words).find(texts).tolist()
        [True, True, True, False, False, False]
        """
        mask = np.zeros(len(texts.items), np.bool_)
        rows = np.flatnonzero(texts.sizes > 1)
        first, last = texts.start[rows], texts.start[rows + 1] - 1
        ends = self._after()[texts.items[last]]
        begins = self._before()[texts.items[first]] & ~ends
        titled = np.zeros(len(texts), np.bool_)
        titled[rows[ends | begins]] = True
        mask[titled[texts.row_ids]] = True
        mask[last[ends]] = mask[first[begins]] = False
        return mask
