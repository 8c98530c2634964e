"""No method releases what looks like an identifier, however many people sent it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.release.guarantee import Check
from specs import CROWDED_SPECS, crowded_specs, small_spec

pytestmark = pytest.mark.usefixtures("one_mapper")

METHODS = crowded_specs()
# Everybody sends each of them, so that no threshold keeps them out.
SECRETS = {
    "email": "jane.roe@mail.example", "disguised": "jane(at)mail.example", "phone": "212-555-0123",
    "card": "4111 1111 1111 1111", "iban": "gb33 bukb 2020 1555 5555 55", "ssn": "078-05-1120",
    "street": "tennis at 12 main st", "ip": "203.0.113.7",
    "url-token": "http://a.example/reset?token=zq7xk9", "name": "rosalind kowalczyk",
}  # fmt: skip
SECRET_URL = "http://shop.example/reset?token=zq7xk9"
PARTS = ("jane", "mail.ex", "555-01", "1111 1", "bukb", "05-112", "main st", "203.0.", "zq7xk9",
         "kowalcz")  # fmt: skip
USERS, ORDINARY = 40, ("tennis", "football", "weather", "swimming", "golf clubs")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> qv.QueryLog:
    queries = [*ORDINARY, *SECRETS.values()]
    lines = ["user,query,time,rank,url"]
    for number, (user, query) in enumerate(product(range(USERS), queries)):
        url = SECRET_URL if query == "tennis" else f"http://{queries.index(query)}.example"
        lines.append(
            f'u{user},"{query}",2006-03-{1 + number % 20:02} 10:{number % 60:02}:00,1,{url}'
        )
    path = tmp_path_factory.mktemp("population") / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return qv.read_log(path)


def written(folder: Path) -> str:
    """Give all that is in the public files, packed pages of Parquet too."""
    files = [path for path in (folder / "public").iterdir() if path.suffix != ".parquet"]
    return "\n".join(path.read_text("utf-8") for path in files if path.suffix != ".gz")


@pytest.mark.parametrize("setting", ["drop", "mask"])
@pytest.mark.parametrize("line", METHODS)
def test_no_identifier_is_released(
    line: str, setting: str, log: qv.QueryLog, tmp_path: Path
) -> None:
    release = qv.anonymize(log, line, identifiers=setting, ledger=str(tmp_path))
    card = release.write(tmp_path / "out", format="tsv")
    text = written(tmp_path / "out").lower()
    assert [part for part in PARTS if part in text] == []
    assert card.public.identifiers == setting
    assert Check("no-identifiers") in card.guarantee.checks
    found = qv.verify(tmp_path / "out")
    assert found.holds, found
    assert "no-identifiers" in {finding.check for finding in found.findings}
    rows = card.output.rows if release.log is not None else 0
    gone = sum(card.dropped.values()) + sum(card.input.rejected.values())
    if release.log is not None or not release.generated:
        assert card.input.rows + sum(card.generated.values()) == rows + gone
    if setting == "drop":
        looks = {reason: n for reason, n in card.dropped.items() if "looks like" in reason}
        assert sum(looks.values()) == USERS * len(SECRETS)
    assert not [n for n in json.loads((tmp_path / "out/public/release.json").read_text())["notes"]
                if "looks like" in n]  # fmt: skip


@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl", "parquet"])
def test_kept_identifiers_are_never_release_grade(
    form: str, log: qv.QueryLog, tmp_path: Path
) -> None:
    release = qv.anonymize(log, small_spec("frequent-queries"), identifiers="keep")
    card = release.write(tmp_path / "out", format=form)
    assert (card.public.identifiers, card.public.release_grade) == ("keep", False)
    assert any("let through" in why for why in card.public.not_release_grade_because)
    assert qv.verify(tmp_path / "out").holds
    if form != "parquet":
        assert SECRETS["email"] in written(tmp_path / "out")


def test_a_log_of_identifiers_alone(tmp_path: Path) -> None:
    """A plain method refuses, and one that spends does not tell: it releases nothing."""
    path = tmp_path / "log.csv"
    path.write_text("user,query\n" + "".join(f"u{n},jane@mail.example\n" for n in range(30)))
    log = qv.read_log(path)
    with pytest.raises(qv.InputError, match="looks like an identifier"):
        qv.anonymize(log, "frequent-queries:min-users=2:min-click-users=2")
    release = qv.anonymize(log, CROWDED_SPECS["dp-statistics"].replace(":synthetic-users=20", ""))
    assert {name: table.height for name, table in release.tables.items()}["queries"] == 0
