"""What a notebook shows of a release and of all that it holds."""

from __future__ import annotations

import re

import polars as pl
import pytest

import queryveil as qv

USERS = [f"canary-{number}" for number in range(6)]
ROWS = [
    (user, text, f"2006-03-0{day} 10:00:00", 1, "http://secret.example")
    for user in USERS
    for day, text in ((1, "buy red shoes"), (2, "weather in paris"))
]
LINES = (
    "frequent-queries:min-users=2:min-click-users=2",
    "semantic-microaggregation:k=2:include-clicks=no",
    "dp-statistics",
    "semantic-replacement:max-phrases-per-user=2:domain=A",
)
PRIVATE = re.compile(r"canary|shoes|paris|secret\.example|\b12\b")


def reachable(thing: object, seen: dict[int, object]) -> dict[int, object]:
    """Collect the package's own objects that an object holds, itself included."""
    if id(thing) in seen or not type(thing).__module__.startswith("queryveil"):
        return seen
    seen[id(thing)] = thing
    for held in getattr(thing, "__dict__", {}).values():
        inner = held.values() if isinstance(held, dict) else held
        for one in inner if isinstance(inner, (list, tuple)) else (held,):
            reachable(one, seen)
    return seen


@pytest.mark.parametrize("line", LINES)
def test_a_release_shows_nothing_private(line: str) -> None:
    """Neither a release, nor its card, nor anything that it holds prints users or queries."""
    log = qv.QueryLog.from_rows(ROWS)
    made = qv.anonymize(log, line, ledger="nobody", seed=1)
    card = made.preview_card()
    shown = [repr(thing) for thing in reachable(made, {}).values()] + [repr(card), f"{card}"]
    assert len(shown) >= 4
    assert not [text for text in shown if PRIVATE.search(text)]
    assert made.method in repr(made)
    assert card.input.rows == 12  # it is there for whoever asks


def test_what_is_asked_shows_nobody() -> None:
    """The users who objected stand in no repr."""
    assert "canary" not in repr(qv.ReadOptions(exclude_users=frozenset(USERS)))
    assert "canary" not in repr(qv.Mapper(qv.open_taxonomy("wordnet")).map(pl.Series(["canary"])))
