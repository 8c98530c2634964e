"""Part-of-speech tagging: Brill's tagger with TextBlob's model, for a whole column of queries.

The model has a lexicon, rules for unknown words and contextual rules. TextBlob applies it word by
word, about 24,000 queries a second, and depends on a dozen packages. Here every distinct word is
looked up once, and each contextual rule is applied to all words of the same tag together. The
tags are TextBlob's with three exceptions, since a query is not a sentence:

- Rules for unknown words that depend on a neighbor are omitted.
- An unknown word whose capitalized form is a name ("london") is tagged as that name.
- A contextual rule changes a noun to another part of speech only after "to", a modal or a
  pronoun: in "windows history" the word "windows" is no verb. This raised the agreement with
  spaCy from 84% to 88%.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ...core.extras import import_extra
from ...errors import UsageError
from ..taxonomy.arrays import BoolArray, ByteArray, IntArray, RaggedArray
from .language import load_word_list
from .tokens import Vocabulary, WordFeature

OTHER, MODIFIER, NOUN, VERB = 0, 1, 2, 3
# Tags of the Penn Treebank; a gerund counts as a noun ("windsurfing").
_CLASS_TAGS = {
    NOUN: ("NN", "NNS", "NNP", "NNPS", "VBG"),
    MODIFIER: ("JJ", "JJR", "JJS", "VBN", "CD", "POS"),
    VERB: ("VB", "VBD", "VBP", "VBZ"),
}


class Tagger(Protocol):
    """The interface of a tagger."""

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Return the class of each word in a noun phrase."""
        ...

    def names(self, texts: RaggedArray) -> list[str]:
        """Return the name of the tag of each word."""
        ...


def word_classes(tags: Sequence[str]) -> ByteArray:
    """Return the class of each tag.

    >>> word_classes(["NN", "JJ", "VBG", "VBZ", "IN"]).tolist()
    [2, 1, 2, 3, 0]
    """
    table = {tag: word_class for word_class, members in _CLASS_TAGS.items() for tag in members}
    return np.array([table.get(tag, OTHER) for tag in tags], np.uint8)


_START = "STAART"  # the model's tag for the positions before the first and after the last word
_EVERY = "*"  # the model's symbol for any tag
_PAD = 3  # the largest distance of a neighbor in a rule
_NUMBER = r"^[0-9\-,.:/%$]+$"
_NOUNS = {"NN", "NNS", "NNP", "NNPS"}
_SENTENCE = {"TO", "MD", "PRP", "to", "n't"}
_TAG, _WORD = False, True
# What each type of rule compares: (offset, word or tag, index of the operand of the rule).
_ANY: dict[str, list[tuple[int, bool, int]]] = {
    "prevtag": [(-1, _TAG, 0)],
    "nexttag": [(1, _TAG, 0)],
    "prev2tag": [(-2, _TAG, 0)],
    "next2tag": [(2, _TAG, 0)],
    "prev1or2tag": [(-1, _TAG, 0), (-2, _TAG, 0)],
    "next1or2tag": [(1, _TAG, 0), (2, _TAG, 0)],
    "prev1or2or3tag": [(-1, _TAG, 0), (-2, _TAG, 0), (-3, _TAG, 0)],
    "next1or2or3tag": [(1, _TAG, 0), (2, _TAG, 0), (3, _TAG, 0)],
    "curwd": [(0, _WORD, 0)],
    "prevwd": [(-1, _WORD, 0)],
    "nextwd": [(1, _WORD, 0)],
    "prev1or2wd": [(-1, _WORD, 0), (-2, _WORD, 0)],
    "next1or2wd": [(1, _WORD, 0), (2, _WORD, 0)],
}
_ALL: dict[str, list[tuple[int, bool, int]]] = {
    "surroundtag": [(-1, _TAG, 0), (1, _TAG, 1)],
    "prevwdtag": [(-1, _WORD, 0), (-1, _TAG, 1)],
    "nextwdtag": [(1, _WORD, 0), (1, _TAG, 1)],
    "wdprevtag": [(-1, _TAG, 0), (0, _WORD, 1)],
    "wdnexttag": [(0, _WORD, 0), (1, _TAG, 1)],
    "wdand2aft": [(0, _WORD, 0), (2, _WORD, 1)],
    "wdand2tagbfr": [(-2, _TAG, 0), (0, _WORD, 1)],
    "wdand2tagaft": [(0, _WORD, 0), (2, _TAG, 1)],
    "lbigram": [(-1, _WORD, 0), (0, _WORD, 1)],
    "rbigram": [(0, _WORD, 0), (1, _WORD, 1)],
    "prevbigram": [(-2, _TAG, 0), (-1, _TAG, 1)],
    "nextbigram": [(1, _TAG, 0), (2, _TAG, 1)],
}


