"""One user with thousands of rows changes few released counts, by one each.

The whole path is run, from `anonymize` to what is released. Noise alone is silenced, at the one
place that it comes from, so that what differs between two releases is what the user changed.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from in_shares import in_shares

import queryveil as qv
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.dp.noise import NoiseSource
from queryveil.methods.click_graph import ClickGraph
from queryveil.methods.replacement.concept_histogram import ConceptHistogram
from queryveil.methods.replacement.profile_first import ProfileFirst
from queryveil.methods.replacement.semantic import SemanticReplacement
from queryveil.methods.statistics.dp_statistics import DpStatistics

QUERIES, URLS, STEPS = 4, 2, 4  # what may count of a user
SHARED = 24  # queries that many users sent
ROWS = 5_000
OWN = "http://own0.example"
HEAVY = "the user with many rows"
Row = tuple[str, str, str | None, int | None, str | None]


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let noise be 0 wherever it is drawn; an empty cell of a public list never shows then."""

    def nothing(_: NoiseSource, size: int, scale: Fraction) -> np.ndarray:
        assert scale > 0
        return np.zeros(size, np.int64)

    monkeypatch.setattr(NoiseSource, "laplace", nothing)
    monkeypatch.setattr(NoiseSource, "gaussian", nothing)
    monkeypatch.setattr(NoiseSource, "uint64s", lambda _, size: np.full(size, 2**64 - 1, np.uint64))


def query(number: int) -> str:
    return f"q{number % SHARED:02}"


def url(number: int) -> str:
    return f"http://{query(number)}.example"


def moment(minute: int) -> str:
    return f"2006-{1 + minute // 40320:02}-{1 + minute // 1440 % 28:02} " \
           f"{minute // 60 % 24:02}:{minute % 60:02}:00"  # fmt: skip


def others(users: int = 40 * SHARED) -> list[Row]:
    """Let each of many users send two queries with a click each: less than may count.

    Two more users do what else only the one with many rows does; that is still too few to show.
    """
    made: list[Row] = [
        (f"u{user}", query(user + step), moment(step), 1, url(user + step))
        for user in range(users)
        for step in range(2)
    ]
    made += [("twin", f"z{n}", moment(n), None, None) for n in range(3)]
    rare = [("twin step", query(1), moment(0), 1, OWN), ("twin step", query(3), moment(1), 1, OWN)]
    return made + rare


def heavy() -> list[Row]:
    """Let one user send every query, much that nobody else does, and two queries again and again.

    They click every result, also ones of their own, and go from every query to the next, as
    others do, and to ones that nobody else goes to. Nearly all their rows are repeats.
    """
    sent: list[tuple[str, str | None]] = []
    for turn in range(3 * SHARED):
        own = f"http://own{turn % 7}.example"
        sent += [(query(turn), url(turn)), (query(turn + 1), url(turn + 1))]
        sent += [(query(5 * turn + 3), own), (f"z{turn % 3}", own)]
    repeats: list[tuple[str, str | None]] = [(query(0), url(0)), (query(1), None)]
    sent += repeats * ((ROWS - len(sent)) // 2)
    return [(HEAVY, text, moment(n), link and 1, link) for n, (text, link) in enumerate(sent)]


def released(rows: list[Row], method: qv.Method, folder: Path, far: bool) -> dict[str, Counter]:
    log = qv.QueryLog.from_rows(rows)
    release = qv.anonymize(in_shares(log) if far else log, method, ledger=f"{folder}/")
    return {
        name: Counter({tuple(row[:-1]): row[-1] for row in table.rows()})
        for name, table in release.tables.items()
    }


def changed(method: qv.Method, folder: Path, far: bool = False) -> dict[str, Counter]:
    """Give what the user changes in each table that is released."""
    without = released(others(), method, folder, far)
    with_them = released(others() + heavy(), method, folder, far)
    found = {}
    for name, before in without.items():
        assert len(before) >= SHARED  # there is something to change
        assert with_them[name].keys() == before.keys(), "the user alone made a key show, or hid it"
        found[name] = Counter(with_them[name])
        found[name].subtract(before)
    return {name: Counter({k: n for k, n in table.items() if n}) for name, table in found.items()}


@pytest.fixture
def lists(tmp_path: Path) -> dict[str, str]:
    """Write public lists: the queries, and their results."""
    pool, results = tmp_path / "pool.txt", tmp_path / "results.tsv"
    pool.write_text("\n".join(query(n) for n in range(SHARED)), "utf-8")
    results.write_text("\n".join(f"{query(n)}\t{url(n)}" for n in range(SHARED)), "utf-8")
    return {"public_queries": str(pool), "public_results": str(results)}


BOUNDS = {"max_queries_per_user": QUERIES, "max_clicks_per_user": URLS}
LEAST = {"queries": QUERIES, "clicks": URLS, "transitions": STEPS}


def check(found: dict[str, Counter]) -> None:
    """Check that few counts of each table are greater, by one each."""
    assert found.keys() == LEAST.keys()
    for name, table in found.items():
        assert set(table.values()) <= {1}, name
        assert len(table) <= LEAST[name], name


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("prefer", "far"), [("short", False), ("random", False), ("short", True)])
@pytest.mark.parametrize("selection", ["auto", "laplace", "gaussian", "weighted", "sips", "guided"])
def test_tables_of_keys_that_nobody_knows(
    selection: str, prefer: str, far: bool, tmp_path: Path
) -> None:
    method = DpStatistics(
        epsilon=50, delta=1e-6, selection=selection, contribution_order=prefer, **BOUNDS
    )
    check(changed(method, tmp_path, far))


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("far", [False, True], ids=["here", "shares"])
@pytest.mark.parametrize("prefer", ["short", "random"])
def test_tables_of_public_keys(
    prefer: str, far: bool, tmp_path: Path, lists: dict[str, str]
) -> None:
    method = DpStatistics(mode="pure", epsilon=50, contribution_order=prefer, **BOUNDS, **lists)
    check(changed(method, tmp_path, far))


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("far", [False, True], ids=["here", "shares"])
def test_click_graph_counts_occurrences(far: bool, tmp_path: Path, lists: dict[str, str]) -> None:
    """All that may count of a user can fall on one key; never more than that in all."""
    method = ClickGraph(epsilon=50, delta=1e-6, public_results=lists["public_results"], **BOUNDS)
    found = changed(method, tmp_path, far)
    for name, most in (("queries", QUERIES), ("clicks", URLS)):
        assert min(found[name].values()) > 0
        assert 0 < found[name].total() <= most


