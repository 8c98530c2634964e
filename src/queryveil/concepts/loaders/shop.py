"""Shopify's product taxonomy in nine languages, which comes with the program.

The file has the ids of the categories once, and their labels in each language. An id holds that of
the parent ("ap-2-1" is below "ap-2"), so concepts have the same names and numbers in every
language. `tools/make_shop.py` makes the file; SOURCES-shop.txt beside it lists the sources.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from ...errors import UsageError
from ..taxonomy.arrays import IntArray, RaggedArray, StringArray
from ..taxonomy.graph import Taxonomy
from ..taxonomy.storage import Arrays, read_arrays

SHOP = "shop"
FILE = Path(__file__).parents[1] / "data" / "shop.labels"
LANGUAGES = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "nl": "dutch",
    "pl": "polish",
    "pt": "portuguese",
    "sv": "swedish",
}
SHOP_NAMES = {SHOP if code == "en" else f"{SHOP}-{code}": code for code in LANGUAGES}


def open_shop(code: str) -> Taxonomy:
    """Return the product taxonomy with the labels of one language.

    >>> shop = open_shop("de")
    >>> shop.language, shop.label(shop.find("aa-1-4"))
    ('german', 'Kleider')
    """
    arrays = _read()
    ids = StringArray(arrays["names"]).series()
    levels = ids.str.count_matches("-", literal=True).cast(pl.Int64) + 1
    order = np.argsort(levels.to_numpy(), kind="stable")  # by level, as concepts are numbered
    names = pl.concat([pl.Series("text", [""]), ids.gather(order)])
    own = StringArray(arrays[f"labels {code}"]).series().gather(order)
    titles = pl.concat([pl.Series("text", ["Top"]), own])  # the root is artificial
    labels, meanings = _index_labels(names, titles, StringArray(arrays[f"aliases {code}"]).series())
    return Taxonomy(
        title=SHOP if code == "en" else f"{SHOP}-{code}",
        names=StringArray.of(names.to_list()),
        labels=StringArray.of(labels.to_list()),
        label_concepts=meanings,
        titles=_find_rows(titles, labels),
        parents=_find_parents(ids.gather(order)),
        has_real_root=False,
        language=LANGUAGES[code],
        tags={
            "product": np.ones(len(names), np.uint8),
            "rare": np.concatenate([np.zeros(1, np.uint8), arrays["rare"][order]]),
        },
    )


def name_in_language(name: str, language: str | None) -> str:
    """Return the name of the product taxonomy in a language.

    Args:
        name: `shop`, which has all languages, or a name with a language, as `shop-de`. Other
            names are returned as they are.
        language: A language by its English name or its code; None keeps the name.

    Raises:
        UsageError: The taxonomy does not have the language.

    >>> name_in_language("shop", "german"), name_in_language("shop", "de")
    ('shop-de', 'shop-de')
    """
    if name not in SHOP_NAMES or language is None:
        return name
    asked = language.strip().lower()
    codes = {known: code for code, known in LANGUAGES.items()} | {code: code for code in LANGUAGES}
    names = {code: own for own, code in SHOP_NAMES.items()}
    if asked not in codes:
        raise UsageError(
            f'the taxonomy {SHOP} has no labels in the language "{language}"',
            hint=f"it has {', '.join(LANGUAGES.values())}",
        )
    chosen = names[codes[asked]]
    if name not in (SHOP, chosen):
        raise UsageError(
            f"the labels of {name} are {LANGUAGES[SHOP_NAMES[name]]}, and the language is "
            f'"{language}"',
            hint=f"use {chosen}",
        )
    return chosen


@cache
def _read() -> Arrays:
    return read_arrays(FILE)[1]


def _index_labels(
    names: pl.Series, titles: pl.Series, aliases: pl.Series
) -> tuple[pl.Series, RaggedArray]:
    """Return the sorted labels and the concepts of each, higher ones first.

    An alias is an id, a tab and a label; it comes before categories of the same label.
    """
    pairs = pl.DataFrame({"alias": aliases}).select(
        pl.col("alias").str.split_exact("\t", 1).struct.rename_fields(["name", "text"])
    )
    other = pairs.unnest("alias")
    texts = pl.concat([other["text"], titles])
    concepts = np.concatenate([_find_rows(other["name"], names), np.arange(len(names))])
    labels = texts.unique().sort()
    return labels, RaggedArray.group_by(
        _find_rows(texts, labels), concepts.astype(np.int32), len(labels)
    )


def _find_rows(texts: pl.Series, among: pl.Series) -> IntArray:
    """Return the row of each text among distinct texts."""
    rows = pl.DataFrame({"text": among}).with_row_index("row")
    joined = pl.DataFrame({"text": texts}).join(rows, on="text", how="left", maintain_order="left")
    return joined["row"].to_numpy().astype(np.int32)


def _find_parents(ids: pl.Series) -> RaggedArray:
    """Return the parents of the root and of all categories, whose numbers begin with 1."""
    numbers = pl.DataFrame({"id": ids}).with_row_index("number", offset=1)
    above = pl.DataFrame({"id": ids.str.replace(r"-?[^-]*$", "")})
    joined = above.join(numbers, on="id", how="left", maintain_order="left")
    parents = joined["number"].fill_null(0).to_numpy().astype(np.int32)
    sizes = np.ones(len(parents) + 1, np.int64)
    sizes[0] = 0
    return RaggedArray.from_sizes(sizes, parents)
