"""Three tables under epsilon alone: only keys from public lists, with noise on every one.

The lists are the owner's choice and hold nothing of the log. Queries are released first. Clicks
and transitions are counted over results and pairs of released queries, which are public then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ...concepts.loaders.registry import open_taxonomy
from ...core.bounded import MOST_LIST, BoundsError, read_within
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...dp.noise import NoiseSource
from ...dp.public_counts import PublicCounts
from ...engine.operations import aggregate, match_encoding
from ...errors import InputError
from ...log.query_log import QueryLog
from ...release.noise import CountNoise
from ..publication import sort_for_publication
from .contributions import (
    bound_contributions,
    brevity_scores,
    click_pairs,
    query_pairs,
    transition_counts,
)
from .forecasts import Cut, public_noise

WORDNET = "wordnet"


def read_public_queries(name: str) -> pl.Series:
    """Give the distinct queries of a public list, in its order, normalised as those of a log are.

    `wordnet` is the list inside the package: the labels of WordNet's nouns.

    >>> len(read_public_queries("wordnet")) > 100_000
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


_MANY = 2**40  # cells: more than a list or pairs of released queries will have


@dataclass(frozen=True)
class PublicListRelease:
    """What is known beforehand: lists, budgets, and how many keys of a user count.

    `url_pool` is empty if there is none; the budgets are those of queries, clicks, transitions.
    """

    pool: str
    url_pool: str
    keys: tuple[int, int, int]
    budgets: tuple[Fraction, Fraction, Fraction]
    clicks_asked: bool = True

    @classmethod
    def of(
        cls,
        pool: str,
        url_pool: str,
        epsilon: Fraction,
        keys: tuple[int, int, int],
        shares: tuple[Fraction, Fraction, Fraction],
    ) -> PublicListRelease:
        """Share the budget out; without public results the share of clicks goes to the others.

        >>> half, quarter = Fraction(1, 2), Fraction(1, 4)
        >>> PublicListRelease.of("wordnet", "", Fraction(1), (1, 1, 1), (half, quarter, quarter)).budgets
        (Fraction(2, 3), Fraction(0, 1), Fraction(1, 3))
        """
        queries, clicks, transitions = shares
        used = (queries, clicks if url_pool else Fraction(0), transitions)
        budgets = tuple(epsilon * share / sum(used) for share in used)
        return cls(pool, url_pool, keys, (budgets[0], budgets[1], budgets[2]), bool(clicks))

    def mechanism(self, table: int, cells: int) -> PublicCounts:
        """Make what adds the noise to one of the three tables."""
        return PublicCounts.for_cells(self.keys[table], self.budgets[table], cells)

    @property
    def rho(self) -> Fraction:
        """What all noise costs as zCDP; refuses noise that cannot be drawn, before it is paid."""
        tables = [self.mechanism(n, _MANY) for n in range(3) if self.budgets[n]]
        return sum((table.rho for table in tables), Fraction(0))

    def release(
        self,
        log: QueryLog,
        prefer: str,
        chance: RandomSource,
        noise: NoiseSource,
        progress: Progress,
    ) -> tuple[dict[str, pl.DataFrame], tuple[CountNoise, ...]]:
        """Bound, count and add noise; give the tables, and how large the noise is."""
        with progress.stage("public lists"):
            pool = read_public_queries(self.pool)
            results = read_public_results(self.url_pool) if self.url_pool else None
        with progress.stage("queries"):
            made = self.mechanism(0, len(pool))
            mine = partial(_query_counts, pool=pool, prefer=prefer, most=made.contribution_bound)
            counts = aggregate(log.table, mine, ["query"], chance)
            tables = {"queries": _counted(counts, pool.to_frame("query"), made, noise)}
        noises, found = [public_noise("queries", made, len(pool))], tables["queries"]
        if results is not None:
            with progress.stage("clicks"):
                given = results.join(found, on="query", how="semi", maintain_order="left")
                made = self.mechanism(1, given.height)
                clicked = partial(_click_counts, given=given, most=made.contribution_bound)
                counts = aggregate(log.table, clicked, ["query", "url"], chance)
                tables["clicks"] = _counted(counts, given, made, noise)
            noises.append(public_noise("clicks", made, given.height))
        elif self.clicks_asked:
            tables["clicks"] = pl.DataFrame(schema=_CLICKS)
        if self.budgets[2]:
            with progress.stage("transitions"):
                cells = found.height * (found.height - 1)
                made = self.mechanism(2, cells)
                tables["transitions"] = _transitions(log, found, made, chance, noise)
            noises.append(public_noise("transitions", made, cells))
        return {name: sort_for_publication(table) for name, table in tables.items()}, tuple(noises)

    def noises(self, rows: Mapping[str, int]) -> tuple[CountNoise, ...]:
        """Return the noise of the tables, by the rows that were released; without a URL list."""
        cells = {"queries": len(read_public_queries(self.pool))}
        if self.budgets[2]:
            cells["transitions"] = rows["queries"] * (rows["queries"] - 1)
        numbers = {"queries": 0, "transitions": 2}
        made = {name: self.mechanism(numbers[name], many) for name, many in cells.items()}
        return tuple(public_noise(name, made[name], many) for name, many in cells.items())

    def cut(self) -> Cut:
        """Return where a query begins to show, if the list has what users send most."""
        cells = len(read_public_queries(self.pool))
        made = self.mechanism(0, cells)
        return Cut(made.threshold, "laplace", float(made.scale), most=cells)

    def forecast(self, population: int) -> dict[str, Any]:
        """Tell noise, thresholds and the expected yield, before anything is spent."""
        cells = len(read_public_queries(self.pool))
        made = self.mechanism(0, cells)
        return {
            "selection": "public list",
            "expected": self.cut().expected(population),
            "tables": [
                {
                    "table": "queries",
                    "noise": "laplace",
                    "scale": round(float(made.scale), 2),
                    "queries on the public list": cells,
                    "a key needs about so many users": made.threshold,
                    "a user changes at most so many counts, by one each": made.contribution_bound,
                    "chance that a key that nobody has shows": float(made.false_positive_rate),
                }
            ],
        }


