"""The column `kind`: what each row of a release is, in every format, and `verify` on it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from part_methods import FirstWords, first_words
from queryveil.release.cards import PublicCard
from queryveil.release.checks import describe_check, run_check
from queryveil.release.formats import OUTPUT_FORMATS, PUBLIC_SCHEMA, read_public_log
from queryveil.release.guarantee import Check
from queryveil.release.metadata import croissant_metadata
from queryveil.release.verification import read_public_card

FORMATS = list(OUTPUT_FORMATS)
COLUMNS = [*PUBLIC_SCHEMA, "kind"]
ROW_KINDS = Check("row-kinds", {})


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with first_words():
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release with parts in each format."""
    folder = tmp_path_factory.mktemp("parts")
    with first_words():
        release = qv.anonymize(qv.make_log(60), FirstWords(k=3))
        for form in FORMATS:
            release.write(folder / form, format=form)
    return {form: folder / form for form in FORMATS}


@pytest.fixture(params=FORMATS)
def copy(request: pytest.FixtureRequest, made: dict[str, Path], tmp_path: Path) -> Path:
    return shutil.copytree(made[request.param], tmp_path / "release")


def log_file(folder: Path) -> Path:
    return next((folder / "public").glob("log.*"))


def rewrite(folder: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change the rows, and let the digests fit: a careful forger, who leaves the private card."""
    path = log_file(folder)
    rows = change(read_public_log(folder / "public").collect())
    write = {
        ".parquet": lambda: rows.write_parquet(path),
        ".jsonl": lambda: rows.write_ndjson(path),
        ".tsv": lambda: rows.write_csv(path, separator="\t", quote_style="never"),
        ".csv": lambda: rows.write_csv(path),
    }
    write[path.suffix]()
    card = json.loads((folder / "public" / "release.json").read_text("utf-8"))
    card["files"][path.name] = sha256(path.read_bytes()).hexdigest()
    (folder / "public" / "release.json").write_text(json.dumps(card), "utf-8")


def failed(folder: Path) -> set[str]:
    return {of.check for of in qv.verify(folder).findings if of.holds is False}


def test_every_format_keeps_the_kinds(made: dict[str, Path]) -> None:
    logs = [read_public_log(made[form] / "public").collect() for form in FORMATS]
    assert all(log.columns == COLUMNS for log in logs)
    assert all(log.equals(logs[0]) for log in logs)
    assert set(logs[0]["kind"]) == {"query", "part"}
    assert all(qv.verify(made[form]) for form in FORMATS)


def test_other_releases_keep_five_columns(tmp_path: Path) -> None:
    release = qv.anonymize(qv.make_log(60), qv.FrequentQueries(min_users=3))
    for form in FORMATS:
        release.write(tmp_path / form, format=form)
        log = read_public_log(tmp_path / form / "public")
        assert log.collect_schema().names() == list(PUBLIC_SCHEMA)


def test_figures_count_queries_and_parts_apart(made: dict[str, Path]) -> None:
    rows = read_public_log(made["tsv"] / "public").collect()
    card = read_public_card(made["tsv"] / "public")
    distinct = {kind: rows.filter(kind=kind)["query"].n_unique() for kind in ("query", "part")}
    assert (card.figures.queries, card.figures.parts) == (distinct["query"], distinct["part"])
    assert PublicCard.from_dict(card.to_dict()) == card
    page = (made["tsv"] / "public" / "report.html").read_text("utf-8")
    assert "distinct parts of queries" in page
    assert "<th>kind</th>" in page.replace(' scope="col"', "")


def test_the_metadata_describe_the_column(made: dict[str, Path]) -> None:
    card = read_public_card(made["csv"] / "public")
    (records,) = croissant_metadata(card)["recordSet"]
    assert [field["name"] for field in records["field"]] == COLUMNS
    assert "part" in records["field"][-1]["description"]


def test_a_release_with_parts_is_packed_and_read_back(made: dict[str, Path]) -> None:
    log = qv.make_log(60)
    with pytest.warns(UserWarning, match="in no ledger"):
        assert qv.pack(made["parquet"]).exists()
    release = qv.read_release(made["parquet"], log)
    assert release.log.collect_schema().names() == COLUMNS


def set_kind(kind: str | None) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Give one text another kind in all its rows, so that equal logs stay equal."""
    return lambda rows: rows.with_columns(
        kind=pl.when(pl.col("query") == rows.filter(kind="part")["query"][0])
        .then(pl.lit(kind))
        .otherwise("kind")
    )


def give_clicks(rows: pl.DataFrame) -> pl.DataFrame:
    is_part = pl.col("kind") == "part"
    return rows.with_columns(url=pl.when(is_part).then(pl.lit("http://a.example")).otherwise("url"))


@pytest.mark.parametrize("change", [set_kind("phrase"), set_kind(None), give_clicks])
def test_a_wrong_kind_is_found(copy: Path, change: Callable[..., pl.DataFrame]) -> None:
    rewrite(copy, change)
    assert {"row-kinds", "card"} <= failed(copy)


def test_a_missing_column_is_found(copy: Path) -> None:
    rewrite(copy, lambda rows: rows.drop("kind"))
    assert {"columns", "row-kinds"} <= failed(copy)


def test_a_further_column_is_found(copy: Path) -> None:
    rewrite(copy, lambda rows: rows.with_columns(more=pl.lit("x")))
    assert failed(copy) & {"columns", "bytes", "log"}


def test_columns_in_another_order_are_found(copy: Path) -> None:
    rewrite(copy, lambda rows: rows.select("kind", *PUBLIC_SCHEMA))
    assert failed(copy) & {"columns", "bytes", "log"}


@pytest.mark.parametrize("form", FORMATS)
def test_a_column_that_no_card_promises_is_found(tmp_path: Path, form: str) -> None:
    release = qv.anonymize(qv.make_log(60), qv.StringMicroaggregation(k=3))
    release.write(tmp_path / "out", format=form)
    assert qv.verify(tmp_path / "out")
    rewrite(tmp_path / "out", lambda rows: rows.with_columns(kind=pl.lit("query")))
    assert "columns" in failed(tmp_path / "out")


def test_the_check_reads_categories_and_texts() -> None:
    rows = {"user": "a", "query": ["x", "y"], "rank": [1, None], "url": ["u", None]}
    log = pl.LazyFrame(rows).with_columns(kind=pl.Series(["query", "part"], dtype=pl.Categorical))
    assert run_check(ROW_KINDS, log).holds
    assert not run_check(ROW_KINDS, log.drop("kind")).holds
    swapped = log.with_columns(kind=pl.Series(["part", "query"]))
    assert run_check(ROW_KINDS, swapped).message.startswith("not so in 1 rows")
    assert "no part has a rank" in describe_check(ROW_KINDS)


@pytest.mark.parametrize("first", ["", "[1]", "{", "[" * 100_000])
def test_a_strange_first_line_of_json_is_no_kind(tmp_path: Path, first: str) -> None:
    (tmp_path / "log.jsonl").write_text(first + "\n", "utf-8")
    assert read_public_log(tmp_path).collect_schema().names() == list(PUBLIC_SCHEMA)
