"""List the labels of a taxonomy and additional ones, for the index of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..taxonomy.arrays import IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .language import Language, load_word_list
from .tagging import english_lexicon
from .tokens import Vocabulary
from .web_lexicon import has_web_rules, load_web_lexicon, web_concepts

LAST = 1000  # the rank of labels that come after the taxonomy's own
# Words of three letters that begin compounds; others are often a part of a longer word.
_SHORT_PARTS = frozenset(
    (
        "air", "all", "art", "big", "boy", "bus", "car", "cat", "dog", "eye", "for", "fun", "gas",
        "gay", "gun", "hot", "ice", "job", "kid", "law", "map", "new", "old", "pet", "red", "sea",
        "sex", "ski", "sky", "sun", "tax", "the", "top", "toy", "web",
    )
)  # fmt: skip
_LOCATION = "n#00027167"
_USUAL_CODES = ("tv", "pc", "cd", "dj", "iq", "ct", "pe", "vp", "ad", "un", "eu", "uk", "md", "hd")
_JOINED = r"\s*(?:,|&|/|\band\b|\bor\b)\s*"


def list_own_labels(taxonomy: Taxonomy, language: Language) -> pl.DataFrame:
    """Return text, concept, rank of the part, number of senses and `proper` of each label."""
    labeled = np.flatnonzero(taxonomy.label_concepts.sizes > 0)
    concepts = taxonomy.label_concepts.items[taxonomy.label_concepts.start[labeled]]
    proper = taxonomy.tags.get("proper", np.zeros(len(taxonomy), np.int64))
    own = pl.DataFrame(
        {
            "text": taxonomy.labels.series().gather(labeled),
            "concept": concepts.astype(np.int64),
            "rank": _part_ranks(taxonomy, concepts),
            "senses": taxonomy.label_concepts.sizes[labeled].astype(np.int64),
            "proper": proper[concepts] == 1,
        }
    )
    if not taxonomy.has_real_root:
        own = own.filter(pl.col("concept") != 0)
    if "use" in taxonomy.tags:  # without names that are a brand only as a whole query
        own = own.filter(pl.Series(taxonomy.tags["use"][own["concept"].to_numpy()] == 0))
        is_name = own["concept"].is_in(web_concepts(taxonomy).tolist())
        first = own["text"].str.split(" ").list.first()  # "all my children" is not "my children"
        own = own.filter(~(is_name & first.is_in(sorted(language.stop_words))))
    if has_web_rules(taxonomy, language):
        own = own.filter(~pl.col("text").is_in(list_empty_words()))
        own = own.filter(~_is_code(taxonomy, own["text"], own["concept"]))
    if "lexicographer" in taxonomy.tags and language.name == "english":
        listed = taxonomy.tags["lexicographer"][own["concept"].to_numpy()] != -1
        own = own.filter(~(pl.col("text").is_in(load_word_list("plain plurals")) & listed))
    return own


def _is_code(taxonomy: Taxonomy, texts: pl.Series, concepts: pl.Series) -> pl.Series:
    """Return which labels are numbers, or short codes that rarely mean the thing in a query.

    WordNet abbreviates units and elements: "gi" is a gilbert, "te" tellurium. Codes of places
    and a few others are usual.
    """
    place = dict(taxonomy.find_all([_LOCATION])).get(_LOCATION)
    if place is None:
        return pl.Series([False] * len(texts), dtype=pl.Boolean)
    is_place = pl.Series(taxonomy.descendant_mask(place)[concepts.to_numpy()])
    titles = taxonomy.labels.series().gather(taxonomy.titles[concepts.to_numpy()])
    short = (texts.str.len_chars() < 3) & (texts != titles) & ~texts.is_in(_USUAL_CODES)
    return texts.str.contains(r"^[0-9]+$") | (short & ~is_place)


def list_empty_words() -> list[str]:
    """Return the words that have no concept of their own on the web: "mr", "free"."""
    return [word for word, concept in load_web_lexicon().senses if concept == "-"]


def list_frequent_names() -> list[str]:
    """Return the names of brands that are searched for so often that people misspell them."""
    return [name for name in load_web_lexicon().frequent if name.isalpha()]


def _part_ranks(taxonomy: Taxonomy, concepts: IntArray) -> IntArray:
    """Return the rank, from 1, of the part of the taxonomy that each concept belongs to."""
    part = taxonomy.tags.get("part", np.zeros(len(taxonomy), np.int64))
    return np.asarray(part[concepts].astype(np.int64) + 1)


def list_overrides(labels: Sequence[tuple[str, int]], taxonomy: Taxonomy) -> pl.DataFrame:
    """Return labels that replace those of the same part of a taxonomy."""
    table = list_extra_labels(labels, 0)
    ranks = _part_ranks(taxonomy, table["concept"].to_numpy())
    return table.with_columns(rank=pl.Series(ranks), senses=pl.lit(LAST, pl.Int64))


@dataclass(frozen=True, eq=False, repr=False)
class CompoundWords:
    """The words that may end a compound, those before them, and words that are not split.

    `nouns` are the words that a misspelled word can mean: common or long ones. They begin with the
    singular words that may end a compound.
    """

    heads: list[str]
    parts: list[str]
    unsplit: pl.Series
    nouns: list[str]


def list_compound_words(
    words: Vocabulary, labels: RaggedArray, entries: pl.DataFrame, language: Language
) -> CompoundWords:
    """Return the words of compounds, for English."""
    if language.name != "english":
        return CompoundWords([], [], pl.Series([], dtype=pl.String), [])
    single = labels.items[labels.start[:-1][(labels.sizes == 1) & ~entries["proper"].to_numpy()]]
    tagged = english_lexicon().filter(pl.col("tag").is_in(["NN", "NNS"]))["word"]
    plain = words.words.gather(np.unique(single))
    people = [*load_word_list("given names alone"), *load_word_list("surnames")]
    heads = plain.filter(plain.is_in(tagged.implode())).to_list()
    listed = english_lexicon()["word"].str.to_lowercase()
    common = listed.to_list()
    unsplit = [*people, *load_word_list("cities"), *load_word_list("towns"), *common]
    parts = [word for word in common if len(word) > 3 or word in _SHORT_PARTS]
    parts += [*load_word_list("cities"), *load_word_list("given names alone")]
    proper = words.words.gather(np.unique(labels.items[labels.start[:-1][labels.sizes == 1]]))
    names = proper.filter((proper.str.len_bytes() > 6) & proper.is_in(listed.implode()))
    nouns = [*heads, *plain.filter(plain.str.len_bytes() > 7).to_list(), *names]
    ends = [*heads, *(f"{head}s" for head in heads)]
    return CompoundWords(ends, parts, pl.Series(unsplit, dtype=pl.String), nouns)


def list_extra_labels(labels: Sequence[tuple[str, int]], rank: int) -> pl.DataFrame:
    """Return additional labels, with the columns of `list_own_labels`."""
    table = pl.DataFrame(
        list(labels), schema={"text": pl.String, "concept": pl.Int64}, orient="row"
    )
    return table.with_columns(
        rank=pl.lit(rank, pl.Int64), senses=pl.lit(1, pl.Int64), proper=pl.lit(True)
    )


def split_joined_labels(labels: pl.DataFrame, taxonomy: Taxonomy) -> pl.DataFrame:
    """Return the parts of joined labels: "Swimming and Diving" is also "Diving".

    Those of WordNet are no lists of things: "boys-and-girls" is an herb.
    """
    if "lexicographer" in taxonomy.tags:
        is_listed = taxonomy.tags["lexicographer"][labels["concept"].to_numpy()] == -1
        labels = labels.filter(pl.Series(is_listed))
    joined = labels.filter(pl.col("text").str.to_lowercase().str.contains(_JOINED))
    text = pl.col("text").str.to_lowercase().str.replace_all(_JOINED, "\n").str.split("\n")
    parts = joined.with_columns(text, part=pl.lit(True)).explode("text")
    parts = parts.with_columns(pl.col("text").str.strip_chars(" -"))
    return parts.filter(pl.col("text").str.len_chars() > 1)
