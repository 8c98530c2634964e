"""Randomness: uniform enough, secret unless seeded, the same everywhere for a seed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.core.randomness import RandomSource
from queryveil.errors import UsageError

SIZES = st.integers(0, 300)
SEEDS = st.none() | st.integers(0, 2**80)


@given(SIZES, SEEDS)
def test_order_is_a_permutation(size: int, seed: int | None) -> None:
    assert sorted(RandomSource(seed).permutation(size).tolist()) == list(range(size))


@given(SIZES, SEEDS)
def test_names_are_distinct_and_of_twelve_letters(size: int, seed: int | None) -> None:
    names = [name.decode() for name in RandomSource(seed).tokens(size)]
    assert len(set(names)) == len(names) == size
    assert all(len(name) == 12 and name.isalpha() and name.islower() for name in names)


def test_names_are_in_no_order() -> None:
    names = RandomSource().tokens(200).tolist()
    assert names != sorted(names)
    assert names != sorted(names, reverse=True)


def test_colliding_names_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # One byte gives 256 names: 250 of them cannot come without collisions.
    monkeypatch.setattr("queryveil.core.randomness._NAME_BYTES", 1)
    names = RandomSource().tokens(250).tolist()
    assert len(set(names)) == 250


def test_every_order_comes_as_often() -> None:
    chance = RandomSource(seed=5)
    found = Counter(tuple(chance.permutation(3).tolist()) for _ in range(6000))
    assert len(found) == 6
    assert all(850 < times < 1150 for times in found.values())  # 1,000 expected, 5 deviations


def test_a_secret_stream_never_repeats() -> None:
    assert RandomSource().bytes(16) != RandomSource().bytes(16)
    chance = RandomSource()
    assert chance.bytes(16) != chance.bytes(16)
    assert chance.is_secure


def test_a_seeded_stream_repeats_and_moves_on() -> None:
    one, two = RandomSource(7), RandomSource(7)
    assert [one.bytes(9), one.bytes(9)] == [two.bytes(9), two.bytes(9)]
    assert one.bytes(9) != one.bytes(9)
    assert RandomSource(7).bytes(9) != RandomSource(8).bytes(9)
    assert not one.is_secure


def test_seeded_streams_are_the_same_in_another_process() -> None:
    text = (
        "from queryveil.core.randomness import RandomSource; c = RandomSource(42);"
        "print(c.bytes(8).hex(), c.permutation(50).tolist(), c.tokens(5).tolist())"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    here = RandomSource(42)
    expected = f"{here.bytes(8).hex()} {here.permutation(50).tolist()} {here.tokens(5).tolist()}"
    assert done.stdout.strip() == expected


def test_a_seeded_stream_never_changes() -> None:
    # printf queryveil/0/1 | openssl dgst -shake256 -xoflen 8
    assert RandomSource(0).bytes(8).hex() == "b5e5c5f44429d8a1"


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(UsageError, match="-1 is negative"):
        RandomSource(-1)
