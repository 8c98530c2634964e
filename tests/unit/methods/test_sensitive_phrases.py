"""Parts of harmless queries can be of a sensitive topic: where it is dropped, none is drawn."""

from __future__ import annotations

import polars as pl
import pytest

import queryveil as qv
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.lexicons import has_topic
from queryveil.methods.microaggregation.queries import build_query_pool

pytestmark = pytest.mark.usefixtures("one_mapper")
QUERIES = ["jobs at a hospital", "university and hospital", "tennis"]


def test_no_such_text_is_in_the_pool() -> None:
    """Else rows would vanish from a shared log later, and a member exceed their fraction of it."""
    queries = pl.Series(QUERIES).cast(pl.Categorical)
    assert not has_topic(queries, ["health"]).any()
    sent = pl.DataFrame(
        {"user": range(3), "query": range(3)}, {"user": pl.UInt32, "query": pl.UInt32}
    )
    mapping = Mapper(open_taxonomy("wordnet")).map(queries)
    drawn = build_query_pool(mapping, sent, "phrase", 1).names.to_list()
    assert "hospital" in drawn
    left = build_query_pool(mapping, sent, "phrase", 1, ("health",)).names.to_list()
    assert left == [text for text in drawn if text != "hospital"]


@pytest.mark.parametrize("unit", ["phrase", "query"])
def test_the_second_search_removes_no_row(unit: str) -> None:
    rows = [(f"u{n}", query, None, None, None) for n in range(12) for query in QUERIES]
    rows += [(f"u{n}", "herpes", None, None, None) for n in range(12)]
    spec = f"semantic-microaggregation:k=4:output-unit={unit}"
    release = qv.anonymize(qv.QueryLog.from_rows(rows), spec, sensitive="drop")
    assert not any("released text" in reason for reason in release.dropped)
    assert not has_topic(release.to_polars()["query"], ["health"]).any()
