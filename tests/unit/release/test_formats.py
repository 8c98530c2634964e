"""Every form gives the texts back as they were, and no cell runs in a spreadsheet."""

from __future__ import annotations

import csv
import json
from datetime import date, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from queryveil.errors import UsageError
from queryveil.log.query_log import QueryLog
from queryveil.release.formats import (
    OUTPUT_FORMATS,
    check_output_format,
    escape_formula,
    read_public_log,
    unescape_formula,
    write_public_log,
)

# Texts as they are after reading: no blank but single spaces inside.
TEXT = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)
MARKS = st.sampled_from(
    [
        "=",
        "+",
        "-",
        "@",
        "'",
        '"',
        "''",
        '"=',
        "'=",
        "\uff1d",
        "\uff0b",
        "\uff0d",
        "\uff20",
        "%",
        ",",
        ";",
    ]
)
RISKY = st.builds(lambda mark, text: f"{mark}{text}", MARKS, TEXT) | MARKS
CELL = TEXT | RISKY
ROWS = st.lists(
    st.tuples(CELL, CELL, st.none() | CELL, st.none() | st.integers(1, 2**31 - 1)),
    min_size=1,
    max_size=8,
)
# What a spreadsheet takes for a formula, or for the beginning of a quoted one.
DANGEROUS = tuple("=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20")


def table(rows: list[tuple[str, str, str | None, int | None]]) -> pl.DataFrame:
    names = {"user": pl.String, "query": pl.String, "url": pl.String, "rank": pl.Int32}
    cells = pl.DataFrame(rows, schema=names, orient="row")
    return cells.select("user", "query", pl.lit(date(2006, 3, 1)).alias("time"), "rank", "url")


def spreadsheet_cells(path: Path) -> list[str]:
    """Cut a file into cells as a spreadsheet does: quotation marks around a cell go."""
    separator = "\t" if path.suffix == ".tsv" else ","
    with path.open(encoding="utf-8", newline="") as file:
        return [cell for row in csv.reader(file, delimiter=separator) for cell in row]


@pytest.mark.parametrize("form", OUTPUT_FORMATS)
@given(rows=ROWS)
@example(rows=[('"', '"', '"', None), ("a", 'b"', '"c"', 1)])
@example(rows=[("'", "''", "'='", None)])
@example(rows=[("=1+1", '"=1+1"', '"=1+1', 1)])
@example(rows=[("a", 'an "exact phrase"', 'x"', 1), ("a", 'a\\"b', "\\", 2)])
@example(rows=[("a", "a\x1cb\x1fc", "\x85", None), ("\u2028", "\x7f\x1b[1m", "\ufeffx", 1)])
@example(rows=[("null", "NULL", "None", None), ("nan", "true", "1", 1), ("#", "# x", "1e5", 1)])
def test_texts_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    form: str,
    rows: list[tuple[str, str, str | None, int | None]],
) -> None:
    folder, wanted = tmp_path_factory.mktemp("public"), table(rows)
    write_public_log(wanted.lazy(), folder, form)
    found = read_public_log(folder)
    assert found is not None
    assert found.collect().rows() == wanted.with_columns(pl.col("time").cast(pl.String)).rows()


@pytest.mark.parametrize("form", ["tsv", "csv"])
@given(rows=ROWS)
@example(rows=[("a", '"=1+1"', None, 1), ("a", "=1+1", "@x", 1), ("a", "\uff1d1", '"', 1)])
@example(rows=[("a", '"', None, 1), ("a", '=1"', None, 1)])
def test_no_cell_runs_in_a_spreadsheet(
    tmp_path_factory: pytest.TempPathFactory,
    form: str,
    rows: list[tuple[str, str, str | None, int | None]],
) -> None:
    folder = tmp_path_factory.mktemp("public")
    cells = spreadsheet_cells(write_public_log(table(rows).lazy(), folder, form))
    assert len(cells) == 5 * (len(rows) + 1)  # no quotation mark swallowed a neighbour
    assert not [cell for cell in cells if cell.startswith(DANGEROUS)]


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@a", "'a", '"a"', "\ta", "\ra", "\na", "\0a"]
)
def test_risky_texts_get_one_apostrophe(text: str) -> None:
    column = pl.select(x=pl.lit(text))
    safe = column.select(escape_formula(pl.col("x"))).item()
    assert safe == f"'{text}"
    assert pl.select(x=pl.lit(safe)).select(unescape_formula(pl.col("x"))).item() == text


