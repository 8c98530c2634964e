"""Map queries of a shop to a product taxonomy, by the words of a label and its main noun.

A query of a shop names one product in free order, with sizes, colors and brands around it. The
label that fits best is the one whose main noun is in the query and whose other words the query has
too. Words that are in no label of a candidate still speak for a branch: "dog" in "dog bed" leads
to the beds of pets.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ..taxonomy.arrays import IntArray
from ..taxonomy.graph import Taxonomy
from .label_index import MATCH_KINDS
from .language import Language
from .product_grammar import product_grammar
from .product_index import (
    CHOICE,
    CHOSEN_COST,
    NO_CHOICE_COST,
    OTHER,
    OTHER_COST,
    OWN,
    OWN_COST,
    has_product_rules,
    product_index,
)
from .product_words import WordPieces, split_words
from .result import PHRASE_SCHEMA
from .tokens import tokenize

_BLOCK = 20_000
# How much the branch counts in which the main noun is usual; that of other words counts in full.
_OWN_BRANCH = 0.5
# From where on other words speak for a branch, and are certain.
_SURE, _CERTAIN = 1.5, 3.0
_POSITION = 0.35  # how much it counts that the main noun stands where main nouns stand
_MODIFIER = 0.6  # how much it costs if the main noun only describes another word
_RARE_IF_SURE = 0.6  # how much rareness counts if the query has more than the main noun
_TINY = 1e-6
# The concepts of queries, by row.
_MATCH_SCHEMA: dict[str, type[pl.DataType]] = {
    "row": pl.UInt32,
    "concept": pl.Int64,
    "how": pl.Int32,
    "loose": pl.Boolean,
}
_LABEL, _PART, _WORDS = (MATCH_KINDS.index(kind) for kind in ("label", "part", "words"))


class _CustomTerms:
    """Terms of the data owner: where a query has one, in any inflection, it decides."""

    def __init__(self, terms: Sequence[tuple[str, int]], pieces: WordPieces) -> None:
        self._pieces = pieces
        keys = self._stem(pl.Series("text", [text for text, _ in terms], dtype=pl.String))
        concepts = pl.Series([concept for _, concept in terms], dtype=pl.Int64)
        self._table = (
            pl.DataFrame({"term": keys, "concept": concepts})
            .filter(pl.col("term").str.strip_chars() != "")
            .unique("term", keep="first", maintain_order=True)
        )

    def find(self, texts: pl.Series) -> pl.DataFrame:
        """Return row, concept, how and loose of the queries with a term, the longest one."""
        none = pl.DataFrame(schema=_MATCH_SCHEMA)
        if not len(self._table):
            return none
        terms = self._stem(texts).str.extract_many(self._table["term"].implode(), overlapping=True)
        rows = pl.DataFrame({"term": terms}).with_row_index("row").explode("term").drop_nulls()
        longest = rows.sort(
            ["row", pl.col("term").str.len_bytes()], descending=[False, True], maintain_order=True
        ).unique("row", keep="first", maintain_order=True)
        joined = longest.join(self._table, on="term", maintain_order="left")
        return joined.select("row", "concept", how=pl.lit(_LABEL, pl.Int32), loose=pl.lit(False))

    def _stem(self, texts: pl.Series) -> pl.Series:
        """Return the stems of each text, with a blank before and after each."""
        rows = pl.DataFrame({"word": split_words(texts)}).with_row_index("row").explode("word")
        distinct = rows["word"].drop_nulls().unique().sort()
        stems = pl.Series(self._pieces.stems(distinct.to_list()), dtype=pl.String)
        table = pl.DataFrame({"word": distinct, "stem": stems})
        joined = rows.join(table, on="word", how="left", maintain_order="left")
        texts_again = joined.group_by("row", maintain_order=True).agg(pl.col("stem").drop_nulls())
        return (" " + texts_again["stem"].list.join("  ") + " ").alias("text")


def find_product_rules(
    taxonomy: Taxonomy, language: Language, custom_terms: Sequence[tuple[str, int]]
) -> ProductRules | None:
    """Return the rules for a taxonomy of products, or None for another one."""
    if not has_product_rules(taxonomy):
        return None
    return ProductRules(taxonomy, language, custom_terms)


class ProductRules:
    """Map the queries of a shop to the products of a taxonomy."""

    def __init__(
        self,
        taxonomy: Taxonomy,
        language: Language,
        custom_terms: Sequence[tuple[str, int]] = (),
    ) -> None:
        self._index = product_index(taxonomy, language)
        self._grammar = product_grammar(language.name)
        self._terms = _CustomTerms(custom_terms, self._index.pieces)
        self._attributes = sorted(self._index.pieces.stems(sorted(self._grammar.attributes)))

    def map(self, queries: pl.Series, numbers: IntArray) -> pl.DataFrame:
        """Return one phrase, the whole query, for each query; the columns of `PHRASE_SCHEMA`."""
        blocks = [
            self._map_block(queries[start : start + _BLOCK], numbers[start : start + _BLOCK])
            for start in range(0, len(queries), _BLOCK)
        ]
        return pl.concat([pl.DataFrame(schema=PHRASE_SCHEMA), *blocks])

    def _map_block(self, queries: pl.Series, numbers: IntArray) -> pl.DataFrame:
        texts = queries.fill_null("")
        own = self._terms.find(texts)
        others = self._find(self._units(texts)).join(own, on="row", how="anti")
        matches = pl.concat([own, others])
        rows = pl.DataFrame({"query": numbers}).with_row_index("row")
        size = tokenize(texts).list.len().cast(pl.Int32)
        table = rows.with_columns(begin=pl.lit(0, pl.Int32), words=size, matched=size).join(
            matches, on="row", how="left", maintain_order="left"
        )
        return table.filter(pl.col("words") > 0).select(
            "query",
            "begin",
            "words",
            matched=pl.when(pl.col("concept").is_null())
            .then(0)
            .otherwise("matched")
            .cast(pl.Int32),
            concept=pl.col("concept").fill_null(-1).cast(pl.Int32),
            how=pl.col("how").fill_null(-1).cast(pl.Int8),
            loose=pl.col("loose").fill_null(False),
        )

    def _units(self, texts: pl.Series) -> pl.DataFrame:
        """Return the pieces of queries that labels have: row, place, unit, weight, last, leads.

        `last` is the last piece of a compound; `leads` is whether the word may be a main noun.
        """
        grammar, index = self._grammar, self._index
        lists = split_words(texts)
        rows = pl.DataFrame({"word": lists}).with_row_index("row").explode("word").drop_nulls()
        rows = rows.with_columns(
            place=pl.int_range(pl.len()).over("row"),
            length=pl.len().over("row"),
            before=pl.col("word").is_in(sorted(grammar.prepositions)).cum_sum().over("row") == 0,
        ).filter(~pl.col("word").is_in(sorted(grammar.prepositions)))
        distinct = rows["word"].unique().sort().to_list()
        pieces = pl.DataFrame(
            {"word": distinct, "piece": [list(own) for own in index.pieces.of(distinct)]},
            schema={"word": pl.String, "piece": pl.List(pl.String)},
        )
        attribute = pl.Series(index.pieces.stems(distinct), dtype=pl.String).is_in(self._attributes)
        exploded = pieces.with_columns(
            last=pl.col("piece").list.last(),
            attribute=attribute,
            sure=pl.Series(index.pieces.is_sure(distinct), dtype=pl.Boolean),
        ).explode("piece")
        known = exploded.with_columns(last=(pl.col("piece") == pl.col("last")) & pl.col("sure"))
        rows = rows.join(known, on="word", maintain_order="left")
        noun = ~pl.col("attribute") & pl.col("word").str.contains(r"^\pL\pL")
        rows = rows.with_columns(plain=noun.any().over("row"))
        if grammar.head_first:  # the first word that is no color and no number
            first = pl.col("place").filter(noun).min().over("row")
            rows = rows.with_columns(leads=pl.col("place") <= first.fill_null(0))
        else:
            rows = rows.with_columns(leads=pl.col("before"))
        return rows.join(index.units, on="piece", maintain_order="left").drop("word", "piece")

    def _find(self, units: pl.DataFrame) -> pl.DataFrame:
        """Return row, concept, how and loose of the best product of each query.

        A color, a material or a size is a main noun only if the query has nothing else, or in a
        label such as "wrapping paper". If a query has only the main noun of a label and the label
        has other words, then the noun must lead, and the rest of the query must not contradict:
        "Wine Fridges" is not for "fridge for milk".
        """
        complete = pl.col("missing") < _TINY
        likely = (pl.col("leads") | complete) & (pl.col("before") | pl.col("leads"))
        fits = complete | (pl.col("known") < 2) | (pl.col("context") > _SURE)
        is_noun = pl.col("noun") | ((pl.col("size") > 1) & complete) | ~pl.col("plain")
        scored = self._score(units)
        scored = scored.filter(is_noun & ((likely & fits) | (pl.col("hits") > 1)))
        best = scored.sort(["row", "score", "entry"], descending=[False, True, False]).unique(
            "row", keep="first", maintain_order=True
        )
        exact = complete & (pl.col("length") == pl.col("size"))
        how = pl.when(exact & pl.col("alone")).then(_LABEL).when(exact).then(_PART)
        chosen = best.select("row", "concept", how=how.otherwise(_WORDS), loose=~pl.col("leads"))
        return chosen.select(pl.col(name).cast(kind) for name, kind in _MATCH_SCHEMA.items())

    def _score(self, units: pl.DataFrame) -> pl.DataFrame:
        """Return the products whose main noun is in a query, with a score."""
        nouns = self._nouns(units)
        usual = (
            units.filter(~pl.col("attribute"))
            .unique(["row", "unit"])
            .join(self._index.branches, on="unit")
            .group_by("row", "branch")
            .agg(usual=(pl.col("weight") * pl.col("fraction")).sum())
        )
        known = (
            units.filter(~pl.col("attribute")).group_by("row").agg(known=pl.col("unit").n_unique())
        )
        own_branches = self._index.branches.rename({"unit": "head"})
        missing = {role: pl.col(f"all_{role}") - pl.col(f"has_{role}") for role in range(3)}
        choice = pl.when(pl.col(f"has_{CHOICE}") > 0).then(CHOSEN_COST).otherwise(NO_CHOICE_COST)
        own = pl.col("weight") * pl.col("fraction").fill_null(0.0)
        usual_here = pl.col("usual").fill_null(0.0)
        rarity = pl.when(pl.col("hits") > 1).then(_RARE_IF_SURE).otherwise(1.0)
        rarity *= (1 - pl.col("context") / _CERTAIN).clip(0, 1)
        return (
            self._candidates(units, nouns, usual)
            .join(self._index.entries, on="entry")
            .join(usual, on=["row", "branch"], how="left")
            .join(own_branches, on=["head", "branch"], how="left")
            .join(known, on="row", how="left")
            .with_columns(context=usual_here - own, known=pl.col("known").fill_null(0))
            .with_columns(
                missing=missing[OWN],
                score=pl.sum_horizontal(f"has_{role}" for role in range(3))
                - OWN_COST * missing[OWN]
                - choice * missing[CHOICE]
                - OTHER_COST * missing[OTHER]
                + pl.col("context")
                + _OWN_BRANCH * own
                + pl.col("bonus")
                - pl.col("cost")
                - rarity * pl.col("rare"),
            )
        )

    def _nouns(self, units: pl.DataFrame) -> pl.DataFrame:
        """Return the words of queries that are the main noun of a label, with a bonus.

        A noun after a preposition or before another piece of a compound has a malus.
        """
        nouns = units.join(self._index.usual.select(unit="head"), on="unit", how="semi")
        leads = pl.col("leads") & pl.col("last")
        best_place = pl.col("place").min() if self._grammar.head_first else pl.col("place").max()
        bonus = (
            pl.when(~leads)
            .then(-_MODIFIER)
            .when(pl.col("place") == best_place.over("row", "leads"))
            .then(_POSITION)
            .otherwise(0.0)
        )
        return (
            nouns.with_columns(bonus=pl.col("weight") * bonus)
            .group_by("row", head="unit")
            .agg(
                pl.col("weight").first(),
                pl.col("bonus").max(),
                pl.col("length", "plain").first(),
                pl.col("before").any(),
                leads=leads.any(),
                noun=(~pl.col("attribute")).any(),
            )
        )

    def _candidates(
        self, units: pl.DataFrame, nouns: pl.DataFrame, usual: pl.DataFrame
    ) -> pl.DataFrame:
        """Return the products of the nouns that can be best, with the weights of their words.

        These are all that share a second word with the query, and else the best one of each noun,
        of all and in each branch that the query speaks for.
        """
        index = self._index
        others = units.select("row", "unit").unique()
        several = (
            nouns.join(others, on="row")
            .join(index.pairs.rename({"weight": "second"}), on=["head", "unit"])
            .group_by("row", "head", "entry")
            .agg(
                pl.col("weight", "bonus", "length", "plain", "before", "leads", "noun").first(),
                hits=1 + pl.len(),
                **{f"has_{role}": _second(role) for role in range(3)},
            )
            .with_columns((pl.col("weight") + pl.col(f"has_{OWN}")).alias(f"has_{OWN}"))
        )
        branches = usual.select("row", "branch")
        in_branch = nouns.join(index.by_branch, on="head").join(branches, on=["row", "branch"])
        alone = pl.concat([nouns.join(index.usual, on="head"), in_branch.drop("branch")])
        alone = alone.with_columns(
            pl.lit(1, pl.UInt32).alias("hits"),
            pl.col("weight").alias(f"has_{OWN}"),
            *(pl.lit(0.0).alias(f"has_{role}") for role in (CHOICE, OTHER)),
        )
        return pl.concat([several.select(alone.columns), alone])


def _second(role: int) -> pl.Expr:
    return pl.col("second").filter(pl.col("role") == role).sum()
