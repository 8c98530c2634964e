"""Small logs and releases of them, for the tests of the measures of risk."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import polars as pl
from hypothesis import strategies as st

from queryveil.log.query_log import QueryLog
from queryveil.release.guarantee import Guarantee
from queryveil.release.release import Release

Logs = dict[str, list[str]]

KINDS = {"user": pl.String, "query": pl.String, "time": pl.Date, "rank": pl.Int32, "url": pl.String}

few = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1, max_size=6)
some_users = st.sampled_from(["1", "2", "3", "4", "5", "6"])
logs = st.dictionaries(some_users, few, min_size=1, max_size=6)


@st.composite
def logs_and_releases(draw: st.DrawFn) -> tuple[Logs, Logs]:
    """Draw a log and a release of some of its users, with any queries."""
    before = draw(logs)
    kept = draw(st.lists(st.sampled_from(sorted(before)), unique=True))
    texts = st.lists(st.sampled_from(["a", "b", "c", "d", "z"]), min_size=1, max_size=6)
    return before, {user: draw(texts) for user in kept}


def log_of(sent: Logs) -> QueryLog:
    return QueryLog.from_rows(
        [(user, query, None, None, None) for user, queries in sent.items() for query in queries]
    )


def names_of(pairs: Sequence[tuple[str, str]]) -> pl.DataFrame:
    kinds = {"user": pl.String, "pseudonym": pl.String}
    return pl.DataFrame(pairs, schema=kinds, orient="row")


def release_of(source: QueryLog, sent: Logs, **more: object) -> Release:
    """Give a release whose pseudonyms are the users' names with a sign, a day a row."""
    rows = [
        (f"p-{user}", query, date(2006, 3, 1) + timedelta(days=place), None, None)
        for user, queries in sent.items()
        for place, query in enumerate(queries)
    ]
    given = {
        "method": "test",
        "parameters": {},
        "guarantee": Guarantee(model="none", statement=""),
        "source": source,
        "log": pl.LazyFrame(rows, schema=KINDS, orient="row"),
        "mapping": names_of([(user, f"p-{user}") for user in sent]),
    }
    return Release(**(given | more))
