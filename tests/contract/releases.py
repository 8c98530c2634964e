"""Releases of every method on one log, made once for all files of tests."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import queryveil as qv
from queryveil.release.cards import PrivateCard
from specs import built_in_methods, small_spec

USERS = 150
METHODS = [small_spec(name) for name in built_in_methods()]
# What gives tables instead of a log is looked at in test_statistics.py.
LOG_METHODS = [spec for spec in METHODS if "log" in qv.parse_method(spec).output_files()]


def first_of_families(specs: list[str]) -> list[str]:
    """Return a spec per package of methods: the others share its promise and its writing."""
    first: dict[str, str] = {}
    for spec in sorted(specs, key=lambda spec: (not spec.startswith("semantic-"), spec)):
        package = type(qv.parse_method(spec)).__module__.split(".")[2:]
        first.setdefault(package[0], spec)
    return sorted(first.values())


FIRST = first_of_families(LOG_METHODS)
OTHER_FORMATS = [(spec, "parquet") for spec in FIRST]
OTHER_FORMATS += [
    (spec, form) for spec in FIRST if spec.startswith("freq") for form in ("csv", "jsonl")
]
CASES = [(spec, "tsv") for spec in LOG_METHODS] + OTHER_FORMATS
Row = tuple[str, str, str, int | None, str | None]


def name_of(case: tuple[str, str]) -> str:
    """Name a test after the form and the method."""
    line, form = case
    return f"{form}-{line}"


@dataclass(frozen=True)
class Made:
    """A release on disk, with what went in."""

    folder: Path
    card: PrivateCard
    method: qv.Method
    log: qv.QueryLog

    @property
    def public(self) -> Path:
        return self.folder / "public"

    @property
    def makes_rows(self) -> bool:
        """Whether the card says that released rows are no rows of the log."""
        return bool(self.card.generated)

    @property
    def has_slots(self) -> bool:
        """Whether rows are numbered instead of dated."""
        return any(check.check == "slots" for check in self.method.guarantee().checks)

    @property
    def shares_logs(self) -> bool:
        """Whether groups of users share one log."""
        return self.method.guarantee().model == "k-anonymity"

    def rows(self) -> list[Row]:
        return list(published(self.public))

    def input_rows(self) -> list[Row]:
        return list(rows_of(Path(self.log.sources[0].path)))


@cache
def published(public: Path) -> list[Row]:
    """Read the rows of a release that no test changes, once."""
    return read_rows(public)


@cache
def rows_of(path: Path) -> list[Row]:
    """Read the rows of a log that no test changes, once."""
    texts = pl.col("user", "query", "time", "url").cast(pl.String)
    return qv.read_log(path).local_frame.with_columns(texts).collect().rows()


def read_rows(public: Path) -> list[Row]:
    """Read the published log with other means than queryveil's own, where there are any."""
    if (path := public / "log.parquet").exists():
        return pl.read_parquet(path).with_columns(pl.col("time").cast(pl.String)).rows()
    if (path := public / "log.jsonl").exists():
        return [tuple(json.loads(line).values()) for line in path.read_text("utf-8").splitlines()]
    if (path := public / "log.tsv").exists():
        cells = [line.split("\t") for line in path.read_text("utf-8").split("\n")[1:-1]]
    else:
        with (public / "log.csv").open(encoding="utf-8", newline="") as file:
            cells = list(csv.reader(file))[1:]
    bare = [[cell.removeprefix("'") or None for cell in row] for row in cells]
    return [(u, q, t, int(r) if r else None, *more) for u, q, t, r, *more in bare]


def make(
    path: Path, folder: Path, line: str, form: str = "parquet", seed: int | None = None
) -> Made:
    log, method = qv.read_log(path), qv.parse_method(line)
    card = qv.anonymize(log, method, seed=seed).write(folder, format=form)
    return Made(folder, card, method, log)


def cards(made: Made) -> tuple[dict[str, Any], dict[str, Any]]:
    public = json.loads((made.public / "release.json").read_text("utf-8"))
    return public, json.loads((made.folder / "private" / "card.json").read_text("utf-8"))


Once = Callable[..., Made]
_MADE: dict[tuple[str, str, int | None], Made] = {}


@pytest.fixture(scope="session")
def population(synthetic: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first users of the log, in a folder: the ledger of private releases lies beside it."""
    lines = synthetic.read_text("utf-8").splitlines(keepends=True)
    users = dict.fromkeys(line.split("\t")[0] for line in lines[1:])
    chosen = {"AnonID", *[*users][:USERS]}
    path = tmp_path_factory.mktemp("population") / "log.tsv"
    path.write_text("".join(line for line in lines if line.split("\t")[0] in chosen), "utf-8")
    return path


@pytest.fixture(scope="session")
def once(population: Path, tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Make each release once, in whatever order the tests of all files ask for them."""

    def release(line: str, form: str = "tsv", seed: int | None = None) -> Made:
        if (line, form, seed) not in _MADE:
            out = tmp_path_factory.mktemp("made") / "out"
            _MADE[line, form, seed] = make(population, out, line, form, seed)
        return _MADE[line, form, seed]

    return release


@pytest.fixture(scope="module", params=LOG_METHODS)
def line(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=CASES, ids=name_of)
def made(request: pytest.FixtureRequest, once: Once) -> Made:
    return once(*request.param)


@pytest.fixture(scope="module")
def seeded(line: str, once: Once) -> Made:
    return once(line, seed=9)


def public_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "public").iterdir()}


def whole_logs(rows: list[Row]) -> dict[str, frozenset[tuple[tuple[Any, ...], int]]]:
    """Give each name's rows without the name, and how often each stands there."""
    logs = defaultdict(Counter)
    for user, *row in rows:
        logs[user][tuple(row)] += 1
    return {user: frozenset(log.items()) for user, log in logs.items()}
