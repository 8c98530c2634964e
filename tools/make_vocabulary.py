"""Make the vocabulary of the synthetic log from WordNet's nouns. A dev-time script.

    pip install wordsegment
    python tools/make_vocabulary.py /usr/share/wordnet src/queryveil/synthetic/vocabulary.txt

The first argument is the folder of Debian's ``wordnet-base`` (``data.noun``, ``index.noun`` and
``cntlist.rev`` are read), the second the file to write. One line is one topic, a subtree of
WordNet's nouns: the topic's name (``dog.n.01`` is the first sense of "dog"), then its words, most
popular first, all separated by tabs. Topics stand in order of popularity too. Popularity is the
count of a word in the web text behind the ``wordsegment`` package.

A lemma is kept when the topic holds its first sense, so a later look-up of the word in WordNet
finds the topic again, and when it is used as a noun more than as a verb or an adjective. It goes
to the smallest topic that holds it. Instances (London, Everest) are taken for places only, and no
capitalised lemma for people, so no real person is named.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from pathlib import Path

import wordsegment  # type: ignore[import-not-found,import-untyped,unused-ignore]

# Subtrees that people search for: "lemma.sense", the sense counted from 1 as in index.noun.
THINGS = """
academic_degree.1 aircraft.1 alcohol.1 art.1 artist.1 athlete.1 beverage.1 biology.1 bird.1
bird_of_prey.1 boat.1 body_part.1 bone.1 book.1 bread.1 building.1 building_material.1 cake.3
cancer.1 car.1 card_game.1 cheese.1 chemical_element.1 clothing.1 coat.1 color.1 computer.1
cooking_utensil.1 court.1 crime.1 dairy_product.1 dancing.1 dessert.1 disease.1 dish.2 dog.1 drug.1
edible_fruit.1 educational_institution.1 educator.1 electronic_equipment.1 emotion.1 engineer.1
engineering.2 fabric.1 feline.1 fish.1 flower.1 furniture.1 game.1 garment.1 gemstone.1
geological_formation.1 grass.1 gun.1 health_professional.1 herb.1 horse.1 hotel.1 house.1
household_appliance.1 infectious_disease.1 insect.1 insurance.1 jewelry.1 journey.1
kitchen_appliance.1 language.1 lawyer.1 loan.1 mathematics.1 meat.1 medical_procedure.1
medical_science.1 medicine.2 mental_disorder.1 metal.1 military_officer.1 military_unit.1 mineral.1
monetary_unit.1 money.1 motor_vehicle.1 movie.1 music_genre.1 musical_composition.1
musical_instrument.1 musician.1 mythical_being.1 organ.1 performer.1 physics.1 place_of_worship.1
primate.2 program.7 relative.1 religion.1 religion.2 religious_holiday.1 restaurant.1 rodent.1
room.1 sauce.1 science.1 scientist.1 seafood.1 seasoning.1 seat.3 ship.1 shoe.1 shop.1 shrub.1
skin_disease.1 snake.1 social_science.1 software.1 sport.1 sports_equipment.1 storm.1 sweet.3
symptom.1 table.2 tax.1 telephone.1 therapy.1 timepiece.1 toiletry.1 tool.1 toy.1 travel.1 tree.1
undergarment.1 vegetable.1 vitamin.1 weapon.1 weather.1 wheeled_vehicle.1 wine.1 wood.1 writer.1
"""

# Places: here the instances are what people search for.
PLACES = """
american_state.1 city.1 country.2 island.1 lake.1 mountain_peak.1 port.1
province.1 river.1
"""

# Not for a test log, alone or in a collocation: slurs, sexual words, first names and
# abbreviations that read as something else than their topic.
BLOCKED = """
aba acc alexander amd ana ang anna anus are asp ass bang bastard ben benjamin bitch bob
boob bra britt bugger butt chad chink clarence clit clitoris cock colbert cole coon cooter
costa crapper cripple cro cub cum cunt dick dike dle dong dun dyke elvis enl erica escort
fag faggot fanny founder gary gat genital genitalia genitals gyp gypsy harlot heather holly
homo honky hooker hussy incest jap john johnny jonathan karen kike kylie lat lesbian leu
liza lynch madam marcel marge max mil minge moll molly mulatto murphy naked nec negro nice
nigger nipple nsu nude paddy pansy panties pecker pederast penis pid pimp pip porn prick
prostitute prostitution pussy queer rape rapist res rick ron sadist sam sambo sas savage
seb sen sex sexual sexually shag sle slut som spade spastic spic spook squaw strumpet sur
swinger tammy tart ted testicle testicular testis tit titty tours tramp tranny transsexual
trump vagina wench whitney whore wog wop yid
"""


WORDS_PER_TOPIC = 100
WORDS_NEEDED = 15
# Counts in the trillion words of web text that wordsegment's figures come from.
RARE_WORD = 150_000
RARE_PART = 4_000_000
COLLOCATION_SHARE = 300  # an unlisted collocation is taken to be this much rarer than its parts

LEMMA = re.compile(r"[a-z]{3,}(_[a-z]+){0,2}|[a-z]+(_[a-z]+){1,2}")


@dataclass(frozen=True)
class Synset:
    """One concept: its lemmas, and the concepts and instances right under it."""

    lemmas: tuple[str, ...]
    kinds: tuple[str, ...]
    instances: tuple[str, ...]


def read_synset(line: str) -> tuple[str, Synset]:
    """Parse a line of data.noun: offset, lemmas and pointers downwards."""
    fields = line.partition(" | ")[0].split(" ")
    after = 4 + 2 * int(fields[3], 16)
    pointers = list(zip(fields[after + 1 :: 4], fields[after + 2 :: 4], strict=False))
    return fields[0], Synset(
        tuple(fields[4:after:2]),
        tuple(offset for symbol, offset in pointers if symbol == "~"),
        tuple(offset for symbol, offset in pointers if symbol == "~i"),
    )


def read_senses(line: str) -> tuple[str, list[str]]:
    """Parse a line of index.noun: the lemma and the offsets of its senses, most common first."""
    fields = line.split()
    return fields[0], fields[-int(fields[2]) :]


def lines_of(path: Path) -> list[str]:
    """Read the lines of a WordNet file that follow its licence, which is indented."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return [line for line in text.splitlines() if not line.startswith(" ")]


