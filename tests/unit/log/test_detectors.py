"""Detectors of others flag queries: by one text alone, counted by name, always with an answer."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest

import queryveil as qv
from queryveil.errors import UsageError
from queryveil.log.detectors import (
    DETECTORS,
    Detector,
    drop_detected,
    flag_texts,
    open_detectors,
    parse_detectors,
)
from queryveil.testing import KitCheck, KitFailure, check_detector, detector_checks


def contains(word: str) -> Detector:
    return Detector(f"has-{word}", f"the word {word}", "1", lambda texts: texts.str.contains(word))


SECRET, CODE = contains("secret"), contains("code")


@pytest.fixture(autouse=True)
def added() -> Iterator[None]:
    with DETECTORS.adding("has-secret", SECRET), DETECTORS.adding("has-code", CODE):
        yield


@pytest.mark.parametrize(
    "check", detector_checks(SECRET, ["my secret", "secret code"], ["weather", ""]), ids=str
)
def test_a_detector_passes_its_kit(check: KitCheck) -> None:
    check()


def alternating() -> Detector:
    calls: list[int] = []

    def flag(texts: pl.Series) -> pl.Series:
        calls.append(len(texts))
        return texts.str.contains("secret") | (len(calls) % 2 == 0)

    return Detector("alternating", "every second call", "1", flag)


BAD = {
    "is random": alternating().flag,
    "in another order": lambda texts: texts.str.contains("secret") | (texts == texts.head(1)[0]),
    "alone": lambda texts: texts.str.contains("secret") | (len(texts) == 1),
    "a null is no answer": lambda texts: texts.str.contains("secret").replace(False, None),
    "series of Booleans": lambda texts: texts.str.contains("secret").cast(pl.Int8),
    "answers for": lambda texts: texts.str.contains("secret").head(1),
    "does not flag": lambda texts: pl.repeat(False, len(texts), eager=True),
    "it flags": lambda texts: pl.repeat(True, len(texts), eager=True),
    "ZeroDivisionError": lambda texts: texts.str.contains("secret") | (1 / len(texts) < 0),
}  # fmt: skip


@pytest.mark.parametrize("message", BAD)
def test_the_kit_rejects(message: str) -> None:
    detector = Detector("bad", "bad", "1", BAD[message])
    with pytest.raises(KitFailure, match=message):
        check_detector(detector, ["my secret", "another secret"], ["weather", "golf"])


def test_names() -> None:
    assert parse_detectors(" has-code,has-secret,has-code") == ("has-code", "has-secret")
    assert parse_detectors(["has-secret"]) == ("has-secret",)
    with pytest.raises(UsageError, match='unknown detector "has-secrets"') as error:
        parse_detectors("has-secrets")
    assert error.value.hint == 'did you mean "has-secret"?'


def test_a_detector_that_cannot_work_is_refused_before_a_log_is_read() -> None:
    def fail(_: pl.Series) -> pl.Series:
        raise OSError("no model")

    broken = Detector("broken", "nothing", "1", fail)
    with (
        DETECTORS.adding("broken", broken),
        pytest.raises(UsageError, match='"broken" does not work: OSError: no model'),
    ):
        open_detectors("broken")


def test_a_text_on_which_a_detector_fails_counts_as_flagged() -> None:
    """And only this text: the answers for the others are those of other batches."""

    def flag(texts: pl.Series) -> pl.Series:
        if "bomb" in texts.to_list():
            raise ValueError("bomb")
        return texts.str.contains("secret")

    texts = pl.Series([f"text {n}" for n in range(50)] + ["bomb", "secret", "golf"])
    flags = flag_texts(Detector("fragile", "fragile", "1", flag), texts)
    assert texts.filter(flags).to_list() == ["bomb", "secret"]


QUERIES = ("weather", "secret code", "code", "call 212-555-0123", "weather")


def log_of(queries: tuple[str, ...], user: str = "u") -> qv.QueryLog:
    return qv.QueryLog.from_rows(
        [(user, query, None, 1, "http://secret.example") for query in queries]
    )


def test_rows_are_counted_by_the_first_detector_that_flags_them() -> None:
    left = drop_detected(log_of(QUERIES), ("has-secret", "has-code"))
    assert left.accounting.dropped == {
        "query is flagged by the detector: has-secret (the word secret)": 1,
        "query is flagged by the detector: has-code (the word code)": 1,
    }
    rows = left.local_frame.collect()
    assert rows["query"].cast(pl.String).to_list() == ["weather", "call 212-555-0123", "weather"]
    assert rows["url"].null_count() == 0  # URLs are not searched
    assert left.accounting.kept == 3


def test_a_user_of_flagged_queries_alone_stays_where_users_are_public() -> None:
    left = drop_detected(log_of(("secret", "my code")), ("has-secret", "has-code"), users_stay=True)
    assert left.local_frame.collect()["query"].cast(pl.String).to_list() == ["•••"]
    assert sum(left.accounting.dropped.values()) == 1
    assert left.accounting.kept == 1


def test_detectors_see_masked_queries() -> None:
    """What our rules mask need not be dropped; what is flagged even then has no position."""
    digits = Detector("digits", "digits", "1", lambda texts: texts.str.contains(r"\d"))
    rows = [(f"u{n}", query, None, None, None) for n in range(3) for query in QUERIES]
    with DETECTORS.adding("digits", digits):
        release = qv.anonymize(
            qv.QueryLog.from_rows([*rows, ("u9", "route 66", None, None, None)]),
            "frequent-queries:min-users=3", identifiers="mask", detectors="digits",
        )  # fmt: skip
    queries = set(release.to_polars()["query"].cast(pl.String))
    assert queries == {"weather", "secret code", "code", "call •••-•••-••••"}
    reason = "query is flagged by the detector: digits (digits)"
    assert release.preview_card().dropped[reason] == 1


def test_keep_and_detectors_contradict_each_other() -> None:
    with pytest.raises(UsageError, match="`identifiers` is keep"):
        qv.anonymize(
            log_of(QUERIES), "frequent-queries", identifiers="keep", detectors="has-secret"
        )


def test_profile_counts_what_they_flag_without_examples() -> None:
    risks = qv.profile(log_of(QUERIES), detectors="has-secret,has-code").risks
    count = risks.identifiers["detector-has-code"]
    assert (count.title, count.queries, count.users, count.examples) == (
        "the word code (has-code)", 2, 1, ()
    )  # fmt: skip
    assert risks.identifiers["detector-has-secret"].queries == 1
    assert risks.identifiers["phone"].queries == 1
