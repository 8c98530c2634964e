"""`concept-histogram` and `profile-first`: noise, rows and promises."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recounts import recount_checks

import queryveil as qv
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.similarity.topics import topic_preset
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.dp.noise import NoiseSource
from queryveil.errors import ParameterError, UsageError
from queryveil.methods.replacement.concept_histogram import ConceptHistogram, _spread
from queryveil.methods.replacement.profile_first import ProfileFirst, _topic_concepts
from queryveil.methods.runner import run_method
from queryveil.testing import KitCheck, method_checks

SPORT = "n#00523513"
WATER = "n#00441824"
ROWS = [
    *[("ann", query, None, None, None) for query in ("tennis", "asthma", "golf", "tennis", "zz")],
    *[("bob", "judo", None, None, None)] * 3,
    ("cat", "zz", None, None, None),
]

known_mapper = cache(Mapper)


@pytest.fixture(autouse=True)
def no_hints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("queryveil.concepts.mapping.options.Mapper", known_mapper)


def run(method: qv.Method, rows: list[Any] = ROWS, seed: int | None = 1) -> qv.Release:
    return run_method(method, qv.QueryLog.from_rows(rows), RandomSource(seed), NoProgress())


def written(release: qv.Release) -> pl.DataFrame:
    return release.log.collect().with_columns(pl.col("user", "query").cast(pl.String))


# --- noise of the histogram ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "cap", "budget", "scale"),
    [
        (1.0, 100, "user", Fraction(200)),
        (0.5, 10, "user", Fraction(40)),
        (8.0, 1, "user", Fraction(1, 4)),
        (1.0, 100, "query", Fraction(2)),
        (0.25, 7, "query", Fraction(8)),
    ],
)
def test_noise_is_for_twice_the_phrases_that_count(epsilon, cap, budget, scale) -> None:
    method = ConceptHistogram(epsilon=epsilon, max_phrases_per_user=cap, budget_unit=budget)
    counts = method.counts(177)
    assert counts.scale == scale
    assert counts.contribution_bound == 2 * cap
    assert counts.epsilon == method.user_epsilon


def test_a_scale_that_is_no_multiple_is_rounded_up() -> None:
    method = ConceptHistogram(epsilon=0.3, max_phrases_per_user=10)
    assert Fraction(20) / Fraction("0.3") <= method.counts(5).scale
    assert method.counts(5).epsilon <= Fraction("0.3")


def test_a_threshold_is_chosen_or_named() -> None:
    assert ConceptHistogram(threshold=1).counts(177).threshold == 1
    few, many = (ConceptHistogram().counts(cells).threshold for cells in (200, 39_914))
    assert 1 <= few < many


def test_noise_that_is_drawn_is_that_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = NoiseSource.laplace

    def laplace(self: NoiseSource, size: int, scale: Fraction) -> Any:
        asked.append((size, scale))
        return real(self, size, scale)

    monkeypatch.setattr(NoiseSource, "laplace", laplace)
    run(ConceptHistogram(domain=SPORT, max_phrases_per_user=5, epsilon=2.0, threshold=3), seed=None)
    assert asked[0] == (3, Fraction(5))  # the cells that have a count: tennis, golf, judo


# --- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        ConceptHistogram(domain=SPORT, max_phrases_per_user=6),
        ConceptHistogram(domain=WATER, max_phrases_per_user=6, threshold=1),
        ConceptHistogram(domain="disease,sport", max_phrases_per_user=6, epsilon=100),
        ProfileFirst(domain="disease,sport", max_phrases_per_user=6),
        ProfileFirst(domain="A", max_phrases_per_user=6, mechanism="answers"),
        ProfileFirst(domain="A", max_phrases_per_user=6, mechanism="cells"),
        ProfileFirst(domain="C", max_phrases_per_user=6, mechanism="population", epsilon=5),
        ProfileFirst(domain="B", max_phrases_per_user=6, mechanism="uniform"),
        ProfileFirst(max_phrases_per_user=6, epsilon=10),
    ],
    ids=str,
)
def test_everybody_has_the_same_number_of_rows(method: qv.Method) -> None:
    release = run(method)
    log = written(release)
    assert sorted(Counter(log["user"]).values()) == [6, 6, 6]
    for (_,), mine in log.group_by("user"):
        assert sorted(mine["time"].to_list()) == [1, 2, 3, 4, 5, 6]
    assert log["rank"].null_count() == log["url"].null_count() == 18
    assert release.concepts["user"].cast(pl.String).to_list() == log["user"].to_list()
    domains = method.domains()
    assert set(release.concepts["concept"]) <= set(domains.concepts.tolist())
    promise = method.guarantee()
    assert promise.model == "pure-dp"
    assert promise.epsilon == float(method.user_epsilon)
    card = release.preview_card()
    assert card.input.rows == sum(card.dropped.values()) == len(ROWS)
    assert sum(card.generated.values()) == log.height
    assert sorted(release.mapping["user"]) == ["ann", "bob", "cat"]


def test_with_much_epsilon_the_counts_come_back() -> None:
    method = ConceptHistogram(domain=SPORT, epsilon=1000, max_phrases_per_user=3)
    release = run(method)
    wordnet = open_taxonomy("wordnet-nouns")
    named = dict(release.mapping.select("user", "pseudonym").rows())
    rows = release.concepts.with_columns(pl.col("user").cast(pl.String))
    found = {
        user: sorted(rows.filter(pl.col("user") == name)["concept"]) for user, name in named.items()
    }
    assert found["bob"] == [wordnet.find("judo")] * 3
    assert Counter(found["ann"])[wordnet.find("tennis")] >= 1


@given(st.data())
def test_rows_follow_the_noisy_counts(data) -> None:
    users, cells, rows = (data.draw(st.integers(1, most)) for most in (4, 5, 7))
    table = [[data.draw(st.integers(0, 6)) for _ in range(cells)] for _ in range(users)]
    shown = [u * cells + c for u in range(users) for c in range(cells) if table[u][c]]
    noisy = [table[place // cells][place % cells] for place in shown]
    items = _spread(
        np.array(shown, np.int64), np.array(noisy, np.int64), users, cells, rows, RandomSource(1)
    ).reshape(users, rows)
    for mine, counts in zip(items, table, strict=True):
        got, whole = np.bincount(mine, minlength=cells), sum(counts)
        assert len(got) == cells
        for cell in range(cells):
            if whole:  # no row is further off than one
                assert abs(got[cell] - rows * counts[cell] / whole) < 1.0001
                assert counts[cell] or not got[cell]


# --- topics of a profile -------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["answers", "cells"])
def test_with_much_epsilon_topics_come_back(mechanism: str) -> None:
    rows = [(f"u{n}", query, None, None, None)
            for n in range(40) for query in (["tennis", "asthma"][n % 2],) * 3]  # fmt: skip
    method = ProfileFirst(
        domain="disease,sport", epsilon=500, mechanism=mechanism, max_phrases_per_user=20
    )
    release = run(method, rows)
    topics = topic_preset(open_taxonomy("wordnet-nouns"), "sanchez4")
    named = dict(release.mapping.select("pseudonym", "user").rows())
    sports: Counter[str] = Counter()
    for name, concept in release.concepts.with_columns(pl.col("user").cast(pl.String)).rows():
        sports[named[name]] += topics.names[topics.topic_of[concept]] == "sport"
    likes = [sports[f"u{n}"] for n in range(0, 40, 2)]
    others = [sports[f"u{n}"] for n in range(1, 40, 2)]
    assert np.mean(likes) > 12
    assert np.mean(others) < 8


def test_concepts_of_topics() -> None:
    numbers, concepts = _topic_concepts(ProfileFirst(domain="A").domains())
    nineteen = topic_preset(open_taxonomy("wordnet-nouns"), "sanchez19")
    assert len(concepts) == 19
    assert concepts.sizes.tolist() == nineteen.sizes.tolist()
    assert (numbers == nineteen.topic_of).all()
    for topic in range(19):
        assert (nineteen.topic_of[concepts[topic]] == topic).all()


def test_topics_outside_the_domain_do_not_count() -> None:
    method = ProfileFirst(domain="disease,sport", topics="sanchez4")
    numbers, concepts = _topic_concepts(method.domains())
    assert concepts.sizes.tolist() == [606, 177]
    wordnet = open_taxonomy("wordnet-nouns")
    assert numbers[wordnet.find("tennis")] == 1
    assert numbers[wordnet.find("linguistics")] == -1


@pytest.mark.parametrize("parameters", [{"domain": SPORT, "topics": "disease,n#14145095"},
                                        {"domain": "disease", "topics": "disease"}])  # fmt: skip
def test_a_profile_needs_two_topics(parameters: dict[str, str]) -> None:
    with pytest.raises(ParameterError, match="two topics"):
        ProfileFirst(**parameters).check_ready()


# --- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [ConceptHistogram, ProfileFirst])
@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan")])
def test_an_epsilon_that_is_none(kind: type[qv.Method], epsilon: float) -> None:
    with pytest.raises(ParameterError, match="`epsilon`"):
        kind(epsilon=epsilon)


@pytest.mark.parametrize("kind", [ConceptHistogram, ProfileFirst])
def test_an_unknown_domain(kind: type[qv.Method]) -> None:
    with pytest.raises(UsageError, match="did you mean"):
        kind(domain="astma").check_ready()
    with pytest.raises(ParameterError, match="empty"):
        kind(domain="")


def test_both_epsilons_of_the_histogram() -> None:
    promise = ConceptHistogram(epsilon=2, max_phrases_per_user=100).guarantee()
    assert (promise.epsilon, promise.per_query_epsilon) == (2.0, 0.02)


def test_both_epsilons_of_a_profile() -> None:
    promise = ProfileFirst(epsilon=2, max_phrases_per_user=100).guarantee()
    assert (promise.epsilon, promise.per_query_epsilon) == (2.0, 2.0)


SPECS = [
    "concept-histogram:domain=sport:max-phrases-per-user=5",
]
CHECKS = method_checks(
    ConceptHistogram(domain="sport", max_phrases_per_user=5), recount=recount_checks
)


@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
