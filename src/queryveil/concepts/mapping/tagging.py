"""Parts of speech: Brill's tagger with TextBlob's model, for a whole column of queries at once.

The model is a lexicon, rules for unknown words and rules of context. TextBlob applies it one word
at a time, some 24,000 queries a second, and brings a dozen packages along. Here every distinct
word is looked up once and each rule of context is applied to all words of one tag together. The
tags are TextBlob's, but for three things, since a query is no sentence:

- Rules for unknown words that look at a neighbour are left out.
- An unknown word whose capitalised form is a name ("london") is tagged as that name.
- A rule of context takes a noun away only after "to", a modal or a pronoun: in "windows
  history" nothing is done by windows. This raised the agreement with spaCy from 84% to 88%.
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

from ...errors import UsageError
from ..taxonomy.arrays import BoolArray, ByteArray, IntArray, RaggedArray
from .language import load_word_list
from .tokens import Vocabulary, WordFeature

OTHER, MODIFIER, NOUN, VERB = 0, 1, 2, 3
# Penn's tags; a gerund counts as a noun ("windsurfing").
_KINDS = {
    NOUN: ("NN", "NNS", "NNP", "NNPS", "VBG"),
    MODIFIER: ("JJ", "JJR", "JJS", "VBN", "CD", "POS"),
    VERB: ("VB", "VBD", "VBP", "VBZ"),
}


class Tagger(Protocol):
    """What the way from text to concepts needs of a tagger."""

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Tell for each word what it can be in a noun phrase."""
        ...

    def names(self, texts: RaggedArray) -> list[str]:
        """Give the tag of each word by its name."""
        ...


def word_classes(tags: Sequence[str]) -> ByteArray:
    """Give the kind of each tag.

    >>> word_classes(["NN", "JJ", "VBG", "VBZ", "IN"]).tolist()
    [2, 1, 2, 3, 0]
    """
    table = {tag: kind for kind, members in _KINDS.items() for tag in members}
    return np.array([table.get(tag, OTHER) for tag in tags], np.uint8)


_START = "STAART"  # the model's own word for "before the first and after the last"
_EVERY = "*"  # and for "whatever its tag"
_PAD = 3  # the farthest neighbour that a rule looks at
_NUMBER = r"^[0-9\-,.:/%$]+$"
_NOUNS = {"NN", "NNS", "NNP", "NNPS"}
_SENTENCE = {"TO", "MD", "PRP", "to", "n't"}
_TAG, _WORD = False, True
# What each kind of rule compares: (offset, word or tag, which of the rule's operands).
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


