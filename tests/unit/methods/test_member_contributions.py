"""No member gives more of a group's log than allowed, however much she sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import queryveil as qv
from queryveil.concepts.mapping.mapper import Mapper
from queryveil.errors import ParameterError, VerificationError
from queryveil.methods.microaggregation import syntactic as spelling
from queryveil.methods.microaggregation.contributions import (
    NOBODY,
    allowance,
    bounded_lengths,
    check_contributions,
    within_bound,
)
from queryveil.methods.microaggregation.prototypes import bounded_quotas, member_quotas

FAMILY = ("semantic", "string", "category", "syntactic")
MODES = [*FAMILY, "semantic:as published", "string:as published"]
HERS = {"guitar", "violin", "cello", "flute", "piano"}
DAYS = range(10, 15)


@pytest.fixture(autouse=True, scope="module")
def one_mapper() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        one = cache(Mapper)
        patch.setattr("queryveil.concepts.mapping.options.Mapper", one)
        yield


def lopsided(times: int) -> qv.QueryLog:
    """Make one group of five of whom one sent so many times as much, about music alone.

    Five who are in another group, and love animals, sent the same and were there on the same days:
    what she sent is frequent.
    """
    lines = []
    for n in range(5):
        for place, word in enumerate(["beagle", "poodle", "terrier"]):
            lines.append((f"u{n}", word, f"2006-03-0{place + 1} 10:00:00", None, None))
    for day, word in zip(DAYS, sorted(HERS), strict=True):
        lines += [("u0", word, f"2006-03-{day} 10:00:00", None, None)] * times
        lines += [(f"v{n}", word, f"2006-03-{day} 10:00:00", None, None) for n in range(5)]
    for n in range(5):
        lines += [(f"v{n}", word, "2006-03-01 10:00:00", None, None)
                  for word in ("ship", "boat", "ferry") for _ in range(9)]  # fmt: skip
    return qv.QueryLog.from_rows(lines)


def her_log(release: qv.Release) -> pl.DataFrame:
    name = release.mapping.filter(pl.col("user") == "u0")["pseudonym"][0]
    return release.log.collect().filter(pl.col("user") == name)


@pytest.mark.parametrize("name", MODES)
def test_one_member_with_a_hundred_times_the_rows_writes_at_most_her_share(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spelling, "mdav", lambda *_: np.repeat([0, 1], 5))
    method, _, published = name.partition(":")
    line = f"{method}-microaggregation:k=5" + (":as-published=yes" if published else "")
    release = qv.anonymize(lopsided(60), line)
    mine = her_log(release)
    groups = release.mapping.group_by("group").agg(pl.col("user").sort())["user"].to_list()
    assert [f"u{n}" for n in range(5)] in groups  # else this shows nothing
    texts = Counter(mine["query"].cast(pl.String).to_list())
    about_music = sum(number for text, number in texts.items() if text in HERS)
    assert mine.height > 2
    assert 0 < about_music <= max(1, int(0.4 * mine.height)), texts
    days = mine["time"].drop_nulls().dt.day().is_in(list(DAYS)).sum()
    assert days <= max(1, int(0.4 * mine.height))
    assert release.blanked["row not made: beyond a member's share of the log of the group"] > 0


def test_without_the_bound_she_writes_nearly_all() -> None:
    mine = her_log(qv.anonymize(lopsided(60), "string-microaggregation:k=5:max-member-fraction=1"))
    music = mine["query"].cast(pl.String).is_in(list(HERS)).sum()
    assert music > 0.9 * mine.height


def test_the_card_says_so(tmp_path) -> None:
    release = qv.anonymize(lopsided(3), "string-microaggregation:k=5")
    card = release.write(tmp_path / "out")
    assert card.public.parameters["max_member_fraction"] == 0.4
    assert "pseudonyms of a group carry the interests of their group" in card.guarantee.statement
    assert (
        "no member alone of their group sent the texts of more than 40%" in card.guarantee.statement
    )
    assert qv.verify(tmp_path / "out").holds
    assert qv.parse_method("string-microaggregation:k=2").member_fraction == 0.5


def test_a_share_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(ParameterError, match="`max_member_fraction`"):
        qv.parse_method("string-microaggregation:k=5:max-member-fraction=0.1")
    assert qv.parse_method("string-microaggregation:k=3:max-member-fraction=0.3333333333")


SHARES = st.sampled_from([0.4, 0.5, 1 / 3, 1 / 7, 1.0])
WEIGHTS = st.lists(st.integers(0, 60), min_size=2, max_size=8)


@given(WEIGHTS, SHARES)
def test_the_length_is_the_greatest_that_keeps_the_bound(weights: list[int], share: float) -> None:
    group, wanted = np.zeros(len(weights), np.int64), sum(weights) // len(weights)

    def fits(length: int) -> bool:
        most = max(1, int(length * share + 1e-9))
        return sum(min(weight, most) for weight in weights) >= length

    found = int(bounded_lengths(np.array(weights), group, np.array([wanted]), share)[0])
    assert found == max(length for length in range(wanted + 1) if fits(length))


@given(st.lists(WEIGHTS, min_size=1, max_size=3), SHARES)
def test_quotas_keep_the_bound_and_are_the_papers_where_they_can(
    groups: list[list[int]], share: float
) -> None:
    weights = np.array([weight for one in groups for weight in one])
    group = np.repeat(np.arange(len(groups)), [len(one) for one in groups])
    found, short = bounded_quotas(weights, group, share)
    paper = member_quotas(weights, group)
    lengths = np.bincount(group, found).astype(np.int64)
    assert (found <= np.minimum(weights, allowance(lengths, share)[group])).all()
    assert (lengths + short == np.bincount(group, paper)).all()
    for number in range(len(groups)):
        mine = group == number
        if (paper[mine] <= allowance(lengths, share)[number]).all() and not short[number]:
            assert (found[mine] == paper[mine]).all()


@given(st.lists(st.integers(-1, 5), min_size=1, max_size=40), SHARES)
def test_what_is_left_keeps_the_bound(givers: list[int], share: float) -> None:
    group = np.array([0, 0, 0, 1, 1, 1])
    owner = [0 if giver == NOBODY else int(group[giver]) for giver in givers]
    texts = pl.DataFrame({"group": owner, "user": givers, "query": "q"})
    texts = pl.concat([texts, pl.DataFrame({"group": [0, 1], "user": [0, 3], "query": "q"})])
    left = within_bound(texts, group, share)
    check_contributions(left, share)
    assert left["group"].n_unique() == 2
    assert left.filter(pl.col("user") == NOBODY).height == givers.count(NOBODY)


def test_a_log_that_breaks_the_bound_is_not_written() -> None:
    texts = pl.DataFrame({"group": [0] * 5, "user": [0, 0, 0, 1, 2], "query": "q"})
    with pytest.raises(VerificationError, match="1 users contributed more"):
        check_contributions(texts, 0.4)
    check_contributions(texts, 0.6)


def test_no_share_grows_by_what_looks_like_an_identifier_later_on(tmp_path) -> None:
    """A phrase can look like a phone number where its query does not: the row must not go."""
    lines = [("u0", word, None, None, None) for word in HERS for _ in range(20)]
    lines += [(f"u{n}", "isbn: 2125550123 book", None, None, None)
              for n in range(5) for _ in range(20 if n else 1)]  # fmt: skip
    lines += [
        (f"v{n}", word, None, None, None)
        for n in range(5)
        for word in (*HERS, "cookbook", "ship", "boat", "ferry", "raft")
    ]
    log = qv.QueryLog.from_rows(lines)
    release = qv.anonymize(log, "semantic-microaggregation")
    card = release.write(tmp_path / "release")
    assert not [reason for reason in card.dropped if "identifier" in reason]
    rows = release.log.collect().join(release.mapping, left_on="user", right_on="pseudonym")
    theirs = rows.filter(pl.col("user_right").str.starts_with("u"))["query"].to_list()
    assert sum(query in HERS for query in theirs) <= 0.4 * len(theirs)
    kept = qv.anonymize(log, "semantic-microaggregation", identifiers="keep").log.collect()
    assert "2125550123 book" not in kept["query"].to_list()
