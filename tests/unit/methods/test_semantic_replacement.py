"""`semantic-replacement`: what is written for whom, and what is promised about it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from recounts import recount_checks

import queryveil as qv
from queryveil.concepts.loaders.registry import open_taxonomy
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.concepts.similarity.domain_sets import open_domains
from queryveil.concepts.similarity.topics import select_topics
from queryveil.concepts.taxonomy.labels import publishable_labels
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.errors import ParameterError, QueryveilError, UsageError
from queryveil.ledger.ledger import Ledger
from queryveil.methods.replacement.semantic import SemanticReplacement
from queryveil.methods.runner import run_method
from queryveil.testing import KitCheck, method_checks

Row = tuple[str, str, str | None, int | None, str | None]

SPORT, ABSTRACTION = "n#00523513", "n#00002137"


known_mapper = cache(Mapper)  # to make one takes longer than most tests here


Replacement = SemanticReplacement


@pytest.fixture(autouse=True)
def no_hints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("queryveil.concepts.mapping.options.Mapper", known_mapper)


def sent(user: str, *queries: str, first: int = 0) -> list[Row]:
    """Give a user's queries, an hour apart."""
    return [
        (user, query, f"2006-03-{1 + n // 24:02} {n % 24:02}:00:00", None, None)
        for n, query in enumerate(queries, first)
    ]


ROWS = [
    *sent("ann", "asthma", "tennis", "swimming", "pneumonia", "football"),
    *sent("bob", "tennis", "xqzzy vrrk"),
    *sent("cat", "xqzzy", "zzqy vrrk"),
    ("ann", "tennis", "2006-03-01 01:00:00", 1, "http://tennis.example"),
]


def run(method: Replacement, rows: list[Row] = ROWS, seed: int | None = 1) -> qv.Release:
    return run_method(method, qv.QueryLog.from_rows(rows), RandomSource(seed), NoProgress())


def written(release: qv.Release) -> pl.DataFrame:
    return release.log.collect().with_columns(pl.col("user", "query").cast(pl.String))


def rows_of(release: qv.Release) -> dict[str, int]:
    """Count the rows of each user of the log."""
    found = Counter(written(release)["user"].to_list())
    names = release.mapping.select("user", "pseudonym").rows()
    return {user: found[name] for user, name in names}


# --- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["sqc1", "sqc2", "nsqc"])
@pytest.mark.parametrize("calibration", ["exact", "nominal", "permute-and-flip"])
def test_everybody_has_the_same_number_of_rows(criterion: str, calibration: str) -> None:
    """Also who sent more, and who sent nothing that is known."""
    method = Replacement(
        domain=SPORT, max_phrases_per_user=4, criterion=criterion, calibration=calibration
    )
    release = run(method)
    assert rows_of(release) == {"ann": 4, "bob": 4, "cat": 4}
    log = written(release)
    for (_,), mine in log.group_by("user"):
        assert sorted(mine["time"].to_list()) == [1, 2, 3, 4]
    assert log["rank"].null_count() == log["url"].null_count() == log.height
    wordnet = open_taxonomy("wordnet-nouns")
    assert set(log["query"]) <= set(publishable_labels(wordnet).texts)
    concepts = release.concepts.with_columns(pl.col("user").cast(pl.String))
    assert concepts["user"].to_list() == log["user"].to_list()
    inside = set(wordnet.descendants(wordnet.find(SPORT)).tolist())
    assert set(concepts["concept"]) <= inside
    for query, concept in zip(log["query"], concepts["concept"], strict=True):
        assert query in wordnet.labels_of(concept)


def test_what_a_user_asked_changes_no_number() -> None:
    method = Replacement(domain=SPORT, max_phrases_per_user=3)
    shapes = []
    for hers in ([], ["xqzzy"], ["tennis"] * 9, ["tennis", "golf", "polo", "rugby", "judo"]):
        rows = [*sent("ann", "tennis"), *sent("her", *(hers or ["zz"]))]
        log = written(run(method, rows))
        shapes.append((log.height, log["user"].n_unique(), log["time"].sort().to_list()))
    assert len(set(map(str, shapes))) == 1