def other_than_nouns(path: Path) -> set[str]:
    """Read cntlist.rev for the lemmas that are tagged as a noun less often than otherwise."""
    nouns: Counter[str] = Counter()
    for line in lines_of(path):
        key, _, count = line.split()
        lemma, kind = key.split("%")
        nouns[lemma] += int(count) if kind.startswith("1") else -int(count)
    return {lemma for lemma, surplus in nouns.items() if surplus < 0}


def popularity(lemma: str) -> float:
    """Estimate how often a lemma is written on the web; 0 when too rare for a query."""
    parts = lemma.split("_")
    counts = [float(wordsegment.UNIGRAMS.get(part, 0)) for part in parts]
    if len(parts) == 1:
        return counts[0] if counts[0] >= RARE_WORD else 0
    pairs = [float(wordsegment.BIGRAMS.get(f"{a} {b}", 0)) for a, b in pairwise(parts)]
    if min(pairs) > 0:
        return min(pairs)
    return min(counts) / COLLOCATION_SHARE if min(counts) >= RARE_PART else 0


class Nouns:
    """WordNet's nouns, and which of their lemmas the vocabulary may use."""

    def __init__(self, folder: Path) -> None:
        self.synsets = dict(map(read_synset, lines_of(folder / "data.noun")))
        self.senses = dict(map(read_senses, lines_of(folder / "index.noun")))
        self.unwanted = other_than_nouns(folder / "cntlist.rev")
        self.blocked = set(BLOCKED.split())
        self.people = self.subtree("person.1", with_instances=False)

    def subtree(self, root: str, *, with_instances: bool) -> set[str]:
        """Collect the offsets of everything under a root, itself included."""
        lemma, sense = root.rsplit(".", 1)
        found: set[str] = set()
        waiting = [self.senses[lemma][int(sense) - 1]]
        while waiting:
            offset = waiting.pop()
            if offset not in found:
                found.add(offset)
                synset = self.synsets[offset]
                waiting += synset.kinds + (synset.instances if with_instances else ())
        return found

    def words(self, offset: str) -> dict[str, float]:
        """Weigh the lemmas of a synset that may be used."""
        weights = {
            lemma.lower(): popularity(lemma.lower())
            for lemma in self.synsets[offset].lemmas
            if self.is_usable(lemma.lower(), offset)
            and not (offset in self.people and lemma[0].isupper())
        }
        return {lemma: weight for lemma, weight in weights.items() if weight}

    def is_usable(self, lemma: str, offset: str) -> bool:
        """Tell whether a lemma is plain, harmless, mostly a noun, and means this synset first."""
        return (
            LEMMA.fullmatch(lemma) is not None
            and self.blocked.isdisjoint(lemma.split("_"))
            and lemma not in self.unwanted
            and self.senses[lemma][0] == offset
        )


def topics(nouns: Nouns) -> dict[str, dict[str, float]]:
    """Give every synset to the smallest topic that holds it; topic -> lemma -> popularity."""
    trees = {root: nouns.subtree(root, with_instances=False) for root in THINGS.split()}
    trees |= {root: nouns.subtree(root, with_instances=True) for root in PLACES.split()}
    owner: dict[str, str] = {}
    for root in sorted(trees, key=lambda root: (-len(trees[root]), root)):
        owner.update(dict.fromkeys(trees[root], root))
    found: dict[str, dict[str, float]] = {root: {} for root in trees}
    for offset, root in owner.items():
        found[root].update(nouns.words(offset))
    return found


def line_of(root: str, words: dict[str, float]) -> str:
    """Write a topic: its name and its words, most popular first."""
    lemma, sense = root.rsplit(".", 1)
    ordered = sorted(words, key=lambda word: (-words[word], word))[:WORDS_PER_TOPIC]
    return "\t".join([f"{lemma}.n.{int(sense):02}", *(word.replace("_", " ") for word in ordered)])


def interest(words: dict[str, float]) -> float:
    """Weigh a topic. The root keeps one very common word from carrying its topic to the top."""
    return sum(sqrt(weight) for weight in words.values())


def main() -> None:
    """Read WordNet and write the vocabulary."""
    folder, target = map(Path, sys.argv[1:])
    wordsegment.load()
    found = topics(Nouns(folder))
    kept = [root for root in found if len(found[root]) >= WORDS_NEEDED]
    kept.sort(key=lambda root: (-interest(found[root]), root))
    target.write_text("".join(line_of(root, found[root]) + "\n" for root in kept), encoding="utf-8")
    print(f"{len(kept)} topics; too small: {sorted(set(found) - set(kept))}")


if __name__ == "__main__":
    main()
