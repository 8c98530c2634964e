"""The result of a measure: its JSON form, its `repr`, and one or several at a time."""

from __future__ import annotations

import json

import pytest

import queryveil as qv
from queryveil.core.schemas import json_schema
from queryveil.errors import VerificationError
from queryveil.measures import Interval, ProfileDivergence, RecordLinkage

LOG = qv.QueryLog.from_rows([(user, "tennis", None, None, None) for user in "abc"])
RESULT = RecordLinkage().result(
    12.3,
    interval=(10, 15),
    baselines={"chance": 0.1, "random_groups": None},
    counts={"users": 1000},
    details={"levels": {"1": 0.5, "2": None}},
    summary="a sentence",
    basis="released queries",
)


def test_the_result_comes_back_from_its_json_text() -> None:
    assert qv.MeasureResult.from_dict(json.loads(RESULT.to_json())) == RESULT
    skipped = RecordLinkage().skip("no log")
    assert qv.MeasureResult.from_dict(json.loads(skipped.to_json())) == skipped
    assert (skipped.value, skipped.interval, skipped.skipped_because) == (None, None, "no log")


def test_details_and_interval_are_beside_the_value() -> None:
    document = RESULT.to_dict()
    keys = "measure title unit better kind value low high baselines counts levels summary basis"
    assert " ".join(document) == keys
    assert document["baselines"] == {"chance": 0.1}
    assert RESULT.interval == Interval(10.0, 15.0)
    assert "low" not in json_schema(qv.MeasureResult)["required"]


def test_a_document_with_half_an_interval_is_refused() -> None:
    document = RESULT.to_dict()
    del document["high"]
    with pytest.raises(VerificationError, match='no key "high"'):
        qv.MeasureResult.from_dict(document)


@pytest.mark.parametrize("name", ["unit", "counts", "low"])
def test_a_detail_cannot_hide_another_key(name: str) -> None:
    with pytest.raises(qv.UsageError, match=f"cannot be called {name}"):
        RecordLinkage().result(1.0, details={name: 2})


def test_the_repr_is_short_and_has_no_path() -> None:
    assert repr(RESULT) == (
        "MeasureResult(record-linkage = 12.3 percent of the log's users, lower is better; "
        "baseline chance 0.1)"
    )
    hidden = ProfileDivergence(taxonomy="/home/owner/private.qvt").result(0.25)
    assert repr(hidden) == (
        "MeasureResult(profile-divergence = 0.25 Jensen-Shannon divergence, lower is better)"
    )
    assert repr(RecordLinkage().skip("user x")) == "MeasureResult(record-linkage = none)"


@pytest.mark.parametrize("one", ["profile-divergence", ProfileDivergence()])
def test_one_measure_gives_its_result_and_a_list_gives_a_mapping(one: str | qv.Measure) -> None:
    release = qv.anonymize(LOG, "frequent-queries:min-users=2")
    alone, listed = qv.measure(LOG, release, one), qv.measure(LOG, release, [one])
    assert isinstance(alone, qv.MeasureResult)
    assert isinstance(listed, qv.MeasureResults)
    assert dict(listed) == {"profile-divergence": alone}
    assert list(listed.to_dict()) == ["schema", "method", "measures", "notes"]
    assert qv.MeasureResults.from_dict(json.loads(listed.to_json())) == listed
