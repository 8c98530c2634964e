"""Queries of shop customers on the product taxonomy: coverage and right mappings by language.

benchmarks/shop/queries.tsv has invented queries in four languages with the categories that a reader
accepts for each. A mapping is right if it is one of these or above one of these, but not a whole
department such as "Home & Garden". The lists are counted apart, because rules and aliases were
written after looking at some of them: see docs/explanation/judged-shop.md.

Usage: shop.py [--page]     also write the tables into that page
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from pages import put_table
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.loaders.shop import SHOP_NAMES
from queryveil.concepts.mapping.mapper import Mapper

PAGE = Path(__file__).parents[1] / "docs/explanation/judged-shop.md"
QUERIES = Path(__file__).parent / "shop" / "queries.tsv"


def is_right(category: str | None, accepted: str) -> bool:
    """Return whether a category is accepted, or above an accepted one and no department."""
    if category is None:
        return False
    ids = accepted.split()
    return category in ids or ("-" in category and any(i.startswith(f"{category}-") for i in ids))


def judge(name: str, queries: pl.DataFrame) -> pl.DataFrame:
    """Return the queries with their category, its label, and whether it is right."""
    phrases = Mapper(open_taxonomy(name)).map(queries["query"]).to_polars()
    table = queries.join(phrases, on="query", how="left", maintain_order="left")
    right = [is_right(*row) for row in table.select("name", "accepted").rows()]
    return table.with_columns(right=pl.Series(right))


def summary(judged: pl.DataFrame) -> str:
    rows = ["| language | list | queries | with a category | right |", "|---|---|---:|---:|---:|"]
    for (code, part), own in judged.group_by("language", "list", maintain_order=True):
        coverage, right = own["name"].is_not_null().mean(), own["right"].mean()
        rows.append(f"| {code} | {part} | {own.height} | {coverage:.0%} | {right:.0%} |")
    return "\n".join(rows)


def verdicts(judged: pl.DataFrame) -> str:
    """Return all queries of the last two lists, and those of the others that are wrong."""
    english = open_taxonomy("shop")
    rows = ["| language | list | query | category | verdict |", "|---|---|---|---|---|"]
    shown = judged.filter(pl.col("list").is_in(["third", "fourth"]) | ~pl.col("right"))
    for row in shown.iter_rows(named=True):
        label = "none" if row["name"] is None else english.label(english.find(row["name"]))
        verdict = "right" if row["right"] else "wrong"
        rows.append(f"| {row['language']} | {row['list']} | {row['query']} | {label} | {verdict} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true")
    asked = parser.parse_args()
    codes = {code: name for name, code in SHOP_NAMES.items()}
    queries = pl.read_csv(QUERIES, separator="\t", quote_char=None)
    judged = pl.concat(
        judge(codes[str(code)], rows)
        for (code,), rows in queries.group_by("language", maintain_order=True)
    )
    print(summary(judged))
    if asked.page:
        put_table("shop", summary(judged), PAGE)
        put_table("shop verdicts", verdicts(judged), PAGE)


if __name__ == "__main__":
    main()
