"""Recognize full names of people in texts, by lists of names and a filter of known people.

A full name is a given name, a middle name or initial if any, and a surname; or surname, comma,
given name. Words of the dictionary that are names as well (*mark*, *rose*, *baker*) count only
beside a name that is none, or where the whole is the name of a known person. Towns, brands and
institutions named after people are no persons. The rules miss rare names and misspelled ones, and
flag some titles and firms: `docs/how-to/identifiers.md` has the measured shares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from .name_rules import Mask, Names, NameSearch, name_lexicon
from .words import Numbers, fold, hash_texts

NO_NAME, KNOWN_NAME, OTHER_NAME = 0, 1, 2
_REVERSED = r"^([^,]+), *([^,]+)$"


def is_full_name(texts: pl.Series) -> pl.Series:
    """Return whether each text as a whole is the full name of a person: Booleans, never null.

    >>> queries = ["jane kowalski", "Dr. John F. Kowalski", "kowalski, jane", "rose garden"]
    >>> is_full_name(pl.Series(queries)).to_list()
    [True, True, True, False]
    """
    return _apply(texts, entire=True)


def contains_full_name(texts: pl.Series) -> pl.Series:
    """Return whether a full name stands anywhere in each text: Booleans, never null.

    >>> queries = ["jane kowalski obituary", "jackson mississippi", "calvin klein jeans"]
    >>> contains_full_name(pl.Series(queries)).to_list()
    [True, False, False]
    """
    return _apply(texts, entire=False)


def classify_names(texts: pl.Series) -> pl.Series:
    """Return which distinct texts have a full name: `NO_NAME`, `KNOWN_NAME` or `OTHER_NAME`.

    `KNOWN_NAME` is a text all of whose names are those of people whom an encyclopedia has. See
    `is_known_person`: this is no proof that a known person is meant.

    >>> queries = ["tennis", "abraham lincoln biography", "rosalind kowalczyk obituary"]
    >>> classify_names(pl.Series(queries)).to_list()
    [0, 1, 2]
    """
    candidates = texts.str.contains(r"[^ ][ ,]").fill_null(False).arg_true()
    names = _find(texts.gather(candidates), False)
    kinds = np.full(len(candidates), NO_NAME, np.int8)
    kinds[names.texts] = KNOWN_NAME
    kinds[names.texts[~names.known]] = OTHER_NAME
    return (
        pl.repeat(NO_NAME, len(texts), dtype=pl.Int8, eager=True)
        .scatter(candidates, pl.Series(kinds))
        .alias(texts.name)
    )


def name_words(texts: pl.Series) -> list[set[str]]:
    """Return for each text the words of all full names in it, folded.

    >>> [sorted(words) for words in name_words(pl.Series(["call Jane Kowalski-Smith", "golf"]))]
    [['jane', 'kowalski', 'smith'], []]
    """
    folded = fold(texts)
    split = NameSearch(folded)
    names = split.find(False)
    starts = split.table.starts[names.texts]
    words = [text.split(" ") for text in folded]
    parts: list[set[str]] = [set() for _ in words]
    spans = (names.texts, names.begin - starts, names.last - starts + 1)
    for text, begin, end in zip(*(span.tolist() for span in spans), strict=True):
        parts[text].update(words[text][begin:end])
    turned = is_full_name(texts).to_list()  # "kowalski, jane": all its words are names
    return [
        own or (set(every) if is_turned else set())
        for own, every, is_turned in zip(parts, words, turned, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class NameSpans:
    """Full names inside texts: number of the text, first and last word; the longest of a place.

    `sizes` is the number of words of each text, `entire` whether it is a full name as a whole.
    """

    texts: Numbers
    begin: Numbers
    last: Numbers
    sizes: Numbers
    entire: Mask

    def select(self, mask: Mask) -> NameSpans:
        """Return the names in the texts under a mask, which are numbered anew."""
        kept, numbers = mask[self.texts], np.cumsum(mask) - 1
        return NameSpans(
            numbers[self.texts[kept]],
            self.begin[kept],
            self.last[kept],
            self.sizes[mask],
            self.entire[mask],
        )


def find_name_spans(texts: pl.Series) -> NameSpans:
    """Return where full names stand in texts; of names that overlap the first and longest.

    >>> spans = find_name_spans(pl.Series(["golf", "obituary of rosalind maria kowalczyk"]))
    >>> spans.texts.tolist(), spans.begin.tolist(), spans.last.tolist(), spans.sizes.tolist()
    ([1], [2], [4], [1, 5])
    """
    filled = texts.fill_null("")
    folded = fold(filled)
    split = NameSearch(folded)
    names = split.find(False)
    entire = np.zeros(len(texts), np.bool_)
    entire[names.texts[names.entire]] = True
    entire[_find_turned(filled, folded).texts] = True
    order = np.lexsort((-names.last, names.begin))
    owner, begin, last = names.texts[order], names.begin[order], names.last[order]
    reach = np.maximum.accumulate(np.concatenate([[-1], last[:-1]])) if len(last) else last
    apart = begin > reach
    owner, begin, last = owner[apart], begin[apart], last[apart]
    starts = split.table.starts[owner]
    return NameSpans(owner, begin - starts, last - starts, split.table.sizes, entire)


_MIN_PART, _MAX_CUT = 3, 10


def is_joined_name(words: pl.Series) -> pl.Series:
    """Return whether each word is given name and surname of a known person, written as one word.

    >>> is_joined_name(pl.Series(["abrahamlincoln", "grasshopper", "abraham lincoln"])).to_list()
    [True, False, False]
    """
    single = words.str.contains("^[a-z]{7,20}$").fill_null(False)
    rows, candidates = single.arg_true().to_numpy(), words.filter(single)
    is_name = np.zeros(len(words), np.bool_)
    for cut in range(_MIN_PART, _MAX_CUT + 1) if len(rows) else ():
        first, rest = candidates.str.slice(0, cut), candidates.str.slice(cut)
        is_given = _is_first_name(first)
        fits = is_given & (rest.str.len_chars() >= _MIN_PART).to_numpy()
        spaced = (first + " " + rest).filter(pl.Series(fits))
        is_name[rows[fits]] |= name_lexicon().known.contains(hash_texts(spaced))
    return pl.Series(words.name, is_name, pl.Boolean)


def begin_like_names(texts: pl.Series) -> Mask:
    """Return which texts are two words, the first of them a given name.

    >>> begin_like_names(pl.Series(["jane kowalski", "free cards", "jane and john"])).tolist()
    [True, False, False]
    """
    is_pair = texts.str.contains("^[^ ]+ [^ ]+$").fill_null(False).to_numpy()
    return np.asarray(is_pair & _is_first_name(texts.str.extract("^([^ ]+)")))


def is_known_person(texts: pl.Series) -> pl.Series:
    """Return whether each text is the name of a person whom an encyclopedia has.

    The filter has hashes alone: three of a thousand other names are in it by chance, and private
    people share the names of known ones. A name in the filter is therefore no proof.

    >>> is_known_person(pl.Series(["abraham lincoln", "jane kowalczykova"])).to_list()
    [True, False]
    """
    folded = fold(texts.fill_null(""))
    known = (
        name_lexicon().known.contains(hash_texts(folded)) & (folded.str.contains(" ")).to_numpy()
    )
    return pl.Series(texts.name, known, pl.Boolean)


def _is_first_name(words: pl.Series) -> Mask:
    return np.array([word in name_lexicon().given for word in words], np.bool_)


def _apply(texts: pl.Series, *, entire: bool) -> pl.Series:
    """Test distinct texts once."""
    distinct = texts.unique().drop_nulls()
    has_name = np.zeros(len(distinct), np.bool_)
    has_name[_find(distinct, entire).texts] = True
    table = pl.DataFrame({"text": distinct, "name": has_name})
    joined = (
        texts.alias("text").to_frame().join(table, on="text", how="left", maintain_order="left")
    )
    return joined["name"].fill_null(False).alias(texts.name)


def _ends_in_region(folded: pl.Series) -> Mask:
    last = folded.str.extract(r"([^ ]+)$")
    return np.array([word in name_lexicon().regions for word in last], np.bool_)


def _find(texts: pl.Series, entire: bool) -> Names:
    """Return the names in distinct texts; a text with one comma is searched in both orders."""
    folded = fold(texts)
    return Names.joined([NameSearch(folded).find(entire), _find_turned(texts, folded)])


def _find_turned(texts: pl.Series, folded: pl.Series) -> Names:
    """Return the names of the texts that are surname, comma and given name."""
    both = texts.str.contains(_REVERSED).fill_null(False).arg_true().to_numpy()
    both = both[~_ends_in_region(folded.gather(both))]
    turned = fold(texts.gather(both).str.replace(_REVERSED, "$2 $1"))
    names = NameSearch(turned).find(True)
    return replace(names, texts=both[names.texts])
