"""Release three tables under pure epsilon: keys of public lists, with noise on every key.

The data owner chooses the lists, which do not depend on the log. Queries are released first. Clicks
and transitions are counted over results and pairs of released queries, which are public by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from ...concepts.loaders.registry import open_taxonomy
from ...core.bounded import MAX_LIST, BoundsError, read_within
from ...core.progress import Progress
from ...core.randomness import RandomSource
from ...dp.noise import NoiseSource
from ...dp.public_counts import PublicCounts
from ...engine.operations import aggregate, match_encoding
from ...errors import InputError
from ...log.query_log import QueryLog
from ...release.noise import CountNoise
from ..forecast import Forecast, TableForecast
from ..publication import sort_for_publication
from .contributions import (
    bound_contributions,
    brevity_scores,
    click_pairs,
    query_pairs,
    transition_counts,
)
from .forecasts import SelectionThreshold, public_noise

WORDNET = "wordnet"


def read_public_queries(name: str) -> pl.Series:
    """Return the distinct queries of a public list, in its order, normalized like those of a log.

    `wordnet` is the list in the package: the labels of the nouns of WordNet, and names of brands
    and web sites.

    >>> len(read_public_queries("wordnet")) > 100_000
    True
    """
    if name == WORDNET:
        labels = open_taxonomy(WORDNET).labels
        return _normalize_unique(
            pl.Series("query", [labels[n] for n in range(len(labels))], pl.String)
        )
    queries = _normalize_unique(pl.Series("query", _read_text(name).split("\n"), pl.String))
    if not len(queries):
        raise InputError("the list has no queries", where=name, hint="write one query per line")
    return queries


def read_public_results(name: str) -> pl.DataFrame:
    """Return the distinct pairs of query and URL of a public list of results."""
    lines = pl.Series("line", _read_text(name).split("\n"), pl.String)
    numbered = pl.DataFrame({"line": lines}).with_row_index("number", offset=1)
    filled = numbered.filter(pl.col("line").str.strip_chars() != "")
    cells = filled.with_columns(
        query=_normalize(pl.col("line").str.extract(r"^([^\t]*)\t")),
        url=pl.col("line").str.extract(r"^[^\t]*\t([^\t]*)$").str.strip_chars(),
    )
    invalid = cells.filter(
        pl.any_horizontal(pl.col(c).is_null() | (pl.col(c) == "") for c in ("query", "url"))
    )
    if invalid.height:
        number, line = invalid.select("number", "line").row(0)
        raise InputError(
            f"line {number:,} is not a query, a tab and a URL", where=name, hint=line[:60]
        )
    if not cells.height:
        raise InputError(
            "the list has no results", where=name, hint="write a query, a tab and a URL per line"
        )
    return cells.select("query", "url").unique(maintain_order=True)


def _read_text(name: str) -> str:
    path = Path(name)
    try:
        text = read_within(path, MAX_LIST).decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", where=name, hint="use a file of public queries"
        ) from error
    except UnicodeDecodeError as error:
        raise InputError("the file is not UTF-8 text", where=name) from error
    except BoundsError as error:
        raise InputError(f"the list is {error}", where=name) from error
    if "\0" in text:
        raise InputError("the file is not text: it has NUL bytes", where=name)
    return text


def _normalize_unique(queries: pl.Series) -> pl.Series:
    rows = pl.DataFrame({"query": queries}).select(_normalize(pl.col("query")))
    return rows.filter(pl.col("query") != "")["query"].unique(maintain_order=True)


def _normalize(query: pl.Expr) -> pl.Expr:
    """Normalize queries as the log reader does: strip, lower case, single spaces."""
    return query.str.strip_chars().str.to_lowercase().str.replace_all(r"\s+", " ")


_MAX_CELLS = 2**40  # more than a list, or all pairs of released queries, will have


@dataclass(frozen=True)
class PublicListRelease:
    """The public parameters: lists, budgets, and contribution bounds (`keys`).

    `url_pool` is empty if there is none. Budgets and bounds are those of queries, clicks and
    transitions.
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
        """Divide the budget; without public results the weight of clicks goes to the others.

        >>> weights = Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)
        >>> PublicListRelease.of("wordnet", "", Fraction(1), (1, 1, 1), weights).budgets
        (Fraction(2, 3), Fraction(0, 1), Fraction(1, 3))
        """
        queries, clicks, transitions = shares
        used = (queries, clicks if url_pool else Fraction(0), transitions)
        budgets = tuple(epsilon * share / sum(used) for share in used)
        return cls(pool, url_pool, keys, (budgets[0], budgets[1], budgets[2]), bool(clicks))

    def mechanism(self, table: int, cells: int) -> PublicCounts:
        """Return the mechanism of one of the three tables."""
        return PublicCounts.for_cells(self.keys[table], self.budgets[table], cells)

    @property
    def rho(self) -> Fraction:
        """The zCDP parameter of all noise; raises an error if the noise cannot be drawn."""
        tables = [self.mechanism(n, _MAX_CELLS) for n in range(3) if self.budgets[n]]
        return sum((table.rho for table in tables), Fraction(0))

    def release(
        self,
        log: QueryLog,
        prefer: str,
        rng: RandomSource,
        noise: NoiseSource,
        progress: Progress,
    ) -> tuple[dict[str, pl.DataFrame], tuple[CountNoise, ...]]:
        """Bound contributions, count and add noise; return the tables and their noise."""
        with progress.stage("public lists"):
            pool = read_public_queries(self.pool)
            results = read_public_results(self.url_pool) if self.url_pool else None
        with progress.stage("queries"):
            mechanism = self.mechanism(0, len(pool))
            bound = mechanism.contribution_bound
            work = partial(_count_queries, pool=pool, prefer=prefer, bound=bound)
            counts = aggregate(log.table, work, ["query"], rng)
            queries = _release_counts(counts, pool.to_frame("query"), mechanism, noise)
            tables = {"queries": queries}
        noises = [public_noise("queries", mechanism, len(pool))]
        if results is not None:
            with progress.stage("clicks"):
                cells = results.join(queries, on="query", how="semi", maintain_order="left")
                mechanism = self.mechanism(1, cells.height)
                work = partial(_count_clicks, cells=cells, bound=mechanism.contribution_bound)
                counts = aggregate(log.table, work, ["query", "url"], rng)
                tables["clicks"] = _release_counts(counts, cells, mechanism, noise)
            noises.append(public_noise("clicks", mechanism, cells.height))
        elif self.clicks_asked:
            tables["clicks"] = pl.DataFrame(schema=_CLICKS)
        if self.budgets[2]:
            with progress.stage("transitions"):
                pairs = queries.height * (queries.height - 1)
                mechanism = self.mechanism(2, pairs)
                transitions = _release_transitions(log, queries, mechanism, rng, noise)
                tables["transitions"] = transitions
            noises.append(public_noise("transitions", mechanism, pairs))
        return {name: sort_for_publication(table) for name, table in tables.items()}, tuple(noises)

    def table_noise(self, rows: Mapping[str, int]) -> tuple[CountNoise, ...]:
        """Return the noise of the tables, from their released rows; only without a URL list."""
        cells = {"queries": len(read_public_queries(self.pool))}
        if self.budgets[2]:
            cells["transitions"] = rows["queries"] * (rows["queries"] - 1)
        numbers = {"queries": 0, "transitions": 2}
        return tuple(
            public_noise(name, self.mechanism(numbers[name], size), size)
            for name, size in cells.items()
        )

    def selection_threshold(self) -> SelectionThreshold:
        """Return the threshold of queries, if the list has the most frequent queries."""
        cells = len(read_public_queries(self.pool))
        mechanism = self.mechanism(0, cells)
        return SelectionThreshold.of_public_list(
            mechanism.threshold, float(mechanism.scale), mechanism.contribution_bound, cells
        )

    def forecast(self, expected_users: int) -> Forecast:
        """Return noise, thresholds and the expected number of queries; spends no budget."""
        cells = len(read_public_queries(self.pool))
        mechanism = self.mechanism(0, cells)
        queries = TableForecast(
            table="queries",
            noise="laplace",
            scale=round(float(mechanism.scale), 2),
            public_keys=cells,
            median_release_count=mechanism.threshold,
            contribution_bound=mechanism.contribution_bound,
            false_positive_rate=float(mechanism.false_positive_rate),
        )
        expected = self.selection_threshold().expected(expected_users)
        return Forecast("public list", expected, (queries,))


