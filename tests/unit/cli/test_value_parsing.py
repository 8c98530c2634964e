"""Values as people write them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.cli.config import parse_fraction, parse_number, parse_size, read_user_list
from queryveil.errors import InputError, UsageError
from queryveil.log.options import ReadOptions


@pytest.mark.parametrize(
    ("text", "share"), [("5%", 0.05), ("0.05", 0.05), (" 100 % ".replace(" %", "%"), 1), ("0", 0)]
)
def test_shares(text: str, share: float) -> None:
    assert parse_fraction(text) == share


@pytest.mark.parametrize("text", ["101%", "-1%", "2", "x", "", "%", "nan", "inf", "1e999", "5%%x"])
def test_no_shares(text: str) -> None:
    with pytest.raises(UsageError, match="is no"):
        parse_fraction(text)


@given(st.integers(0, 10**9))
def test_amounts(number: int) -> None:
    assert parse_number(str(number)) == number
    assert parse_number(f" {number}% ") == pytest.approx(number / 100)


@pytest.mark.parametrize(
    ("text", "size"),
    [("20 GB", 20 * 10**9), ("512k", 512_000), ("1.5 MB", 1_500_000), ("7", 7), ("1 TiB", 10**12)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "1.2.3", "1 PB", "x", ".", "1e9"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(UsageError, match="is not a size"):
        parse_size(text)


def test_days() -> None:
    assert ReadOptions(since=" 2006-03-01 ").since == date(2006, 3, 1)
    for text in ("2006-02-30", "yesterday", "", "01.03.2006"):
        with pytest.raises(UsageError, match="is not a date"):
            ReadOptions(until=text)


def test_users(tmp_path: Path) -> None:
    path = tmp_path / "users.txt"
    path.write_text("\ufeffann\r\n\n  bob \nann\n", "utf-8")
    assert read_user_list(path) == {"ann", "bob"}
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="no text in UTF-8"):
        read_user_list(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_user_list(tmp_path)
