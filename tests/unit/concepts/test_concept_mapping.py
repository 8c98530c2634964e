"""What was found, as tables: phrases, texts, coverage, and the concepts of each user."""

from __future__ import annotations

import polars as pl
import pytest

from queryveil.concepts.loaders.paths import taxonomy_from_paths
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.mapping.result import ConceptMapping
from queryveil.concepts.similarity.profiles import UNMAPPED
from queryveil.errors import UsageError
from queryveil.log.query_log import QueryLog

TAXONOMY = taxonomy_from_paths(
    ["Top/Sports/Windsurfing", "Top/Sports/Swimming_and_Diving", "Top/Mediterranean"], "odp"
)
DIVING, WIND, SEA = (
    TAXONOMY.find(label) for label in ("Swimming and Diving", "Windsurfing", "Mediterranean")
)
QUERIES = ["Diving, in the Mediterranean", "zqx", "zqx in the mediterranean", "", "windsurfing"]


@pytest.fixture(scope="module")
def mapper() -> Mapper:
    return Mapper(TAXONOMY)


@pytest.fixture(scope="module")
def told(mapper: Mapper) -> ConceptMapping:
    return mapper.map(pl.Series("query", QUERIES))


def test_the_table_says_it_in_words(told: ConceptMapping) -> None:
    assert told.to_polars().rows() == [
        (QUERIES[0], "diving", DIVING, "Top/Sports/Swimming_and_Diving", "Swimming and Diving",
         "part", False),
        (QUERIES[0], "mediterranean", SEA, "Top/Mediterranean", "Mediterranean", "label", False),
        ("zqx", "zqx", None, None, None, None, False),
        (QUERIES[2], "zqx", None, None, None, None, False),
        (QUERIES[2], "mediterranean", SEA, "Top/Mediterranean", "Mediterranean", "label", False),
        ("windsurfing", "windsurfing", WIND, "Top/Sports/Windsurfing", "Windsurfing", "label",
         False),
    ]  # fmt: skip
    assert told.to_polars().columns == [
        "query",
        "phrase",
        "concept",
        "name",
        "label",
        "how",
        "loose",
    ]


def test_texts_stand_beside_numbers(told: ConceptMapping) -> None:
    texts = told.phrase_texts()
    assert texts.select("query", "phrase", "begin", "words", "matched").rows()[:2] == [
        (QUERIES[0], "diving", 0, 1, 1),
        (QUERIES[0], "mediterranean", 3, 1, 1),
    ]
    assert texts.height == told.phrases.height


def test_coverage_counts_queries(told: ConceptMapping, mapper: Mapper) -> None:
    assert told.has_concept.tolist() == [True, False, True, False, True]
    assert told.coverage() == 0.6
    assert told.unmapped().to_list() == ["zqx", ""]
    nothing = mapper.map(pl.Series("query", [], dtype=pl.String))
    assert nothing.coverage() == 0.0
    assert nothing.unmapped().to_list() == []
    assert nothing.to_polars().height == nothing.phrase_texts().height == 0


def test_nothing_found_still_has_all_columns(mapper: Mapper, told: ConceptMapping) -> None:
    table = mapper.map(pl.Series("query", ["zqx"])).to_polars()
    assert table.schema == told.to_polars().schema


# --- users ---------------------------------------------------------------------------------------

T1, T2 = "2006-03-01 10:00:00", "2006-03-02 10:00:00"
LOG = QueryLog.from_rows(
    [
        ("ann", "diving in the mediterranean", T1, 1, "http://a.example"),
        ("ann", "diving in the mediterranean", T1, 2, "http://b.example"),
        ("ann", "zqx", T1, None, None),
        ("ann", "windsurfing in the mediterranean", T2, None, None),
        ("bob", "zqx", T1, None, None),
        ("bob", "zqx", T2, None, None),
        ("cat", "the", T1, None, None),
        ("dan", "windsurfing in the mediterranean", T1, None, None),
        ("dan", "windsurfing in the mediterranean", T2, 1, "http://a.example"),
    ]
)


@pytest.fixture(scope="module")
def of_log(mapper: Mapper) -> ConceptMapping:
    return mapper.map(
        LOG.local_frame.select("query").unique(maintain_order=True).collect()["query"]
    )


def counted(table: pl.DataFrame) -> dict[tuple[str, int], int]:
    assert table.columns == ["user", "concept", "count"]
    return {(user, concept): count for user, concept, count in table.rows()}


@pytest.mark.parametrize(("unit", "dives"), [("line", 2), ("event", 1)])
def test_concepts_of_users(of_log: ConceptMapping, unit: str, dives: int) -> None:
    assert counted(of_log.concepts(LOG, unit)) == {
        ("ann", DIVING): dives,
        ("ann", SEA): dives + 1,
        ("ann", WIND): 1,
        ("ann", UNMAPPED): 1,
        ("bob", UNMAPPED): 2,
        ("cat", UNMAPPED): 1,
        ("dan", WIND): 2,
        ("dan", SEA): 2,
    }


def test_lines_count_if_nothing_is_said(of_log: ConceptMapping) -> None:
    assert of_log.concepts(LOG).equals(of_log.concepts(LOG, "line"))
    assert not of_log.concepts(LOG).equals(of_log.concepts(LOG, "event"))


@pytest.mark.parametrize("unit", ["events", "click", ""])
def test_another_unit_is_refused(of_log: ConceptMapping, unit: str) -> None:
    with pytest.raises(UsageError, match="cannot be counted"):
        of_log.concepts(LOG, unit)


def test_users_without_a_concept_stay(of_log: ConceptMapping) -> None:
    profiles = of_log.profiles(LOG)
    assert profiles.users.to_list() == ["ann", "bob", "cat", "dan"]
    told = [
        dict(zip(*(part.tolist() for part in profiles.profile(user)), strict=True))
        for user in range(len(profiles))
    ]
    assert told == [
        {DIVING: 2, SEA: 3, WIND: 1},
        {UNMAPPED: 1},
        {UNMAPPED: 1},
        {WIND: 2, SEA: 2},
    ]


def test_queries_may_come_in_any_order(of_log: ConceptMapping, mapper: Mapper) -> None:
    turned = mapper.map(of_log.queries.reverse())
    assert turned.concepts(LOG).equals(of_log.concepts(LOG))
