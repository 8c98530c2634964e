"""No method releases what is of a dropped sensitive topic, however many people sent it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.lexicons import topic_bits
from specs import crowded_specs

pytestmark = pytest.mark.usefixtures("one_mapper")

METHODS = crowded_specs()
SENSITIVE = ("breast cancer", "gay bars", "baptist church", "county jail")
USERS, ORDINARY = 40, ("tennis", "football", "weather", "swimming", "golf clubs")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> qv.QueryLog:
    queries = [*ORDINARY, *SENSITIVE]
    lines = ["user,query,time,rank,url"]
    for number, (user, query) in enumerate(product(range(USERS), queries)):
        url = "http://herpes.example" if query == "tennis" else f"http://{number % 9}.example"
        lines.append(
            f'u{user},"{query}",2006-03-{1 + number % 20:02} 10:{number % 60:02}:00,1,{url}'
        )
    path = tmp_path_factory.mktemp("population") / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return qv.read_log(path)


@pytest.mark.parametrize("line", METHODS)
def test_no_sensitive_topic_is_released(line: str, log: qv.QueryLog, tmp_path: Path) -> None:
    release = qv.anonymize(log, line, sensitive="drop", ledger=str(tmp_path))
    card = release.write(tmp_path / "out", format="tsv")
    frames = [*release.tables.values()]
    frames += [] if release.log is None else [release.log.collect()]
    for frame in frames:
        for name in {"query", "next", "url"} & set(frame.columns):
            assert topic_bits(frame[name].cast(pl.String)).sum() == 0
    assert card.public.sensitive == "drop"
    found = qv.verify(tmp_path / "out")
    assert found.holds, found
    assert "no-sensitive-topics" in {finding.check for finding in found.findings}
    rows = card.output.rows if release.log is not None else 0
    gone = sum(card.dropped.values()) + sum(card.input.rejected.values())
    if release.log is not None or not release.generated:
        assert card.input.rows + sum(card.generated.values()) == rows + gone
    dropped = [n for why, n in card.dropped.items() if why.startswith("query is of a sensitive")]
    assert sum(dropped) == USERS * len(SENSITIVE)
