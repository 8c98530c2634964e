"""The compiled labels of a taxonomy, with additional ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import polars as pl

from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray
from ..taxonomy.graph import Taxonomy
from .compound_tails import CompoundTails
from .label_list import (
    LAST,
    list_compound_words,
    list_empty_words,
    list_extra_labels,
    list_frequent_names,
    list_overrides,
    list_own_labels,
    split_joined_labels,
)
from .language import CompoundSplitter, FoldedWords, Language
from .language_data import list_compound_starts
from .segments import Segmenter
from .spelling import Speller
from .tagging import english_lexicon
from .tokens import Vocabulary
from .trie import build_trie
from .web_lexicon import has_web_rules

_NOT_LETTER = r"[^\pL\pN]+"
# Nouns of four letters that often end names of sites.
_SHORT_TAILS = (
    "auto", "bank", "bike", "boat", "book", "card", "chat", "club", "food", "game", "girl", "golf",
    "hair", "home", "jobs", "kids", "mail", "maps", "news", "park", "pics", "shop", "shoe", "team",
    "tire", "tool", "tour", "town", "toys",
)  # fmt: skip
# The steps in which labels are looked up, better ones first.
STEPS = ("label", "plural", "stem", "misspelled", "glued", "glued")


class LabelSet:
    """The compiled labels of a taxonomy, with additional labels.

    Additional labels have a concept each. They come `before` the labels of the taxonomy (custom
    terms of the data owner), replace labels with the same spelling in the same part of it
    (`instead`), or come `after` them (names of places).
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        language: Language,
        *,
        before: Sequence[tuple[str, int]] = (),
        instead: Sequence[tuple[str, int]] = (),
        after: Sequence[tuple[str, int]] = (),
    ) -> None:
        own = list_own_labels(taxonomy, language)
        tables = [
            list_extra_labels(before, 0),
            list_overrides(instead, taxonomy),
            own,
            list_extra_labels(after, LAST),
        ]
        undivided = pl.concat(tables).with_columns(part=pl.lit(False))
        # Custom terms (rank 0) are not split: their parts must not precede whole labels.
        parts = split_joined_labels(undivided.filter(pl.col("rank") > 0), taxonomy)
        if has_web_rules(taxonomy, language):
            parts = parts.filter(~pl.col("text").is_in(list_empty_words()))
        entries = pl.concat([undivided, parts])
        self.words, self.stems = Vocabulary(), Vocabulary()
        spelled = self.words.encode(language.rewrite(entries["text"]))
        if language.head_first:  # labels are looked up from their first word
            spelled = _reverse_lists(spelled)
        stripped = _strip_stop_words(self.words, spelled, language)
        if has_web_rules(taxonomy, language):
            stripped = _empty_lists(stripped, _find_rests(self.words, spelled, stripped))
        order = _sort_entries(entries, spelled, stripped)
        entries, lists = entries[order], _select_lists(stripped, order)
        self.concepts = entries["concept"].to_numpy()
        proper = taxonomy.tags.get("proper", np.zeros(len(taxonomy), np.int64))
        self.is_name = np.asarray(proper[self.concepts] == 1)
        ranks = entries["rank"] * 2 + entries["part"].cast(pl.Int64)
        self.ranks = ranks.to_numpy() * len(STEPS)
        self.surface = build_trie(lists, len(self.words) + 1)
        common = _empty_lists(lists, entries["proper"].to_numpy())
        used, places = np.unique(common.items, return_inverse=True)
        stem_of = self.stems.index(language.stem(self.words.words.gather(used)))
        self.stem = build_trie(RaggedArray(common.start, stem_of[places]), len(self.stems) + 1)
        spans = _empty_lists(
            _select_lists(spelled, order), (spelled.sizes[order] < 2) | (lists.sizes == 0)
        )
        self.span = build_trie(spans, len(self.words) + 1)
        self._lists, self._texts = lists, entries["text"]
        compound = list_compound_words(self.words, lists, entries, language)
        self.folded = FoldedWords(self.words, language)
        self._compound = compound
        self._tails = _find_compounds(self.words, lists, entries, language)
        self._heads = compound.nouns[: len(compound.heads) // 2]
        self.has_web_rules = has_web_rules(taxonomy, language)
        # Words that are spelled as meant, and those that others are corrected to.
        self.certain = compound.unsplit
        self._right = [*compound.nouns, *list_frequent_names()] if self.has_web_rules else []

    @cached_property
    def gluing(self) -> CompoundSplitter | CompoundTails:
        """Splits compounds written as one word."""
        if self._tails is not None:
            return self._tails
        listed = self._compound
        return CompoundSplitter(listed.heads, listed.parts, listed.unsplit.to_list())

    @cached_property
    def speller(self) -> Speller:
        """Corrects words that are in no list."""
        return Speller(pl.Series(self._right, dtype=pl.String))

    @cached_property
    def segmenter(self) -> Segmenter:
        """Splits words of a query that is one word: frequent words, brands and names."""
        listed = self._compound
        return Segmenter((*listed.heads, *listed.parts, *list_frequent_names()))

    @cached_property
    def joined(self) -> pl.DataFrame:
        """The labels of several words without blanks: `word` and `entry`."""
        several = self._texts.str.contains(" ", literal=True)
        texts = self._texts.filter(several).str.to_lowercase()
        joined = pl.DataFrame(
            {"word": texts.str.replace_all(_NOT_LETTER, ""), "entry": several.arg_true()}
        )
        return joined.unique("word", keep="first", maintain_order=True)

    @cached_property
    def brands(self) -> pl.DataFrame:
        """The frequent names of brands of at least six letters: `word` and `entry`."""
        names = pl.DataFrame({"word": pl.Series(list_frequent_names(), dtype=pl.String)})
        long = names.filter(pl.col("word").str.len_bytes() > 5)
        numbers = self.words.known(long["word"])
        states = np.where(numbers >= 0, self.surface.first[numbers], -1)
        entries = np.where(states >= 0, self.surface.entries[states], -1)
        return long.with_columns(entry=pl.Series(entries)).filter(pl.col("entry") >= 0)

    @cached_property
    def long_nouns(self) -> pl.DataFrame:
        """Common nouns of at least five letters and their plurals: `word` and `entry`, a number."""
        nouns = pl.Series(self._heads, dtype=pl.String)
        nouns = nouns.filter((nouns.str.len_bytes() > 4) | nouns.is_in(_SHORT_TAILS))
        forms = pl.concat([nouns, nouns + "s"])
        numbers = self.words.known(pl.concat([nouns, nouns]))
        table = pl.DataFrame({"word": forms, "entry": numbers.astype(np.int64)})
        return table.unique("word", keep="first", maintain_order=True)

    def words_with_stems(self, stems: IntArray) -> pl.Series:
        """Return for each stem the word that is a label and has it, or null."""
        states = self.stem.first[stems]
        entries = self.stem.entries[states]
        is_label = (stems >= 0) & (states >= 0) & (entries >= 0)
        words = self._lists.items[self._lists.start[:-1][np.where(is_label, entries, 0)]]
        table = pl.DataFrame({"word": self.words.words.gather(words), "is_label": is_label})
        return table.select(pl.when("is_label").then("word")).to_series()


def _find_compounds(
    words: Vocabulary, lists: RaggedArray, entries: pl.DataFrame, language: Language
) -> CompoundTails | None:
    """Return what splits compounds of a language that writes them as one word."""
    if not language.has_compounds:
        return None
    single = lists.items[lists.start[:-1][(lists.sizes == 1) & ~entries["proper"].to_numpy()]]
    nouns = words.words.gather(pl.Series(single).unique(maintain_order=True))
    return CompoundTails(nouns, list_compound_starts(language), language)


def _strip_stop_words(words: Vocabulary, spelled: RaggedArray, language: Language) -> RaggedArray:
    """Remove stop words, and labels of one letter: "t" rarely means thymine."""
    kept = ~words.words.is_in(sorted(language.stop_words)).to_numpy()[spelled.items]
    sizes = np.bincount(spelled.row_ids[kept], minlength=len(spelled))
    lists = RaggedArray.from_sizes(sizes, spelled.items[kept])
    letter = (words.words.str.len_chars() < 2).to_numpy()[lists.items]
    has_letter = np.zeros(len(lists), np.bool_)
    has_letter[lists.row_ids[letter]] = True
    return _empty_lists(lists, has_letter & (sizes == 1))


def _find_rests(words: Vocabulary, spelled: RaggedArray, stripped: RaggedArray) -> BoolArray:
    """Return the labels of which only a common word is left: "the doors" is no door."""
    common = words.words.is_in(english_lexicon()["word"].implode()).to_numpy()
    is_rest = (stripped.sizes == 1) & (spelled.sizes > 1)
    is_rest[is_rest] = common[stripped.items[stripped.start[:-1][is_rest]]]
    return np.asarray(is_rest)


def _sort_entries(entries: pl.DataFrame, spelled: RaggedArray, stripped: RaggedArray) -> IntArray:
    """Return the order of the entries; of equally spelled labels the first one is used.

    Whole labels precede parts, labels without stop words precede those with some, words with many
    senses (the common ones) precede words with few, and then the order is alphabetical.
    """
    lost = (spelled.sizes - stripped.sizes).astype(np.int64)
    table = entries.with_columns(lost=lost).with_row_index("row")
    order = table.sort(
        "rank", "part", "lost", "senses", "text", "row",
        descending=[False, False, False, True, False, False],
    )  # fmt: skip
    return order["row"].to_numpy()


def _empty_lists(lists: RaggedArray, mask: BoolArray) -> RaggedArray:
    """Return the lists with those in the mask emptied."""
    kept = ~mask[lists.row_ids]
    return RaggedArray.from_sizes(np.where(mask, 0, lists.sizes), lists.items[kept])


def _reverse_lists(lists: RaggedArray) -> RaggedArray:
    return _select_lists(lists.mirrored(), np.arange(len(lists))[::-1])


def _select_lists(lists: RaggedArray, rows: IntArray) -> RaggedArray:
    items, indices = lists.take(rows)
    return RaggedArray.from_sizes(np.bincount(indices, minlength=len(rows)), items)


def compile_labels(
    taxonomy: Taxonomy,
    language: Language,
    overrides: Sequence[tuple[str, int]],
    fallbacks: Sequence[tuple[str, int]],
    custom_terms: Sequence[tuple[str, int]],
) -> LabelSet:
    """Compile the labels; without custom terms, cache them by taxonomy and language."""
    key = f"labels {language.name}"
    cached = None if custom_terms else taxonomy.cache.get(key)
    if isinstance(cached, LabelSet):
        return cached
    labels = LabelSet(taxonomy, language, before=custom_terms, instead=overrides, after=fallbacks)
    if not custom_terms:
        taxonomy.cache[key] = labels
    return labels
