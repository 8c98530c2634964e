"""A log whose columns were not found stops with a way on, unless a private run must not stop."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from queryveil.errors import InputError, TooManyRejectedError
from queryveil.log.reading import read_log


def dump(path: Path) -> Path:
    source = {"client": "ann", "words": "cats"}
    lines = [json.dumps({"_id": number, "_source": source}) for number in range(4)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "columns",
    [
        {"user": "client_id", "query": "user_query"},  # other names
        {"user": "hits.client", "query": "hits.words"},  # another level
        {"user": "_source.client", "query": "_source.query"},  # a user, and no query
    ],
)
def test_columns_that_no_row_has_are_an_error(tmp_path, columns):
    path = dump(tmp_path / "dump.jsonl")
    with pytest.raises(InputError, match="none of 4 rows has a query") as error:
        read_log(path, columns=columns)
    assert "_source.user_query" in str(error.value.hint)
    assert read_log(path, columns={"user": "client", "query": "words"}).accounting.kept == 4


def test_a_private_run_is_not_stopped_by_the_content_of_rows(tmp_path):
    path = dump(tmp_path / "dump.jsonl")
    log = read_log(path, columns={"user": "a", "query": "b"}, may_stop=False)
    assert (log.accounting.rows, log.accounting.kept) == (4, 0)


def test_a_response_of_a_search_engine_is_not_an_empty_log(tmp_path):
    hit = {"_source": {"client_id": "ann", "user_query": "cats"}}
    path = tmp_path / "response.json"
    path.write_text(json.dumps({"took": 3, "hits": {"hits": [hit]}}))
    with pytest.raises(InputError, match="none of 1 rows") as error:
        read_log(path)
    assert '`format="opensearch"`' in str(error.value.hint)
    assert read_log(path, format="opensearch").accounting.kept == 1


def test_the_hint_leaves_out_the_few_rows_without_a_user():
    users = [None, *("ann" for _ in range(29))]
    frame = pl.DataFrame({"user": users, "query": ["cats"] * 30})
    with pytest.raises(TooManyRejectedError) as error:
        read_log(frame)
    assert error.value.hint == "to leave out the rows without a user: `max_rejected=0.034`"
    assert read_log(frame, max_rejected=0.034).accounting.kept == 29


def test_dates_with_slashes_have_a_hint_for_both_orders():
    frame = pl.DataFrame({"user": ["ann"], "query": ["cats"], "time": ["31/12/2025 10:00"]})
    with pytest.raises(TooManyRejectedError) as error:
        read_log(frame)
    assert '`time_format="%d/%m/%Y %H:%M"`' in str(error.value.hint)
    assert '`time_format="%m/%d/%Y %H:%M"`' in str(error.value.hint)
