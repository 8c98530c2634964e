"""Values to sweep, as people write them, and the runs that they make."""

from __future__ import annotations

import pytest

from queryveil.comparison.grid import expand_grid, parse_sweep, parse_sweeps
from queryveil.core.parameters import split_specs
from queryveil.errors import ParameterError, UsageError
from queryveil.methods.base import METHODS
from queryveil.methods.frequent_queries import FrequentQueries


def test_values() -> None:
    assert parse_sweep("epsilon = 0.1, 1,10") == ("epsilon", ("0.1", "1", "10"))
    assert parse_sweep("min-users=2..4,9,9") == ("min_users", ("2", "3", "4", "9"))
    assert parse_sweeps(["k=2", "pseudonym-scope=user,none"]) == {
        "k": ("2",),
        "pseudonym_scope": ("user", "none"),
    }


@pytest.mark.parametrize("text", ["k", "k=", "=3", "k=2,,3", "k=7..2", "k=1..99999", ""])
def test_no_sweep(text: str) -> None:
    with pytest.raises(UsageError):
        parse_sweep(text)


def test_a_parameter_is_swept_once() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_sweeps(["k=2", "k=3"])


def test_all_combinations_of_what_concerns_a_method() -> None:
    methods = [
        "frequent-queries",
        "semantic-microaggregation",
        "frequent-queries:min-click-users=9",
    ]
    runs = expand_grid(
        methods, {"min_click_users": ("6", "7"), "pseudonym_scope": ["user", "none"], "k": [2]}
    )
    assert [(run.label, dict(run.params)) for run in runs] == [
        *(
            ("frequent-queries", {"min_click_users": n, "pseudonym_scope": link})
            for n in (6, 7)
            for link in ("user", "none")
        ),
        ("semantic-microaggregation", {"k": 2}),
        *(
            ("frequent-queries:min-click-users=9", {"pseudonym_scope": link})
            for link in ("user", "none")
        ),
    ]
    assert str(runs[1].method) == "frequent-queries:min-click-users=6:pseudonym-scope=none"


def test_a_method_may_be_an_object_and_stands_once() -> None:
    runs = expand_grid([FrequentQueries(min_users=9), "frequent-queries:min-users=9"], {})
    assert [str(run.method) for run in runs] == ["frequent-queries:min-users=9"]


def test_what_cannot_be_run_is_told_before_anything_is() -> None:
    with pytest.raises(UsageError, match="none of the methods"):
        expand_grid(["frequent-queries"], {"kk": ["2"]})
    with pytest.raises(UsageError, match="no list"):
        expand_grid(["frequent-queries"], {"min_users": []})
    with pytest.raises(UsageError, match="no list"):
        expand_grid(["frequent-queries"], {"min_users": "30"})
    with pytest.raises(ParameterError):
        expand_grid(["frequent-queries"], {"min_users": ["-1"]})
    with pytest.raises(UsageError, match="unknown method"):
        expand_grid(["frequent-query"], {})
    with pytest.raises(UsageError, match="nothing"):
        expand_grid([], {})


def test_a_list_of_lines_may_have_commas_in_values() -> None:
    text = "dp-statistics:public-queries=a,b, frequent-queries:min-users=3,click-graph"
    assert split_specs(text, METHODS) == [
        "dp-statistics:public-queries=a,b", "frequent-queries:min-users=3", "click-graph",
    ]  # fmt: skip
    assert split_specs("unknown,frequent-queries", METHODS) == ["unknown", "frequent-queries"]
