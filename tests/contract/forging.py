"""Tools of a careful forger, to damage a copy of a release."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from releases import CASES, FIRST, Once, name_of, read_rows

import queryveil as qv
from pages import draw_page
from queryveil.errors import QueryveilError
from queryveil.release.cards import PublicCard
from queryveil.release.metadata import metadata_files
from queryveil.workflows.verification import verify

DAMAGED = [case for case in CASES if case[0] in FIRST]


@pytest.fixture(params=DAMAGED, ids=name_of)
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    line, form = request.param
    return str(line), str(form)


@pytest.fixture
def copy(case: tuple[str, str], once: Once, tmp_path: Path) -> Path:
    """A copy of the release, in each form, that a test may damage."""
    return shutil.copytree(once(*case).folder, tmp_path / "release")


@pytest.fixture(params=FIRST)
def tsv(request: pytest.FixtureRequest, once: Once, tmp_path: Path) -> Path:
    """The same in one form, for damage that has nothing to do with the form."""
    return shutil.copytree(once(request.param).folder, tmp_path / "release")


def failed(folder: Path) -> set[str]:
    """Name the checks that do not hold; a card that cannot be read is one of them."""
    try:
        found = verify(folder)
    except QueryveilError as error:
        assert error.exit_code == 1
        return {type(error).__name__}
    names = {f.check for f in found.findings if not f.holds}
    assert found.holds == (not names)
    return names


def log_file(public: Path) -> Path:
    return next(path for path in public.iterdir() if path.name.startswith("log."))


def rewrite(public: Path, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change the published rows, in the file's own form."""
    path = log_file(public)
    names = {"user": pl.String, "query": pl.String, "time": pl.String, "rank": pl.Int32,
             "url": pl.String}  # fmt: skip
    found = read_rows(public)
    names |= {"kind": pl.String} if len(found[0]) > len(names) else {}
    rows = pl.DataFrame(found, schema=names, orient="row")
    changed = change(rows)
    write = {
        ".parquet": lambda: changed.write_parquet(path),
        ".jsonl": lambda: changed.write_ndjson(path),
        ".tsv": lambda: changed.write_csv(path, separator="\t", quote_style="never"),
        ".csv": lambda: changed.write_csv(path),
    }
    write[path.suffix]()


def mend_card(public: Path) -> None:
    """Make digests and figures on the card fit the changed files, as a careful forger would."""
    path = public / "release.json"
    card = json.loads(path.read_text("utf-8"))
    card["files"] = {
        file.name: sha256(file.read_bytes()).hexdigest()
        for file in public.iterdir()
        if file.name != "release.json"
    }
    rows = read_rows(public)
    ids, urls = (len({row[i] for row in rows} - {None}) for i in (0, 4))
    queries = len({row[1] for row in rows if row[5:] != ("part",)})
    card["figures"] = {"rows": len(rows), "ids": ids, "queries": queries, "urls": urls}
    if len(rows[0]) > 5:  # the rows say whether they are queries or parts of queries
        card["figures"]["parts"] = len({row[1] for row in rows if row[5] == "part"})
    redraw(public, card)
    path.write_text(json.dumps(card), "utf-8")


def edit_card(public: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = public / "release.json"
    card = json.loads(path.read_text("utf-8"))
    change(card)
    redraw(public, card)
    path.write_text(json.dumps(card), "utf-8")


def redraw(public: Path, card: dict[str, Any]) -> None:
    """Make the page and the metadata fit the card, as a careful forger would."""
    with suppress(Exception):  # a card with odd values cannot be drawn
        (public / "report.html").write_text(draw_page(public, PublicCard.from_dict(card)), "utf-8")
    for old in public.glob("*-deployment.json"):  # another promise may have none
        old.unlink()
        if isinstance(card["files"], dict):
            del card["files"][old.name]
    with suppress(Exception):
        for name, text in metadata_files(PublicCard.from_dict(card)).items():
            (public / name).write_text(text, "utf-8")
    for name in ("report.html", "croissant.json", "dp-deployment.json"):
        if isinstance(card["files"], dict) and (public / name).exists():
            card["files"][name] = sha256((public / name).read_bytes()).hexdigest()


def on_cases_with(check: str, **arguments: Any) -> pytest.MarkDecorator:
    """Run a test on the releases of `case` whose guarantee has this check, of which there are some.

    The cases follow from the guarantees, so that no test is collected only to be left out.
    """
    having = [case for case in DAMAGED if _find_checks(case[0], check, arguments)]
    assert having, f"no method has the check {check}"
    return pytest.mark.parametrize("case", having, indirect=True, ids=name_of)


def guaranteed(case: tuple[str, str], check: str, **arguments: Any) -> dict[str, Any]:
    """Return the arguments of a check of the method of a case."""
    return _find_checks(case[0], check, arguments)[0]


def _find_checks(spec: str, check: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    checks = [one.to_dict() for one in qv.parse_method(spec).guarantee().checks]
    return [one for one in checks if one.items() >= {"check": check, **arguments}.items()]


def change_first(**cells: Any) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Put other cells into the first row of a user who has several."""
    first = pl.int_range(pl.len()) == pl.arg_where(pl.len().over("user") > 1).first()
    changes = [
        pl.when(first).then(pl.lit(value)).otherwise(name).alias(name)
        for name, value in cells.items()
    ]
    return lambda rows: rows.with_columns(changes)
