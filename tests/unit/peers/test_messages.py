"""Messages are read strictly: exactly as they are written, or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.errors import FormatError
from queryveil.peers.protocol.messages import (
    MAX_BYTES,
    MAX_RESULTS,
    MAX_TEXT,
    Accepted,
    Answer,
    NoAnswer,
    Query,
    Refused,
    Request,
    Result,
    decode,
    encode,
    limit_results,
    make_result,
    sanitize_text,
)

ID = "0123456789abcdef" * 2
IDS = st.integers(0, 2**128 - 1).map(lambda number: f"{number:032x}")
TEXTS = st.text(min_size=1).map(lambda text: sanitize_text(text, MAX_TEXT)).filter(bool)
RESULTS = st.builds(
    make_result,
    st.text(),
    st.sampled_from(["https://example.org/a?b=c", "http://x.example/"]),
    st.text(),
)
MESSAGES = st.one_of(
    st.builds(Request, IDS), st.builds(Accepted, IDS), st.builds(Refused, IDS),
    st.builds(NoAnswer, IDS), st.builds(Query, IDS, st.integers(1, 20), TEXTS),
    st.builds(Answer, IDS, st.lists(RESULTS, max_size=MAX_RESULTS).map(tuple)),
)  # fmt: skip


@given(MESSAGES)
def test_what_is_written_is_read(message) -> None:
    assert decode(encode(message)) == message


@given(st.binary(max_size=200))
def test_bytes_are_a_message_or_an_error(data) -> None:
    try:
        message = decode(data)
    except FormatError:
        return
    assert decode(encode(message)) == message


@given(st.text(max_size=900))
def test_cleaned_text_stays_clean(text) -> None:
    once = sanitize_text(text, 100)
    assert sanitize_text(once, 100) == once
    assert len(once) <= 100
    assert once.isprintable() or any(one.isspace() or ord(one) > 127 for one in once)


QUERY = {"kind": "query", "id": ID, "hops": 1, "text": "cats"}
ANSWER = {"kind": "answer", "id": ID, "results": [["t", "https://x.example/", "s"]]}
BAD = [
    None, [], "request", 7, {}, {"kind": "request"}, {"kind": "request", "id": 7},
    {"kind": "request", "id": ID.upper()}, {"kind": "request", "id": ID[:-1]},
    {"kind": "request", "id": ID + "\n"}, {"kind": "request", "id": ID, "text": "x"},
    {"kind": "submit", "id": ID}, {"kind": ["request"], "id": ID},
    QUERY | {"hops": 0}, QUERY | {"hops": 21}, QUERY | {"hops": True}, QUERY | {"hops": 1.0},
    QUERY | {"hops": "1"}, QUERY | {"text": ""}, QUERY | {"text": 7}, QUERY | {"text": "a\nb"},
    QUERY | {"text": "x" * (MAX_TEXT + 1)}, QUERY | {"text": "a\u202eb"}, QUERY | {"more": 1},
    QUERY | {"text": "a\x00"}, QUERY | {"text": " a"},
    ANSWER | {"results": {}}, ANSWER | {"results": [[]]}, ANSWER | {"results": ["tus"]},
    ANSWER | {"results": [["t", "https://x.example/", 7]]},
    ANSWER | {"results": [["t", "javascript:alert(1)", "s"]]},
    ANSWER | {"results": [["t", "https://x.example/ onload=1", "s"]]},
    ANSWER | {"results": [["t", "https://x.example/\"><script>", "s"]]},
    ANSWER | {"results": [["t" * 301, "https://x.example/", "s"]]},
    ANSWER | {"results": [["t", "https://x.example/", "s"]] * (MAX_RESULTS + 1)},
    ANSWER | {"more": 1},
]  # fmt: skip


@pytest.mark.parametrize("told", BAD, ids=range(len(BAD)))
def test_what_is_not_exactly_a_message_is_refused(told) -> None:
    with pytest.raises(FormatError):
        decode(json.dumps(told).encode())


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b"1" * 5000], ids=range(5))
def test_what_is_no_json_is_refused(data) -> None:
    with pytest.raises(FormatError):
        decode(data)


def test_a_text_that_is_cut_at_a_blank_is_clean() -> None:
    assert sanitize_text("abc def", 4) == "abc" == sanitize_text("abc", 4)
    query = Query(ID, 1, sanitize_text("x" * (MAX_TEXT - 1) + " y", MAX_TEXT))
    assert decode(encode(query)) == query


def test_results_are_made_proper() -> None:
    given = [Result("a\nb", "https://x.example/", " s "), Result("bad", "data:text/html,x")] * 30
    made = limit_results(given)
    assert made[0] == Result("a b", "https://x.example/", "s")
    assert len(made) == MAX_RESULTS
    assert decode(encode(Answer(ID, made))) == Answer(ID, made)


def test_a_result_without_title_is_called_by_its_address() -> None:
    assert make_result(None, "https://x.example/", 7) == Result(
        "https://x.example/", "https://x.example/", ""
    )


@pytest.mark.parametrize("letter", ["a", "\u0e01", "\U0001f600"])
def test_the_largest_answer_fits_and_can_be_handed_on(letter: str) -> None:
    """What one peer may say another must be able to repeat, whatever the letters."""
    page = Result(letter * 300, "http://x.example/" + "a" * 1900, letter * 1000)
    kept = limit_results([page] * MAX_RESULTS)
    assert kept
    data = encode(Answer(ID, kept))
    assert len(data) <= MAX_BYTES
    assert encode(decode(data)) == data
    assert limit_results(kept) == kept


def test_more_than_the_most_is_refused_though_it_is_padded() -> None:
    page = ["t", "http://x.example/", "s" * 1000]
    many = {"kind": "answer", "id": ID, "results": [page] * MAX_RESULTS}
    assert decode(json.dumps(many).encode() + b" " * MAX_BYTES)
    with pytest.raises(FormatError, match="most"):
        decode(json.dumps(many | {"pad": "x" * MAX_BYTES}).encode())


BAD = [
    "http://a/\ud800", "http://a/\u202e", "http://a/\x1b[2J", "http://a/\x00", "http:///x",
    "http://a b/", "http://127.0.0.1:7070/search?q=x", "http://localhost/", "http://[",
    "http://x.localhost:1/", "http://[::1]/", "https://0.0.0.0/", "javascript:x",
]  # fmt: skip


@pytest.mark.parametrize("url", BAD, ids=range(len(BAD)))
def test_addresses_that_no_friend_may_send(url: str) -> None:
    told = {"kind": "answer", "id": ID, "results": [["t", url, "s"]]}
    with pytest.raises(FormatError):
        decode(json.dumps(told).encode())


def test_other_letters_of_an_engines_address_are_written_plainly() -> None:
    assert (
        make_result("t", "https://x.example/caf\u00e9?q=a%20b").url
        == "https://x.example/caf%C3%A9?q=a%20b"
    )
    assert make_result("t", "https://x.example/\u202e").url.isascii()
    assert make_result("t", "https://x.example/\ud800") is None
