"""Released parts of queries count as words and texts, and never as queries."""

from __future__ import annotations

import polars as pl

import queryveil as qv
from queryveil.measures._shared.counts import released_frequencies, statistics_of_release
from queryveil.measures.rare_query_exposure import _recount_parts
from queryveil.release.guarantee import Guarantee
from queryveil.release.release import Release

ROWS = [
    ("p", "red shoes", None, 1, "http://a.example", "query"),
    ("p", "shoes", None, None, None, "part"),
    ("p", "shoes", None, None, None, "part"),
]
FIELDS = {"user": pl.String, "query": pl.String, "time": pl.Date, "rank": pl.Int32,
          "url": pl.String, "kind": pl.String}  # fmt: skip
LOG = qv.QueryLog.from_rows([("a", text, None, None, None) for text in ("red shoes", "shoes")])
RELEASE = Release(
    "made-up",
    {"output_unit": "phrase"},
    Guarantee("none", ""),
    LOG,
    pl.LazyFrame(ROWS, schema=FIELDS, orient="row"),
)


def test_counts_of_queries_leave_parts_out() -> None:
    counts, basis = released_frequencies(RELEASE)
    assert counts.rows() == [("red shoes", 1)]
    assert "without those that are parts" in basis
    counts, basis = released_frequencies(RELEASE, with_parts=True)
    assert counts.rows() == [("red shoes", 1), ("shoes", 2)]
    assert "parts" in basis


def test_statistics_leave_parts_out() -> None:
    statistics = statistics_of_release(RELEASE)
    assert statistics.queries.rows() == [("red shoes", 1.0)]
    assert statistics.clicks["query"].to_list() == ["red shoes"]
    assert "without those that are parts" in statistics.read


def test_words_are_counted_in_all_rows() -> None:
    results = qv.measure(LOG, RELEASE, ["query-coverage", "word-frequency-error"])
    coverage, words = (result for _, result in results.items())
    assert coverage.value == 0.5
    assert words.details["error_as_given"] == 0.25  # shoes: 3 of 2, red: 1 of 1


def test_a_part_that_one_user_alone_sent_as_a_query_is_not_rare() -> None:
    """It is inside of the queries of others, who sent it too."""
    rows = [("a", "tennis", None, None, None), ("b", "tennis shoes", None, None, None),
            ("c", "tennis court", None, None, None)]  # fmt: skip
    log = qv.QueryLog.from_rows(rows)
    counted = _recount_parts(
        pl.DataFrame({"query": ["shoes", "tennis"], "rows": [1, 1], "senders": [1, 1],
                      "identifier": [False, False], "rare": [True, True]},
                     schema_overrides={"senders": pl.UInt32}),
        log.local_frame,
    )  # fmt: skip
    assert counted.select("query", "senders", "rare").rows() == [
        ("shoes", 1, True),
        ("tennis", 3, False),
    ]
