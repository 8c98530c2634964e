"""Records convert to JSON and back without loss, and refuse what does not fit."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Literal

import pytest

from queryveil.core.records import FrozenDict, Json, Record, json_field
from queryveil.core.schemas import json_schema
from queryveil.errors import VerificationError


@dataclass(frozen=True, repr=False)
class Inner(Record):
    """One inner value."""

    low: float
    high: float | None = None


@dataclass(frozen=True, repr=False)
class Outer(Record):
    """A record with a field of every type.

    Attributes:
        name: Its name.
    """

    shown = ("name",)
    schema_number = 1

    name: str
    kind: Literal["risk", "utility"]
    epsilon: Fraction
    time: datetime
    day: date | None
    rows: tuple[Inner, ...]
    pair: tuple[int, str]
    counts: Mapping[str, int]
    interval: Inner = json_field(flat=True)
    note: str | None = json_field(default=None, optional=True)
    details: Mapping[str, Json] = json_field(flat=True, default_factory=dict)


OUTER = Outer(
    name="a",
    kind="risk",
    epsilon=Fraction(1, 3),
    time=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    day=None,
    rows=(Inner(0.5, 1.0), Inner(2.0)),
    pair=(1, "x"),
    counts={"users": 3},
    interval=Inner(0.25),
    details={"chance": [0.5, {"k": 1}]},
)


def test_a_record_comes_back_from_its_json_text() -> None:
    assert Outer.from_dict(json.loads(OUTER.to_json())) == OUTER


def test_keys_have_the_order_of_the_fields_and_flat_ones_stand_beside_them() -> None:
    keys = "schema name kind epsilon time day rows pair counts low high chance"
    assert list(OUTER.to_dict()) == keys.split()


def test_repr_shows_only_what_the_class_lists() -> None:
    assert repr(OUTER) == "Outer(name='a')"
    assert repr(Inner(1.0)) == "Inner()"


def test_mappings_cannot_be_changed_and_records_can_be_pickled() -> None:
    with pytest.raises(TypeError, match="cannot be changed"):
        OUTER.counts["users"] = 4  # type: ignore[index]
    assert pickle.loads(pickle.dumps(OUTER)) == OUTER
    assert isinstance(pickle.loads(pickle.dumps(OUTER)).counts, FrozenDict)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", 2),
        ("name", 1),
        ("kind", "use"),
        ("epsilon", "1/0"),
        ("epsilon", None),
        ("time", "yesterday"),
        ("day", 3.5),
        ("rows", {"low": 1}),
        ("rows", [{"low": 1, "middle": 2}]),
        ("rows", [{"low": "1"}]),
        ("rows", [{"low": True}]),
        ("pair", [1]),
        ("pair", ["x", 1]),
        ("counts", {"users": 3.0}),
        ("counts", [3]),
        ("low", None),
    ],
)
def test_a_wrong_value_is_refused_with_its_place(key: str, value: object) -> None:
    with pytest.raises(VerificationError, match="Outer"):
        Outer.from_dict(OUTER.to_dict() | {key: value})


def test_missing_and_unknown_keys_are_refused() -> None:
    document = OUTER.to_dict()
    del document["pair"]
    with pytest.raises(VerificationError, match='no key "pair"'):
        Outer.from_dict(document)
    with pytest.raises(VerificationError, match='unknown key "more"'):
        Inner.from_dict({"low": 1, "more": 2})
    with pytest.raises(VerificationError, match="not a JSON object"):
        Inner.from_dict([1])


def test_the_schema_names_every_key() -> None:
    schema = json_schema(Outer)
    assert set(OUTER.to_dict()) - {"chance"} <= set(schema["properties"])
    assert " ".join(schema["required"]) == "schema name kind epsilon time day rows pair counts low"
    assert schema["$defs"]["Inner"]["properties"]["low"] == {"type": "number"}
    assert schema["properties"]["kind"] == {"enum": ["risk", "utility"]}
    assert schema["description"] == "A record with a field of every type."
