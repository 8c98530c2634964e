"""Rows that a method made are counted beside those that went in, on the owner's card alone."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from queryveil.cli.tables import print_card
from queryveil.log.query_log import QueryLog
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.release.guarantee import Check, Guarantee
from queryveil.release.page import render_card
from queryveil.release.release import Release
from queryveil.release.verification import verify_public
from queryveil.workflows.anonymization import anonymize
from queryveil.workflows.verification import verify

USERS = [f"user{n}" for n in range(6)]
NAMES = [letter * 12 for letter in "abcdef"]
PROTOTYPES = (("weather", "2006-03-01"), ("pizza", "2006-03-02"), ("pizza", "2006-03-02"))


@pytest.fixture
def release() -> Release:
    """Six users in two groups of three; each row of theirs gives way to two or one made row."""
    lines = [(user, "weather", "2006-03-01 10:00:00", None, None) for user in USERS]
    log = QueryLog.from_rows(lines)
    rows = [
        (name, *row, None, None)
        for n, name in enumerate(NAMES)
        for row in (PROTOTYPES[1:] if n < 3 else PROTOTYPES[:1])
    ]
    kinds = {"user": pl.String, "query": pl.String, "time": pl.String, "rank": pl.Int32,
             "url": pl.String}  # fmt: skip
    table = pl.DataFrame(rows, schema=kinds, orient="row")
    mapping = {"user": USERS, "pseudonym": NAMES, "group": [0, 0, 0, 1, 1, 1]}
    return Release(
        method="prototypes",
        parameters={"k": 3},
        guarantee=Guarantee(
            model="k-anonymity",
            statement="Every user shares her log.",
            k=3,
            checks=(Check("equal-logs", {"k": 3}), Check("time-step", {"step": "day"})),
        ),
        source=log,
        log=table.with_columns(pl.col("time").str.to_date()).lazy(),
        mapping=pl.DataFrame(mapping),
        dropped={"row of a group": 6},
        generated={"row of a prototype": 9},
    )


def drawn(card: dict[str, Any]) -> str:
    console = Console(file=io.StringIO(), width=100)
    print_card(console, card, "Released")
    return console.file.getvalue()


def test_rows_add_up(release: Release, tmp_path: Path) -> None:
    card = release.write(tmp_path / "out")
    assert card["made"] == {"row of a prototype": 9}
    rows, out = card["input"]["rows"], card["output"]["rows"]
    lost = sum(card["dropped"].values()) + sum(card["input"]["rejected"].values())
    assert rows + sum(card["made"].values()) == out + lost == 15
    assert release.preview_card()["made"] == card["made"]


def test_what_was_made_is_no_matter_of_the_public(release: Release, tmp_path: Path) -> None:
    release.write(tmp_path / "out")
    public = tmp_path / "out" / "public"
    assert "made" not in json.loads((public / "release.json").read_text())
    assert "row of a prototype" not in (public / "report.html").read_text()
    assert json.loads((tmp_path / "out" / "private" / "card.json").read_text())["made"]


def test_nothing_is_made_unless_a_method_says_so() -> None:
    lines = [(user, "weather", "2006-03-01 10:00:00", None, None) for user in USERS]
    card = anonymize(QueryLog.from_rows(lines), FrequentQueries(n=5)).preview_card()
    assert card["made"] == {}
    assert re.search(r"released +6 +█+ 100.0%", drawn(card))
    assert re.search(r"distinct queries +1 +of 1", drawn(card))
    assert not re.search(r"^made", drawn(card), flags=re.M)
    assert "Rows made by the method" not in render_card(card)
    assert "released as a row of the log" not in render_card(card)


def test_made_rows_are_drawn_as_no_share(release: Release) -> None:
    text = drawn(release.preview_card())
    assert re.search(r"rows in +6 +6 users", text)
    assert re.search(r"released +9 *\n", text)
    assert re.search(r"generated +9 +row of a prototype", text)
    assert re.search(r"dropped +6 +row of a group", text)
    assert re.search(r"distinct queries +2 +1 in the log", text)
    assert "%" not in text


def test_the_page_gives_shares_of_the_rows_that_went_in(release: Release) -> None:
    text = render_card(release.preview_card())
    widths = [float(width) for width in re.findall(r'<i style="width:([\d.-]+)%', text)]
    assert widths == [0, 100]
    assert "6 rows went in" in text
    assert "<b>Rows made by the method</b>" in text
    assert '<td>row of a prototype</td><td class="number">9</td>' in text
    assert '<td>released in all</td><td class="number">9</td>' in text
    assert '<td class="number">150.00%' not in text
    some = replace(release, dropped={"row of a group": 3}, generated={"row of a prototype": 6})
    widths = re.findall(r'<i style="width:([\d.-]+)%', render_card(some.preview_card()))
    assert widths == ["50.000", "50.000"]


@pytest.mark.parametrize("form", ["parquet", "tsv", "csv", "jsonl"])
def test_a_log_of_groups_is_written_and_verified(
    release: Release, tmp_path: Path, form: str
) -> None:
    release.write(tmp_path / "out", form=form)
    findings = verify_public(tmp_path / "out" / "public")
    assert all(finding.holds for finding in findings)
    says = {finding.check: finding.message for finding in findings}
    assert says["equal-logs"] == ("each of 2 distinct logs is shared by 3 or more users (6 users)")
    private = {f["check"]: f["holds"] for f in verify(tmp_path / "out")["findings"]}
    assert private["private"]
    assert private["card"]


def test_the_mapping_names_the_group(release: Release, tmp_path: Path) -> None:
    release.write(tmp_path / "out")
    lines = (tmp_path / "out" / "private" / "mapping.tsv").read_text().splitlines()
    assert lines[0] == "user\tpseudonym\tgroup"
    assert lines[1] == "user0\taaaaaaaaaaaa\t0"
    assert lines[-1] == "user5\tffffffffffff\t1"
    release.write(tmp_path / "other", forget_mapping=True)
    assert not (tmp_path / "other" / "private" / "mapping.tsv").exists()