@pytest.mark.parametrize("text", ["weather", "a=b", "10 + 5", "http://a.example/?q=-1", "ä", "1"])
def test_ordinary_texts_are_left_alone(text: str) -> None:
    assert pl.select(x=pl.lit(text)).select(escape_formula(pl.col("x"))).item() == text


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_parquet_and_jsonl_keep_every_text_as_it_is(tmp_path: Path, form: str) -> None:
    texts = ["=1+1", "'a", '"b"', "-", "tab\tand\nline", "nul\0", "emoji 🙂", "\u202eright"]
    path = write_public_log(table([(t, t, t, None) for t in texts]).lazy(), tmp_path, form)
    if form == "jsonl":
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        assert [row["query"] for row in rows] == [row["url"] for row in rows] == texts
        assert list(rows[0].values()) == ["=1+1", "=1+1", "2006-03-01", None, "=1+1"]
    else:
        found = pl.read_parquet(path)
        assert found["query"].to_list() == found["url"].to_list() == texts
        assert found.schema["query"] == pl.String


def test_a_line_end_inside_a_url_does_not_break_tsv(tmp_path: Path) -> None:
    write_public_log(table([("a", "q", "http://a.example/\tx\r\ny", 1)]).lazy(), tmp_path, "tsv")
    assert read_public_log(tmp_path).collect()["url"].to_list() == ["http://a.example/%09x%0D%0Ay"]


@pytest.mark.parametrize("form", OUTPUT_FORMATS)
@pytest.mark.parametrize(
    "name", ["plain", "a[b]", "a[1-9]", "a*b", "a?b", "with blank", "ü{x}", "%41"]
)
def test_folders_with_odd_names(tmp_path: Path, form: str, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / f"log.{form}").write_text("decoy")
    write_public_log(table([("a", "q", None, 1)]).lazy(), folder, form)
    assert read_public_log(folder).collect()["query"].to_list() == ["q"]


@pytest.mark.parametrize("form", OUTPUT_FORMATS)
def test_encoded_columns_are_written_as_texts(tmp_path: Path, form: str) -> None:
    lines = [("ann", "kept", "2006-03-01 10:00:00", None, None),
             ("bob", "secret words of bob", "2006-03-01 10:00:00", None, None)]  # fmt: skip
    log = QueryLog.from_rows(lines).local_frame.filter(pl.col("query").cast(pl.String) == "kept")
    path = write_public_log(log.with_columns(time=pl.col("time").dt.date()), tmp_path, form)
    assert b"secret words" not in path.read_bytes()
    assert b"bob" not in path.read_bytes()


@pytest.mark.parametrize("form", OUTPUT_FORMATS)
def test_nulls_and_times(tmp_path: Path, form: str) -> None:
    rows = table([("a", "q", None, None)]).with_columns(time=pl.lit(datetime(2006, 3, 1, 10)))
    write_public_log(rows.lazy(), tmp_path, form)
    ((user, query, time, rank, url),) = read_public_log(tmp_path).collect().rows()
    assert (user, query, rank, url) == ("a", "q", None, None)
    assert time.startswith("2006-03-01 10:00:00")
    write_public_log(rows.with_columns(time=pl.lit(None, pl.Date)).lazy(), tmp_path, form)
    assert read_public_log(tmp_path).collect()["time"].to_list() == [None]


def test_order_is_kept(tmp_path: Path) -> None:
    rows = table([(f"u{n}", f"q{n * 7919 % 50000}", None, 1) for n in range(50_000)])
    for form in OUTPUT_FORMATS:
        folder = tmp_path / form
        folder.mkdir()
        write_public_log(rows.lazy(), folder, form)
        assert read_public_log(folder).collect()["query"].equals(rows["query"])


def test_an_unknown_form_is_explained() -> None:
    with pytest.raises(
        UsageError, match=r'unknown output format "parket"\. Hint: did you mean "parquet"'
    ):
        check_output_format("parket")


def test_no_log_is_none(tmp_path: Path) -> None:
    assert read_public_log(tmp_path) is None