_CLICKS = {"query": pl.String, "url": pl.String, "count": pl.Int64}


def _count_queries(
    frame: pl.LazyFrame, rng: RandomSource, *, pool: pl.Series, prefer: str, bound: int
) -> pl.DataFrame:
    """Count the users of each query of the list; other queries are dropped before bounding."""
    known = match_encoding(frame, pool.to_frame("query"), "query")
    pairs = query_pairs(frame.join(known.lazy(), on="query", how="semi"), rng)
    priority = None
    if prefer == "short":
        brevity = known.with_columns(brevity=pl.Series(brevity_scores(pool)))
        joined = pairs.join(brevity, on="query", how="left", maintain_order="left")
        priority = joined["brevity"].to_numpy()
    kept = bound_contributions(pairs, bound, priority, rng)
    return kept.group_by("query").agg(count=pl.len())


def _count_clicks(
    frame: pl.LazyFrame, rng: RandomSource, *, cells: pl.DataFrame, bound: int
) -> pl.DataFrame:
    """Count the users who clicked each public result of each released query."""
    known = match_encoding(frame, cells, "query", "url")
    pairs = click_pairs(frame, cells.select("query").unique(), rng)
    pairs = pairs.join(known, on=["query", "url"], how="semi", maintain_order="left")
    kept = bound_contributions(pairs, bound, None, rng)
    return kept.group_by("query", "url").agg(count=pl.len())


