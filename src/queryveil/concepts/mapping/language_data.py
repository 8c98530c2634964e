"""The words of other languages on the concepts of WordNet, and WordNet with their labels.

The data have licences of their own, so they are packages of their own (`packages/` in the clone).
An entry point of the group `queryveil.languages` names a package; else it is known by its name.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.util import find_spec

import numpy as np
import polars as pl

from ...errors import FormatError, UsageError
from ..taxonomy.arrays import BoolArray, IntArray, RaggedArray, StringArray
from ..taxonomy.graph import Taxonomy
from .accents import singulars
from .language import Language, get_language, language_code

GROUP = "queryveil.languages"
PACKAGED = ("de", "fr", "es", "it", "nl", "pt", "pl", "sv", "da")
_FILE = "words.tsv.gz"
_WORDNET = r"(?:^|[/:])n#\d{8}$"


@dataclass(frozen=True, eq=False, repr=False)
class LanguageData:
    """The words of a language.

    Attributes:
        nouns: `text` and `concepts`, a list of names of concepts, the usual sense first.
        others: Words that are, also or only, of another class than nouns.
    """

    nouns: pl.DataFrame
    others: pl.Series

    def all_words(self) -> pl.Series:
        """Return all single words."""
        texts = pl.concat([self.nouns["text"], self.others])
        return texts.filter(~texts.str.contains(" ")).unique().sort()


def has_language_data(language: Language) -> bool:
    """Return whether the data of a language are installed."""
    return _find_module(language_code(language.name)) is not None


def is_installed(code: str) -> bool:
    """Return whether queries of a language can be mapped to WordNet."""
    return code == "en" or has_language_data(get_language(code))


def load_language_data(language: Language) -> LanguageData:
    """Return the words of a language.

    Raises:
        UsageError: They are not installed, or there are none for this language.
    """
    code = language_code(language.name)
    module = _find_module(code)
    if module is None:
        raise UsageError(
            f"the words of {language.name.title()} are not installed", hint=install_hint(code)
        )
    return _read_data(module)


# Adjectives before a noun that are also nouns, in languages in which the head comes first.
_BEFORE = {
    "french": "petit petite petits petites grand grande grands grandes gros grosse beau belle bon "
    "bonne nouveau nouvelle nouveaux nouvelles vieux vieille mini double premier première",
    "spanish": "gran grande grandes pequeño pequeña nuevo nueva buen bueno buena mini doble primer",
    "italian": "piccolo piccola piccoli piccole grande grandi nuovo nuova bello bella buono buona "
    "mini doppio doppia primo prima",
    "portuguese": "grande grandes pequeno pequena novo nova bom boa mini duplo dupla primeiro",
    "polish": "mały mała małe duży duża duże nowy nowa nowe mini",
}


# Nouns after the topic that say what is wanted of it, in languages in which the head comes last.
_AFTER = {
    "german": "vergleich test tests kosten preis preise angebot angebote vorlage vorlagen muster "
    "ideen tipps tabelle ergebnis ergebnisse höhe erfahrung erfahrungen bilder download forum "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag heute morgen",
    "dutch": "vergelijken test tests kosten prijs prijzen aanbieding aanbiedingen ideeën tips "
    "ervaringen foto resultaten vandaag morgen",
}


def non_nouns(language: Language) -> tuple[list[str], list[str]]:
    """Return the words that are no nouns, and words that are nouns and others as well."""
    if language.has_tagger or not has_language_data(language):
        return [], []
    data = load_language_data(language)
    is_noun = data.others.is_in(data.nouns["text"].implode())
    ambiguous = data.others.filter(is_noun).to_list()
    if language.head_first:
        ambiguous = _BEFORE.get(language.name, "").split()
    ambiguous += _AFTER.get(language.name, "").split()
    return data.others.filter(~is_noun).to_list(), ambiguous


_MIN_VERB = 3  # letters of the stem


def list_compound_starts(language: Language) -> list[str]:
    """Return adjectives and stems of verbs, with which compounds begin: "koch" in "kochtopf"."""
    if not has_language_data(language):
        return []
    words = load_language_data(language).others
    words = words.filter(words.str.contains(r"^\pL+$") & (words.str.len_chars() > _MIN_VERB))
    stems = words.str.replace(r"e?n$|a$|e$", "")
    return [*words, *stems.filter(stems.str.len_chars() >= _MIN_VERB)]


def list_own_words(language: Language) -> list[str]:
    """Return the words of a language other than English, which are no names of brands."""
    if language.has_tagger or not has_language_data(language):
        return []
    data = load_language_data(language)
    return [*data.nouns["text"], *data.others, *language.stop_words]


def install_hint(code: str) -> str:
    """Return how the data of a language are installed.

    >>> install_hint("de")
    '`pip install queryveil-lang-de`; in a clone `pip install packages/queryveil-lang-de`'
    """
    if code not in PACKAGED:
        return f"there are data for: en, {', '.join(PACKAGED)}; or import a taxonomy in it"
    name = f"queryveil-lang-{code}"
    return f"`pip install {name}`; in a clone `pip install packages/{name}`"


def _find_module(code: str) -> str | None:
    """Return the name of the module with the data of a language."""
    for entry in entry_points(group=GROUP, name=code):
        return entry.value
    module = f"queryveil_lang_{code}"
    return module if code.isalpha() and find_spec(module) is not None else None


@cache
def _read_data(module: str) -> LanguageData:
    path = files(module) / _FILE
    try:
        table = pl.read_csv(
            gzip.decompress(path.read_bytes()), separator="\t", has_header=False, quote_char=None,
            schema={"text": pl.String, "concepts": pl.String, "other": pl.String},
        )  # fmt: skip
    except (OSError, EOFError, pl.exceptions.PolarsError) as error:
        raise FormatError("this file of words is damaged", where=path) from error
    nouns = table.filter(pl.col("concepts").fill_null("") != "").select(
        "text", concepts=("n#" + pl.col("concepts").str.replace_all(" ", " n#")).str.split(" ")
    )
    return LanguageData(nouns, table.filter(pl.col("other") == "x")["text"])


def in_language(taxonomy: Taxonomy, name: str | None) -> Taxonomy:
    """Return a taxonomy with the labels of a language; the concepts and their numbers stay.

    The labels of WordNet's concepts are replaced. A concept that the language has no word for keeps
    its English title, by which no query is mapped. Names of people, places and brands stay.

    Raises:
        UsageError: The words of the language are not installed, or the taxonomy has the labels of
            another language only.
    """
    if name is None:
        return taxonomy
    language = get_language(name)
    key = f"in {language.name}"
    localized = taxonomy.cache.get(key)
    if isinstance(localized, Taxonomy):
        return localized
    if language.name == taxonomy.language:
        return taxonomy
    is_wordnet = taxonomy.names.series().str.contains(_WORDNET).to_numpy()
    if not is_wordnet.any():
        _check_language(taxonomy, language)
        return taxonomy
    localized = _replace_labels(taxonomy, language, is_wordnet)
    title = f"{taxonomy.title}, {language.name.title()} words"
    localized = replace(localized, title=title, language=language.name)
    taxonomy.cache[key] = localized
    return localized


def _check_language(taxonomy: Taxonomy, language: Language) -> None:
    """Raise an error if the labels are known to be of another language.

    English is also the language of taxonomies for which nobody named one.
    """
    if taxonomy.language != "english":
        raise UsageError(
            f"the labels of {taxonomy.title} are {taxonomy.language.title()}, not "
            f"{language.name.title()}",
            hint=f"`language={language_code(taxonomy.language)}`, or import the taxonomy again "
            "with its labels of the other language",
        )


def _replace_labels(taxonomy: Taxonomy, language: Language, is_wordnet: BoolArray) -> Taxonomy:
    data = load_language_data(language)
    names = taxonomy.names.series()
    numbers = pl.DataFrame({"name": names.str.extract(r"(n#\d{8})$")}).with_row_index("concept")
    nouns = data.nouns.with_row_index("row").explode("concepts")
    nouns = nouns.join(
        numbers.filter(pl.Series(is_wordnet)),
        left_on="concepts", right_on="name", maintain_order="left",
    )  # fmt: skip
    kept = _list_kept(taxonomy, is_wordnet, data, language)
    texts = pl.concat([nouns["text"], kept["text"]])
    concepts = np.concatenate([nouns["concept"].to_numpy(), kept["concept"].to_numpy()])
    labels = texts.unique(maintain_order=True)
    rows = _index_texts(labels, texts)
    titles = _choose_titles(rows, concepts, labels.str.len_chars().to_numpy()[rows], len(taxonomy))
    without = np.flatnonzero(titles < 0)
    titles[without] = len(labels) + np.arange(len(without))
    english = taxonomy.labels.series().gather(taxonomy.titles[without])
    meanings = RaggedArray.group_by(rows, concepts.astype(np.int32), len(labels) + len(without))
    return replace(
        taxonomy,
        labels=StringArray.of([*labels.to_list(), *english.to_list()]),
        label_concepts=meanings,
        titles=titles.astype(np.int32),
        file=None,
        cache={},
    )


def _list_kept(
    taxonomy: Taxonomy, is_wordnet: BoolArray, data: LanguageData, language: Language
) -> pl.DataFrame:
    """Return text and concept of the labels that stay: names, and all of other taxonomies."""
    lists = taxonomy.label_concepts
    proper = taxonomy.tags.get("proper", np.zeros(len(taxonomy), np.int64)) == 1
    table = pl.DataFrame(
        {
            "text": taxonomy.labels.series().gather(lists.row_ids),
            "concept": lists.items.astype(np.uint32),
            "own": ~is_wordnet[lists.items],
            "proper": proper[lists.items],
        }
    )
    word = pl.concat([data.nouns["text"], data.others]).implode()
    text = table["text"].str.to_lowercase()
    forms = [text, *singulars(text, language.name)]  # "brazos" are arms, not a river
    is_own = pl.any_horizontal([form.is_in(word) for form in forms])
    is_name = pl.col("proper") & ~table.select(is_own).to_series()
    return table.filter(pl.col("own") | is_name)


def _index_texts(labels: pl.Series, texts: pl.Series) -> IntArray:
    table = pl.DataFrame({"text": labels}).with_row_index("row")
    joined = pl.DataFrame({"text": texts}).join(table, on="text", maintain_order="left")
    return joined["row"].to_numpy().astype(np.int64)


def _choose_titles(rows: IntArray, concepts: IntArray, lengths: IntArray, size: int) -> IntArray:
    """Return for each concept the shortest label with it as first sense, else any, or -1."""
    titles = np.full(size, -1, np.int64)
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = rows[1:] != rows[:-1]
    order = np.lexsort((-lengths, is_first))  # the last one that is written stays
    titles[concepts[order]] = rows[order]
    return titles
