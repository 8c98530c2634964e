"""Make the list of words for health that WordNet has: diseases, symptoms, medicines, treatments.

    python tools/make_sensitive.py

A word is taken if all its meanings lie below the concepts of `BRANCHES`, and if it is no name.
Everything else about sensitive topics is written by hand in
src/queryveil/lexicons/data/sensitive.txt.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.lexicons.sensitive_terms import split_signs
from queryveil.lexicons.storage import DATA, write_lists

# The label of a concept, and that of its parent, which tells its meanings apart.
BRANCHES = {
    "health": (
        ("ill health", "pathological state"),
        ("disease", "illness"),
        ("symptom", "evidence"),
        ("medicine", "drug"),
        ("medical procedure", "procedure"),
        ("mental disorder", "disorder"),
        ("tumor", "growth"),
        ("therapy", "medical care"),
        ("medicine", "medical science"),
        ("injury", "ill health"),
        ("disorder", "physical condition"),
        ("nerve", "fiber bundle"),
        ("internal organ", "organ"),
        ("gland", "organ"),
        ("blood vessel", "vessel"),
        ("muscle", "contractile organ"),
        ("diagnostic test", "assay"),
        ("medical care", "treatment"),
        ("hormone", "secretion"),
    )
}
# Words that mean something else in queries, or animals' health, or no more than a hint.
LEFT_OUT = """
    acoustic, adrenaline, anatomy, balm, bayer, black spot, bleeding, blight, blister, bloat,
    blue angel, blue devil, burn, burning, chicken breast, cold, cosmetic, crystal violet, cut,
    distemper, dust, fire blight, gid, gland, glanders, gray, hand, health physics, heaves, hickey,
    hot flash, house, illness, intern, leaf spot, lotion, mange, manson, mildew, pharmaceutical,
    red water, roaring, root rot, rot, rupture, rust, scald, scratch, shock, smart, smut, spavin,
    spots, staggers, sting, strangles, swelling, therapeutic, therapy, vet, veterinarian,
    veterinary, wilt, yellows
"""
SHORTEST = 4


def terms_below(branches: tuple[tuple[str, str], ...]) -> list[str]:
    taxonomy = open_taxonomy("wordnet-nouns")
    inside = np.zeros(len(taxonomy), np.bool_)
    for label, parent in branches:
        for concept in taxonomy.lookup(label):
            above = taxonomy.parents[concept]
            if len(above) and parent in taxonomy.labels_of(int(above[0])):
                inside[taxonomy.descendants(concept)] = True
    labels = [
        taxonomy.labels[row]
        for row in range(len(taxonomy.labels))
        if inside[np.asarray(taxonomy.label_concepts[row])].all()
    ]
    folded = split_signs(pl.Series([label for label in labels if label == label.lower()]))
    left_out = {word.strip() for word in LEFT_OUT.split(",")}
    return sorted(term for term in set(folded) if len(term) >= SHORTEST and term not in left_out)


def main() -> None:
    lists = {topic: terms_below(branches) for topic, branches in BRANCHES.items()}
    write_lists(DATA / "sensitive-wordnet.zst", lists)
    print({topic: len(terms) for topic, terms in lists.items()})


if __name__ == "__main__":
    main()
