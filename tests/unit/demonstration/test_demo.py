"""The demo shows every kind of release on one synthetic log, and can be repeated."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

import queryveil as qv
from queryveil.demonstration.demo import USERS
from queryveil.demonstration.records import Demonstration

SMALL = 300
FOLDER = "queryveil-demo"


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def shown(there: Path, one_mapper: None) -> Demonstration:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(there)
        return qv.demo(users=SMALL)


def test_its_own_log_yields_a_table_of_queries(tmp_path: Path) -> None:
    """The parameters are for the demo's own size: with fewer users the table would be short."""
    path = tmp_path / "log.tsv"
    qv.write_synthetic_log(path, users=USERS, seed=2006)
    method = qv.DpStatistics(epsilon=2, max_queries_per_user=10, budget_split="1/0/0")
    released = qv.anonymize(path, method, expected_users=USERS).tables["queries"]
    assert released.height >= 20


def test_all_steps(shown: Demonstration, there: Path) -> None:
    assert sorted(path.name for path in (there / FOLDER).iterdir()) == [
        "comparison", "demo.json", "frontier.svg", "index.html", "microaggregation", "private",
        "replacement", "statistics",
    ]  # fmt: skip
    for release in shown.releases:
        assert qv.verify(there / release.folder).holds
        assert release.verify.holds
    assert shown.microaggregation.card.guarantee.k == 5
    assert shown.example.group_size >= 5
    assert shown.risks == tuple(sorted(shown.risks, key=lambda risk: -risk[0]))
    assert "epsilon 6: exchanging one person's whole log" in shown.together
    assert type(shown).from_dict(json.loads(shown.to_json())) == shown
    assert (there / FOLDER / "private").stat().st_mode & 0o777 == 0o700
    assert (there / FOLDER / "private" / "log.tsv").stat().st_mode & 0o777 == 0o600
    assert (there / FOLDER / "private" / "ledger.db").exists()


def test_the_example_is_in_the_files(shown: Demonstration, there: Path) -> None:
    rows = qv.read_log(there / FOLDER / "private" / "log.tsv").to_polars()
    own = rows.filter(rows["user"].cast(str) == shown.example.user)["query"].cast(str)
    assert set(shown.example.before) <= set(own)
    released = pl.read_parquet(there / FOLDER / "microaggregation" / "public" / "log.parquet")
    assert set(shown.example.grouped) <= set(released["query"].cast(str))


def test_its_page_links_what_is_there(shown: Demonstration, there: Path) -> None:
    page = (there / shown.page).read_text("utf-8")
    links = set(re.findall(r'href="([^"]+)"', page))
    assert len(links) == 7
    for link in links:
        assert (there / FOLDER / link).is_file()
    for count in shown.counts:
        assert f"{count.count:,} ± {count.interval:,}" in page
    assert "data:image/svg+xml;base64," in page


def test_its_commands_do_the_same(
    cli, shown: Demonstration, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(there)
    for release in shown.releases:
        words = shlex.split(release.command)
        assert words.pop(0) == "queryveil"
        ran = cli(*words, "--yes")
        assert ran.code == 0, ran.err
        written = json.loads((Path(words[-1]) / "public" / "release.json").read_text("utf-8"))
        assert written["parameters"] == dict(release.card.public.parameters)
    words = shlex.split(shown.comparison.command)[1:]
    assert cli(*words, "--json").code == 0


def test_again_and_on_the_screen(
    cli, shown: Demonstration, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(there)
    assert Path(shown.folder).exists()
    ran = cli("demo", "--users", str(SMALL), "--json")
    assert (ran.code, ran.err) == (0, "")
    again = Demonstration.from_dict(json.loads(ran.out))  # one document, and nothing beside it
    assert "epsilon 6:" in again.together  # the ledger was replaced with the demo
    monkeypatch.setattr("queryveil.cli.demo.run_demo", lambda *_, **__: again)
    ran = cli("demo", "--users", str(SMALL))
    assert (ran.code, ran.err) == (0, "")
    assert "Look at queryveil-demo/index.html" in ran.out
    assert ran.out.count("all 24 checks hold") == 2
    assert ran.out.count("all 25 checks hold") == 1  # the kinds of rows in the logs of groups
    assert len(ran.out.splitlines()) < 75
    assert "epsilon 6:" in " ".join(ran.out.split())
    assert cli("demo", "--users", str(SMALL), "--quiet") == (0, "", "")


@pytest.mark.parametrize("overwrite", [False, True])
def test_it_spares_what_is_not_its_own(tmp_path: Path, overwrite: bool) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine")
    with pytest.raises(qv.OutputError):
        qv.demo(mine, overwrite=overwrite)
    (mine / "demo.json").write_text('{"queryveil": "0"}')
    with pytest.raises(qv.OutputError):  # a demo with a file of the user's own
        qv.demo(mine, overwrite=overwrite)
    assert (mine / "thesis.txt").read_text() == "mine"