@dataclass(frozen=True)
class _Rule:
    """A word of tag `old` becomes `new` where any, or all, of the comparisons hold."""

    new: int
    every: bool
    compared: tuple[tuple[int, bool, int], ...]


def _as_word(operand: str) -> str:
    """Return an operand of a rule as the words of queries are written."""
    return operand.replace("'", "")


class BrillTagger:
    """Tag the words of English queries with Brill's algorithm."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._lexicon = english_lexicon()
        self._suffixes = [line.split() for line in load_word_list("rules of form")]
        context = [line.split() for line in load_word_list("rules of context")]
        named = {tag for rule in context for tag in rule[:2]} | {"NN", "NNP", "CD"}
        listed = set(self._lexicon["tag"].unique()) | {rule[-2] for rule in self._suffixes}
        self.tags = [_START, *sorted((named | listed) - {_START})]
        self._code = {tag: code for code, tag in enumerate(self.tags)}
        self._rules = self._compile_rules(context)
        self._class_of_tag = word_classes(self.tags)
        self._lexical = WordFeature(vocabulary, self._tag_words)

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Return the class of each word in a noun phrase."""
        tags = self.tag(texts)
        classes: ByteArray = self._class_of_tag[tags]
        classes[self._find_gerunds_with_object(texts, tags)] = VERB
        return classes

    def _find_gerunds_with_object(self, texts: RaggedArray, tags: ByteArray) -> BoolArray:
        """Return a mask of gerunds with an object: in "starting a business" it is a verb."""
        mask = np.zeros(len(tags), np.bool_)
        same_text = texts.row_ids[:-1] == texts.row_ids[1:]
        starts_object = np.isin(tags[1:], [self._code[tag] for tag in ("DT", "PRP", "PRP$")])
        mask[:-1] = (tags[:-1] == self._code["VBG"]) & starts_object & same_text
        return mask

    def names(self, texts: RaggedArray) -> list[str]:
        """Return the name of the tag of each word."""
        return [self.tags[code] for code in self.tag(texts)]

    def tag(self, texts: RaggedArray) -> ByteArray:
        """Return the tag of each word, as an index into `tags`."""
        lexical = self._lexical()[texts.items]
        positions = np.arange(len(texts.items)) + _PAD * (texts.row_ids.astype(np.int64) + 1)
        tags = np.zeros(len(texts.items) + _PAD * (len(texts) + 1), np.uint8)
        words = np.full(len(tags), -1, np.int32)
        tags[positions], words[positions] = lexical, texts.items
        index_in_text = np.arange(len(texts.items)) - texts.start[texts.row_ids]
        # A rule sees the new tags on its left and the old ones on its right. So the first words of
        # all texts are processed together, then the second words, and so on.
        order = np.argsort(index_in_text, kind="stable")
        for step in np.split(positions[order], np.cumsum(np.bincount(index_in_text))[:-1]):
            self._apply_context(step, tags, words)
        return np.asarray(tags[positions])

    def _apply_context(self, positions: IntArray, tags: ByteArray, words: IntArray) -> None:
        current = tags[positions]
        changed = current.copy()
        for old, rules in self._rules.items():
            chosen = np.flatnonzero(current == old)
            if len(chosen):
                changed[chosen] = _apply_rules(rules, positions[chosen], old, tags, words)
        tags[positions] = changed

    def _compile_rules(self, context: list[list[str]]) -> dict[int, list[_Rule]]:
        """Return the rules by the tag that they change, with words and tags as numbers."""
        rules: dict[int, list[_Rule]] = defaultdict(list)
        words = pl.Series(
            [_as_word(text) for rule in context for text in rule[3:]], dtype=pl.String
        )
        numbers = dict(zip(words, self._vocabulary.index(words).tolist(), strict=True))
        for old, new, rule_type, *operands in context:
            every = rule_type.lower() in _ALL
            table = (_ALL if every else _ANY).get(rule_type.lower())
            if table is None:  # TextBlob knows these rules by name and applies none of them
                continue
            if old in _NOUNS and new not in _NOUNS and not _SENTENCE.intersection(operands):
                continue
            changed = self.tags if old == _EVERY else [old]
            compared = tuple(
                (offset, is_word, numbers[_as_word(text)] if is_word else self._code.get(text, -1))
                for offset, is_word, text in ((o, w, operands[place]) for o, w, place in table)
            )
            for tag in changed:
                rules[self._code[tag]].append(_Rule(self._code[new], every, compared))
        return dict(rules)

    def _tag_words(self, words: pl.Series) -> ByteArray:
        """Tag words without context: by the lexicon, else as a name, a number or by form."""
        table = pl.DataFrame({"word": words}).with_columns(
            name=pl.col("word").str.to_titlecase(), number=pl.col("word").str.contains(_NUMBER)
        )
        known = table.join(self._lexicon, on="word", how="left", maintain_order="left")
        names = self._lexicon.filter(pl.col("tag").str.starts_with("NNP"))
        known = known.join(
            names.rename({"word": "name", "tag": "name_tag"}),
            on="name", how="left", maintain_order="left",
        )  # fmt: skip
        tags = known.select(
            pl.coalesce(
                "tag", "name_tag", pl.when("number").then(pl.lit("CD")).otherwise(pl.lit("NN"))
            )
        ).to_series()
        unknown = known.select((pl.coalesce("tag", "name_tag").is_null()) & ~pl.col("number"))
        codes = tags.replace_strict(self._code, return_dtype=pl.UInt8).to_numpy().copy()
        rows = np.flatnonzero(unknown.to_series().to_numpy())
        codes[rows] = self._tag_by_form(words.gather(rows))
        return codes

    def _tag_by_form(self, words: pl.Series) -> ByteArray:
        """Apply the rules of form in sequence to words that are not in the lexicon."""
        tags = np.full(len(words), self._code["NN"], np.uint8)
        rules = [_FormRule.of(rule) for rule in self._suffixes]
        rules = [rule for rule in rules if rule.kind in _USED_FORMS]
        for rule, has_form in zip(rules, self._find_forms(words, rules), strict=True):
            is_old = True if rule.old is None else tags == self._code.get(rule.old, 255)
            tags[has_form & is_old] = self._code[rule.new]
        return tags

    def _find_forms(self, words: pl.Series, rules: list[_FormRule]) -> list[BoolArray]:
        """Return for each rule the words with its form; the lexicon is searched once for all."""
        holds = [rule.has_affix(words) for rule in rules]
        indices = [index for index, rule in enumerate(rules) if rule.is_listed]
        changed = [rules[index].change(words.filter(holds[index])) for index in indices]
        listed = pl.concat([words[:0], *changed]).is_in(self._lexicon["word"].implode()).to_numpy()
        ends = np.cumsum([len(part) for part in changed])
        for index, part in zip(indices, np.split(listed, ends[:-1]), strict=True):
            holds[index][holds[index]] = part
        return holds


