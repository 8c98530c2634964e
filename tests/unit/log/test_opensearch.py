"""Dumps, bulk files and search responses of OpenSearch and Elasticsearch."""

from __future__ import annotations

import json

import pytest

from queryveil.errors import InputError
from queryveil.log.readers.opensearch import OPENSEARCH
from queryveil.log.reading import read_log
from queryveil.testing import ReaderSample, check_reader
from queryveil.testing.logs import rows_of

SOURCES = [
    {
        "user": {"id": f"u{n}"},
        "search": {"text": f"red shoes {n}"},
        "@timestamp": f"2026-11-18T07:01:2{n}.250Z",
    }
    for n in range(3)
]
HITS = [{"_index": "log", "_id": str(n), "_source": source} for n, source in enumerate(SOURCES)]
COLUMNS = "user=user.id,query=search.text,time=@timestamp"
ROWS = [(f"u{n}", f"red shoes {n}", f"2026-11-18 07:01:2{n}", None, None) for n in range(3)]
RESPONSE = {"took": 5, "timed_out": False, "hits": {"total": {"value": 3}, "hits": HITS}}


def lines(objects: list) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in objects)


BULK = lines([line for source in SOURCES for line in ({"index": {"_id": "7"}}, source)])


@pytest.mark.parametrize("name", ["dump.json", "dump.ndjson", "elasticdump.json"])
def test_a_dump_is_read_by_the_names_within_source(tmp_path, name):
    path = tmp_path / name
    path.write_text(lines(HITS))
    assert list(rows_of(read_log(path, columns=COLUMNS))) == ROWS


def test_usual_names_within_source(tmp_path):
    path = tmp_path / "dump.json"
    path.write_text(lines([{"_id": "1", "_source": {"user_id": "7", "query": "cats"}}]))
    assert rows_of(read_log(path))[0][:2] == ("7", "cats")


@pytest.mark.parametrize("name", ["bulk.json", "opensearch.ndjson"])
def test_action_lines_of_a_bulk_file_are_counted(tmp_path, name):
    path = tmp_path / name
    path.write_text(BULK + '{"delete":{}}\n')
    log = read_log(path, columns=COLUMNS)
    assert list(rows_of(log)) == ROWS
    assert log.accounting.dropped == {"action line of a bulk file": 4}
    assert log.accounting.rows == 7


@pytest.mark.parametrize("indent", [None, 2])
def test_a_response(tmp_path, indent):
    path = tmp_path / "response.json"
    odd = {"_source": {"user": {"id": "eve"}, "search": {"text": '"hits":[{ } ]"'}}}
    response = {**RESPONSE, "hits": {"hits": [*HITS, odd]}, "aggregations": {"a": [1, {"b": []}]}}
    path.write_text(json.dumps(response, indent=indent))
    log = read_log(path, columns=COLUMNS, format="opensearch", max_rejected=1)
    assert list(rows_of(log)) == ROWS
    assert log.accounting.rejected == {"no time": 1}
    assert len(log.sources[0].sha256) == 64


def test_a_hit_that_cannot_be_read_costs_no_other(tmp_path):
    path = tmp_path / "opensearch.json"
    deep = '{"_source": ' + '{"a": ' * 3000 + "1" + "}" * 3000 + "}"
    text = json.dumps(RESPONSE).replace(
        '"hits": [', f'"hits": [{deep}, {{"_source": nonsense}}, ', 1
    )
    path.write_text(text)
    log = read_log(path, columns=COLUMNS, may_stop=False)
    assert list(rows_of(log)) == ROWS


def test_rows_without_source_are_read_as_before(tmp_path):
    path = tmp_path / "log.jsonl"
    own = {"user": "7", "query": 'what is "_source"'}
    path.write_text(lines([own, {"user": "8", "query": "x", "_source": {"user": "9"}}]))
    assert [row[0] for row in rows_of(read_log(path))] == ["7", "8"]


def test_kit():
    plain = [{"_source": {"user": "ann", "query": "red shoes"}}]
    row = ("ann", "red shoes", None, None, None)
    samples = [
        ReaderSample("opensearch.json", lines(plain) + "[1]\n", [row], (2,)),
        ReaderSample("elasticdump.ndjson", BULK, ROWS, columns={
            "user": "user.id", "query": "search.text", "time": "@timestamp",
        }),
    ]  # fmt: skip
    check_reader(OPENSEARCH, samples)


def test_objects_are_no_texts(tmp_path):
    """The object `user` is not the name of a user, and `search` is not what they typed."""
    path = tmp_path / "dump.json"
    path.write_text(lines(HITS))
    with pytest.raises(InputError):
        read_log(path)


def test_a_query_that_begins_like_an_object_is_a_text(tmp_path):
    path = tmp_path / "dump.json"
    entries = [{"user": "7", "query": '{"a": 1}'}, {"user": {"id": 8}, "query": "cats"}]
    path.write_text(lines(entries))
    log = read_log(path, max_rejected=1)
    assert [row[:2] for row in rows_of(log)] == [("7", '{"a": 1}')]
    assert log.accounting.rejected == {"no user": 1}
