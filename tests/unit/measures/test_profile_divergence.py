"""The loss of users' profiles: worked by hand, against the plain definition, and at its edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from math import log2

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.errors import InputError, ParameterError, UsageError
from queryveil.log.query_log import QueryLog
from queryveil.measures.context import MeasureContext
from queryveil.measures.profile_divergence import ProfileDivergence, profile_divergences
from queryveil.release.guarantee import Guarantee
from queryveil.release.release import Release
from queryveil.testing import KitCheck, MeasureCase, measure_checks

PATHS = """Top/Sports/Tennis
Top/Sports/Swimming
Top/Arts/Music
Top/Arts/Theatre
Top/Health/Asthma
"""


@pytest.fixture(scope="module")
def ruler(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ruler") / "paths.txt"
    path.write_text(PATHS)
    return str(path)


@pytest.fixture(autouse=True, scope="module")
def one_mapper() -> Iterator[None]:
    """Let all tests share a mapper: to make one takes longer than all that a test does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("queryveil.concepts.mapping.options.open_taxonomy", cache(open_taxonomy))
        patch.setattr("queryveil.concepts.mapping.options.Mapper", cache(Mapper))
        yield


def log_of(sent: dict[str, list[str]]) -> QueryLog:
    return QueryLog.from_rows(
        [(user, query, None, None, None) for user, queries in sent.items() for query in queries]
    )


def release_of(source: QueryLog, sent: dict[str, list[str]], **more: object) -> Release:
    """Give a release whose pseudonyms are the users' names with a sign."""
    names = [f"p-{user}" for user in sent]
    given = {
        "log": log_of({f"p-{user}": queries for user, queries in sent.items()}).local_frame,
        "mapping": pl.DataFrame(
            {"user": list(sent), "pseudonym": names},
            schema={"user": pl.String, "pseudonym": pl.String},
        ),
    } | more
    promise = Guarantee(model="none", statement="")
    return Release(method="test", parameters={}, guarantee=promise, source=source, **given)


def loss(ruler: str, before: dict, after: dict, line: dict | None = None, **more: object) -> dict:
    log = log_of(before)
    measure = ProfileDivergence(taxonomy=ruler, **(line or {}))
    return measure.compute(MeasureContext(log), release_of(log, after, **more))


def plain_divergence(p: dict[int, float], q: dict[int, float]) -> float:
    """Equations (9) and (10) as they stand."""
    middle = {i: (p.get(i, 0) + q.get(i, 0)) / 2 for i in p | q}
    parts = [sum(s * log2(s / middle[i]) for i, s in side.items() if s) for side in (p, q)]
    return sum(parts) / 2


counts = st.dictionaries(st.integers(0, 4), st.integers(1, 9), max_size=5)
tables = st.dictionaries(st.sampled_from("abcdef"), counts, max_size=6)


def shares(table: dict[str, dict[int, int]]) -> dict[str, dict[int, float]]:
    return {
        user: {topic: n / sum(topics.values()) for topic, n in topics.items()}
        for user, topics in table.items()
        if topics
    }