def test_keep_length_keeps_each_users_number() -> None:
    release = run(Replacement(domain=f"{SPORT},n#14070360", preserve_length=True))
    assert rows_of(release) == {"ann": 5, "bob": 1, "cat": 0}
    cut = run(
        Replacement(domain=f"{SPORT},n#14070360", preserve_length=True, max_phrases_per_user=2)
    )
    assert rows_of(cut) == {"ann": 2, "bob": 1, "cat": 0}


def test_keep_length_counts_phrases_as_the_mapper_finds_them() -> None:
    texts = ["tennis and golf", "asthma football", "judo", "history of the olympic games"]
    found = Mapper(open_taxonomy("wordnet-nouns")).map(pl.Series(texts))
    domains = Replacement(domain=ABSTRACTION).domains()
    inside = [
        concept >= 0 and domains.index_of[concept] >= 0 for concept in found.phrases["concept"]
    ]
    method = Replacement(domain=ABSTRACTION, preserve_length=True, criterion="nsqc")
    assert rows_of(run(method, sent("ann", *texts))) == {"ann": sum(inside)}
    assert sum(inside) > len(texts)


def test_a_users_first_queries_in_time_count() -> None:
    """With a domain for each topic the topics of what counted are seen."""
    method = Replacement(domain=f"{SPORT},n#14070360", preserve_length=True, max_phrases_per_user=2)
    rows = sent("ann", "tennis", "golf", "asthma", "pneumonia")
    wordnet = open_taxonomy("wordnet-nouns")
    topics = select_topics(wordnet, [SPORT, "n#14070360"])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        release = run(method, [rows[n] for n in order])
        assert topics.topic_of[release.concepts["concept"].to_numpy()].tolist() == [0, 0]
    late = [("ann", "asthma", "2005-01-01 00:00:00", None, None), *rows]
    release = run(method, late)
    assert topics.topic_of[release.concepts["concept"].to_numpy()].tolist() == [1, 0]


@pytest.mark.parametrize("more", [{}, {"preserve_length": True}, {"max_phrases_per_user": 1},
                                  {"preserve_length": True, "keep_context_words": True},
                                  ])  # fmt: skip
def test_every_row_is_accounted_for(more: dict[str, Any]) -> None:
    release = run(Replacement(**{"domain": SPORT, "max_phrases_per_user": 3} | more))
    card = release.preview_card()
    total = written(release).height + sum(card.dropped.values())
    total += sum(card.input.rejected.values())
    assert card.input.rows + sum(card.generated.values()) == total
    assert card.input.rows == len(ROWS)


def test_reasons_of_dropped_rows() -> None:
    release = run(Replacement(domain=SPORT, max_phrases_per_user=2))
    assert release.dropped == {
        "replaced by other queries": 4,  # ann's tennis with its click, swimming; bob's tennis
        "more than count of one user": 1,
        "no concept of the domain": 5,
    }


def test_users_keep_nothing_of_their_names_and_runs_differ() -> None:
    one, two = (run(Replacement(domain=SPORT, max_phrases_per_user=9), seed=None) for _ in "ab")
    assert set(written(one)["user"]).isdisjoint(written(two)["user"])
    assert set(written(one)["user"]).isdisjoint(["ann", "bob", "cat"])
    assert written(one)["query"].to_list() != written(two)["query"].to_list()
    again = [run(Replacement(domain=SPORT, max_phrases_per_user=9), seed=4) for _ in "ab"]
    assert written(again[0]).equals(written(again[1]))
    order = written(one)["user"].to_list()
    assert order == sorted(order)  # by names that are random


