"""Full names of people: recall by position and country, false alarms, and judged web queries.

Two measurements. (a) A generated, labelled set: names that the package Faker makes for eleven
countries (pip install faker; its lists are not those of our lexicon), in positions in which people
type them; against labels of WordNet, brands, towns, and titles that hold words that are names.
(b) Judged TREC queries: docs/explanation/judged-people.md has topic numbers with verdicts, so that
precision and recall are computed again for the rules of today. The texts are read from a wheel
(see concepts.py) and stay outside the project. What is not installed is left out.

Usage: people.py [--names 300] [--page]
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from concepts import web_queries
from pages import put_table
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.language import load_word_list
from queryveil.lexicons import contains_full_name

JUDGED = Path(__file__).parents[1] / "docs" / "explanation" / "judged-people.md"
HOW_TO = Path(__file__).parents[1] / "docs" / "how-to" / "identifiers.md"
LOCALES = (
    "en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "nl_NL", "pl_PL", "sv_SE", "da_DK",
    "pt_PT",
)  # fmt: skip
POSITIONS = {
    "alone": "{first} {last}",
    "surname first": "{last}, {first}",
    "with a title": "dr {first} {last}",
    "with an initial": "{first} {initial} {last}",
    "with a town": "{first} {last} {town}",
    "in a question": "who is {first} {last}",
    "before a word": "{first} {last} obituary",
    "after words": "phone number of {first} {last}",
    "misspelled": "{first} {typo}",
}
TITLES = """purple rain; sweet caroline; billie jean; come on eileen; roxanne lyrics; hey jude;
jolene lyrics; layla chords; peggy sue song; rosanna toto; sweet child o mine; mustang sally;
american pie; yellow submarine; eleanor rigby tabs; dancing queen; paint it black; angie stones;
ruby tuesday; lucy in the sky with diamonds; free bird; hotel california; rose garden; summer wine;
crystal clear; forest green paint; jasmine rice; earl grey tea; virginia ham; boston terrier;
paris hotels; austin weather; victoria secret; lincoln town car; ford focus; dodge charger;
royal oak; grace period; hope chest; faith based; mark down; bill of rights; art museum; dean list;
frank and beans; grant application; chase bank login; drew school; will and testament; rob a bank;
pat on the back; sue for damages; jack in the box; john deere tractor; peter principle; tom yum;
max speed; ray of light; rich text; rusty nail; sandy beach; sunny day; dusty road; misty morning;
charlotte hornets; orlando magic; denver broncos; dallas cowboys; jackson hole; madison avenue;
phoenix suns; savannah cat; sydney opera house; florence italy; geneva convention; milan fashion;
london bridge; chelsea boots; brooklyn nets; kelly blue book; dell laptop; carter seed; baker act;
cook islands; hunter boots; fisher price; mason jar; taylor guitar; miller lite; parker pen;
cooper tires; tyler texas; carson city; logan airport; lawrence kansas; warren buffet line"""


def misspell(word: str, draw: random.Random) -> str:
    """Give a word with one letter left out, doubled or exchanged with the next one."""
    place = draw.randrange(1, max(2, len(word) - 1))
    kind = draw.randrange(3)
    if kind == 0:
        return word[:place] + word[place + 1 :]
    if kind == 1:
        return word[:place] + word[place] + word[place:]
    return word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :]


def generated(count: int) -> pl.DataFrame | None:
    """Give names in all positions: locale, position, text."""
    try:
        from faker import Faker
    except ImportError:
        return None
    draw = random.Random(20)
    towns = [town for town in load_word_list("cities") if " " not in town]
    rows = []
    for locale in LOCALES:
        fake = Faker(locale)
        fake.seed_instance(20)
        for _ in range(count):
            first, last = fake.first_name().lower(), fake.last_name().lower()
            parts = {
                "first": first, "last": last, "town": draw.choice(towns),
                "initial": draw.choice("abcdefghijklmnopr"), "typo": misspell(last, draw),
            }  # fmt: skip
            rows += [(locale, name, form.format(**parts)) for name, form in POSITIONS.items()]
    return pl.DataFrame(rows, schema=["locale", "position", "text"], orient="row")


def harmless(count: int) -> Iterator[tuple[str, pl.Series]]:
    """Give texts that name no person, by source."""
    draw = random.Random(20)
    nouns, web = open_taxonomy("wordnet-nouns"), open_taxonomy("wordnet")
    person = set(nouns.descendants(nouns.find("person")).tolist())
    concepts = nouns.label_concepts
    labels = [
        label
        for number, label in enumerate(nouns.labels)
        if " " in label and not person.intersection(concepts[number])
    ]
    yield "WordNet, not below person", pl.Series(draw.sample(labels, 20 * count))
    brands = sorted(set(web.labels) - set(nouns.labels))
    yield "brands and sites", pl.Series([label for label in brands if " " in label])
    towns = [town for name in ("cities", "towns") for town in load_word_list(name)]
    yield "towns of several words", pl.Series([town for town in towns if " " in town])
    yield "titles and products", pl.Series([title.strip() for title in TITLES.split(";")])


def judged() -> pl.DataFrame:
    """Give the judged topics: topic, whether it names a person, and its weight."""
    rows: list[tuple[int, bool, float]] = []
    for weight, verdict, topics in re.findall(
        r"^\| [^|]+ \| ([0-9.]+) \| (person|none) \| ([0-9 ]+) \|$", JUDGED.read_text(), re.M
    ):
        rows += [(int(topic), verdict == "person", float(weight)) for topic in topics.split()]
    return pl.DataFrame(rows, schema=["topic", "person", "weight"], orient="row")


def score(queries: pl.Series) -> str:
    """Give precision and recall on the judged queries, each weighted by what it stands for."""
    topics = judged()
    flags = contains_full_name(queries.gather(topics["topic"].to_numpy() - 1))
    table = topics.with_columns(flag=flags)
    hits = table.filter(pl.col("flag") & pl.col("person"))["weight"].sum()
    precision = hits / table.filter("flag")["weight"].sum()
    recall = hits / table.filter("person")["weight"].sum()
    return (
        f"| judged web queries ({table.height:,}) | precision {precision:.1%}, "
        f"recall {recall:.1%} |"
    )


def table(count: int) -> str:
    rows = ["| | measured |", "|---|---|"]
    queries = web_queries()
    if queries is not None:
        rows.append(score(queries))
        share = contains_full_name(queries.unique()).mean()
        rows.append(f"| distinct web queries with a name | {share:.1%} |")
    names = generated(count)
    if names is not None:
        named = names.with_columns(flag=contains_full_name(names["text"]))
        for key in ("position", "locale"):
            means = named.group_by(key, maintain_order=True).agg(pl.col("flag").mean())
            shares = ", ".join(f"{name} {share:.0%}" for name, share in means.rows())
            rows.append(f"| generated names recognized, by {key} | {shares} |")
    for source, texts in harmless(count):
        flags = contains_full_name(texts)
        rows.append(f"| flagged of {len(texts):,} {source} | {flags.mean():.1%} |")
    return "\n".join(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=300)
    parser.add_argument("--page", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    result = table(options.names)
    print(result, file=sys.stderr if options.page else sys.stdout)
    if options.page:
        put_table("people", result, HOW_TO)