def _release_counts(
    counts: pl.DataFrame, cells: pl.DataFrame, mechanism: PublicCounts, noise: NoiseSource
) -> pl.DataFrame:
    """Add noise to the counts of all cells of a public list, in the order of the list."""
    names = cells.columns
    counts = counts.with_columns(pl.col(names).cast(pl.String))
    counts = cells.with_row_index("index").join(counts, on=names).sort("index")
    indices, noisy = mechanism.release(*_to_arrays(counts), cells.height, noise)
    return cells[indices].with_columns(count=pl.Series(noisy))


def _release_transitions(
    log: QueryLog,
    queries: pl.DataFrame,
    mechanism: PublicCounts,
    rng: RandomSource,
    noise: NoiseSource,
) -> pl.DataFrame:
    """Count the users who went from one released query to another; any pair can be released.

    Each of n queries has n - 1 others. The index of a pair is the number of its first query times
    n - 1, plus the number of its second query among the others.
    """
    others = queries.height - 1
    work = partial(transition_counts, queries=queries, bound=mechanism.contribution_bound)
    steps = aggregate(log.table, work, ["number", "next"], rng)
    first, second = (pl.col(name).cast(pl.Int64) - 1 for name in ("number", "next"))
    cell = first * others + second - (second > first).cast(pl.Int64)
    counts = steps.select("count", index=cell).sort("index")
    indices, noisy = mechanism.release(*_to_arrays(counts), queries.height * others, noise)
    begin, end = (indices // others, indices % others) if others > 0 else (indices, indices)
    end = end + (end >= begin)
    names = queries["query"]
    return pl.DataFrame(
        {"query": names.gather(begin), "next": names.gather(end), "count": pl.Series(noisy)}
    )


def _to_arrays(counts: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    indices, sizes = (counts[name].to_numpy().astype(np.int64) for name in ("index", "count"))
    return indices, sizes
