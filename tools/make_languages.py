"""Make the data packages of other languages, packages/queryveil-lang-XX.

    apt-get download wordnet-sense-index && dpkg -x wordnet-sense-index_*.deb wordnet
    python tools/make_languages.py --omw FOLDER --shopify FOLDER \
      --senses wordnet/usr/share/wordnet/index.sense

The folder --omw has the files wn-data-XXX.tab.gz and wn-wikt-XXX.tab.gz of the Open Multilingual
Wordnet, and the licence of each beside it. Each package has the nouns of a language with the
numbers of their concepts in WordNet 3.0, the usual sense first, and the other words of the language
without a concept. The licences differ, and none of the files is part of the program itself.

The wordnets do not order senses. Here a concept counts as more usual if it is frequent in WordNet's
tagged texts, if its English words have it as an early sense, if several concepts of the noun share
an English word (then that word is its translation), and if wordnets of other languages have it. The
weights were fitted on product categories. What a noun means in shops is learned from aligned
categories (shop_words.py) and comes before. The meanings of common words that are written by hand
(languages/XX.txt) come first.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import math
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from queryveil._version import __version__
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.language import get_language, load_word_list
from queryveil.concepts.mapping.web_lexicon import load_web_lexicon
from queryveil.concepts.taxonomy.graph import Taxonomy
from shop_words import EnglishHeads, learn_words, read_categories

LISTS = Path(__file__).parent / "languages"
PACKAGES = Path(__file__).parents[1] / "packages"
COMMIT = "f75be19ec590"  # of github.com/omwn/omw-data, folder wns


@dataclass(frozen=True)
class Source:
    """A wordnet: the file, its licence, and whom to name."""

    code: str
    language: str
    file: str
    license_file: str
    license: str
    credit: str


BY_SA = "https://creativecommons.org/licenses/by-sa"
SOURCES = (
    Source("de", "German", "wn-wikt-deu.tab.gz", "wikt.LICENSE", "CC-BY-SA-3.0",
           "Wiktionary contributors; extracted by Francis Bond and Ryan Foster for the Open "
           "Multilingual Wordnet"),
    Source("fr", "French", "wn-data-fra.tab.gz", "fra.LICENSE", "CECILL-C",
           "WOLF (Wordnet Libre du Français), Benoît Sagot and Darja Fišer"),
    Source("es", "Spanish", "wn-wikt-spa.tab.gz", "wikt.LICENSE", "CC-BY-SA-3.0",
           "Wiktionary contributors; extracted by Francis Bond and Ryan Foster for the Open "
           "Multilingual Wordnet"),
    Source("it", "Italian", "wn-data-ita.tab.gz", "ita.LICENSE", "CC-BY-3.0",
           "MultiWordNet, Emanuele Pianta, Luisa Bentivogli and Christian Girardi, FBK"),
    Source("nl", "Dutch", "wn-data-nld.tab.gz", "nld.LICENSE", "CC-BY-SA-4.0",
           "Open Dutch WordNet, Marten Postma and Piek Vossen, VU University Amsterdam"),
    Source("pt", "Portuguese", "wn-data-por.tab.gz", "por.LICENSE", "CC-BY-SA-3.0",
           "OpenWN-PT, Valeria de Paiva, Alexandre Rademaker and others"),
    Source("pl", "Polish", "wn-data-pol.tab.gz", "pol.LICENSE", "LicenseRef-plWordNet",
           "plWordNet 2.3, Wrocław University of Technology"),
    Source("sv", "Swedish", "wn-data-swe.tab.gz", "swe.LICENSE", "CC-BY-3.0",
           "WordNet-SALDO, Språkbanken, University of Gothenburg"),
    Source("da", "Danish", "wn-data-dan.tab.gz", "dan.LICENSE", "LicenseRef-DanNet",
           "DanNet 2.1, University of Copenhagen and Society for Danish Language and Literature"),
)  # fmt: skip


@dataclass
class Words:
    """The words of a language: nouns with their concepts, and words of other classes."""

    nouns: dict[str, list[str]]
    others: set[str]


def read_words(path: Path, known: Iterable[str]) -> Words:
    """Read a file of the Open Multilingual Wordnet; a concept is `n#` and its number."""
    concepts = frozenset(known)
    words = Words(defaultdict(list), set())
    for line in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines():
        cells = line.split("\t")
        if line.startswith("#") or len(cells) < 3 or not cells[1].endswith("lemma"):
            continue
        number, _, word_class = cells[0].partition("-")
        text = " ".join(cells[2].replace("_", " ").split()).lower()
        concept = f"n#{number}"
        if word_class != "n":
            words.others.add(text)
        elif text and concept in concepts and concept not in words.nouns[text]:
            words.nouns[text].append(concept)
    words.nouns = {text: senses for text, senses in words.nouns.items() if senses}
    return words


class Senses:
    """Order the concepts of a noun, the usual one first."""

    def __init__(self, wordnet: Taxonomy, languages: Mapping[str, Words], index: Path) -> None:
        self._counts: Counter[str] = Counter()
        for line in index.read_text("utf-8").splitlines():
            key, number, _, count = line.split()
            if key.partition("%")[2].startswith("1"):  # nouns
                self._counts[f"n#{number}"] += int(count)
        self._rank: dict[str, dict[str, int]] = defaultdict(dict)  # concept: English word: sense
        names = wordnet.names.series().to_list()
        usual = dict(line.split("\t") for line in load_word_list("usual meanings"))
        usual |= dict(load_web_lexicon().senses)
        for row, label in enumerate(wordnet.labels.series().str.to_lowercase().to_list()):
            for rank, concept in enumerate(wordnet.label_concepts[row]):
                self._rank[names[concept]].setdefault(label, rank + 1)
        for label, concept in usual.items():
            if label in self._rank.get(concept, {}):
                for senses in self._rank.values():
                    if label in senses:
                        senses[label] += 1
                self._rank[concept][label] = 1
        self._support = Counter(
            concept
            for words in languages.values()
            for concept in {c for senses in words.nouns.values() for c in senses}
        )

    def sort(self, concepts: list[str]) -> list[str]:
        """Return the concepts of a noun in the order of their scores."""
        shared = Counter(label for concept in concepts for label in self._rank[concept])
        return sorted(concepts, key=lambda concept: (-self._score(concept, shared), concept))

    def _score(self, concept: str, shared: Counter[str]) -> float:
        ranks = self._rank[concept]
        if not ranks:
            return 0.0
        first = min(ranks.values())
        return (
            0.31 * math.log1p(self._counts[concept])
            + 0.34 * self._support[concept]
            + 1.16 * max(shared[label] / rank for label, rank in ranks.items())
            + 0.5 / first
            - 0.46 * math.log1p(first)
            - 0.34 * sum(shared[label] - 1 for label in ranks) / len(ranks)
            - 0.45 * math.log1p(len(ranks))
        )


def read_usual(wordnet: Taxonomy, code: str) -> dict[str, str]:
    """Return the meanings that are written by hand: word and concept, `-` for none."""
    path = LISTS / f"{code}.txt"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    usual = {}
    for line in lines:
        for entry in ("" if line.startswith("#") else line).split(";"):
            words, _, meaning = entry.partition(" = ")
            label, _, sense = meaning.strip().partition("#")
            for word in words.split(",") if meaning else ():
                usual[word.strip()] = _name_sense(wordnet, label, int(sense or 1))
    return usual


def _name_sense(wordnet: Taxonomy, label: str, sense: int) -> str:
    return label if label == "-" else wordnet.name(wordnet.lookup(label)[sense - 1])


def add_learned(words: Words, learned: Mapping[str, str]) -> None:
    """Put the meaning of a word in shops before its other meanings."""
    for text, concept in learned.items():
        if concept == "-":
            words.nouns.pop(text, None)
            continue
        others = [name for name in words.nouns.get(text, []) if name != concept]
        words.nouns[text] = [concept, *others]


def align_plurals(words: Words, usual: Mapping[str, str], code: str, wordnet: Taxonomy) -> None:
    """Give plurals that are listed as words the meaning of their singular, where it is by hand.

    A name that is spelled like the plural of a noun is dropped: French dogs are not Volgograd.
    """
    language, known = get_language(code), set(words.nouns)
    texts = [text for text in words.nouns if " " not in text and text not in usual]
    forms = language.singulars(pl.Series(texts, dtype=pl.String))
    for text, *singulars in zip(texts, *forms, strict=True):
        listed = [*singulars, *(_strip_german(text) if code == "de" else ())]
        singular = next((form for form in listed if form != text and form in known), None)
        meant = next((form for form in listed if form in usual and form in known), None)
        if meant is not None:
            words.nouns[text] = words.nouns[meant]
        elif singular is not None:
            first = wordnet.find(words.nouns[text][0])
            if wordnet.tags["proper"][first] == 1:
                del words.nouns[text]


def _strip_german(text: str) -> list[str]:
    """Return what a German plural may come from: "bälle" from "ball", "geräte" from "gerät"."""
    plain = text.translate(str.maketrans("äöü", "aou"))
    return [
        form.removesuffix(ending)
        for form in (text, plain)
        for ending in ("", "e", "er", "n", "en")
        if form.endswith(ending) and (ending or form != text) and len(form) > len(ending) + 2
    ]


def write_package(source: Source, words: Words, learned: int, by_hand: int, folder: Path) -> int:
    """Write a data package; return the size of its data file."""
    target = PACKAGES / f"queryveil-lang-{source.code}"
    module = target / "src" / f"queryveil_lang_{source.code}"
    module.mkdir(parents=True, exist_ok=True)
    lines = []
    for text in sorted({*words.nouns, *words.others}):
        names = [name.removeprefix("n#") for name in words.nouns.get(text, [])]
        lines.append(f"{text}\t{' '.join(names)}\t{'x' if text in words.others else ''}")
    data = gzip.compress("\n".join(lines).encode("utf-8"), 9, mtime=0)
    (module / "words.tsv.gz").write_bytes(data)
    (module / "__init__.py").write_text(
        f'"""{source.language} words on the concepts of WordNet 3.0, for queryveil."""\n', "utf-8"
    )
    suffix = ".html" if b"<html" in (folder / source.license_file).read_bytes()[:500] else ""
    for old in target.glob("LICENSE*"):
        old.unlink()
    shutil.copyfile(folder / source.license_file, target / f"LICENSE{suffix}")
    (target / f"LICENSE{suffix}").chmod(0o644)
    (target / "pyproject.toml").write_text(_project(source), "utf-8")
    (target / "README.md").write_text(
        _readme(source, words, (learned, by_hand), folder, data, suffix), "utf-8"
    )
    return len(data)


def _project(source: Source) -> str:
    module = f"queryveil_lang_{source.code}"
    return f"""[build-system]
