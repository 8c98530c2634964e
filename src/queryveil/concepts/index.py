"""Which concept a phrase means: labels by their words, their plurals, their stems, their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from .arrays import Ints, Lists
from .taxonomy import Taxonomy
from .text.language import Language
from .text.words import PerWord, Vocabulary
from .trie import build_trie

__all__ = ["HOW", "Found", "LabelIndex"]

# How a label was found, best first. A part is one of the things that a joined label names.
HOW = ("label", "plural", "stem", "part", "part plural", "part stem")
_LENGTH = 1 << 20  # one more word outweighs everything else
_LAST = 1000  # the rank of labels that go after the taxonomy's own
_JOINED = r"\s*(?:,|&|/|\band\b|\bor\b)\s*"


@dataclass(frozen=True, eq=False)
class Found:
    """For each phrase: the concept (-1 if none), how many words matched, and how (see `HOW`)."""

    concepts: Ints
    lengths: Ints
    how: Ints


class LabelIndex:
    """The labels of a taxonomy, ready to be found in phrases of a vocabulary.

    `extra` are labels from elsewhere, each with its concept: `before` go before the taxonomy's
    own (an owner's terms), `after` behind them (names of places).
    """

    def __init__(
        self,
        taxonomy: Taxonomy,
        language: Language,
        vocabulary: Vocabulary,
        *,
        before: Sequence[tuple[str, int]] = (),
        after: Sequence[tuple[str, int]] = (),
    ) -> None:
        self._language = language
        entries = _entries(taxonomy, before, after)
        words = Vocabulary()
        spelled = words.encode(entries["text"])
        stripped = _without(words, spelled, language)
        order = _order(entries, spelled, stripped)
        entries, lists = entries[order], _taken(stripped, order)
        self._concepts = entries["concept"].to_numpy()
        self._ranks = (entries["rank"] * 8 + entries["part"].cast(pl.Int64) * 3).to_numpy()
        self._surface = build_trie(lists, len(words) + 1)
        stems = Vocabulary()
        stem_of = stems.number(language.stem(words.words))
        stemmed = Lists(lists.start, stem_of[lists.items])
        self._stem = build_trie(stemmed, len(stems) + 1)
        self._surface_of = PerWord(vocabulary, words.known)
        self._singular_of = PerWord(vocabulary, lambda new: self._singulars(new, words))
        self._stem_of = PerWord(vocabulary, lambda new: stems.known(language.stem(new)))

    def _singulars(self, new: pl.Series, words: Vocabulary) -> Ints:
        first, *others = (words.known(form) for form in self._language.singulars(new))
        for other in others:
            first = np.where(first >= 0, first, other)
        return first

    def find(self, words: Ints, ends: Ints, lengths: Ints) -> Found:
        """Find for each phrase the longest label that it ends in.

        `words` are the words of all phrases in a row; a phrase is the `lengths` words that end
        at `ends`. Among labels of the same length the first taxonomy that knows one wins, then
        the best way of finding it.
        """
        surface, stem = self._surface_of()[words], self._stem_of()[words]
        singular = self._singular_of()[words[ends]]
        best = np.full(len(ends), -1, np.int64)
        label = np.full(len(ends), -1, np.int64)
        for way, (trie, spelled, last) in enumerate(
            (
                (self._surface, surface, surface[ends]),
                (self._surface, surface, singular),
                (self._stem, stem, stem[ends]),
            )
        ):
            for size, (phrases, entries) in enumerate(trie.walk(spelled, ends, lengths, last), 1):
                score = size * _LENGTH - (self._ranks[entries] + way)
                better = score > best[phrases]
                best[phrases[better]] = score[better]
                label[phrases[better]] = entries[better]
        hit = label >= 0
        sizes = np.where(hit, -(-best // _LENGTH), 0)
        how = np.where(hit, (sizes * _LENGTH - best) % 8, -1)
        return Found(np.where(hit, self._concepts[label], -1), sizes, how)


def _entries(
    taxonomy: Taxonomy, before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]]
) -> pl.DataFrame:
    """List what can be found: text, concept, rank of its source, whether it is only a part."""
    labelled = np.flatnonzero(taxonomy.meanings.sizes > 0)
    concepts = taxonomy.meanings.items[taxonomy.meanings.start[labelled]]
    source = taxonomy.marks.get("part", np.zeros(len(taxonomy), np.int64))
    own = pl.DataFrame(
        {
            "text": taxonomy.labels.series().gather(labelled),
            "concept": concepts.astype(np.int64),
            "rank": source[concepts].astype(np.int64) + 1,
            "senses": taxonomy.meanings.sizes[labelled].astype(np.int64),
        }
    )
    if not taxonomy.root_counts:
        own = own.filter(pl.col("concept") != 0)
    tables = [_extra(before, 0), own, _extra(after, _LAST)]
    whole = pl.concat(tables).with_columns(part=pl.lit(False))
    return pl.concat([whole, _parts(whole)])


def _extra(labels: Sequence[tuple[str, int]], rank: int) -> pl.DataFrame:
    table = pl.DataFrame(
        list(labels), schema={"text": pl.String, "concept": pl.Int64}, orient="row"
    )
    return table.with_columns(rank=pl.lit(rank, pl.Int64), senses=pl.lit(1, pl.Int64))


def _parts(whole: pl.DataFrame) -> pl.DataFrame:
    """Give the things that a joined label names: "Swimming and Diving" is also "Diving"."""
    joined = whole.filter(pl.col("text").str.to_lowercase().str.contains(_JOINED))
    text = pl.col("text").str.to_lowercase().str.replace_all(_JOINED, "\n").str.split("\n")
    parts = joined.with_columns(text, part=pl.lit(True)).explode("text")
    return parts.filter(pl.col("text").str.len_chars() > 1)


def _without(words: Vocabulary, spelled: Lists, language: Language) -> Lists:
    """Leave the stop words out."""
    kept = ~words.words.is_in(sorted(language.stop_words)).to_numpy()[spelled.items]
    sizes = np.bincount(spelled.owners[kept], minlength=len(spelled))
    return Lists.from_sizes(sizes, spelled.items[kept])


def _order(entries: pl.DataFrame, spelled: Lists, stripped: Lists) -> Ints:
    """Put the entry that shall win first where several are spelled alike.

    Whole labels go before parts, labels without stop words before those with some, words of
    many meanings (the usual ones) before words of few, and then the order of the alphabet.
    """
    lost = (spelled.sizes - stripped.sizes).astype(np.int64)
    table = entries.with_columns(lost=lost).with_row_index("row")
    order = table.sort(
        "rank", "part", "lost", "senses", "text", "row",
        descending=[False, False, False, True, False, False],
    )  # fmt: skip
    return order["row"].to_numpy()


def _taken(lists: Lists, rows: Ints) -> Lists:
    items, places = lists.gather(rows)
    return Lists.from_sizes(np.bincount(places, minlength=len(rows)), items)
