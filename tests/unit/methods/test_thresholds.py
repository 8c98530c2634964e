"""What a group's log may hold: texts, clicks, ranks and days of enough users, and of no fewer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

import queryveil as qv
from queryveil.concepts.mapping.mapper import Mapper

FAMILY = ("semantic", "string", "category", "syntactic")
SECRET = "jane doe springfield cancer"
Line = tuple[str, str, str | None, int | None, str | None]


@pytest.fixture(autouse=True, scope="module")
def one_mapper() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        one = cache(Mapper)
        patch.setattr("queryveil.concepts.mapping.options.Mapper", one)
        yield


def lines_of(users: int = 15) -> list[Line]:
    """Ten people of five ordinary queries each, all of which all of them sent and clicked."""
    words = ("hotel", "paris", "guitar", "beagle", "football")
    return [
        (f"u{n:02}", word, f"2006-03-{day + 1:02} 10:00:00", 1, f"http://{word}.example")
        for n in range(users)
        for day, word in enumerate(words)
    ]


def released(lines: list[Line], line: str) -> tuple[qv.Release, list[Line]]:
    release = qv.anonymize(qv.QueryLog.from_rows(lines), line)
    return release, release.log.collect().rows()


@pytest.mark.parametrize("method", FAMILY)
@pytest.mark.parametrize("planted", [1, 3])
def test_planted_accounts_do_not_lift_what_one_person_sent(method: str, planted: int) -> None:
    """A person's own query, and up to k - 2 accounts that send it too, at the defaults."""
    mine = [(user, SECRET, "2006-03-01 10:00:00", 1, "http://jane.example")
            for user in ("u00", *(f"u{n + 1:02}" for n in range(planted)))] * 9  # fmt: skip
    _, rows = released(lines_of() + mine, f"{method}-microaggregation:k=5:taxonomy=wordnet")
    texts = {row[1] for row in rows} | {row[4] for row in rows}
    assert not [text for text in texts if text and ("jane" in text or "cancer" in text)]


@pytest.mark.parametrize("method", FAMILY)
def test_a_day_and_a_rank_of_too_few_are_never_released(method: str) -> None:
    rare = [(f"u{n:02}", "hotel", "2006-12-24 10:00:00", 77, "http://hotel.example")
            for n in range(2)] * 50  # fmt: skip
    release, rows = released(lines_of() + rare, f"{method}-microaggregation:k=3")
    assert {str(row[2]) for row in rows} <= {f"2006-03-{day:02}" for day in range(1, 6)}
    assert {row[3] for row in rows} <= {1, None}
    assert any(row[3] == 1 for row in rows) and any(row[2] for row in rows)
    assert release.blanked.get("rank of fewer than 3 users", 0) > 0


def test_days_that_nobody_shares_are_left_empty_and_counted() -> None:
    lines = [(f"u{n}", "hotel", f"2006-03-{n + 1:02} 10:00:00", None, None) for n in range(6)]
    release, rows = released(lines, "string-microaggregation:k=3")
    assert {row[2] for row in rows} == {None}
    assert release.blanked == {"day of fewer than 3 users, or beyond a member's share": len(rows)}
    _, rows = released(lines, "string-microaggregation:k=3:time-precision=month")
    assert {str(row[2]) for row in rows} == {"2006-03-01"}  # all six share the month


def test_the_card_shows_the_threshold_and_who_could_get_round_it(tmp_path) -> None:
    release, _ = released(lines_of(), "semantic-microaggregation:k=4")
    card = release.write(tmp_path / "out")
    assert card.public.parameters["min_users"] == 4
    assert card.public.release_grade
    assert qv.verify(tmp_path / "out").holds
    said = " ".join(card.guarantee.assumptions)
    assert "nobody controls 3 or more accounts" in said
    assert not [limit for limit in card.guarantee.not_covered if "fewer than k" in limit]


def test_a_lower_threshold_is_stated_plainly() -> None:
    release, _ = released(lines_of(), "semantic-microaggregation:k=4:min-users=2")
    assert release.parameters["min_users"] == 2
    assert "2 users only, fewer than k = 4" in release.guarantee.not_covered[0]
    assert not release.not_release_grade_because
    alone, _ = released(lines_of(), "semantic-microaggregation:k=4:min-users=1")
    assert alone.not_release_grade_because


def test_a_method_prints_and_parses_as_it_was_asked_for() -> None:
    method = qv.parse_method("string-microaggregation:k=7")
    assert str(method) == "string-microaggregation:k=7"
    assert method.min_senders == 7
