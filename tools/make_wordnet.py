"""Make the file of WordNet's nouns that comes with the program.

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb wordnet
    python tools/make_wordnet.py wordnet/usr/share/wordnet

It reads data.noun (synsets and their hypernyms, instances included) and index.noun (lemmas
with their senses, the most usual first). Glosses are left out. See LICENSE-wordnet.txt.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from queryveil.concepts.taxonomy.builder import RepairLog, TaxonomyBuilder

OUT = Path(__file__).parents[1] / "src/queryveil/concepts/data/wordnet.qvt"
# The lexicographer files of nouns, in the order of their numbers from 03; see lexnames(5WN).
TOPICS = [
    "general",
    "act",
    "animal",
    "artifact",
    "attribute",
    "body",
    "cognition",
    "communication",
    "event",
    "feeling",
    "food",
    "group",
    "location",
    "motive",
    "object",
    "person",
    "phenomenon",
    "plant",
    "possession",
    "process",
    "quantity",
    "relation",
    "shape",
    "state",
    "substance",
    "time",
]


def entries(path: Path) -> Iterator[list[str]]:
    for line in path.read_text("utf-8").splitlines():
        if not line.startswith("  "):
            yield line.split(" | ")[0].split()


def main(folder: Path) -> None:
    draft = TaxonomyBuilder("wordnet")
    places: dict[str, int] = {}
    above: list[list[str]] = []
    own: list[str] = []
    topics: list[int] = []
    proper: list[bool] = []
    for place, (offset, topic, _, words, *rest) in enumerate(entries(folder / "data.noun")):
        count = int(words, 16)
        pointers = rest[2 * count + 1 :]
        steps = zip(pointers[::4], pointers[1::4], strict=False)
        above.append([target for sign, target in steps if sign in ("@", "@i")])
        own.append(rest[0].lower().replace("_", " "))
        topics.append(int(topic) - 3)
        proper.append(rest[0][0].isupper())
        places[offset] = draft.add(f"n#{offset}", place)
    for child, targets in enumerate(above):
        for target in targets:
            draft.edge(child, places[target])
    for lemma, _, senses, *rest in entries(folder / "index.noun"):
        for offset in rest[-int(senses) :]:
            draft.label(places[offset], lemma.replace("_", " "))
    taxonomy = draft.build(RepairLog("data.noun"))
    rows = {label: row for row, label in enumerate(taxonomy.labels.series())}
    order = [places[name.removeprefix("n#")] for name in taxonomy.names.series()]
    finished = replace(
        taxonomy,
        titles=np.array([rows[own[place]] for place in order], np.int32),
        tags={
            "lexicographer": np.array([topics[place] for place in order], np.uint8),
            "proper": np.array([proper[place] for place in order], np.uint8),
        },
        tag_names={"lexicographer": TOPICS},
    )
    finished.write(OUT, packed=True)
    print(
        f"{len(taxonomy):,} synsets, {len(rows):,} lemmas, {len(taxonomy.parents.items):,} edges, "
        f"{OUT.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
