"""Which phrases of a user count, and what draws for her, is decided without the rows of others."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.similarity.domain_sets import open_domains
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.dp.noise import NoiseSource
from queryveil.engine.operations import unique_queries
from queryveil.log.query_log import QueryLog
from queryveil.methods.replacement.mechanism import calibrate_mechanism
from queryveil.methods.replacement.phrases import bound_phrases, pad_phrases
from queryveil.methods.replacement.profile_first import _count_topics, _topic_concepts
from queryveil.methods.replacement.semantic import SemanticReplacement
from queryveil.methods.runner import run_method

HER = "her"
QUERIES = ("tennis", "asthma", "golf", "tennis and golf", "asthma flu", "zz", "football", "qq vrr")

Row = tuple[str, str, str | None, int | None, str | None]


@pytest.fixture(autouse=True)
def no_hints(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr("queryveil.concepts.mapping.options.Mapper", lambda *_, **__: mapper())


@cache
def mapper() -> Mapper:
    return Mapper(open_taxonomy("wordnet"))


@cache
def domains():
    return open_domains(open_taxonomy("wordnet"), "disease,sport", "auto")


def rows_of(names: st.SearchStrategy[str], most: int) -> st.SearchStrategy[list[Row]]:
    hour = st.integers(0, 20).map(lambda h: f"2006-03-01 {h:02}:00:00")
    times = st.none() | hour
    row = st.tuples(names, st.sampled_from(QUERIES), times, st.none(), st.none())
    return st.lists(row, max_size=most)


HERS = rows_of(st.just(HER), 15)
OTHERS = rows_of(st.sampled_from(("ann", "bob", "zoe")), 25)
SHUFFLES = st.randoms(use_true_random=False)
easy = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


def mixed(hers: list[Row], others: list[Row], chance: Random) -> QueryLog:
    """Put her rows, in their order, among those of others."""
    turns = [True] * len(hers) + [False] * len(others)
    chance.shuffle(turns)
    left = {True: iter(hers), False: iter(others)}
    return QueryLog.from_rows([next(left[turn]) for turn in turns])


def counting(log: QueryLog, most: int):
    found = mapper().map(unique_queries(log.local_frame))
    return bound_phrases(log, found, domains().index_of, most)


def hers_in(slots) -> list[tuple[int, int]]:
    """Give her slots: number and item."""
    where = slots.users.to_list()
    if HER not in where:
        return []
    mine = slots.table.filter(pl.col("user") == where.index(HER))
    return mine.sort("slot").select("slot", "item").rows()


@easy
@given(HERS, OTHERS, OTHERS, SHUFFLES, st.integers(1, 6))
def test_others_have_no_say(hers, others, more, chance, most) -> None:
    one = hers_in(counting(mixed(hers, others, chance), most))
    two = hers_in(counting(mixed(hers, more, chance), most))
    assert one == two
    assert [slot for slot, _ in one] == list(range(len(one)))
    assert len(one) <= most


@easy
@given(HERS, OTHERS, SHUFFLES, st.integers(1, 6))
def test_she_has_no_say_in_what_others_have(hers, others, chance, most) -> None:
    """Her whole log may change, and of all slots only her own do, in number never."""
    named = [(HER, "zz", None, None, None)]
    one = counting(mixed(named + hers, others, chance), most)
    two = counting(mixed(named, others, chance), most)
    assert one.users.to_list() == two.users.to_list()
    items, other_items = (pad_phrases(slots) for slots in (one, two))
    assert one.bounds.tolist() == two.bounds.tolist()
    her = one.users.to_list().index(HER)
    changed = np.repeat(np.arange(len(one.users)), one.bounds)[items != other_items]
    assert set(changed.tolist()) <= {her}
    assert len(changed) <= most


@easy
@given(HERS, OTHERS, SHUFFLES)
def test_the_first_of_her_phrases_count(hers, others, chance) -> None:
    log = mixed(hers, others, chance)
    everything = hers_in(counting(log, 1000))
    assert hers_in(counting(log, 3)) == everything[:3]


@easy
@given(HERS, OTHERS, SHUFFLES, st.integers(1, 6))
def test_a_profile_has_no_more_phrases_than_count(hers, others, chance, most) -> None:
    log = mixed(hers, others, chance)
    topics, concepts = _topic_concepts(domains())
    found = mapper().map(unique_queries(log.local_frame))
    slots = bound_phrases(log, found, topics, most)
    counts = _count_topics(slots, len(concepts))
    assert counts.shape == (len(slots.users), 2)
    assert counts.sum(axis=1, initial=0).max(initial=0) <= most
    items = counting(log, most)  # the same phrases, as concepts
    assert counts.sum(axis=1).tolist() == items.counts().tolist()


@pytest.mark.parametrize("criterion", ["sqc1", "sqc2", "nsqc"])
def test_what_draws_does_not_depend_on_the_log(criterion: str) -> None:
    """It is made before the log is looked at, and is the same again after another log."""
    method = SemanticReplacement(domain="sport", criterion=criterion, max_phrases_per_user=2)
    before = method.mechanism(method.domains(), NoProgress())
    log = QueryLog.from_rows([("a", "tennis", None, None, None), ("b", "zz", None, None, None)])
    run_method(method, log, RandomSource(1), NoProgress())
    after = calibrate_mechanism(
        method.domains(), criterion, "exact", method.phrase_budget, NoProgress()
    )
    for one, two in zip(before.weights, after.weights, strict=True):
        assert one.exponent == two.exponent
        assert one.levels.tolist() == two.levels.tolist()
        assert one.totals.tolist() == two.totals.tolist()


def test_a_slot_without_a_phrase_may_become_anything() -> None:
    """A concept of all domains is drawn first, all equally likely."""
    method = SemanticReplacement(domain="disease,sport", criterion="nsqc", max_phrases_per_user=1)
    mechanism = method.mechanism(method.domains(), NoProgress())
    items = np.full(80_000, -1)
    drawn = mechanism.replace(items, NoiseSource(RandomSource(1).uint64s), NoProgress())
    assert (items == -1).all()  # what was given is left alone
    seen = np.bincount(drawn, minlength=783)
    expected = 80_000 / 783
    assert len(seen) == 783
    assert ((seen - expected) ** 2 / expected).sum() < 783 + 6 * (2 * 783) ** 0.5
