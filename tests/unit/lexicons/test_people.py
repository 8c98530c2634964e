"""Full names of people are told from towns, brands and phrases."""

from __future__ import annotations

import polars as pl
import pytest

from queryveil.lexicons import contains_full_name, is_full_name, is_known_person

PERSONS = [
    "jane kowalski", "Jane Kowalski", "dr. rosalind kowalczyk", "kowalski, jane", "mark kowalski",
    "will smith", "john f kennedy", "Hans Müller", "pierre dupont", "giuseppe rossi",
    "maria garcia lopez", "anneliese van der pol", "jan kowalski jr", "denise o'brien-kowalski",
]  # fmt: skip
OTHERS = [
    "jackson mississippi", "jackson, georgia", "madison wisconsin", "virginia beach",
    "austin texas", "charlotte north carolina", "ralph lauren", "calvin klein", "betty crocker",
    "wells fargo", "charles schwab", "jo ann fabrics", "rose garden", "hope chest", "summer jobs",
    "martin guitar", "april showers", "don t cha", "san juan puerto rico", "cheap flights", "jane",
    "kowalski", "", "12 main st", "johns hopkins university",
]  # fmt: skip


@pytest.mark.parametrize("text", PERSONS)
def test_a_person(text: str) -> None:
    assert is_full_name(pl.Series([text])).item()
    assert contains_full_name(pl.Series([text])).item()


@pytest.mark.parametrize("text", OTHERS)
def test_no_person(text: str) -> None:
    assert not contains_full_name(pl.Series([text])).item()
    assert not is_full_name(pl.Series([text])).item()


def test_a_name_inside_of_a_text() -> None:
    texts = pl.Series(["phone number of rosalind kowalczyk denver", "jane kowalski obituary"])
    assert contains_full_name(texts).all()
    assert not is_full_name(texts).any()


def test_columns_keep_their_rows_and_nulls_are_no_names() -> None:
    texts = pl.Series("q", ["tennis", None, "jane kowalski", "tennis", "jane kowalski"])
    assert is_full_name(texts).to_list() == [False, False, True, False, True]
    assert is_full_name(texts).name == "q"
    assert len(contains_full_name(texts.clear())) == 0


def test_known_people_are_in_the_filter_and_few_others() -> None:
    assert is_known_person(pl.Series(["Abraham Lincoln", "britney spears"])).all()
    first = ("rosalind", "denise", "hans", "tamara", "gerard", "lorena", "craig", "heidi")
    last = ("kowalczykx", "mullerx", "dupontx", "garciax", "smithx", "jonesx", "brownx", "leex")
    invented = pl.Series(
        [f"{one} {other}{n}" for one in first for other in last for n in range(40)]
    )
    assert is_known_person(invented).mean() < 0.01