def frame(profiles: dict[str, dict[int, float]]) -> pl.DataFrame:
    rows = [(user, topic, share) for user, own in profiles.items() for topic, share in own.items()]
    kinds = {"user": pl.String, "topic": pl.Int16, "share": pl.Float64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


@given(tables, tables)
def test_it_is_the_definition(before: dict, after: dict) -> None:
    was, now = shares(before), shares(after)
    found = dict(profile_divergences(frame(was), frame(now)).rows())
    assert found.keys() == was.keys()
    for user, profile in was.items():
        want = plain_divergence(profile, now[user]) if user in now else 1.0
        assert found[user] == pytest.approx(want, abs=1e-12)
        assert 0 <= found[user] <= 1


def test_values_worked_by_hand() -> None:
    was = {"same": {0: 1.0}, "apart": {0: 1.0}, "half": {0: 1.0}, "turned": {0: 0.75, 1: 0.25}}
    now = {"same": {0: 1.0}, "apart": {1: 1.0}, "half": {0: 0.5, 1: 0.5},
           "turned": {0: 0.25, 1: 0.75}}  # fmt: skip
    found = dict(profile_divergences(frame(was), frame(now)).rows())
    assert found["same"] == 0
    assert found["apart"] == 1
    assert found["half"] == pytest.approx(0.311278, abs=1e-6)  # 3/2 - 3/4 log2 3
    assert found["turned"] == pytest.approx(0.188722, abs=1e-6)  # 1 - H(1/4)


def test_the_mean_over_users_of_logs(ruler: str) -> None:
    before = {"a": ["tennis"], "b": ["tennis", "swimming"], "c": ["music"]}
    after = {"a": ["swimming"], "b": ["music", "tennis"], "c": ["theatre", "zzz"]}
    found = loss(ruler, before, after)
    assert found.value == pytest.approx(0.311278 / 3, abs=1e-6)  # b kept half of her topic
    assert (found.counts["users"], found.counts["left_out"]) == (3, 0)
    assert "3 topics (auto)" in found.basis
    assert "read from their texts" in found.basis


def test_every_phrase_of_a_query_counts(ruler: str) -> None:
    before = {"a": ["tennis and music"]}
    assert loss(ruler, before, {"a": ["swimming", "theatre"]}).value == 0
    assert loss(ruler, before, {"a": ["tennis"]}).value == pytest.approx(0.311278, abs=1e-6)


def test_who_had_nothing_is_left_out_and_who_lost_all_has_lost_all(ruler: str) -> None:
    before = {"a": ["tennis"], "b": ["zzz"], "c": ["music"], "d": ["music"]}
    found = loss(ruler, before, {"a": ["tennis"], "b": ["music"], "c": ["zzz"]})
    assert found.value == pytest.approx(2 / 3, abs=1e-6)  # c has no concept left, d is gone
    assert (found.counts["users"], found.counts["left_out"]) == (3, 1)


def test_an_empty_release_has_lost_all(ruler: str) -> None:
    assert loss(ruler, {"a": ["tennis"]}, {}).value == 1


def test_concepts_outside_the_topics(ruler: str) -> None:
    before, after = {"a": ["tennis"], "b": ["asthma"]}, {"a": ["tennis", "asthma"], "b": ["music"]}
    dropped = loss(ruler, before, after, {"topics": "Sports"})
    assert (dropped.value, dropped.counts["users"], dropped.counts["left_out"]) == (0, 1, 1)
    binned = loss(ruler, before, after, {"topics": "Sports", "off_topic": "bin"})
    assert binned.value == pytest.approx(0.311278 / 2, abs=1e-6)  # b: both outside, alike
    assert (binned.counts["users"], binned.counts["left_out"]) == (2, 0)


def test_topics_named_with_plus(ruler: str) -> None:
    found = loss(ruler, {"a": ["tennis"]}, {"a": ["music"]}, {"topics": "Sports+Top/Arts"})
    assert found.value == 1
    assert "2 topics (Sports+Top/Arts)" in found.basis


def test_what_the_method_says_goes_before_its_texts(ruler: str) -> None:
    music = open_taxonomy(ruler).find("Music")
    said = pl.DataFrame({"user": ["p-a", "p-a"], "concept": [music, None]})
    own = {"concepts": said, "parameters": {"taxonomy": ruler}}
    log = log_of({"a": ["theatre"]})
    made = release_of(log, {"a": ["tennis"]})
    release = Release(**{**vars(made), **own})
    found = ProfileDivergence(taxonomy=ruler).compute(MeasureContext(log), release)
    assert found.value == 0
    assert "the method chose" in found.basis
    named = Release(**{**vars(release), "parameters": {"taxonomy": "paths.txt"}})
    assert ProfileDivergence(taxonomy=ruler).compute(MeasureContext(log), named) == found
    # The numbers of another taxonomy mean nothing here, so the texts are read.
    other = Release(**{**vars(release), "parameters": {"taxonomy": "wordnet"}})
    assert ProfileDivergence(taxonomy=ruler).compute(MeasureContext(log), other).value == 1


def test_concepts_of_a_built_in_taxonomy_are_read_by_name_in_another() -> None:
    nouns, brands = open_taxonomy("wordnet-nouns"), open_taxonomy("wordnet")
    tennis, gmail = nouns.find("tennis"), brands.find("web:gmail")
    log = log_of({"a": ["tennis"]})
    made = release_of(log, {"a": ["asthma"]})

    def value(own: str, concept: int, taxonomy: str) -> float:
        said = pl.DataFrame({"user": ["p-a", "p-a"], "concept": [concept, None]})
        release = Release(**{**vars(made), "concepts": said, "parameters": {"taxonomy": own}})
        return ProfileDivergence(taxonomy=taxonomy).compute(MeasureContext(log), release).value

    assert tennis != brands.find("tennis")
    assert value("wordnet-nouns", tennis, "wordnet") == 0
    # The nouns alone have no brands, so the texts are read.
    assert value("wordnet", gmail, "wordnet-nouns") == 1


def test_concepts_that_the_ruler_does_not_have_are_refused(ruler: str) -> None:
    log, said = log_of({"a": ["theatre"]}), pl.DataFrame({"user": ["p-a"], "concept": [10**6]})
    made = release_of(log, {"a": ["tennis"]}, concepts=said)
    release = Release(**{**vars(made), "parameters": {"taxonomy": ruler}})
    with pytest.raises(UsageError, match="does not have"):
        ProfileDivergence(taxonomy=ruler).compute(MeasureContext(log), release)


def test_a_user_with_several_pseudonyms_is_one_user(ruler: str) -> None:
    log = log_of({"a": ["tennis", "music"]})
    names = pl.DataFrame({"user": ["a", "a"], "pseudonym": ["x", "y"]})
    rows = log_of({"x": ["tennis"], "y": ["music"], "made up": ["asthma"]}).local_frame
    release = release_of(log, {}, log=rows, mapping=names)
    found = ProfileDivergence(taxonomy=ruler).compute(MeasureContext(log), release)
    assert (found.value, found.counts["users"]) == (0, 1)


def test_a_release_that_does_not_tell_whose_log_is_whose_is_refused(ruler: str) -> None:
    with pytest.raises(UsageError, match="no private mapping"):
        loss(ruler, {"a": ["tennis"]}, {"a": ["tennis"]}, mapping=None)


def test_a_release_of_statistics_alone_is_refused(ruler: str) -> None:
    with pytest.raises(UsageError, match="no users' logs"):
        loss(ruler, {"a": ["tennis"]}, {"a": ["tennis"]}, log=None)


def test_topics_that_nobody_has_are_refused(ruler: str) -> None:
    with pytest.raises(InputError, match="no user of this log"):
        loss(ruler, {"a": ["tennis"]}, {"a": ["tennis"]}, {"topics": "Health"})
    with pytest.raises(UsageError):
        loss(ruler, {"a": ["tennis"]}, {"a": ["tennis"]}, {"topics": "Cooking"})
    with pytest.raises(ParameterError):
        ProfileDivergence(off_topic="keep")


def test_the_log_is_mapped_once(ruler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mapped, whole = Counter(), Mapper.map

    def counted(self: Mapper, queries: pl.Series, *rest: object) -> object:
        mapped[tuple(queries.cast(pl.String))] += 1
        return whole(self, queries, *rest)

    monkeypatch.setattr(Mapper, "map", counted)
    log = log_of({"a": ["tennis", "music"]})
    before = MeasureContext(log)
    for topics in ("auto", "Sports"):
        for query in ("tennis", "music"):
            release = release_of(log, {"a": [query]})
            ProfileDivergence(taxonomy=ruler, topics=topics).compute(before, release)
    assert mapped["music", "tennis"] == 1
    assert sum(mapped.values()) == 5


CASES = [
    # a keeps their topic, b has another one: (0 + 1) / 2.
    MeasureCase(
        "one of two",
        {"a": ["tennis"], "b": ["tennis"]},
        {"a": ["tennis"], "b": ["music"]},
        0.5,
        {"users": 2},
    ),
]


@pytest.mark.parametrize("check", measure_checks(ProfileDivergence(), CASES), ids=str)
def test_kit(check: KitCheck) -> None:
    check()