class BrillTagger:
    """Tags the words of English queries."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._lexicon = english_lexicon()
        self._suffixes = [line.split() for line in load_word_list("rules of form")]
        context = [line.split() for line in load_word_list("rules of context")]
        named = {tag for rule in context for tag in rule[:2]} | {"NN", "NNP", "CD"}
        listed = set(self._lexicon["tag"]) | {rule[-2] for rule in self._suffixes}
        self.tags = [_START, *sorted((named | listed) - {_START})]
        self._code = {tag: code for code, tag in enumerate(self.tags)}
        self._rules = self._compiled(context)
        self._kinds = word_classes(self.tags)
        self._lexical = WordFeature(vocabulary, self._unseen)

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Tell for each word what it can be in a noun phrase."""
        tags = self.tag(texts)
        kinds: ByteArray = self._kinds[tags]
        kinds[self._acts(texts, tags)] = VERB
        return kinds

    def _acts(self, texts: RaggedArray, tags: ByteArray) -> BoolArray:
        """Mark gerunds that have an object: "starting a business" is no kind of start."""
        acts = np.zeros(len(tags), np.bool_)
        within = texts.row_ids[:-1] == texts.row_ids[1:]
        objects = np.isin(tags[1:], [self._code[tag] for tag in ("DT", "PRP", "PRP$")])
        acts[:-1] = (tags[:-1] == self._code["VBG"]) & objects & within
        return acts

    def names(self, texts: RaggedArray) -> list[str]:
        """Give the tag of each word by its name."""
        return [self.tags[code] for code in self.tag(texts)]

    def tag(self, texts: RaggedArray) -> ByteArray:
        """Give the tag of each word, as its place in `tags`."""
        lexical = self._lexical()[texts.items]
        where = np.arange(len(texts.items)) + _PAD * (texts.row_ids.astype(np.int64) + 1)
        tags = np.zeros(len(texts.items) + _PAD * (len(texts) + 1), np.uint8)
        words = np.full(len(tags), -1, np.int32)
        tags[where], words[where] = lexical, texts.items
        place = np.arange(len(texts.items)) - texts.start[texts.row_ids]
        # A rule sees the new tags on its left and the old ones on its right: go word by word.
        order = np.argsort(place, kind="stable")
        for here in np.split(where[order], np.cumsum(np.bincount(place))[:-1]):
            self._in_context(here, tags, words)
        return np.asarray(tags[where])

    def _in_context(self, here: IntArray, tags: ByteArray, words: IntArray) -> None:
        now = tags[here]
        changed = now.copy()
        for old, rules in self._rules.items():
            chosen = np.flatnonzero(now == old)
            if len(chosen):
                changed[chosen] = _applied(rules, here[chosen], old, tags, words)
        tags[here] = changed

    def _compiled(self, context: list[list[str]]) -> dict[int, list[_Rule]]:
        """Group the rules by the tag that they change, with words and tags as numbers."""
        rules: dict[int, list[_Rule]] = defaultdict(list)
        for old, new, kind, *operands in context:
            every = kind.lower() in _ALL
            table = (_ALL if every else _ANY).get(kind.lower())
            if table is None:  # TextBlob knows these rules by name and applies none of them
                continue
            if old in _NOUNS and new not in _NOUNS and not _SENTENCE.intersection(operands):
                continue
            changed = self.tags if old == _EVERY else [old]
            compared = tuple(
                (offset, is_word, self._operand(operands[which], is_word))
                for offset, is_word, which in table
            )
            for tag in changed:
                rules[self._code[tag]].append(_Rule(self._code[new], every, compared))
        return dict(rules)

    def _operand(self, text: str, is_word: bool) -> int:
        if is_word:
            return int(self._vocabulary.index(pl.Series([text.replace("'", "")]))[0])
        return self._code.get(text, -1)

    def _unseen(self, words: pl.Series) -> ByteArray:
        """Tag words by themselves: by the lexicon, else as a name, a number or by their form."""
        asked = pl.DataFrame({"word": words}).with_columns(
            name=pl.col("word").str.to_titlecase(), number=pl.col("word").str.contains(_NUMBER)
        )
        known = asked.join(self._lexicon, on="word", how="left", maintain_order="left")
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
        codes[rows] = self._by_form(words.gather(rows))
        return codes

    def _by_form(self, words: pl.Series) -> ByteArray:
        """Apply the rules of form, one after the other, to words that no lexicon knows."""
        tags = np.full(len(words), self._code["NN"], np.uint8)
        for rule in self._suffixes:
            conditional = rule[2] in _FORMS
            kind, affix = (rule[2][1:], rule[1]) if conditional else (rule[1], rule[0])
            if kind not in ("char", "haspref", "hassuf", "deletesuf", "deletepref", "addsuf"):
                continue
            rows = np.flatnonzero(tags == self._code.get(rule[0], 255)) if conditional else None
            some = words if rows is None else words.gather(rows)
            hits = np.flatnonzero(self._has_form(some, kind, affix))
            tags[hits if rows is None else rows[hits]] = self._code[rule[-2]]
        return tags

    def _has_form(self, words: pl.Series, kind: str, affix: str) -> BoolArray:
        if kind == "char":
            return words.str.contains(affix, literal=True).to_numpy()
        if kind == "haspref":
            return words.str.starts_with(affix).to_numpy()
        if kind == "hassuf":
            return words.str.ends_with(affix).to_numpy()
        lexicon = self._lexicon["word"].implode()
        if kind == "addsuf":
            return (words + affix).is_in(lexicon).to_numpy()
        if kind == "deletesuf":
            ends = words.str.ends_with(affix)
            return (ends & words.str.strip_suffix(affix).is_in(lexicon)).to_numpy()
        starts = words.str.starts_with(affix)
        return (starts & words.str.strip_prefix(affix).is_in(lexicon)).to_numpy()


