"""`verify` finds each change of the released data, however carefully it was made."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest
from forging import (
    case,
    change_first,
    copy,
    edit_card,
    failed,
    guaranteed,
    log_file,
    mend_card,
    on_cases_with,
    rewrite,
)
from releases import Once, once, population, read_rows, whole_logs

pytestmark = pytest.mark.usefixtures("one_mapper")


def test_the_forgers_tools_alone_break_nothing(copy: Path) -> None:
    # Else the tests below might fail for reasons other than the damage they do.
    rewrite(copy / "public", lambda rows: rows)
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == set()


def test_a_changed_cell_is_found(copy: Path) -> None:
    rewrite(copy / "public", lambda rows: rows.with_columns(
        query=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("another query")).otherwise("query")
    ))  # fmt: skip
    assert "files" in failed(copy)


@on_cases_with("min-ids", columns=["query"])
@pytest.mark.parametrize("mended", [False, True])
def test_a_query_pushed_below_the_threshold_is_found(
    copy: Path, case: tuple[str, str], mended: bool
) -> None:
    public = copy / "public"
    least = guaranteed(case, "min-ids", columns=["query"])["at_least"]

    def take_away(rows: pl.DataFrame) -> pl.DataFrame:
        query = rows["query"][0]
        spared = rows.filter(pl.col("query") == query)["user"].unique().head(least - 1)
        return rows.filter((pl.col("query") != query) | pl.col("user").is_in(spared.implode()))

    rewrite(public, take_away)
    if not mended:
        assert {"files", "figures", "min-ids"} <= failed(copy)
        return
    mend_card(public)
    assert "card" in failed(copy)  # the owner's card tells
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"min-ids"}  # and without it the promise itself


@on_cases_with("min-ids", columns=["query", "url"])
def test_a_rare_click_is_found(copy: Path) -> None:
    rewrite(copy / "public", lambda rows: rows.with_columns(
        url=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("http://rare.example"))
        .otherwise("url")
    ))  # fmt: skip
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"min-ids"}


def drop_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out the first row of a user who has several: else a whole user would go."""
    first = pl.arg_where(pl.len().over("user") > 1).first()
    return rows.filter(pl.int_range(pl.len()) != first)


@on_cases_with("equal-logs")
@pytest.mark.parametrize(
    "change",
    [
        change_first(query="another query"),
        change_first(user="aaaabbbbcccc"),
        drop_first,
        lambda rows: rows[[0, *range(rows.height)]],
    ],
    ids=["query", "user", "one row less", "one row twice"],
)
def test_a_log_that_too_few_share_is_found(
    copy: Path, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    rewrite(copy / "public", change)
    mend_card(copy / "public")
    assert "card" in failed(copy)  # the owner's card tells
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"equal-logs"}  # and without it the promise itself


@on_cases_with("equal-logs")
def test_a_group_of_one_user_too_few_is_found(copy: Path, case: tuple[str, str]) -> None:
    k = guaranteed(case, "equal-logs")["k"]
    logs = whole_logs(read_rows(copy / "public"))
    log = next(iter(logs.values()))
    alike = [user for user in logs if logs[user] == log]
    rewrite(copy / "public", lambda rows: rows.filter(~pl.col("user").is_in(alike[k - 1 :])))
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"equal-logs"}


def odd_time(time: str | None) -> Callable[[pl.DataFrame], pl.DataFrame]:
    first = pl.int_range(pl.len()) == 0
    return lambda rows: rows.with_columns(time=pl.when(first).then(pl.lit(time)).otherwise("time"))


@on_cases_with("slots")
@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[1:],
        lambda rows: rows[[0, *range(rows.height)]],
        change_first(user="aaaabbbbcccc"),
        odd_time("2006-03-01"),
        odd_time("2006-03-01 10:11:12"),
        odd_time("2"),
        odd_time(None),
    ],
    ids=["a row less", "a row twice", "another user", "day", "second", "number twice", "no time"],
)
def test_a_slot_too_many_or_dated_is_found(
    copy: Path, change: Callable[[pl.DataFrame], pl.DataFrame]
) -> None:
    rewrite(copy / "public", change)
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"slots"}


@on_cases_with("time-step", step="day")
@pytest.mark.parametrize("finer", ["2006-03-01 10:11:12", "2006-03-01 10:00:00", "10:11", "1"])
def test_a_finer_time_is_found(copy: Path, finer: str) -> None:
    card = json.loads((copy / "public" / "release.json").read_text("utf-8"))
    alike = {"equal-logs"} & {check["check"] for check in card["guarantee"]["checks"]}
    rewrite(copy / "public", lambda rows: rows.with_columns(
        time=pl.when(pl.int_range(pl.len()) == 5).then(pl.lit(finer)).otherwise("time")
    ))  # fmt: skip
    mend_card(copy / "public")
    shutil.rmtree(copy / "private")
    assert failed(copy) == {"time-step"} | alike


def test_another_log_is_found(copy: Path, case: tuple[str, str], once: Once) -> None:
    other = once(*case, seed=9)
    shutil.copy(log_file(other.public), log_file(copy / "public"))
    assert "files" in failed(copy)


def test_cells_that_no_check_counts_are_found(copy: Path) -> None:
    """A null query, a null user, a rank without its URL: each would slip past the thresholds."""
    kept = shutil.copytree(copy / "public", copy.parent / "kept")
    shutil.rmtree(copy / "private")
    for spoilt in ({"query": None}, {"user": None}, {"url": None, "rank": 99}):
        first = pl.int_range(pl.len()) == 0
        changes = [
            pl.when(first).then(pl.lit(value)).otherwise(name).alias(name)
            for name, value in spoilt.items()
        ]
        rewrite(copy / "public", lambda rows, changes=changes: rows.with_columns(changes))
        mend_card(copy / "public")
        assert "cells" in failed(copy)
        shutil.rmtree(copy / "public")
        shutil.copytree(kept, copy / "public")


def test_a_truncated_log_is_found(copy: Path) -> None:
    path = log_file(copy / "public")
    path.write_bytes(path.read_bytes()[:-7])
    assert "files" in failed(copy)


def test_a_log_of_noise_is_found_even_with_its_digest(copy: Path) -> None:
    path = log_file(copy / "public")
    path.write_bytes(b"\x00\xff noise \n" * 50)
    digest = sha256(path.read_bytes()).hexdigest()
    edit_card(copy / "public", lambda card: card["files"].update({path.name: digest}))
    assert failed(copy) & {"log", "columns", "figures"}


@pytest.mark.parametrize("name", ["log", "report.html"])
def test_a_missing_file_is_found(copy: Path, name: str) -> None:
    path = log_file(copy / "public") if name == "log" else copy / "public" / name
    path.unlink()
    assert "files" in failed(copy)


def test_a_link_in_place_of_a_file_is_found(copy: Path, tmp_path: Path) -> None:
    log = log_file(copy / "public")
    log.rename(tmp_path / "elsewhere")
    log.symlink_to(tmp_path / "elsewhere")
    assert failed(copy) == {"plain"}


def test_a_folder_in_place_of_a_file_is_found(copy: Path) -> None:
    log = log_file(copy / "public")
    log.unlink()
    log.mkdir()
    assert failed(copy) == {"plain"}