# --- what is promised ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "model", "given"),
    [
        ({}, "pure-dp", None),
        ({"domain": SPORT}, "pure-dp", None),
        ({"domain": "B"}, "pure-dp", None),
        ({"domain": "C", "criterion": "sqc2"}, "pure-dp", None),
        ({"domain": SPORT, "delta": 1e-6}, "approx-dp", None),
        ({"domain": "A"}, "conditional-dp", "topics"),
        ({"domain": "disease,sport"}, "conditional-dp", "topics"),
        ({"domain": "sanchez19"}, "conditional-dp", "topics"),
        ({"domain": "branches"}, "conditional-dp", "topics"),
        ({"domain": SPORT, "preserve_length": True}, "conditional-dp", "how many phrases"),
        ({"domain": "A", "delta": 1e-6}, "conditional-dp", "topics"),
    ],
)
def test_models(parameters: dict[str, Any], model: str, given: str | None) -> None:
    promise = Replacement(**parameters).guarantee()
    assert promise.model == model
    assert (promise.given is None) == (given is None)
    if given:
        assert given in promise.given
        assert promise.given in promise.neighbours
        assert any(given in one for one in promise.not_covered)
        assert any(given in one for one in promise.assumptions)
    assert promise.delta == (parameters.get("delta") or None)
    assert promise.unit == "user"


@pytest.mark.parametrize(
    ("budget", "epsilon", "per_query"), [("user", 2.0, 0.02), ("query", 200.0, 2.0)]
)
def test_the_card_has_both_epsilons(budget: str, epsilon: float, per_query: float) -> None:
    promise = Replacement(epsilon=2, budget_unit=budget, max_phrases_per_user=100).guarantee()
    assert promise.epsilon == epsilon
    assert promise.per_query_epsilon == pytest.approx(per_query)
    assert f"epsilon {per_query:g} for a phrase, {epsilon:g} for a user" in promise.statement


def test_with_a_delta_one_query_costs_more_than_its_share() -> None:
    promise = Replacement(epsilon=1, delta=1e-6, max_phrases_per_user=100).guarantee()
    assert promise.epsilon == 1
    assert promise.per_query_epsilon > 0.01
    assert 0.0374 < promise.per_query_epsilon < 0.05  # SPEC 10, by a looser conversion, has .0374


def test_checks_are_what_was_promised() -> None:
    checks = {check.check: check.arguments for check in Replacement().guarantee().checks}
    assert checks == {"slots": {"rows": 100, "all": True}, "no-clicks": {}}
    checks = {c.check: c.arguments for c in Replacement(preserve_length=True).guarantee().checks}
    assert checks["slots"] == {"rows": 100, "all": False}


def test_rewriting_promises_nothing() -> None:
    method = Replacement(
        domain=SPORT, preserve_length=True, keep_context_words=True, max_phrases_per_user=50
    )
    promise = method.guarantee()
    assert promise.model == "none"
    assert promise.epsilon is None
    release = run(method, sent("ann", "how to play tennis", "where to watch football"))
    assert release.not_release_grade_because
    log = written(release).sort("time")
    texts = log["query"].to_list()
    assert texts[0].startswith("how to play ")
    assert texts[1].startswith("where to watch ")
    assert log["time"].to_list() == [1, 2]


def test_rewriting_puts_labels_into_their_places() -> None:
    method = Replacement(
        domain=f"{SPORT},n#14070360", preserve_length=True, keep_context_words=True, epsilon=1000,
        budget_unit="query", criterion="nsqc", max_phrases_per_user=5,
    )  # fmt: skip
    texts = ["how to play tennis", "asthma and pneumonia", "cheap tennis"]
    release = run(method, sent("ann", *texts))
    log = written(release).sort("time")
    assert log.height == 3
    # At this epsilon every concept stands for itself, by one of its names.
    wordnet = open_taxonomy("wordnet-nouns")
    tennis = wordnet.labels_of(wordnet.find("tennis"))
    assert log["query"][0].removeprefix("how to play ") in tennis
    one, two = log["query"][1].split(" and ")
    assert one in wordnet.labels_of(wordnet.find("asthma"))
    assert two in wordnet.labels_of(wordnet.find("pneumonia"))


# --- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan"), "much", 1e9, True])
def test_an_epsilon_that_is_none(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="`epsilon`"):
        Replacement(epsilon=epsilon)


@pytest.mark.parametrize(
    "parameters",
    [
        {"domain": ""},
        {"domain": " , "},
        {"domain": "sport,sport"},
        {"criterion": "sqc3"},
        {"calibration": "best"},
        {"budget_unit": "all"},
        {"delta": -1e-9},
        {"delta": 0.5},
        {"delta": float("nan")},
        {"max_phrases_per_user": 0},
        {"keep_context_words": True},
        {"delta": 1e-6, "calibration": "permute-and-flip"},
    ],
)
def test_what_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Replacement(**parameters)


