"""Public lists: the queries, and the results of queries, that may show at all.

They must be fixed without looking at the log. Nothing of the log is read here.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from ...concepts.loaders.registry import open_taxonomy
from ...core.bounded import MOST_LIST, BoundsError, read_within
from ...errors import InputError

__all__ = ["WORDNET", "read_public_queries", "read_public_results"]

WORDNET = "wordnet"


def read_public_queries(name: str) -> pl.Series:
    """Give the distinct queries of a public list, in its order, normalised as those of a log are.

    `wordnet` is the list inside the package: the labels of WordNet's nouns.

    >>> len(read_pool("wordnet")) > 100_000
    True
    """
    if name == WORDNET:
        labels = open_taxonomy(WORDNET).labels
        return _normalised(pl.Series("query", [labels[n] for n in range(len(labels))], pl.String))
    queries = _normalised(pl.Series("query", _text(name).split("\n"), pl.String))
    if not len(queries):
        raise InputError("this list has no query", where=name, hint="write one query a line")
    return queries


def read_public_results(name: str) -> pl.DataFrame:
    """Give the distinct pairs of query and URL of a public list of results."""
    lines = pl.Series("line", _text(name).split("\n"), pl.String)
    numbered = pl.DataFrame({"line": lines}).with_row_index("number", offset=1)
    filled = numbered.filter(pl.col("line").str.strip_chars() != "")
    cells = filled.with_columns(
        query=_normal(pl.col("line").str.extract(r"^([^\t]*)\t")),
        url=pl.col("line").str.extract(r"^[^\t]*\t([^\t]*)$").str.strip_chars(),
    )
    wrong = cells.filter(
        pl.any_horizontal(pl.col(c).is_null() | (pl.col(c) == "") for c in ("query", "url"))
    )
    if wrong.height:
        number, line = wrong.select("number", "line").row(0)
        raise InputError(
            f"line {number:,}: not a query, a tab and a URL", where=name, hint=line[:60]
        )
    if not cells.height:
        raise InputError("this list has no results", where=name, hint="a query, a tab and a URL")
    return cells.select("query", "url").unique(maintain_order=True)


def _text(name: str) -> str:
    path = Path(name)
    try:
        text = read_within(path, MOST_LIST).decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", where=name, hint="name a file of public queries"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError("this is no text in UTF-8", where=name) from error
    except BoundsError as error:
        raise InputError(f"this list is {error}", where=name) from error
    if "\0" in text:
        raise InputError("this is no text: it has NUL bytes", where=name)
    return text


def _normalised(queries: pl.Series) -> pl.Series:
    rows = pl.DataFrame({"query": queries}).select(_normal(pl.col("query")))
    return rows.filter(pl.col("query") != "")["query"].unique(maintain_order=True)


def _normal(query: pl.Expr) -> pl.Expr:
    """Do what reading a log does: no blanks around, lower case, single blanks."""
    return query.str.strip_chars().str.to_lowercase().str.replace_all(r"\s+", " ")
