"""Make the lexicon of brands and web sites that comes with the program.

    npm pack name-suggestion-index@8.0.20260918 && mkdir nsi && tar xzf name-suggestion*.tgz -C nsi
    pip download --no-deps whotracksme==2018.5.17 && unzip -d wtm whotracksme-*.whl
    python tools/make_lexicon.py --nsi nsi/package --whotracksme wtm --kagi kagi-bangs.json.gz \
      --opendns opendns-top-domains.txt

The names that many people search for, their concepts and the usual senses of words on the web are
written by hand, in tools/lexicon. The sources add the long tail. A name that is also a common
word, a place or a name of a person counts only in an address; a name of several common words only
as a whole query. Versions and hashes are written to SOURCES-web.txt beside the lexicon.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.language import load_word_list
from queryveil.concepts.mapping.tokens import tokenize
from queryveil.concepts.mapping.web_lexicon import ADDRESS, ANYWHERE, WHOLE
from queryveil.concepts.taxonomy.arrays import StringArray
from queryveil.concepts.taxonomy.graph import Taxonomy
from queryveil.concepts.taxonomy.storage import write_arrays

HAND = Path(__file__).parent / "lexicon"
OUT = Path(__file__).parents[1] / "src/queryveil/concepts/data/web.lexicon"
WEB_SITE, ADULT = "n#06359193", "web:kind/adult site"
LOCATION = "n#00027167"
COUNTRIES = {
    "001", "us", "ca", "gb", "ie", "au", "de", "at", "ch", "fr", "be", "es", "it", "nl", "pl", "se",
    "dk", "pt",
}  # fmt: skip
SUFFIXES = (
    r"\.(?:com|net|org|edu|gov|info|biz|tv|us|co\.uk|de|fr|es|it|nl|ca|au|ru|jp|br|cn|in|pl|se|dk"
    r"|me|io|fm|to|cc|mx)$"
)


@dataclass
class Lexicon:
    """The lexicon while it is collected; a text that is there already keeps its first meaning."""

    wordnet: Taxonomy
    parents: list[str] = field(default_factory=list)  # names of concepts that entries lie below
    categories: dict[str, str] = field(default_factory=dict)  # own concept: concept above it
    entries: dict[str, tuple[int, int]] = field(default_factory=dict)  # text: parent, use
    joined: dict[str, str] = field(default_factory=dict)  # text without blanks: text
    aliases: dict[str, tuple[str, int]] = field(default_factory=dict)  # text: concept, use

    def parent(self, text: str) -> int:
        """Return the index of a concept that is written as "label#sense" or "own < label"."""
        own, _, above = (part.strip() for part in text.partition("<"))
        name = f"web:kind/{own}" if above else self.concept(own)
        if above:
            self.categories[own] = self.concept(above)
        if name not in self.parents:
            self.parents.append(name)
        return self.parents.index(name)

    def concept(self, text: str) -> str:
        label, _, sense = text.partition("#")
        meanings = self.wordnet.lookup(label)
        if len(meanings) < int(sense or 1):
            raise SystemExit(f"WordNet has no {text!r}")
        return self.wordnet.name(meanings[int(sense or 1) - 1])

    def add(self, text: str, parent: int, use: int) -> None:
        key = spell(text)
        same = self.joined.get(key.replace(" ", ""))
        if key in self.aliases:
            return
        if same is not None:  # "wal mart" is "walmart"
            self.alias(text, f"web:{same}", use)
        elif key:
            self.entries[key] = (parent, use)
            self.joined[key.replace(" ", "")] = key

    def alias(self, text: str, concept: str, use: int) -> None:
        key = spell(text)
        if key in self.entries:
            parent, own = self.entries[key]
            self.entries[key] = (parent, min(own, use))
        elif key:
            self.aliases.setdefault(key, (concept, use))


def spell(text: str) -> str:
    """Return the words of a name; the suffix of an address is not part of them."""
    text = re.sub(r"^(?:https?://)?(?:www\.)?", "", text.strip().lower())
    return " ".join(tokenize(pl.Series([re.sub(SUFFIXES, "", text)])).item().to_list())


def read_lines(name: str) -> Iterator[str]:
    for line in (HAND / name).read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.strip()


def add_hand(lexicon: Lexicon) -> None:
    parent, titles = -1, False
    aliases, addresses = [], []
    for line in read_lines("brands.txt"):
        if line.startswith("["):
            parent = lexicon.parent(line.strip("[]"))
            titles = line in TITLES
        elif " = " in line:
            aliases.append(line.split(" = "))
        else:
            for name in filter(None, (part.strip() for part in line.split(","))):
                if re.search(SUFFIXES, name) and " " not in name:
                    addresses.append((name, parent))
                else:
                    is_common = name.endswith("*") or is_title(name, titles)
                    lexicon.add(name.rstrip("*"), parent, WHOLE if is_common else ANYWHERE)
    for name, parent in addresses:  # "barbie" is the doll, also in "barbie.com"
        if spell(name).replace(" ", "") not in lexicon.joined:
            lexicon.add(name, parent, ADDRESS)
    for alias, name in aliases:
        target = lexicon.joined.get(spell(name).replace(" ", ""))
        if target is None:
            raise SystemExit(f"{alias} is an alias of {name}, which is not listed")
        is_address = re.search(SUFFIXES, alias) is not None
        use = ADDRESS if is_address else WHOLE if "*" in alias else ANYWHERE
        lexicon.alias(alias.rstrip("*"), f"web:{target}", use)


def join_logins(lexicon: Lexicon) -> None:
    """Make "paypal login" an alias of "paypal": a label must not look like a typed query."""
    for text in list(lexicon.entries):
        base = re.sub(r" (?:login|log in|sign in|inbox|email login)$", "", text)
        if base != text and base in lexicon.entries:
            _, use = lexicon.entries.pop(text)
            del lexicon.joined[text.replace(" ", "")]
            lexicon.alias(text, f"web:{base}", use)


def is_title(name: str, titles: bool) -> bool:
    """Return whether a name is a common word, or a title made of common words."""
    words = spell(name).split()
    if len(words) == 1:
        return words[0] in WORDS
    return titles and all(word in WORDS for word in words)


def read_categories() -> dict[str, dict[str, str]]:
    tables: dict[str, dict[str, str]] = {}
    for line in read_lines("categories.txt"):
        source, rest = line.split(" ", 1)
        category, concept = rest.split(" = ")
        tables.setdefault(source, {})[category] = concept
    return tables


def find_category(table: dict[str, str], category: str) -> str | None:
    """Return the concept of the longest start of a category that the table has."""
    fitting = [start for start in table if category.startswith(start)]
    concept = table[max(fitting, key=len)] if fitting else "-"
    return None if concept == "-" else concept


COMMON: set[str] = set()
WORDS: set[str] = set()  # nouns, verbs and so on, without names
# Sections with titles: "office space" is a film only as the whole query.
TITLES = (
    "[film#1]",
    "[television program]",
    "[musical organization]",
    "[magazine]",
    "[video game]",
    "[song#1]",
    "[book#1]",
    "[fictional character]",
)


def load_common(wordnet: Taxonomy) -> None:
    """Collect the words that mean something else than a brand."""
    lexicon = (line.split()[0] for line in load_word_list("lexicon"))
    WORDS.update(word for word in lexicon if word.islower())
    COMMON.update(WORDS)
    for name in ("given names", "surnames", "cities", "towns"):
        COMMON.update(load_word_list(name))
    COMMON.update(label.lower() for label in wordnet.labels.series())


def choose_use(text: str) -> int:
    """Return where a name of a source counts."""
    words = spell(text).split()
    joined = "".join(words)
    if spell(text) in COMMON or joined in COMMON or len(joined) < 4 or joined.isdigit():
        return ADDRESS
    return WHOLE if all(word in COMMON for word in words) and len(words) > 1 else ANYWHERE


def add_nsi(lexicon: Lexicon, folder: Path, table: dict[str, str]) -> None:
    index = json.loads((folder / "dist/json/nsi.min.json").read_text("utf-8"))["nsi"]
    for path, group in index.items():
        tree, _, category = path.partition("/")
        concept = find_category(table, category) if tree == "brands" else None
        for item in group["items"] if concept else ():
            places = {str(p).lower()[:3].rstrip("-") for p in item["locationSet"]["include"]}
            name = re.sub(r"\(.*\)", "", item["displayName"]).strip()
            if places & COUNTRIES and re.fullmatch(r"[\w &'.-]{3,40}", name) and name[0].isascii():
                use = choose_use(name)
                if use != ADDRESS:
                    lexicon.add(name, lexicon.parent(concept or ""), use)


def add_kagi(lexicon: Lexicon, path: Path, table: dict[str, str]) -> None:
    for bang in json.loads(gzip.decompress(path.read_bytes())):
        concept = find_category(table, f"{bang.get('c')}: {bang.get('sc')}")
        stem = site_stem(bang["d"])
        if concept and stem and spell(bang["s"]).replace(" ", "") == stem and len(stem) > 2:
            lexicon.add(bang["s"], lexicon.parent(concept), choose_use(bang["s"]))


def add_whotracksme(lexicon: Lexicon, folder: Path, table: dict[str, str]) -> None:
    sites: dict[str, str] = {}
    for path in sorted(folder.glob("whotracksme/data/assets/*/global/sites.csv")):
        with path.open(encoding="utf-8") as file:
            sites |= {row["site"]: row["category"].strip() for row in csv.DictReader(file)}
    for site, category in sorted(sites.items()):
        concept, stem = find_category(table, category), site_stem(site)
        if not concept or not stem:
            continue
        if "adult" in concept:  # one concept for all, and none of their names as a label
            lexicon.parent(concept)
            lexicon.alias(stem, ADULT, choose_use(stem))
        else:
            lexicon.add(stem, lexicon.parent(concept), choose_use(stem))


def add_opendns(lexicon: Lexicon, path: Path) -> None:
    for domain in path.read_text("utf-8").split():
        stem = site_stem(domain)
        if stem and len(stem) > 3:
            lexicon.alias(stem, WEB_SITE, choose_use(stem))


def site_stem(host: str) -> str | None:
    """Return the name of a site: "bbc" of www.bbc.co.uk."""
    labels = host.lower().removeprefix("www.").split(".")
    if len(labels) > 2 and labels[-2] in ("co", "com", "org", "ac", "gov", "net"):
        labels = labels[:-1]
    stem = labels[-2] if len(labels) > 1 else ""
    return stem.replace("-", "") if re.fullmatch("[a-z0-9-]+", stem) else None


def read_senses(lexicon: Lexicon) -> list[str]:
    """Return the usual senses of words on the web: word, tab, concept.

    A frequent brand that WordNet knows as something else is a brand: "nissan" is no month.
    """
    pairs = {
        name: f"@{name}"
        for name, (_, use) in lexicon.entries.items()
        if use == ANYWHERE and is_other_name(lexicon.wordnet, name)
    }
    parts = (part.strip() for line in read_lines("senses.txt") for part in line.split(";"))
    pairs |= dict(part.split(" = ") for part in parts if part)
    return [f"{word}\t{find_sense(lexicon, concept)}" for word, concept in pairs.items()]


def is_other_name(wordnet: Taxonomy, name: str) -> bool:
    """Return whether WordNet has a name as that of a person, or as a rare word."""
    meanings = wordnet.lookup(name)
    if not meanings or LOCATION in map(wordnet.name, wordnet.ancestors(meanings[0])):
        return " " not in name and bool(meanings)
    is_proper = bool(wordnet.tags["proper"][meanings[0]])
    return is_proper or (" " not in name and name not in WORDS)


def find_sense(lexicon: Lexicon, concept: str) -> str:
    """Return the concept of "label#sense", of "@brand", or "-" for none."""
    if concept == "-" or not concept.startswith("@"):
        return concept if concept == "-" else lexicon.concept(concept)
    target = lexicon.joined.get(spell(concept[1:]).replace(" ", ""))
    if target is None:
        raise SystemExit(f"there is no brand {concept}")
    return f"web:{target}"


def write_sources(paths: list[Path]) -> None:
    lines = [
        f"{path.name}  sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in paths
    ]
    notice = (HAND / "NOTICE.txt").read_text("utf-8")
    (OUT.parent / "SOURCES-web.txt").write_text(notice + "\n" + "\n".join(lines) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("nsi", "whotracksme", "kagi", "opendns"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    lexicon = Lexicon(open_taxonomy("wordnet-nouns"))
    load_common(lexicon.wordnet)
    tables = read_categories()
    add_hand(lexicon)
    frequent = {name for name, (_, use) in lexicon.entries.items() if use == ANYWHERE}
    print(f"{len(lexicon.entries):,} names written by hand")
    senses = read_senses(lexicon)
    add_nsi(lexicon, given.nsi, tables["nsi"])
    add_kagi(lexicon, given.kagi, tables["kagi"])
    add_whotracksme(lexicon, given.whotracksme, tables["wtm"])
    add_opendns(lexicon, given.opendns)
    join_logins(lexicon)
    entries = sorted(lexicon.entries.items())
    aliases = sorted(lexicon.aliases.items())
    arrays = {
        "categories": StringArray.of([f"{k}\t{v}" for k, v in lexicon.categories.items()]).bytes,
        "parents": StringArray.of(lexicon.parents).bytes,
        "names": StringArray.of([text for text, _ in entries]).bytes,
        "parent of": np.array([parent for _, (parent, _) in entries], np.uint8),
        "use of": np.array([use for _, (_, use) in entries], np.uint8),
        "frequent": np.array([text in frequent for text, _ in entries], np.uint8),
        "aliases": StringArray.of([f"{text}\t{c}" for text, (c, _) in aliases]).bytes,
        "alias use": np.array([use for _, (_, use) in aliases], np.uint8),
        "senses": StringArray.of(senses).bytes,
    }
    write_arrays(OUT, {"title": "brands and web sites"}, arrays, packed=True, overwrite=True)
    sources = [given.nsi / "dist/json/nsi.min.json", given.kagi, given.opendns]
    write_sources(
        [
            *sources,
            *sorted(given.whotracksme.glob("whotracksme/data/assets/*/global/sites.csv"))[-1:],
        ]
    )
    print(f"{len(entries):,} names, {len(aliases):,} aliases, {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
