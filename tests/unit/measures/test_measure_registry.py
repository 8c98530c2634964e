"""A measure is found by itself, and its line parses back to it."""

from __future__ import annotations

import pytest

from queryveil.errors import ParameterError, UsageError
from queryveil.measures.base import MEASURES, Measure, parse_measure
from queryveil.measures.profile_divergence import ProfileDivergence


@pytest.mark.parametrize("kind", MEASURES.values(), ids=MEASURES)
def test_a_measure_says_what_it_is(kind: type[Measure]) -> None:
    assert all((kind.title, kind.description, kind.paper, kind.unit))
    assert kind.better in ("lower", "higher")
    assert kind.kind in ("risk", "utility")
    assert all(declared.help for declared in kind.parameters())
    assert MEASURES.find(kind.name) is kind
    assert parse_measure(str(kind())) == kind()


def test_a_line_parses_back() -> None:
    line = "profile-divergence:topics=sanchez4:off-topic=bin"
    assert parse_measure(line) == ProfileDivergence(topics="sanchez4", off_topic="bin")
    assert str(parse_measure(line)) == line


def test_slips_of_the_keys_are_told() -> None:
    with pytest.raises(UsageError, match="profile-divergence"):
        parse_measure("profile-divergense")
    with pytest.raises(ParameterError, match="did you mean"):
        parse_measure("profile-divergence:topic=sanchez4")
    with pytest.raises(ParameterError, match="name=value"):
        parse_measure("profile-divergence:sanchez4")
    with pytest.raises(ParameterError, match="twice"):
        parse_measure("profile-divergence:topics=a:topics=b")
