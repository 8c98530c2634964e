"""The compiled labels of a product taxonomy: products by their main noun and other words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from ..taxonomy.arrays import IntArray
from ..taxonomy.graph import Taxonomy
from .language import Language
from .product_grammar import product_grammar
from .product_words import ProductLabel, ProductPart, WordPieces, parse_label

PRODUCT, RARE = "product", "rare"
# Roles of the words of a label: a product's own, one of several choices, or of another product.
OWN, CHOICE, OTHER = range(3)
# What the words of a label cost that a query does not have, as fractions of their weight.
OWN_COST, OTHER_COST, CHOSEN_COST, NO_CHOICE_COST = 0.6, 0.25, 0.1, 0.5
# What a level costs, and a product that few shops have.
_DEPTH_COST, _RARE_COST = 0.6, 3.0
_BRANCH_LEVEL, _FEW_LABELS, _MIN_FRACTION = 2, 5, 0.02


def has_product_rules(taxonomy: Taxonomy) -> bool:
    """Return whether all concepts of a taxonomy are products."""
    return PRODUCT in taxonomy.tags and bool((taxonomy.tags[PRODUCT] == 1).all())


@dataclass(frozen=True, eq=False, repr=False)
class ProductIndex:
    """The compiled labels of a product taxonomy. An entry is one product that a label names.

    Attributes:
        pieces: The pieces of words.
        units: The pieces that labels have: `piece`, its number `unit` and its `weight`.
        entries: The products, in order: `concept`, `branch`, whether the label names no other
            (`alone`), its number of words (`size`), the weights of the words of each role
            (`all_0` to `all_2`), and what it costs by its level and by being rare.
        pairs: For the last piece of each main noun (`head`) its products with another piece:
            `head`, `unit`, `entry`, `weight` and `role`.
        usual: The best product for each `head` alone.
        by_branch: The best product for each `head` alone in each `branch`.
        branches: `unit`, `branch` and the `fraction` of the labels with this piece in the branch.
    """

    pieces: WordPieces
    units: pl.DataFrame
    entries: pl.DataFrame
    pairs: pl.DataFrame
    usual: pl.DataFrame
    by_branch: pl.DataFrame
    branches: pl.DataFrame


def product_index(taxonomy: Taxonomy, language: Language) -> ProductIndex:
    """Return the index of a taxonomy, which is built once per language."""
    key = f"products {language.name}"
    cached = taxonomy.cache.get(key)
    if not isinstance(cached, ProductIndex):
        cached = taxonomy.cache[key] = _build_index(taxonomy, language)
    return cached


def sum_of(role: int) -> pl.Expr:
    """Return the sum of the weights of words of a role."""
    return pl.col("weight").filter(pl.col("role") == role).sum()


def _build_index(taxonomy: Taxonomy, language: Language) -> ProductIndex:
    grammar = product_grammar(language.name)
    meanings = taxonomy.label_concepts
    real = np.flatnonzero((meanings.items > 0) | taxonomy.has_real_root)
    texts = taxonomy.labels.series().gather(meanings.row_ids[real]).to_list()
    labels = [parse_label(text, grammar) for text in texts]
    pieces = WordPieces(language, (word for label in labels for word in label.words))
    rows = _list_words(labels, meanings.items[real].tolist(), pieces)
    per_piece = rows.unique(["concept", "piece"]).group_by("piece").len("labels").sort("piece")
    units = per_piece.with_row_index("unit").select(
        "piece", "unit", weight=(len(labels) / pl.col("labels")).log()
    )
    words = rows.join(units, on="piece", maintain_order="left")
    branch = _find_branches(taxonomy)
    distinct = words.unique(["entry", "unit"], keep="first", maintain_order=True)
    entries = _describe_entries(distinct, taxonomy, branch)
    heads = words.filter("head").select("entry", head="unit").unique(maintain_order=True)
    pairs = heads.join(distinct, on="entry").filter(pl.col("head") != pl.col("unit"))
    alone = _rank_alone(heads, units, entries)
    return ProductIndex(
        pieces,
        units,
        entries,
        pairs.select("head", "unit", "entry", "weight", "role"),
        alone.unique("head", keep="first", maintain_order=True).select("head", "entry"),
        alone.unique(["head", "branch"], keep="first").select("head", "branch", "entry"),
        _count_branches(words, branch),
    )


def _list_words(
    labels: Sequence[ProductLabel], concepts: Sequence[int], pieces: WordPieces
) -> pl.DataFrame:
    """Return the pieces of all products: entry, concept, piece, size, role, head."""
    split = iter(pieces.of([word for label in labels for word in label.words]))
    rows: list[tuple[int, int, str, int, int, bool]] = []
    entry = 0
    for concept, label in zip(concepts, labels, strict=True):
        words = [next(split) for _ in label.words]
        for part in label.parts:
            own = _list_part(part, words, label.elided)
            size = len(part.words)
            rows += [(entry, concept, piece, size, role, head) for piece, role, head in own]
            entry += 1
    schema = ["entry", "concept", "piece", "size", "role", "head"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _list_part(
    part: ProductPart, words: list[tuple[str, ...]], elided: bool
) -> list[tuple[str, int, bool]]:
    """Return the pieces of one product with their roles, its own ones first."""
    rows = []
    for index, pieces in enumerate(words):
        for place, piece in enumerate(pieces):
            last = place == len(pieces) - 1
            has_front = index == part.front and not last
            own = (index in part.words and (last or not elided)) or has_front
            choice = index in part.choices or index in part.words
            role = OWN if own else CHOICE if choice else OTHER
            rows.append((piece, role, index == part.head and last))
    return sorted(rows, key=lambda row: row[1])  # of equal pieces the first one counts


def _describe_entries(words: pl.DataFrame, taxonomy: Taxonomy, branch: IntArray) -> pl.DataFrame:
    entries = words.group_by("entry", maintain_order=True).agg(
        pl.col("concept").first(),
        alone=(pl.col("role") != OTHER).all(),
        size=pl.col("size").first(),
        **{f"all_{role}": sum_of(role) for role in (OWN, CHOICE, OTHER)},
    )
    concepts = entries["concept"].to_numpy()
    rare = taxonomy.tags.get(RARE, np.zeros(len(taxonomy)))[concepts] == 1
    return entries.with_columns(
        branch=branch[concepts],
        cost=_DEPTH_COST * taxonomy.depths[concepts],
        rare=_RARE_COST * rare,
    )


def _rank_alone(heads: pl.DataFrame, units: pl.DataFrame, entries: pl.DataFrame) -> pl.DataFrame:
    """Return the products of each main noun, best first if a query has no other of its words."""
    weights = units.select("weight", head="unit")
    missing = pl.col(f"all_{OWN}") - pl.col("weight")
    score = (
        -OWN_COST * missing
        - NO_CHOICE_COST * pl.col(f"all_{CHOICE}")
        - OTHER_COST * pl.col(f"all_{OTHER}")
        - pl.col("cost")
        - pl.col("rare")
    )
    scored = heads.join(weights, on="head").join(entries, on="entry").with_columns(score=score)
    return scored.sort(["head", "score", "entry"], descending=[False, True, False])


def _find_branches(taxonomy: Taxonomy) -> IntArray:
    """Return for each concept its ancestor at the second level, or itself above that."""
    branch = np.arange(len(taxonomy))
    parents = taxonomy.parents.items[np.maximum(taxonomy.parents.start[:-1], 0)[1:]]
    for level in range(_BRANCH_LEVEL + 1, int(taxonomy.depths.max()) + 1):
        rows = np.flatnonzero(taxonomy.depths == level)
        branch[rows] = branch[parents[rows - 1]]
    return branch


def _count_branches(words: pl.DataFrame, branch: IntArray) -> pl.DataFrame:
    """Return how the labels with a piece are distributed over the branches."""
    pairs = words.unique(["concept", "unit"])
    pairs = pairs.with_columns(branch=branch[pairs["concept"].to_numpy()])
    counts = pairs.group_by("unit", "branch").len("labels")
    total = pl.col("labels").sum().over("unit")
    fractions = counts.select("unit", "branch", fraction=pl.col("labels") / (total + _FEW_LABELS))
    return fractions.filter(pl.col("fraction") >= _MIN_FRACTION).sort("unit", "branch")
