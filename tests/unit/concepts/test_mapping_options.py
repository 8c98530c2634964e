"""How queries are mapped is one value: of methods, measures and commands alike."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.mapping.options import MappingOptions
from queryveil.measures.base import MEASURES, parse_measure
from queryveil.methods.base import METHODS
from queryveil.workflows.measurement import adapt_measure

ROWS = [(f"u{n}", query, None, None, None) for n in range(6) for query in ("zyxtop", "tennis")]


@pytest.fixture(autouse=True, scope="module")
def shared_mapper() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("queryveil.concepts.mapping.options.Mapper", cache(Mapper))
        yield


@pytest.fixture
def terms(tmp_path: Path) -> str:
    path = tmp_path / "own" / "terms.tsv"
    path.parent.mkdir()
    path.write_text("zyxtop\tgolf\n", "utf-8")
    return str(path)


def concepts(mapper: Mapper, query: str) -> list[str]:
    return mapper.map(pl.Series([query])).to_polars()["label"].drop_nulls().to_list()


def test_terms_come_first(terms: str) -> None:
    assert concepts(MappingOptions().mapper(), "zyxtop") == []
    assert concepts(MappingOptions(terms=terms).mapper(), "zyxtop") == ["golf"]


def test_files_are_inputs_and_their_folders_are_private(terms: str) -> None:
    options = MappingOptions("wordnet, /x/shop.qvt", "en", terms)
    assert options.files() == (Path("/x/shop.qvt"), Path(terms))
    expected = {"taxonomy": "wordnet,shop.qvt", "language": "en", "terms": "terms.tsv"}
    assert options.public_params() == expected
    assert MappingOptions.of({"k": 3, **expected}) == MappingOptions(
        "wordnet,shop.qvt", "en", "terms.tsv"
    )


def test_every_method_and_measure_with_a_taxonomy_takes_language_and_terms() -> None:
    for registry in (METHODS, MEASURES):
        for kind in registry.values():
            names = {declared.name for declared in kind.parameters()}
            assert "taxonomy" not in names or {"language", "terms"} <= names, kind


@pytest.mark.parametrize("name", ["semantic-microaggregation", "profile-first"])
def test_a_language_that_nobody_knows_is_an_error_at_once(name: str) -> None:
    with pytest.raises(qv.ParameterError, match="klingon") as caught:
        qv.parse_method(f"{name}:language=klingon")
    assert caught.value.parameter == "language"


def test_terms_of_a_method(terms: str) -> None:
    log = qv.QueryLog.from_rows(ROWS)
    method = qv.parse_method(f"semantic-microaggregation:k=3:min-coverage=0.9:terms={terms}")
    release = qv.anonymize(log, method)
    assert release.parameters["terms"] == "terms.tsv"
    assert method.input_files() == (Path(terms),)
    with pytest.raises(qv.CoverageError):
        qv.anonymize(log, qv.parse_method("semantic-microaggregation:k=3:min-coverage=0.9"))


def test_measures_map_as_the_release_does(terms: str) -> None:
    log = qv.QueryLog.from_rows([row for row in ROWS if row[1] == "zyxtop"])
    release = qv.anonymize(log, "semantic-microaggregation", k=3, terms=terms)
    with pytest.raises(qv.InputError, match="no user of this log has a concept"):
        qv.measure(log, replace(release, method_spec=None, parameters={}), "profile-similarity")
    result = qv.measure(log, release, "profile-similarity")
    assert result.measure == "profile-similarity"
    assert result.value == pytest.approx(1)
    method = qv.parse_method(f"semantic-microaggregation:terms={terms}")
    adapted = adapt_measure(parse_measure("profile-similarity"), [method])
    assert adapted.params()["terms"] == terms
    own = parse_measure("profile-similarity:language=en:terms=mine.tsv")
    assert adapt_measure(own, [method]) == own