requires = ["hatchling>=1.21"]
build-backend = "hatchling.build"

[project]
name = "queryveil-lang-{source.code}"
version = "{__version__}"
description = "{source.language} words on the concepts of WordNet 3.0, for queryveil."
readme = "README.md"
requires-python = ">=3.11"
license = {{ text = "{source.license}" }}

# The program finds the data by this entry point; the name is the code of the language.
[project.entry-points."queryveil.languages"]
{source.code} = "{module}"

[tool.hatch.build.targets.wheel]
packages = ["src/{module}"]
"""


def _readme(
    source: Source, words: Words, meanings: tuple[int, int], folder: Path, data: bytes, suffix: str
) -> str:
    digests = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in (source.file, source.license_file)
    }
    return f"""# queryveil-lang-{source.code}

{source.language} words for [queryveil](../../README.md): {len(words.nouns):,} nouns with their
concepts in WordNet 3.0, and {len(words.others - words.nouns.keys()):,} other words without one.
Install it beside the program, from the clone:

    pip install packages/queryveil-lang-{source.code}

Then `--language {source.code}` maps queries in {source.language}. There is no code in this package.

## Licence

The data file is licensed under **{source.license}**, not under the licence of the program: see
[LICENSE{suffix}](LICENSE{suffix}). Please credit: {source.credit}.