_CLICKS = {"query": pl.String, "url": pl.String, "count": pl.Int64}


def _query_counts(
    frame: pl.LazyFrame, chance: RandomSource, *, pool: pl.Series, prefer: str, most: int
) -> pl.DataFrame:
    """Count the users of each query of the list; what is not on it is gone before anything."""
    known = match_encoding(frame, pool.to_frame("query"), "query")
    pairs = query_pairs(frame.join(known.lazy(), on="query", how="semi"), chance)
    liking = None
    if prefer == "short":
        short = known.with_columns(short=pl.Series(brevity_scores(pool)))
        liking = pairs.join(short, on="query", how="left", maintain_order="left")["short"]
    mine = bound_contributions(pairs, most, None if liking is None else liking.to_numpy(), chance)
    return mine.group_by("query").agg(count=pl.len())


def _click_counts(
    frame: pl.LazyFrame, chance: RandomSource, *, given: pl.DataFrame, most: int
) -> pl.DataFrame:
    """Count the users who clicked each public result of each released query."""
    known = match_encoding(frame, given, "query", "url")
    pairs = click_pairs(frame, given.select("query").unique(), chance)
    pairs = pairs.join(known, on=["query", "url"], how="semi", maintain_order="left")
    return (
        bound_contributions(pairs, most, None, chance).group_by("query", "url").agg(count=pl.len())
    )


def _counted(
    counts: pl.DataFrame, cells: pl.DataFrame, made: PublicCounts, noise: NoiseSource
) -> pl.DataFrame:
    """Put noise on the users of each cell of a public list, in the order of the list."""
    names = cells.columns
    counts = counts.with_columns(pl.col(names).cast(pl.String))
    counts = cells.with_row_index("place").join(counts, on=names).sort("place")
    places, noisy = made.release(*_arrays(counts), cells.height, noise)
    return cells[places].with_columns(count=pl.Series(noisy))


def _transitions(
    log: QueryLog, found: pl.DataFrame, made: PublicCounts, chance: RandomSource, noise: NoiseSource
) -> pl.DataFrame:
    """Count the users who went from one released query to another; any pair may show.

    Of n queries each has n - 1 others: the cell of a pair is its first query's number times
    n - 1, and the second's among the others.
    """
    others = found.height - 1
    mine = partial(transition_counts, queries=found, most=made.contribution_bound)
    steps = aggregate(log.table, mine, ["number", "next"], chance)
    first, second = (pl.col(name).cast(pl.Int64) - 1 for name in ("number", "next"))
    cell = first * others + second - (second > first).cast(pl.Int64)
    counts = steps.select("count", place=cell).sort("place")
    places, noisy = made.release(*_arrays(counts), found.height * others, noise)
    begin, end = (places // others, places % others) if others > 0 else (places, places)
    end = end + (end >= begin)
    names = found["query"]
    return pl.DataFrame(
        {"query": names.gather(begin), "next": names.gather(end), "count": pl.Series(noisy)}
    )


def _arrays(counts: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    places, numbers = (counts[name].to_numpy().astype(np.int64) for name in ("place", "count"))
    return places, numbers
