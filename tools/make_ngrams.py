"""Make the profiles by which the language of a log is guessed: frequencies of three letters.

    npm pack @openstreetmap/id-tagging-schema@7.2.0 && tar xzf openstreetmap-id-tagging-*.tgz
    python tools/make_ngrams.py package

The texts are names and synonyms of kinds of places in ten languages (ISC licence); only numbers of
letter sequences are kept. See LICENSE-languages.txt beside the file.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from queryveil.concepts.mapping.guessing import CODES
from queryveil.concepts.mapping.language import LANGUAGE_CODES
from queryveil.concepts.mapping.stop_words import LISTS
from queryveil.concepts.mapping.tokens import tokenize
from queryveil.concepts.taxonomy.arrays import StringArray
from queryveil.concepts.taxonomy.storage import write_arrays

OUT = Path(__file__).parents[1] / "src/queryveil/concepts/data/languages.ngrams"
KEPT = 600  # of each language


def texts_of(node: Any) -> Iterator[str]:
    """Yield the texts of a document of translations, without its keys."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from texts_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from texts_of(value)


def count_trigrams(words: Counter[str]) -> Counter[str]:
    """Count the sequences of three letters; a word begins and ends with a blank."""
    counts: Counter[str] = Counter()
    for word, number in words.items():
        padded = f" {word} "
        for start in range(len(padded) - 2):
            counts[padded[start : start + 3]] += number
    return counts


def main() -> None:
    """Make the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    folder = parser.parse_args().package / "dist" / "translations"
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for code in CODES:
        document = json.loads((folder / f"{code}.json").read_text("utf-8"))
        texts = pl.Series(list(texts_of(document[code]["presets"]["presets"])))
        listed = tokenize(texts).explode().drop_nulls()
        words = Counter(word for word in listed.unique() if word.isalpha())
        words.update(dict.fromkeys(LISTS[LANGUAGE_CODES[code]].split(), 20))
        counts = count_trigrams(words)
        total = counts.total()
        frequent = sorted(counts, key=lambda text: (-counts[text], text))[:KEPT]
        arrays[f"{code} texts"] = StringArray.of(
            [text.replace(" ", "_") for text in frequent]
        ).bytes
        arrays[f"{code} bits"] = np.array(
            [round(-8 * math.log2(counts[text] / total)) for text in frequent], np.uint8
        )
        print(code, len(words), arrays[f"{code} bits"][[0, -1]])
    write_arrays(OUT, {"title": "letters of languages"}, arrays, packed=True)
    print(f"{OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