_FORMS = {
    f"f{kind}"
    for kind in (
        "char", "haspref", "hassuf", "addpref", "addsuf", "deletepref", "deletesuf",
        "goodleft", "goodright",
    )
}  # fmt: skip


_USED_FORMS = ("char", "haspref", "hassuf", "deletesuf", "deletepref", "addsuf")


@dataclass(frozen=True)
class _FormRule:
    """A word of a form, with an affix, gets the tag `new`; with `old`, only from that tag."""

    old: str | None
    kind: str
    affix: str
    new: str

    @classmethod
    def of(cls, parts: list[str]) -> _FormRule:
        if parts[2] in _FORMS:
            return cls(parts[0], parts[2][1:], parts[1], parts[-2])
        return cls(None, parts[1], parts[0], parts[-2])

    @property
    def is_listed(self) -> bool:
        """Whether the changed word must be in the lexicon."""
        return self.kind in ("addsuf", "deletesuf", "deletepref")

    def has_affix(self, words: pl.Series) -> BoolArray:
        """Return which words have the affix, or could get it."""
        if self.kind == "addsuf":
            return np.ones(len(words), np.bool_)
        if self.kind == "char":
            return words.str.contains(self.affix, literal=True).to_numpy().copy()
        if self.kind in ("haspref", "deletepref"):
            return words.str.starts_with(self.affix).to_numpy().copy()
        return words.str.ends_with(self.affix).to_numpy().copy()

    def change(self, words: pl.Series) -> pl.Series:
        """Return the words with the affix added or deleted."""
        if self.kind == "addsuf":
            return words + self.affix
        if self.kind == "deletesuf":
            return words.str.strip_suffix(self.affix)
        return words.str.strip_prefix(self.affix)


