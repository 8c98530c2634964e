"""A synthetic query log: shaped like AOL's log of 2006, and belonging to nobody.

Users have interests, live somewhere and search in sessions. The words are WordNet's nouns, sites
and people are invented, and every address ends in ``.example``. The log is the same for the same
arguments on every machine. ``distributions.py`` has its figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import polars as pl

from ..core.arguments import guided
from ..errors import UsageError
from ..log.query_log import QueryLog
from .distributions import FIRST_DAY, LINES_MEAN, LINES_MOST, BlockRandom, Bools, Ints
from .queries import QueryWriter, render_queries, render_urls
from .sessions import RowKind, plan_sessions, rows_per_user
from .vocabulary import load_vocabulary

DEFAULT_USERS = 1000
BLOCK_ROWS = 250_000
# What the generator's 64-bit whole numbers can count.
MAX_SEED = 2**64
MAX_ROWS = 1_000_000_000
MAX_USERS = 20_000_000


def generate_blocks(
    users: int | None = None, *, lines: int | None = None, seed: int = 0
) -> Iterator[pl.DataFrame]:
    """Generate a log and yield it in blocks, sorted by user and time.

    ``users`` alone gives about 55 lines per user, ``lines`` alone exactly so many lines of about
    one user per 55, both give exactly both, and neither gives 1000 users. ``rank`` and ``url`` are
    null in lines without a click.

    >>> log = pl.concat(generate_blocks(users=3, lines=200))
    >>> log.shape, log["user"].unique().sort().to_list()
    ((200, 5), ['1', '2', '3'])
    >>> log.columns
    ['user', 'query', 'time', 'rank', 'url']
    """
    counts = _sample_counts(users, lines, seed)
    return (_generate_block(counts, first, last, seed) for first, last in _spans(counts))


@guided
def make_log(users: int | None = None, *, lines: int | None = None, seed: int = 0) -> QueryLog:
    """Return a synthetic log with the statistics of the AOL log, which belongs to nobody.

    Args:
        users: Number of users; else 1000, or as `lines` needs it.
        lines: Number of rows; else about 55 per user.
        seed: The same seed gives the same log.

    Returns:
        The log, in memory.

    Raises:
        UsageError: A number is out of range, or there are fewer rows than users.

    >>> make_log(users=3, lines=200).count_distinct("user")
    3
    """
    return QueryLog.from_clean_frame(pl.concat(generate_blocks(users, lines=lines, seed=seed)))


def planned_rows(users: int | None = None, *, lines: int | None = None, seed: int = 0) -> int:
    """Return the number of rows of `generate_blocks`, without generating them.

    >>> planned_rows(10) == sum(map(len, generate_blocks(10)))
    True
    """
    return int(_sample_counts(users, lines, seed).sum())


def _sample_counts(users: int | None, lines: int | None, seed: int) -> Ints:
    """Check the arguments and sample the number of rows of each user."""
    if not 0 <= seed < MAX_SEED:
        raise UsageError(f"the seed is {seed}", hint="a seed is a whole number from 0 to 2**64 - 1")
    if lines is not None and not 1 <= lines <= MAX_ROWS:
        raise UsageError(f"{lines} lines are asked for", hint=f"ask for 1 to {MAX_ROWS:,}")
    if users is None:
        users = DEFAULT_USERS if lines is None else max(1, round(lines / LINES_MEAN))
    if not 1 <= users <= MAX_USERS:
        raise UsageError(f"{users} users are asked for", hint=f"ask for 1 to {MAX_USERS:,}")
    if lines is not None and not users <= lines <= users * LINES_MOST:
        raise UsageError(
            f"{lines} lines do not fit {users} users",
            hint=f"a user has 1 to {LINES_MOST:,} lines",
        )
    return rows_per_user(users, lines, seed)


def _spans(counts: Ints) -> Iterator[tuple[int, int]]:
    """Split the users into blocks of similar numbers of rows, so that memory stays bounded."""
    cuts = np.flatnonzero(np.diff(np.cumsum(counts) // BLOCK_ROWS)) + 1
    edges = [0, *cuts.tolist(), len(counts)]
    return pairwise(edges)


def _generate_block(counts: Ints, first: int, last: int, seed: int) -> pl.DataFrame:
    """Generate the rows of the users from ``first`` to before ``last``."""
    dice = BlockRandom.for_block(seed, 1 + first)  # 0 is for the counts
    words = load_vocabulary()
    author = QueryWriter(words, dice)
    lines = plan_sessions(counts[first:last], dice)
    worded = lines.kind <= RowKind.REFORMULATED
    fresh = lines.kind[worded] == RowKind.FRESH
    parts = author.draw_parts(lines.user[worded], fresh, author.draw_users(last - first))
    column = (np.cumsum(worded) - 1)[lines.source]
    clicked = lines.rank > 0
    urls = render_urls(parts[:, column[clicked]], lines.rank[clicked], words)
    return pl.DataFrame(
        {
            "user": pl.Series(range(first + 1, last + 1)).cast(pl.String).gather(lines.user),
            "query": render_queries(parts, words, dice).gather(column),
            "time": FIRST_DAY + lines.time.astype("timedelta64[s]"),
            "rank": _where(clicked, lines.rank).cast(pl.Int32),
            "url": urls.gather(_where(clicked, np.cumsum(clicked) - 1)),
        }
    )


def _where(mask: Bools, numbers: Ints) -> pl.Series:
    """Keep numbers where a mask is true; the others become null."""
    return pl.select(pl.when(pl.Series(mask)).then(pl.Series(numbers))).to_series()
