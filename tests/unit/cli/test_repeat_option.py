"""A release again, as a person types it: drawn and paid anew, or copied by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import add_subjects

METHOD = "dp-statistics:epsilon=1:delta=1e-4:max-queries-per-user=2:budget-split=1/0/0"


@pytest.fixture
def log(tmp_path: Path, synthetic: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return add_subjects(Path(shutil.copy(synthetic, tmp_path / "logs" / "log.tsv")))


def entries(cli: Any) -> list[dict[str, Any]]:
    found = json.loads(cli("ledger", "show", "--ledger", "./logs", "--json").out)["entries"]
    assert isinstance(found, list)
    return found


def test_a_plain_repeat_pays_whether_or_not_the_log_changed(cli, log: Path) -> None:
    seen = []
    for out in ("a", "b", "c"):
        ran = cli("anonymize", log, "--method", METHOD, "--yes", "--out", out, "--json")
        assert (ran.code, ran.err) == (0, "")
        seen.append(sorted(json.loads(ran.out)))
        if out == "b":
            log.write_bytes(log.read_bytes() + b"new\tweather\t2006-03-01 10:00:00\t\t\n")
    assert seen[0] == seen[1] == seen[2]  # nothing that is told depends on the equality of logs
    found = entries(cli)
    assert [(e["state"], e["epsilon"]) for e in found] == [("confirmed", "1")] * 3
    texts = {Path(out, "public", "queries.tsv").read_bytes() for out in ("a", "b", "c")}
    assert len(texts) == 3


@pytest.mark.parametrize("log_is", ["there", "changed", "gone", "not named"])
def test_a_named_copy_never_opens_the_log(cli, log: Path, log_is: str) -> None:
    assert cli("anonymize", log, "--method", METHOD, "--yes", "--out", "a").code == 0
    if log_is == "changed":
        log.write_text("no log at all")
    elif log_is == "gone":
        log.unlink()
    named = [] if log_is == "not named" else [log]
    ran = cli("anonymize", *named, "--copy-of", "a", "--out", "b", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["copied"] == "a"
    assert [(e["state"], e["epsilon"]) for e in entries(cli)] == [
        ("confirmed", "1"),
        ("copied", "0"),
    ]
    for path in Path("a", "public").iterdir():
        assert path.read_bytes() == Path("b", "public", path.name).read_bytes()
    assert "copy of a" in cli("anonymize", "--copy-of", "a", "--out", "c").out


def test_a_copy_takes_nothing_that_says_how_to_draw(cli, log: Path) -> None:
    assert cli("anonymize", log, "--method", METHOD, "--yes", "--out", "a").code == 0
    for more in (
        ("--method", METHOD),
        ("--seed", "1"),
        ("--extend", "a"),
        ("--epsilon", "1"),
        ("--identifiers", "keep"),
        ("--output-format", "tsv"),
        ("--sign", "no-key.pem"),
    ):
        ran = cli("anonymize", log, "--copy-of", "a", "--out", "b", *more)
        assert (ran.code, "--copy-of cannot be combined with" in ran.err) == (2, True)
    ran = cli("anonymize", "--method", METHOD, "--out", "b")
    assert (ran.code, "no log is named" in ran.err) == (2, True)
    assert not Path("b").exists()