_FORMS = {
    f"f{kind}"
    for kind in (
        "char", "haspref", "hassuf", "addpref", "addsuf", "deletepref", "deletesuf",
        "goodleft", "goodright",
    )
}  # fmt: skip


def _applied(
    rules: list[_Rule], here: IntArray, old: int, tags: ByteArray, words: IntArray
) -> ByteArray:
    """Give the new tags of words that all have the tag `old`; the last rule that fits wins."""
    changed = np.full(len(here), old, np.uint8)
    for rule in rules:
        holds: NDArray[np.bool_] | None = None
        for offset, is_word, value in rule.compared:
            one = (words if is_word else tags)[here + offset] == value
            joined = np.logical_and if rule.every else np.logical_or
            holds = one if holds is None else joined(holds, one)
        changed[holds] = rule.new
    return changed


@cache
def english_lexicon() -> pl.DataFrame:
    """Give the words that the model knows, each with its usual tag."""
    pairs = [line.split() for line in load_word_list("lexicon")]
    columns = {"word": [pair[0] for pair in pairs], "tag": [pair[1] for pair in pairs]}
    return pl.DataFrame(columns, schema={"word": pl.String, "tag": pl.String})


_PENN = {"NOUN": "NN", "PROPN": "NNP", "ADJ": "JJ", "NUM": "CD", "VERB": "VB", "AUX": "MD"}
_CODES = {"english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it",
          "dutch": "nl", "portuguese": "pt", "danish": "da", "norwegian": "nb", "polish": "pl",
          "romanian": "ro", "russian": "ru", "swedish": "sv", "finnish": "fi", "greek": "el",
          "catalan": "ca", "lithuanian": "lt"}  # fmt: skip


class NounTagger:
    """Takes every word for a noun; stop words part the phrases."""

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Tell for each word what it can be in a noun phrase."""
        return np.full(len(texts.items), NOUN, np.uint8)

    def names(self, texts: RaggedArray) -> list[str]:
        """Give the tag of each word by its name."""
        return ["word"] * len(texts.items)


class SpacyTagger:
    """Tags with a spaCy model that is installed; some fifty times slower than ours."""

    def __init__(self, vocabulary: Vocabulary, language: str) -> None:
        self._vocabulary = vocabulary
        self._model = _load(language)

    def word_classes(self, texts: RaggedArray) -> ByteArray:
        """Tell for each word what it can be in a noun phrase."""
        return word_classes(self.names(texts))

    def names(self, texts: RaggedArray) -> list[str]:
        """Give the tag of each word by its name: Penn's, or the nearest to spaCy's own."""
        words = self._vocabulary.words
        docs = (self._doc(words.gather(texts[row]).to_list()) for row in range(len(texts)))
        return [_penn(token) for doc in self._model.pipe(docs, batch_size=1000) for token in doc]

    def _doc(self, words: list[str]) -> Any:
        from spacy.tokens import Doc  # noqa: PLC0415

        return Doc(self._model.vocab, words=words)


def _penn(token: Any) -> str:
    if token.tag_ in ("VBG", "VBN"):
        return str(token.tag_)
    return _PENN.get(token.pos_, "IN")


def _load(language: str) -> Any:
    try:
        import spacy  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "the tagger spacy is not installed", hint="pip install 'queryveil[spacy]'"
        ) from error
    code = _CODES.get(language, language)
    models = sorted(m for m in spacy.util.get_installed_models() if m.startswith(f"{code}_"))
    if not models:
        raise UsageError(
            f"spaCy has no model for {language} here",
            hint=f"install one, such as {code}_core_web_sm, or leave --tagger out",
        )
    return spacy.load(models[0], exclude=["ner", "parser", "lemmatizer"])
