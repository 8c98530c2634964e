"""Prefetching changes when things are made, and nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.core.progress import prefetch


@given(st.lists(st.integers(), max_size=20), st.integers(1, 5))
def test_gives_the_items_in_order(items: list[int], depth: int) -> None:
    assert list(prefetch(items, depth)) == items


def test_raises_the_producers_error_after_its_items() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ZeroDivisionError("the producer's own words")

    found = prefetch(broken())
    assert next(found) == 1
    with pytest.raises(ZeroDivisionError, match="the producer's own words"):
        next(found)


def test_raises_even_what_is_no_exception() -> None:
    def stopped() -> Iterator[int]:
        yield from ()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(prefetch(stopped()))


def test_stops_the_producer_when_the_consumer_quits() -> None:
    made: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            made.append(len(made))
            yield made[-1]

    before = threading.active_count()
    found = prefetch(endless(), depth=2)
    assert [next(found), next(found)] == [0, 1]
    found.close()
    after = len(made)
    time.sleep(0.25)
    assert len(made) == after
    assert threading.active_count() == before


def test_closes_in_the_middle_of_a_loop_that_fails() -> None:
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="consumer"):
        for item in prefetch(range(1000)):
            if item == 3:
                raise RuntimeError("consumer")
    assert threading.active_count() == before


def test_makes_no_more_than_depth_ahead() -> None:
    made: list[int] = []

    def counted() -> Iterator[int]:
        for number in range(50):
            made.append(number)
            yield number

    found = prefetch(counted(), depth=3)
    next(found)
    time.sleep(0.3)
    assert len(made) <= 1 + 3 + 1  # taken, waiting, and one in the producer's hand
    found.close()


def test_runs_ahead_of_the_consumer() -> None:
    second = threading.Event()

    def telling() -> Iterator[int]:
        yield 1
        second.set()
        yield 2

    found = prefetch(telling())
    assert next(found) == 1
    assert second.wait(600), "the second item was not made while the first was in use"
    assert list(found) == [2]
