"""Small files of others: read within bounds, or refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.core.bounded import BoundsError, parse_json, read_json, read_within

DEEP = "[" * 200_000
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


@given(JSON)
def test_what_is_not_deep_is_read_as_ever(value: object) -> None:
    assert parse_json(json.dumps(value), depth=200) == value


@pytest.mark.parametrize(
    "text", [DEEP, DEEP + "]" * 200_000, '{"a":' * 5000, '["\\"[[[",' * 100, '{"a":[' * 40]
)
def test_what_is_nested_too_deep(text: str) -> None:
    with pytest.raises(BoundsError, match="nested more than 64 deep"):
        parse_json(text)


def test_brackets_in_texts_are_not_counted() -> None:
    assert parse_json(json.dumps(["[" * 1000 + '"' + "\\" * 3])) == ["[" * 1000 + '"' + "\\" * 3]


def test_an_open_text_is_looked_at_once() -> None:
    with pytest.raises(ValueError, match="Unterminated"):
        parse_json('"' + '\\"' * 2_000_000)  # of a square of that the test would not end


def test_a_large_file_and_what_is_no_file(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_text("1" * 101)
    with pytest.raises(BoundsError, match="larger than 100 bytes"):
        read_within(path, 100)
    with pytest.raises(BoundsError, match="larger than"):
        read_within(Path("/dev/zero"), 1000)
    os.mkfifo(tmp_path / "pipe")
    for name in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(BoundsError, match="not a regular file"):
            read_json(name)
    with pytest.raises(OSError, match="No such file"):
        read_json(tmp_path / "none.json")
    with pytest.raises(OSError, match="directory"):
        read_json(tmp_path)
