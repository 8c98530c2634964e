"""Hints are kept between runs if that is possible, and never stand in the way."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from queryveil.concepts.similarity.domains import IdentityScore
from queryveil.core.files import load_hint, save_hint
from queryveil.dp.exponential.weights import Candidates, max_log_ratio
from queryveil.methods.replacement.mechanism import _calibrate_with_hint, _Known


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def only_file(place: Path) -> Path:
    (found,) = (path for path in place.rglob("*") if path.is_file())
    return found


def test_nothing_is_recalled_of_nothing(place: Path) -> None:
    assert load_hint("a key") is None
    assert not place.exists()


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e300, 5e-324, 0.0])
def test_a_number_comes_back_as_it_was(value: float) -> None:
    save_hint("a key", value)
    save_hint("another", 7.0)
    assert load_hint("a key") == value
    save_hint("a key", 2.0)
    assert load_hint("a key") == 2.0


@pytest.mark.parametrize("text", [b"", b"no number", b"\xff\xfe", b"1 2", b"0x10"])
def test_a_damaged_hint_is_none(place: Path, text: bytes) -> None:
    save_hint("a key", 1.0)
    only_file(place).write_bytes(text)
    assert load_hint("a key") is None


def test_a_folder_in_its_place_is_none(place: Path) -> None:
    save_hint("a key", 1.0)
    path = only_file(place)
    path.unlink()
    path.mkdir()
    assert load_hint("a key") is None
    save_hint("a key", 2.0)
    assert load_hint("a key") is None


def test_a_place_that_cannot_be_written_is_no_error(place: Path) -> None:
    place.write_text("a file where a folder should be")
    save_hint("a key", 1.0)
    assert load_hint("a key") is None


def test_nobody_has_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    save_hint("a key", 1.0)
    assert load_hint("a key") is None


@pytest.mark.parametrize("foreign", [1e9, 5.0, 1.02, 0.01, -1.0, math.nan, math.inf])
def test_a_foreign_hint_is_checked_before_it_is_used(foreign: float) -> None:
    known = _Known(Candidates.of(IdentityScore(50)), "same 50")
    right = _calibrate_with_hint(known, 1.0)
    assert load_hint("same 50 1.0") == right.exponent
    save_hint("same 50 1.0", foreign)
    again = _calibrate_with_hint(known, 1.0)
    assert 0.999 <= max_log_ratio(again) <= 1.0
    assert load_hint("same 50 1.0") == again.exponent
