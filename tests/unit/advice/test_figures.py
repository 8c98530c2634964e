"""Shipped figures: every rule has some, and they are read where they belong."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import queryveil as qv
from queryveil.advice.answers import PURPOSES
from queryveil.advice.figures import FILE, MEASURES_OF, RISK
from queryveil.advice.rules import RULES
from queryveil.measures.base import parse_measure

TOOL = Path(__file__).parents[3] / "tools" / "write_advice_table.py"


def test_every_rule_has_figures_of_several_logs() -> None:
    rows = json.loads(FILE.read_text("utf-8"))["figures"]
    assert {row["rule"] for row in rows} == {rule.name for rule in RULES}
    assert len({row["shape"] for row in rows}) == 3
    assert len({row["users"] for row in rows}) == 3


def test_measures_parse_and_the_last_is_the_risk() -> None:
    assert MEASURES_OF.keys() == set(PURPOSES)
    for specs in MEASURES_OF.values():
        assert {parse_measure(spec).kind for spec in specs} == {"utility"}
    assert parse_measure(RISK).kind == "risk"


def test_a_proposal_shows_the_figures_of_the_largest_logs_that_fit() -> None:
    for users, size in ((1_500, "1,000"), (12_000, "10,000"), (10**7, "50,000")):
        advice = qv.advise(recipient="team", purpose="user-modeling", users=users)
        figure = advice.proposals[0].figures[0]
        assert figure.measure == "profile-divergence"
        assert figure.origin == "shipped"
        assert f"of {size} users" in figure.basis
        assert 0 < figure.low < figure.high < 0.5


def test_the_page_shows_the_table_of_rules() -> None:
    """Else run tools/write_advice_table.py."""
    spec = importlib.util.spec_from_file_location("write_advice_table", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    text = tool.PAGE.read_text("utf-8")
    assert tool.fill_tables(text) == text
    assert all(f"`{rule.name}`" in text for rule in RULES)
