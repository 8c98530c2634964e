"""Draw the steps of `semantic-microaggregation`, each from one small synthetic log.

Usage: python tools/draw_groups.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
from numpy.typing import NDArray

import queryveil as qv
from draw_partition import draw_panels
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.similarity.profiles import Profiles, profile_distance_matrix
from queryveil.core.randomness import RandomSource
from queryveil.methods.microaggregation import distances
from queryveil.methods.microaggregation.apportionment import Values, sum_by
from queryveil.methods.microaggregation.emission import apportion_clicks
from queryveil.methods.microaggregation.grouping import mdav
from queryveil.methods.microaggregation.queries import user_query_pairs
from queryveil.methods.microaggregation.refinement import refine_groups
from queryveil.methods.microaggregation.shared_logs import assignment, cells
from queryveil.methods.microaggregation.shared_logs.composition import compose_logs
from queryveil.methods.microaggregation.shared_logs.rows import QueryRows, UserRows, find_rows
from queryveil.methods.microaggregation.shared_logs.texts import SentQueries, Texts, find_texts
from queryveil.release.formats import KIND, QUERY
from queryveil.render.charts.style import picture_style
from queryveil.synthetic import make_log

IMG = Path(__file__).parents[1] / "docs" / "img"
USERS, K, SHOWN_USERS = 300, 5, 80
WIDTH, LEFT, RIGHT, ROW, TOP = 900, 250, 800, 30, 64
EXAMPLES = ("bar ideas near scotland", "appeals court and traffic court for beginners")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """Values of one color, one for each label."""

    name: str
    values: Sequence[float]


class Sample:
    """A small log, and what the method computes from it."""

    def __init__(self) -> None:
        self.log = make_log(USERS, seed=1)
        self.mapper: Mapper = qv.make_mapper()
        self.mapping = qv.map_log(self.log, self.mapper)
        self.profiles: Profiles = self.mapping.profiles(self.log)
        pairs = user_query_pairs(self.log, self.profiles.users, self.mapping)
        self.sent = SentQueries(self.mapping, pairs, len(self.profiles))
        self.texts: Texts = find_texts(self.sent, self.mapper, K)
        self.query_rows: QueryRows = find_rows(self.mapping, self.texts)
        self.rows: UserRows = self.query_rows.of_users(self.sent)
        matrix = distances.grouping_distances(self.mapping.taxonomy, self.profiles)
        self.group = refine_groups(matrix, mdav(matrix, K)).astype(np.int64)
        self.sizes = np.bincount(self.group)

    @cached_property
    def logs(self) -> pl.DataFrame:
        """The shared logs, with the rows that each row is released as."""
        return self.compose()

    def compose(self) -> pl.DataFrame:
        """Compose the shared logs."""
        logs = compose_logs(self.sent, self.texts, self.group, RandomSource(1))
        logs = logs.with_columns(pl.col("query").cast(pl.String))
        return logs.with_columns(size=pl.Series(self.sizes[logs["group"].to_numpy()]))

    def label(self, cell: int) -> str:
        """Return the name of a cell."""
        concepts = len(self.mapping.taxonomy)
        if cell < concepts:
            return self.mapping.taxonomy.label(cell)
        return f'"{self.texts.names[cell - concepts]}"'


def distance(sample: Sample) -> str:
    """Draw the parts of the distances of one user to others."""
    taxonomy, profiles = sample.mapping.taxonomy, sample.profiles
    plain = profile_distance_matrix(taxonomy, profiles)
    parts = (
        ("Ds of Batet 2013", plain),
        ("1 - cosine, times 0.4", 0.4 * distances._cosine_distances(profiles)),
        ("topics, times 0.5", 0.5 * distances._topic_distances(taxonomy, profiles)),
        ("rank of joining, times 0.3", 0.3 * distances._joining_ranks(plain)),
    )
    total = sum(part for _, part in parts)
    order = np.argsort(np.asarray(total)[0])[1:]
    chosen = order[np.linspace(0, len(order) - 1, 8).astype(int)]
    labels = [f"to user {int(user) + 1}" for user in chosen]
    series = [Series(name, [float(part[0, user]) for user in chosen]) for name, part in parts]
    return _stacked("Distance of user 1 to eight others", labels, series)


def groups(sample: Sample) -> str:
    """Draw the groups of MDAV and the refined ones."""
    profiles = sample.profiles.select(np.arange(SHOWN_USERS))
    matrix = distances.grouping_distances(sample.mapping.taxonomy, profiles)
    before = mdav(matrix, K)
    panels = (("MDAV", before), ("refined", refine_groups(matrix, before)))
    return draw_panels(matrix, panels, f"{SHOWN_USERS} users, groups of {K}")


def rows(sample: Sample) -> str:
    """Draw what two rare queries, and a frequent one, become."""
    queries = sample.mapping.queries.cast(pl.String).to_list()
    of_queries = sample.query_rows
    has_concept = sample.texts.only_concept[sample.texts.of_query] >= 0
    is_frequent = (sample.texts.of_query >= 0) & has_concept
    frequent = queries[int(np.argmax(sample.sent.senders() * is_frequent))]
    parts, y = [_text(30, 36, "Rows of three queries", "head", "start")], 60
    for query in (frequent, *EXAMPLES):
        number = queries.index(query)
        mine = of_queries.lists.items[slice(*of_queries.lists.start[number : number + 2])]
        parts.append(_text(30, y + 18, f"“{query}”", "name", "start"))
        for cell, text in zip(of_queries.cell[mine], of_queries.text[mine], strict=True):
            parts.append(_row(sample, int(cell), int(text), y))
            y += 32
        y += 18
    return _svg(y, "Rows of three queries", "".join(parts))


def _row(sample: Sample, cell: int, text: int, y: int) -> str:
    """Draw a row: its text in a box, and its cell."""
    is_concept = cell < len(sample.mapping.taxonomy)
    named = f"“{sample.texts.names[text]}”" if text >= 0 else "any text of the cell"
    where = f"cell: concept {sample.label(cell)}" if is_concept else "cell: this text"
    return (
        f'<g class="tint{0 if is_concept else 3}"><rect class="hollow" x="430" y="{y}" '
        f'width="200" height="26" rx="6"/></g>{_text(530, y + 18, named)}'
        f"{_text(644, y + 18, where, 'entry', 'start')}"
    )


def profile(sample: Sample) -> str:
    """Draw the rows of five members by cell, and the mean profile of their group."""
    numbers = cells.CellNumbers(len(sample.mapping.taxonomy), len(sample.texts))
    number = _typical_group(sample)
    members = np.flatnonzero(sample.group == number)
    kept, weight = _weighted_rows(sample, number, numbers)
    of_group = sample.rows.select(kept)
    table = np.zeros((len(members), len(numbers)))
    np.add.at(table, (np.searchsorted(members, of_group.user), of_group.cell), weight[kept])
    norm = np.sqrt(table.sum(1) * np.sqrt((table**2).sum(1)))
    scaled = table / np.maximum(norm, 1e-9)[:, None]
    senders = (table > 0).sum(0)
    plain = scaled.sum(0)
    lowered = plain * np.where(senders == 1, cells._SOLE_WEIGHT, 1.0)
    chosen = np.argsort(-plain, kind="stable")[:10]
    labels = [f"{sample.label(int(cell))} ({senders[cell]} of {K})" for cell in chosen]
    series = [
        Series("equal weights", (100 * plain[chosen] / plain.sum()).tolist()),
        Series("cells of one member at 0.4", (100 * lowered[chosen] / lowered.sum()).tolist()),
    ]
    return _bars("Largest cells of one group, percent of its profile", labels, series)


def _weighted_rows(
    sample: Sample, number: int, numbers: cells.CellNumbers
) -> tuple[NDArray[np.bool_], Floats]:
    """Return which rows count in the profile of a group, and how much each row counts."""
    is_extra = cells._kinds_of_cells(sample.texts, numbers)[0][sample.rows.cell]
    owner = sample.group[sample.rows.user]
    is_long = cells._longest_logs(sum_by(owner, sample.rows.count, len(sample.sizes)))
    weight = np.where(is_extra, cells._EXTRA_WEIGHT, 1.0) * sample.rows.count.astype(np.float64)
    return (owner == number) & (~is_extra | is_long[owner]), weight


def _typical_group(sample: Sample) -> int:
    """Return the group of five members with the median number of rows."""
    total = sum_by(sample.group[sample.rows.user], sample.rows.count, len(sample.sizes))
    of_five = np.flatnonzero(sample.sizes == K)
    return int(of_five[np.argsort(total[of_five])[len(of_five) // 2]])


def rounding(sample: Sample) -> str:
    """Draw the sums of cells over all logs, rounded alone and with carried errors."""
    taxonomy = sample.mapping.taxonomy
    with patch.object(cells, "_apportion", wraps=cells._apportion) as apportion:
        cells.count_cells(sample.rows, sample.texts, taxonomy, sample.group, RandomSource(1))
    profiles, topic, groups_, _ = apportion.call_args.args
    not_long = replace(groups_, is_long=np.zeros_like(groups_.is_long))
    size = groups_.sizes[profiles.group]

    def total(values: Values) -> Floats:
        return sum_by(profiles.cell, values * size, len(topic))

    goal = total(profiles.portion)
    alone = total(cells._apportion(profiles, topic, not_long, RandomSource(1)))
    carried = total(cells._apportion(profiles, topic, groups_, RandomSource(1)))
    errors = [int(np.abs(values - goal).sum()) for values in (alone, carried)]
    order = np.argsort(-goal, kind="stable")
    chosen = [cell for cell in order.tolist() if cell < len(taxonomy)][:8]
    labels = [sample.label(cell) for cell in chosen]
    title = f"Rows of the largest concepts; all errors {errors[0]:,} and, carried, {errors[1]:,}"
    series = [
        Series("wanted", goal[chosen].tolist()),
        Series("rounded in each log alone", alone[chosen].tolist()),
        Series("errors carried", carried[chosen].tolist()),
    ]
    return _bars(title, labels, series)


def words(sample: Sample) -> str:
    """Draw the counts of words in the log, and in the logs before and after calibration."""
    with patch.object(assignment, "_RAKING_ROUNDS", 0):
        before = sample.compose()
    counts = [_count_words(sample, rows) for rows in (before, sample.logs)]
    names = sample.texts.tokens.words
    lists = sample.texts.tokens.lists
    of_query = sum_by(
        sample.sent.pairs["query"].to_numpy(),
        np.minimum(sample.sent.pairs["count"].to_numpy(), cells.MAX_COUNT),
        len(sample.mapping.queries),
    )
    goal = sum_by(lists.items.astype(np.int64), of_query[lists.row_ids], len(names))
    goal[sample.texts.tokens.is_stop] = 0
    chosen = np.argsort(-goal, kind="stable")[:8].tolist()
    series = [
        Series("log", goal[chosen].tolist()),
        Series("before calibration", counts[0][chosen].tolist()),
        Series("after", counts[1][chosen].tolist()),
    ]
    errors = [int(np.abs(count - goal).sum()) for count in counts]
    title = f"Most frequent words; all errors {errors[0]:,} and, calibrated, {errors[1]:,}"
    return _bars(title, [names[word] for word in chosen], series)


def _count_words(sample: Sample, rows_: pl.DataFrame) -> Floats:
    number = dict(zip(sample.texts.names.to_list(), range(len(sample.texts)), strict=True))
    text = np.array([number[name] for name in rows_["query"].to_list()])
    word, index = sample.texts.words.take(text)
    size = rows_["size"].to_numpy()
    return sum_by(word.astype(np.int64), size[index], len(sample.texts.tokens.words))


def clicks(sample: Sample) -> str:
    """Draw the clicks of a query in the log and in the release."""
    sent = sample.log.local_frame.select(pl.col("query", "url").cast(pl.String)).collect()
    given = apportion_clicks(sample.log.local_frame, sample.logs, K, RandomSource(1))
    both = sample.logs.with_columns(given["url"])
    both = both.filter(pl.col(KIND).cast(pl.String) == QUERY)
    query = str(both.filter(pl.col("url").is_not_null())["query"].mode().sort()[0])
    in_log = sent.filter(pl.col("query") == query).group_by("url").agg(rows=pl.len())
    released = both.filter(pl.col("query") == query).group_by("url").agg(rows=pl.col("size").sum())
    urls = in_log.join(
        released, on="url", how="full", coalesce=True, suffix="_out", nulls_equal=True
    ).with_columns(pl.col("rows", "rows_out").fill_null(0))
    urls = urls.sort("rows", "url", descending=True).head(8)
    labels = [(name or "no click").removeprefix("http://") for name in urls["url"].to_list()]
    series = [Series("log", urls["rows"].to_list()), Series("release", urls["rows_out"].to_list())]
    return _bars(f"Rows of “{query}” by click", labels, series)


def kinds(sample: Sample) -> str:
    """Draw how many rows of a text are queries and parts."""
    rows_ = sample.logs.with_columns(pl.col(KIND).cast(pl.String))
    counted = rows_.group_by("query").agg(
        whole=pl.col("size").filter(pl.col(KIND) == QUERY).sum(),
        part=pl.col("size").filter(pl.col(KIND) != QUERY).sum(),
    )
    goal = sample.log.local_frame.select(pl.col("query").cast(pl.String)).collect()
    in_log = goal.group_by("query").agg(rows=pl.len())
    shown = counted.join(in_log, on="query").sort(pl.col("whole") + pl.col("part"), "query")
    shown = shown.filter(pl.col("whole") > 0).tail(8).reverse()
    series = [
        Series("queries in the log", shown["rows"].to_list()),
        Series("released as query", shown["whole"].to_list()),
        Series("released as part", shown["part"].to_list()),
    ]
    return _bars("Rows of the most released queries", shown["query"].to_list(), series)


def _bars(title: str, labels: Sequence[str], series: Sequence[Series]) -> str:
    """Draw groups of horizontal bars; each series has a color."""
    high = max(max(one.values) for one in series) or 1
    step, thick = 14 * len(series) + 12, 12
    parts = [_text(30, 36, title, "head", "start"), _legend(series)]
    for place, label in enumerate(labels):
        y = TOP + 24 + place * step
        middle = y + 14 * len(series) / 2 + 4
        parts.append(_text(LEFT - 10, middle, label, "label", "end"))
        for number, one in enumerate(series):
            wide = (RIGHT - LEFT) * one.values[place] / high
            at = y + 14 * number
            value = f"{one.values[place]:,.0f}" if high > 30 else f"{one.values[place]:.1f}"
            parts.append(
                f'<g class="tint{number}"><rect class="bar" x="{LEFT}" y="{at}" '
                f'width="{wide:.1f}" height="{thick}"/></g>'
                f"{_text(LEFT + wide + 6, at + 11, value, 'value', 'start', 11)}"
            )
    return _svg(TOP + 34 + len(labels) * step, title, "".join(parts))


def _stacked(title: str, labels: Sequence[str], series: Sequence[Series]) -> str:
    """Draw bars of several parts."""
    totals = [sum(values) for values in zip(*(one.values for one in series), strict=True)]
    high = max(totals)
    parts = [_text(30, 36, title, "head", "start"), _legend(series)]
    for place, label in enumerate(labels):
        y, x = TOP + 24 + place * ROW, float(LEFT)
        parts.append(_text(LEFT - 10, y + 14, label, "label", "end"))
        for number, one in enumerate(series):
            wide = (RIGHT - LEFT) * one.values[place] / high
            parts.append(
                f'<g class="tint{number}"><rect class="bar" x="{x:.1f}" y="{y}" '
                f'width="{wide:.1f}" height="18"/></g>'
            )
            x += wide
        parts.append(_text(x + 6, y + 14, f"{totals[place]:.2f}", "value", "start"))
    return _svg(TOP + 34 + len(labels) * ROW, title, "".join(parts))


def _legend(series: Sequence[Series]) -> str:
    wide = sum(40 + 6.6 * len(one.name) for one in series)
    parts, x = [], min(float(LEFT), WIDTH - 10 - wide)
    for number, one in enumerate(series):
        parts.append(
            f'<g class="tint{number}"><rect class="bar" x="{x:.1f}" y="{TOP - 8}" width="14" '
            f'height="14"/></g>{_text(x + 20, TOP + 4, one.name, "entry", "start")}'
        )
        x += 40 + 6.6 * len(one.name)
    return "".join(parts)


def _text(
    x: float, y: float, text: str, kind: str = "entry", anchor: str = "middle", size: int = 0
) -> str:
    style = f' style="font-size:{size}px"' if size else ""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>'
        f"{escape(text)}</text>"
    )


def _svg(height: int, title: str, body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="qv-chart" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{escape(title)}"><style>{picture_style()}</style>'
        f'<rect class="back" width="{WIDTH}" height="{height}" rx="8"/>{body}</svg>\n'
    )


PICTURES = (distance, groups, rows, profile, rounding, words, clicks, kinds)

if __name__ == "__main__":
    drawn = Sample()
    for draw in PICTURES:
        (IMG / f"groups-{draw.__name__}.svg").write_text(draw(drawn), "utf-8")