def _apply_rules(
    rules: list[_Rule], positions: IntArray, old: int, tags: ByteArray, words: IntArray
) -> ByteArray:
    """Return the new tags of words with the tag `old`; the last rule that matches applies."""
    changed = np.full(len(positions), old, np.uint8)
    for rule in rules:
        holds: NDArray[np.bool_] | None = None
        for offset, is_word, value in rule.compared:
            is_equal = (words if is_word else tags)[positions + offset] == value
            combine = np.logical_and if rule.every else np.logical_or
            holds = is_equal if holds is None else combine(holds, is_equal)
        changed[holds] = rule.new
    return changed


@cache
def english_lexicon() -> pl.DataFrame:
    """Return the lexicon of the model: words with their most common tags."""
    lines = pl.Series(load_word_list("lexicon"), dtype=pl.String)
    return lines.str.split_exact(" ", 1).struct.rename_fields(["word", "tag"]).struct.unnest()


@cache
def common_words() -> frozenset[str]:
    """Return the words of the lexicon in lower case that are no names."""
    is_word = pl.col("word").str.contains("^[a-z]+$") & ~pl.col("tag").str.starts_with("NNP")
    return frozenset(english_lexicon().filter(is_word)["word"].to_list())


_PENN = {"NOUN": "NN", "PROPN": "NNP", "ADJ": "JJ", "NUM": "CD", "VERB": "VB", "AUX": "MD"}
_CODES = {"english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it",
          "dutch": "nl", "portuguese": "pt", "danish": "da", "norwegian": "nb", "polish": "pl",
          "romanian": "ro", "russian": "ru", "swedish": "sv", "finnish": "fi", "greek": "el",
          "catalan": "ca", "lithuanian": "lt"}  # fmt: skip


class NounTagger:
    """Tag every word as a noun; only stop words separate phrases."""

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Return the class of each word in a noun phrase."""
        return np.full(len(texts.items), NOUN, np.uint8)

    def names(self, texts: RaggedArray) -> list[str]:
        """Return the name of the tag of each word."""
        return ["word"] * len(texts.items)


class SpacyTagger:
    """Tag with an installed spaCy model; about fifty times slower than `BrillTagger`."""

    def __init__(self, vocabulary: Vocabulary, language: str) -> None:
        self._vocabulary = vocabulary
        self._model = _load_model(language)

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Return the class of each word in a noun phrase."""
        return word_classes(self.names(texts))

    def names(self, texts: RaggedArray) -> list[str]:
        """Return the Penn tag of each word, or the nearest one to the tag of spaCy."""
        words = self._vocabulary.words
        docs = (self._build_doc(words.gather(texts[row]).to_list()) for row in range(len(texts)))
        return [
            _to_penn_tag(token) for doc in self._model.pipe(docs, batch_size=1000) for token in doc
        ]

    def _build_doc(self, words: list[str]) -> Any:
        from spacy.tokens import Doc  # noqa: PLC0415

        return Doc(self._model.vocab, words=words)


def _to_penn_tag(token: Any) -> str:
    if token.tag_ in ("VBG", "VBN"):
        return str(token.tag_)
    return _PENN.get(token.pos_, "IN")


def _load_model(language: str) -> Any:
    spacy = import_extra("spacy", "the tagger spacy", of="spacy")
    code = _CODES.get(language, language)
    models = sorted(m for m in spacy.util.get_installed_models() if m.startswith(f"{code}_"))
    if not models:
        raise UsageError(
            f"spaCy has no model for {language} here",
            hint=f"install one, such as {code}_core_web_sm, or omit `tagger`",
        )
    return spacy.load(models[0], exclude=["ner", "parser", "lemmatizer"])