Changes to the source: words in lower case; concepts of nouns only, in the order of how usual they
are; definitions, examples and relations are left out. {_credit_shop(*meanings)}

## Source

Open Multilingual Wordnet, github.com/omwn/omw-data at {COMMIT}, made by `tools/make_languages.py`.

| file | SHA-256 |
|---|---|
| `{source.file}` | `{digests[source.file]}` |
| `{source.license_file}` | `{digests[source.license_file]}` |
| `words.tsv.gz` (this package) | `{hashlib.sha256(data).hexdigest()}` |
"""


def _credit_shop(learned: int, by_hand: int) -> str:
    text = ""
    if learned:
        text = (
            f"The meanings of {learned:,} words in shops\nwere learned from Shopify's product "
            "taxonomy (MIT, Copyright (c) Shopify), at a2d47e8fcd8c."
        )
    if by_hand:
        text += (
            f"\nThe meanings of {by_hand:,} common words were written by hand for this package "
            "(`tools/languages`)."
        )
    return text


def main() -> None:
    """Make all packages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--omw", type=Path, required=True)
    parser.add_argument("--shopify", type=Path, required=True)
    parser.add_argument("--senses", type=Path, required=True)
    parser.add_argument("--all-ids", action="store_true", help="learn from held-out ids too")
    options = parser.parse_args()
    wordnet = open_taxonomy("wordnet-nouns")
    known = wordnet.names.series().to_list()
    languages = {source.code: read_words(options.omw / source.file, known) for source in SOURCES}
    senses = Senses(wordnet, languages, options.senses)
    listed = read_usual(wordnet, "en")
    english = EnglishHeads.of(wordnet, read_categories(options.shopify, "en"), listed)
    for source in SOURCES:
        words = languages[source.code]
        words.nouns = {text: senses.sort(names) for text, names in words.nouns.items()}
        categories = read_categories(options.shopify, source.code)
        learned = learn_words(
            english, categories, source.code, words.nouns, all_ids=options.all_ids
        )
        add_learned(words, learned)
        usual = read_usual(wordnet, source.code)
        add_learned(words, usual)
        align_plurals(words, usual, source.code, wordnet)
        size = write_package(source, words, len(learned), len(usual), options.omw)
        print(
            f"{source.code}: {len(words.nouns):,} nouns, {len(learned):,} learned, {size:,} bytes"
        )


if __name__ == "__main__":
    main()
