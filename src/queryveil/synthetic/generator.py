"""A synthetic query log: shaped like AOL's log of 2006, and belonging to nobody.

Users have interests, live somewhere and search in sessions. Names of people are random
combinations of frequent names or invented, streets are invented, and every address that is
clicked ends in ``.example``. The log is the same for the same arguments on every machine.
``shapes.py`` has its shapes and their figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl

from ..core.arguments import guided
from ..errors import UsageError
from ..log.query_log import QueryLog
from .distributions import FIRST_DAY, LINES_MOST, BlockRandom, Bools, Ints
from .queries import QueryWriter, render_queries, render_urls
from .sessions import (
    CLASSIC,
    RowKind,
    SessionHabits,
    SessionPlan,
    plan_sessions,
    rows_per_user,
)
from .shapes import ClassicShape, LogShape, Shape, parse_shape
from .vocabulary import load_vocabulary
from .web_queries import WebQueryWriter
from .wording import render_web_queries, render_web_urls
from .words import WordTables, load_words

DEFAULT_USERS = 1000
DEFAULT_SHAPE, DEFAULT_LANGUAGE = "web", "en"
BLOCK_ROWS = 250_000
# What the generator's 64-bit whole numbers can count.
MAX_SEED = 2**64
MAX_ROWS = 1_000_000_000
MAX_USERS = 20_000_000


def generate_blocks(
    users: int | None = None,
    *,
    lines: int | None = None,
    seed: int = 0,
    shape: Shape | str = DEFAULT_SHAPE,
    language: str = DEFAULT_LANGUAGE,
) -> Iterator[pl.DataFrame]:
    """Generate a log and yield it in blocks, sorted by user and time.

    ``users`` alone gives about 80 lines per user, ``lines`` alone exactly so many lines of about
    one user per 80, both give exactly both, and neither gives 1000 users; the classic shape has 55
    lines per user. ``rank`` and ``url`` are null in lines without a click.

    >>> log = pl.concat(generate_blocks(users=3, lines=200))
    >>> log.shape, log["user"].unique().sort().to_list()
    ((200, 5), ['1', '2', '3'])
    >>> log.columns
    ['user', 'query', 'time', 'rank', 'url']
    """
    kind = parse_shape(shape)
    write = _writer(kind, language)
    counts = _sample_counts(users, lines, seed, kind)
    return (_generate_block(counts, first, last, seed, write) for first, last in _spans(counts))


@guided
def make_log(
    users: int | None = None,
    *,
    lines: int | None = None,
    seed: int = 0,
    shape: Shape | str = DEFAULT_SHAPE,
    language: str = DEFAULT_LANGUAGE,
) -> QueryLog:
    """Return a synthetic log with the statistics of the AOL log, which belongs to nobody.

    Args:
        users: Number of users; else 1000, or as `lines` needs it.
        lines: Number of rows; else about 80 per user.
        seed: The same seed gives the same log.
        shape: Kind of log: `web`, `shop` or `classic`, with settings such as `web:repeats=0.1`.
        language: Language of the queries: `en`, `de`, `fr` or another of ten.

    Returns:
        The log, in memory.

    Raises:
        UsageError: A number is out of range, or there are fewer rows than users.

    >>> make_log(users=3, lines=200).count_distinct("user")
    3
    """
    blocks = generate_blocks(users, lines=lines, seed=seed, shape=shape, language=language)
    return QueryLog.from_clean_frame(pl.concat(blocks))


def planned_rows(
    users: int | None = None,
    *,
    lines: int | None = None,
    seed: int = 0,
    shape: Shape | str = DEFAULT_SHAPE,
) -> int:
    """Return the number of rows of `generate_blocks`, without generating them.

    >>> planned_rows(10) == sum(map(len, generate_blocks(10)))
    True
    """
    return int(_sample_counts(users, lines, seed, parse_shape(shape)).sum())


def _sample_counts(users: int | None, lines: int | None, seed: int, shape: Shape) -> Ints:
    """Check the arguments and sample the number of rows of each user."""
    median, mean = shape.lines
    if not 0 <= seed < MAX_SEED:
        raise UsageError(f"the seed is {seed}", hint="a seed is a whole number from 0 to 2**64 - 1")
    if lines is not None and not 1 <= lines <= MAX_ROWS:
        raise UsageError(f"{lines} lines are asked for", hint=f"ask for 1 to {MAX_ROWS:,}")
    if users is None:
        users = DEFAULT_USERS if lines is None else max(1, round(lines / mean))
    if not 1 <= users <= MAX_USERS:
        raise UsageError(f"{users} users are asked for", hint=f"ask for 1 to {MAX_USERS:,}")
    if lines is not None and not users <= lines <= users * LINES_MOST:
        raise UsageError(
            f"{lines} lines do not fit {users} users",
            hint=f"a user has 1 to {LINES_MOST:,} lines",
        )
    return rows_per_user(users, lines, seed, median=median, mean=mean)


def _spans(counts: Ints) -> Iterator[tuple[int, int]]:
    """Split the users into blocks of similar numbers of rows, so that memory stays bounded."""
    cuts = np.flatnonzero(np.diff(np.cumsum(counts) // BLOCK_ROWS)) + 1
    edges = [0, *cuts.tolist(), len(counts)]
    return pairwise(edges)


@dataclass(frozen=True, repr=False)
class _Texts:
    """The distinct queries of a block, the query of each line, and the URLs of its clicks."""

    queries: pl.Series
    query_of_line: Ints
    urls: pl.Series


_Writer = Callable[[SessionPlan, int, BlockRandom], _Texts]


def _writer(shape: Shape, language: str) -> tuple[SessionHabits, _Writer]:
    """Return how users of a shape search, and the function that words their queries."""
    if isinstance(shape, ClassicShape):
        if language != DEFAULT_LANGUAGE:
            raise UsageError("the classic shape is English", hint="use --shape web")
        return CLASSIC, _write_classic
    words = load_words(language, shape.topics)
    return shape.habits, partial(_write_web, shape, words)


def _generate_block(
    counts: Ints, first: int, last: int, seed: int, writer: tuple[SessionHabits, _Writer]
) -> pl.DataFrame:
    """Generate the rows of the users from ``first`` to before ``last``."""
    dice = BlockRandom.for_block(seed, 1 + first)  # 0 is for the counts
    habits, write = writer
    lines = plan_sessions(counts[first:last], dice, habits)
    texts = write(lines, last - first, dice)
    clicked = lines.rank > 0
    return pl.DataFrame(
        {
            "user": pl.Series(range(first + 1, last + 1)).cast(pl.String).gather(lines.user),
            "query": texts.queries.gather(texts.query_of_line),
            "time": FIRST_DAY + lines.time.astype("timedelta64[s]"),
            "rank": _where(clicked, lines.rank).cast(pl.Int32),
            "url": texts.urls.gather(_where(clicked, np.cumsum(clicked) - 1)),
        }
    )


def _write_classic(lines: SessionPlan, users: int, dice: BlockRandom) -> _Texts:
    words = load_vocabulary()
    author = QueryWriter(words, dice)
    worded, fresh, column, clicked = _worded(lines)
    parts = author.draw_parts(lines.user[worded], fresh, author.draw_users(users))
    urls = render_urls(parts[:, column[clicked]], lines.rank[clicked], words)
    return _Texts(render_queries(parts, words, dice), column, urls)


def _write_web(
    shape: LogShape, words: WordTables, lines: SessionPlan, users: int, dice: BlockRandom
) -> _Texts:
    author = WebQueryWriter(shape, words, dice)
    worded, fresh, column, clicked = _worded(lines)
    intent, parts = author.draw_parts(lines.user[worded], fresh, author.draw_users(users))
    queries = render_web_queries(intent, parts, shape, words, dice)
    shown = column[clicked]
    urls = render_web_urls(intent[shown], parts[:, shown], lines.rank[clicked], words)
    return _Texts(queries, column, urls)


def _worded(lines: SessionPlan) -> tuple[Bools, Bools, Ints, Bools]:
    """Return the lines worded anew, which are fresh, the query of each line, and the clicks."""
    worded = lines.kind <= RowKind.REFORMULATED
    fresh = lines.kind[worded] == RowKind.FRESH
    return worded, fresh, (np.cumsum(worded) - 1)[lines.source], lines.rank > 0


def _where(mask: Bools, numbers: Ints) -> pl.Series:
    """Keep numbers where a mask is true; the others become null."""
    return pl.select(pl.when(pl.Series(mask)).then(pl.Series(numbers))).to_series()