# --- methods that write rows: they compare logs of the same users ---------------------------------


FIRST = ("tennis", "golf")
LATER = ("asthma", "bronchitis")  # in turn: the same again would be one event
PHRASES = 2  # that count of a user


def written(method: qv.Method, sent: int, folder: Path, far: bool) -> dict[str, list[str]]:
    """Give the concepts that are released for each user, of whom one sends so many rows more."""
    rows = [(f"u{n}", text, moment(t), None, None)
            for n in range(20) for t, text in enumerate(FIRST)]  # fmt: skip
    rows += [(HEAVY, text, moment(t), None, None) for t, text in enumerate(FIRST)]
    rows += [(HEAVY, LATER[t % 2], moment(2 + t), None, None) for t in range(sent)]
    log = qv.QueryLog.from_rows(rows)
    release = qv.anonymize(in_shares(log) if far else log, method, ledger=f"{folder}/")
    assert release.mapping is not None
    names = dict(release.mapping.lazy().select("pseudonym", "user").collect().rows())
    shown = release.log.collect().select(pl.col("user", "query").cast(pl.String))
    found: dict[str, list[str]] = {user: [] for user in names.values()}
    for name, text in shown.rows():
        found[names[name]].append(text)
    assert len(found) == 21
    return found


def about(texts: list[str], domain: str) -> int:
    """Count the texts that name a concept of a domain."""
    taxonomy = qv.open_taxonomy("wordnet-nouns")
    top = max(taxonomy.lookup(domain), key=lambda concept: len(taxonomy.descendants(concept)))
    known = set(taxonomy.descendants(top).tolist())
    return sum(bool(known & set(taxonomy.lookup(text))) for text in texts)


@pytest.fixture(scope="module")
def mapper() -> Mapper:
    return Mapper(qv.open_taxonomy("wordnet-nouns"))


@pytest.fixture
def mapped_once(mapper: Mapper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make what maps queries once: it takes longer than all the rest."""
    monkeypatch.setattr("queryveil.concepts.mapping.options.Mapper", lambda *_, **__: mapper)


TOPICS = {"domain": "disease,sport", "max_phrases_per_user": PHRASES}


@pytest.mark.usefixtures("mapped_once")
@pytest.mark.parametrize("far", [False, True], ids=["here", "shares"])
@pytest.mark.parametrize("preserve_length", [False, True])
def test_replaced_are_the_first_phrases_alone(
    preserve_length: bool, far: bool, tmp_path: Path
) -> None:
    """Nothing is silenced here: at epsilon 1000 queries stay what they are."""
    method = SemanticReplacement(
        epsilon=1000, criterion="nsqc", preserve_length=preserve_length, **TOPICS
    )
    for sent in (0, ROWS):
        for texts in written(method, sent, tmp_path, far).values():
            assert len(texts) == PHRASES
            assert about(texts, "sport") == PHRASES
            assert about(texts, "disease") == 0


@pytest.mark.usefixtures("quiet", "mapped_once")
@pytest.mark.parametrize("far", [False, True], ids=["here", "shares"])
def test_counted_concepts_are_the_first_phrases_alone(far: bool, tmp_path: Path) -> None:
    method = ConceptHistogram(epsilon=100, threshold=1, **TOPICS)
    for sent in (0, ROWS):
        for texts in written(method, sent, tmp_path, far).values():
            assert len(texts) == PHRASES
            assert about(texts, "disease") == 0


@pytest.mark.usefixtures("quiet", "mapped_once")
@pytest.mark.parametrize("mechanism", ["population", "cells"])
def test_a_profile_weighs_as_much_as_any_other(mechanism: str, tmp_path: Path) -> None:
    """All phrases of a user together are one profile: thousands move the mean by no more."""
    method = ProfileFirst(
        epsilon=1000, mechanism=mechanism, domain="disease,sport", max_phrases_per_user=ROWS
    )
    found = written(method, ROWS - PHRASES, tmp_path, far=False)
    assert {len(texts) for texts in found.values()} == {ROWS}
    shares = [about(found[f"u{n}"][:500], "disease") / 500 for n in range(3)]
    assert max(shares) < 0.2