@pytest.mark.parametrize("text", ["sport,n#00523513", "lexicographer"])
def test_domains_that_are_none(text: str) -> None:
    with pytest.raises(ParameterError):
        Replacement(domain=text).check_ready()


def test_an_unknown_concept_is_told_with_its_neighbour() -> None:
    with pytest.raises(UsageError, match='did you mean "asthma"'):
        Replacement(domain="astma").check_ready()
    with pytest.raises(UsageError, match="did you mean"):
        Replacement(domain=SPORT, topics="tenis").check_ready()


def test_a_label_means_the_concept_with_most_below() -> None:
    assert len(Replacement(domain="abstraction").domains().domains[0]) == 39_914
    assert [len(d) for d in Replacement(domain="disease, sport").domains().domains] == [606, 177]


@pytest.mark.parametrize(
    ("text", "sizes", "topics"),
    [
        ("A", [606, 435, 177, 255], 19),
        ("B", [39_914], 19),
        ("C", [39_914], 4),
        ("sanchez4", [606, 435, 177, 255], 4),
    ],
)
def test_the_settings_of_the_paper(text: str, sizes: list[int], topics: int) -> None:
    found = Replacement(domain=text).domains()
    assert [len(domain) for domain in found.domains] == sizes
    assert len(found.topics) == topics
    assert found.starts.tolist() == [0, *np.cumsum(sizes).tolist()]
    assert (found.concepts[found.index_of[found.concepts]] == found.concepts).all()


@pytest.mark.parametrize("criterion", ["sqc1", "sqc2", "nsqc"])
@pytest.mark.parametrize("calibration", ["exact", "nominal", "permute-and-flip"])
def test_a_domain_of_one_concept_gives_that_always(criterion: str, calibration: str) -> None:
    wordnet = open_taxonomy("wordnet-nouns")
    name = "n#00523513"
    leaf = next(
        c for c in wordnet.descendants(wordnet.find(name)).tolist()
        if not len(wordnet.children(c))
    )  # fmt: skip
    method = Replacement(
        domain=wordnet.name(leaf), criterion=criterion, calibration=calibration,
        max_phrases_per_user=3,
    )  # fmt: skip
    release = run(method, sent("ann", wordnet.label(leaf), "zz"))
    assert release.concepts["concept"].to_list() == [leaf] * 3


def test_permute_and_flip_that_would_never_end_is_refused_before_it_is_paid_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / "log.tsv"
    path.write_text(
        "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\nann\tasthma\t2006-03-01 10:00:00\t\t\n"
    )
    method = Replacement(
        domain=ABSTRACTION, criterion="nsqc", calibration="permute-and-flip", epsilon=20,
        budget_unit="query", max_phrases_per_user=2,
    )  # fmt: skip
    with pytest.raises(UsageError, match="permute-and-flip"):
        qv.anonymize(qv.read_log(path), method)
    if (tmp_path / "ledger.db").exists():
        with Ledger.open(tmp_path / "ledger.db", create=False) as ledger:
            assert ledger.entries() == []


# --- no loss within topics -----------------------------------------------------------------------


def test_topics_are_kept_where_each_is_a_domain() -> None:
    method = Replacement(domain="disease,sport", preserve_length=True)
    release = run(method)
    wordnet = open_taxonomy("wordnet-nouns")
    topics = select_topics(wordnet, ["n#14070360", SPORT])
    named = dict(release.mapping.select("pseudonym", "user").rows())
    found: dict[str, list[int]] = {}
    for name, concept in release.concepts.with_columns(pl.col("user").cast(pl.String)).rows():
        found.setdefault(named[name], []).append(int(topics.topic_of[concept]))
    assert found == {"ann": [0, 1, 1, 0, 1], "bob": [1]}


@pytest.mark.parametrize("text", ["sanchez4", "sanchez19", "disease,sport", "branches"])
def test_no_replacement_leaves_its_topic(text: str) -> None:
    """The loss of profiles is then 0: whatever is drawn in a domain is of its topic."""
    found = open_domains(open_taxonomy("wordnet-nouns"), text, "auto")
    topics = found.topics if len(found.topics) == len(found.domains) else None
    if topics is None:
        topics = select_topics(found.taxonomy, [int(d.concepts[0]) for d in found.domains])
    for number, domain in enumerate(found.domains):
        assert set(topics.topic_of[domain.concepts].tolist()) == {number}


def test_a_domain_within_an_earlier_one_is_refused() -> None:
    with pytest.raises(ParameterError, match="lies within the concepts before"):
        open_domains(open_taxonomy("wordnet-nouns"), "disease,n#14145095", "auto")


@pytest.mark.parametrize("text", ["sanchez19", "n#14145095,disease"])
def test_a_concept_of_two_domains_has_one_place(text: str) -> None:
    found = open_domains(open_taxonomy("wordnet-nouns"), text, "auto")
    known = np.flatnonzero(found.domain_of_concept >= 0)
    assert (found.concepts[found.index_of[known]] == known).all()
    assert (found.index_of[found.domain_of_concept < 0] == -1).all()


# --- other taxonomies ----------------------------------------------------------------------------


@pytest.fixture
def odp(tmp_path: Path) -> Path:
    path = tmp_path / "secret-folder" / "odp.txt"
    path.parent.mkdir()
    path.write_text(
        "Top/Sports/Tennis\nTop/Sports/Golf\nTop/Sports/Water_Sports/Swimming\n"
        "Top/Health/Asthma\nTop/Health/Flu\n"
    )
    return path


@pytest.mark.parametrize("criterion", ["sqc1", "sqc2", "nsqc"])
def test_a_tree_of_paths(odp: Path, criterion: str) -> None:
    method = Replacement(taxonomy=str(odp), max_phrases_per_user=400, criterion=criterion)
    release = run(method)
    tree = open_taxonomy(odp)
    assert 0 not in release.concepts["concept"]  # its root is ours, not a concept
    assert set(release.concepts["concept"]) == set(range(1, len(tree)))
    assert "Top" not in set(written(release)["query"])
    assert set(written(release)["query"]) == {
        "Sports", "Tennis", "Golf", "Water Sports", "Swimming", "Health", "Asthma", "Flu",
    }  # fmt: skip
    card = release.preview_card()
    assert card.public.parameters["taxonomy"] == "odp.txt"
    assert "secret-folder" not in str(card.public.parameters) + str(card.public.notes)
    assert method.input_files() == (odp,)


def test_a_branch_of_a_tree(odp: Path) -> None:
    method = Replacement(taxonomy=str(odp), domain="Top/Sports", max_phrases_per_user=50)
    assert set(written(run(method))["query"]) == {
        "Sports", "Tennis", "Golf", "Water Sports", "Swimming",
    }  # fmt: skip
    split = Replacement(taxonomy=str(odp), domain="branches", preserve_length=True)
    assert split.guarantee().model == "conditional-dp"
    assert rows_of(run(split)) == {"ann": 3, "bob": 1, "cat": 0}


def test_no_file_no_release(tmp_path: Path) -> None:
    with pytest.raises(QueryveilError, match="cannot be read"):
        Replacement(taxonomy=str(tmp_path / "none.txt")).check_ready()


def test_a_log_whose_queries_are_all_unknown() -> None:
    rows = [*sent("ann", "xqzzy"), *sent("bob", "zzqy")]
    assert rows_of(run(Replacement(domain=SPORT, max_phrases_per_user=2), rows)) == {
        "ann": 2, "bob": 2,
    }  # fmt: skip
    assert rows_of(run(Replacement(domain=SPORT, preserve_length=True), rows)) == {
        "ann": 0,
        "bob": 0,
    }


def test_rewriting_a_log_whose_queries_are_all_unknown() -> None:
    method = Replacement(domain=SPORT, preserve_length=True, keep_context_words=True)
    assert written(run(method, sent("ann", "xqzzy"))).height == 0


SPECS = [
    "semantic-replacement:domain=sport:max-phrases-per-user=5",
    "semantic-replacement:domain=A:max-phrases-per-user=5:preserve-length=yes",
]
CHECKS = method_checks(
    SemanticReplacement(domain="sport", max_phrases_per_user=5), recount=recount_checks
)


@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
