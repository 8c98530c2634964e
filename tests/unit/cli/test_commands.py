"""The commands: what they print and where, how they end, and that mistakes are explained."""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from queryveil._version import __version__
from queryveil.log.reading import read_log
from queryveil.methods.frequent_queries import FrequentQueries
from queryveil.workflows.anonymization import anonymize

COMMANDS = ("demo", "synth", "profile", "plan", "anonymize", "verify", "pack", "methods")
METHOD = ("--method", "frequent-queries", "--min-users", "6")


@pytest.fixture(scope="module")
def first(synthetic: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release that no test changes."""
    folder = tmp_path_factory.mktemp("first") / "out"
    anonymize(read_log(synthetic), FrequentQueries(min_users=6)).write(folder)
    return folder


@pytest.fixture
def release(first: Path, tmp_path: Path) -> Path:
    return shutil.copytree(first, tmp_path / "out")


def document(text: str) -> dict[str, Any]:
    """Read the one JSON document; anything beside it would be an error."""
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


# --- one JSON document, or nothing at all --------------------------------------------------------

# The demo takes long: what it prints is tested with its pages.
CALLS = [
    ("synth", "--users", "5", "--out", "new.tsv"),
    ("profile", "LOG"),
    ("plan", "LOG", *METHOD),
    ("anonymize", "LOG", *METHOD, "--out", "new"),
    ("verify", "out"),
    ("pack", "out"),
    ("methods",),
    ("methods", "frequent-queries"),
]
KEYS = {
    "synth": {"out", "users", "rows", "seed", "bytes", "shape", "language"},
    "profile": {"rows", "users", "queries", "risks"},
    "plan": {"preview", "forecast", "guarantee", "alternatives", "data_access"},
    "anonymize": {"input", "output", "dropped", "blanked", "seconds", "peak_mb", "guarantee"},
    "verify": {"holds", "findings", "method"},
    "pack": {"archive", "bytes"},
    "methods": {"methods"},
}


def filled(call: tuple[str, ...], log: Path) -> list[str]:
    return [str(log) if word == "LOG" else word for word in call]


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_json_is_one_document_and_nothing_else(
    cli, release: Path, synthetic: Path, call: tuple[str, ...]
) -> None:
    ran = cli(*filled(call, synthetic), "--json")
    assert ran.code == 0, ran.err
    assert document(ran.out).keys() >= KEYS[call[0]]
    assert ran.err == ""


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_quiet_prints_nothing(cli, release: Path, synthetic: Path, call: tuple[str, ...]) -> None:
    assert cli(*filled(call, synthetic), "--quiet") == (0, "", "")


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_people_get_a_text(cli, release: Path, synthetic: Path, call: tuple[str, ...]) -> None:
    ran = cli(*filled(call, synthetic))
    assert ran.code == 0, ran.err
    assert len(ran.out) > 20
    assert ran.err == ""
    with pytest.raises(json.JSONDecodeError):
        json.loads(ran.out)


def test_json_in_processes_of_their_own(command, synthetic: Path, tmp_path: Path) -> None:
    ran = command("anonymize", synthetic, *METHOD, "--out", "out", "--json")
    assert ran.code == 0, ran.err
    assert ran.err == ""
    assert document(ran.out) == json.loads((tmp_path / "out" / "private" / "card.json").read_text())
    (tmp_path / "out" / "public" / "more").write_text("x")
    ran = command("verify", "out", "--json")
    assert ran.code == 1
    assert document(ran.out)["holds"] is False
    assert "files differ from the card: more" in ran.err


def test_json_and_errors(cli) -> None:
    ran = cli("profile", "nowhere.tsv", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert "no such file" in ran.err


def test_quiet_still_tells_errors(cli) -> None:
    ran = cli("profile", "nowhere.tsv", "--quiet")
    assert (ran.code, ran.out) == (1, "")
    assert "no such file" in ran.err


def test_a_verification_that_fails_ends_with_1(cli, release: Path) -> None:
    (release / "public" / "log.parquet").write_bytes(b"x")
    ran = cli("verify", "out")
    assert ran.code == 1
    assert "✗" in ran.out
    assert "The guarantee holds" not in ran.out
    assert "the guarantee does not hold" in ran.err
    ran = cli("verify", "out", "--json")
    assert document(ran.out)["holds"] is False
    assert ran.code == 1
    assert cli("pack", "out").code == 1


# --- help ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_has_help(cli, name: str, flag: str) -> None:
    ran = cli(name, flag)
    assert (ran.code, ran.err) == (0, "")
    assert "--json" in ran.out
    assert "--quiet" in ran.out
    assert "Traceback" not in ran.out


def test_the_help_names_every_command(cli) -> None:
    ran = cli("--help")
    assert ran.code == 0
    assert not [name for name in COMMANDS if name not in ran.out]


def test_help_of_methods_parameters_comes_from_their_declaration(cli) -> None:
    text = " ".join(cli("anonymize", "-h", "--method", "frequent-queries").out.split())
    for option in (
        "--min-users",
        "--min-click-users",
        "--pseudonym-scope",
        "--time-precision",
        "--include-clicks",
        "--no-include-clicks",
    ):
        assert option in text
    assert "Minimum number of users who sent a released query. A whole number from 1" in text
    assert "default 30." in text
    every = " ".join(cli("anonymize", "--help-all").out.split())
    assert "default 30. For frequent-queries." in every


def test_version(cli) -> None:
    assert cli("--version") == (0, f"queryveil {__version__}\n", "")


def test_no_command_shows_the_help(cli) -> None:
    ran = cli()
    assert "Usage" in ran.out + ran.err
    assert ran.code in (0, 2)


# --- mistakes ------------------------------------------------------------------------------------

RUN, NEW = ("anonymize", "LOG"), ("--out", "new")
FREQUENT = ("--method", "frequent-queries")
MISTAKES = [
    (2, ("anonimize",), 'did you mean "anonymize"'),
    (2, (*RUN, "--method", "frequent-queries"), "--out"),
    (2, (*RUN, *NEW), "--method"),
    (2, ("anonymize", *METHOD, *NEW), "LOG"),
    (2, (*RUN, "--method", "frequent-querys", *NEW), 'did you mean "frequent-queries"?'),
    (2, (*RUN, "--method", "frequent-queries:q=3", *NEW), "no parameter --q"),
    (2, (*RUN, "--method", "frequent-queries:min-users=6", "--min-users", "7", *NEW),
     "given twice"),
    (2, (*RUN, *FREQUENT, "--min-users", "0", *NEW), "a whole number from 1"),
    (2, (*RUN, *FREQUENT, "--min-users", "x", *NEW), '--min-users cannot be "x"'),
    (2, (*RUN, *METHOD, "--pseudonym-scope", "users", *NEW), "one of user, session, none"),
    (2, (*RUN, *METHOD, "--nn", "7", *NEW), "queryveil anonymize has no option --nn"),
    (2, (*RUN, *METHOD, "--output-format", "xlsx", *NEW), 'unknown output format "xlsx"'),
    (2, (*RUN, *METHOD, "--seed", "-1", *NEW), "is negative"),
    (2, (*RUN, *METHOD, "--seed", "x", *NEW), "--seed"),
    (2, (*RUN, *METHOD, "--sample-users", "0", *NEW), "must be positive"),
    (2, (*RUN, *METHOD, "--sample-users", "999999", *NEW), "the log has"),
    (2, (*RUN, *METHOD, "--since", "yesterday", *NEW), "is not a date"),
    (2, (*RUN, *METHOD, "--max-rejected", "200%", *NEW), "is not between 0 and 1"),
    (2, (*RUN, *METHOD, "--columns", "qurey=q", *NEW), 'did you mean "query"?'),
    (2, (*RUN, *METHOD, "--format", "aoll", *NEW), 'did you mean "aol"?'),
    (1, (*RUN, *METHOD, "--encoding", "utf-9", *NEW), 'unknown encoding "utf-9"'),
    (1, (*RUN, *METHOD, "--exclude-users", "nobody.txt", *NEW), "cannot be read"),
    (1, (*RUN, *FREQUENT, "--min-users", "5000", *NEW), "use no larger --min-users"),
    (1, (*RUN, *METHOD, "--since", "2030-01-01", *NEW), "no row of the log is left"),
    (1, ("anonymize", "nowhere.tsv", *METHOD, *NEW), "no such file"),
    (1, ("anonymize", ".", *METHOD, *NEW), "this is a folder"),
    (1, (*RUN, *METHOD, "--out", "out"), "this exists already"),
    (1, (*RUN, *METHOD, "--out", ".", "--overwrite"), "something else"),
    (1, (*RUN, *METHOD, "--out", "/proc/new"), "cannot be written"),
    (1, (*RUN, *METHOD, "--out", "x" * 300), "File name too long"),
    (1, ("anonymize", "x" * 300, *METHOD, *NEW), "File name too long"),
    (2, ("plan", "LOG", "--method", "zzz"), "known are: category-microagg"),
    (1, ("plan", "LOG", "--method", "frequent-queries:"
                                    "min-users=5000"), "use no larger --min-users"),
    (1, ("profile", "nowhere.tsv"), "no such file"),
    (1, ("verify", "nowhere"), "there is no such folder"),
    (1, ("verify", "."), "there is no release here"),
    (1, ("pack", "."), "there is no release here"),
    (1, ("pack", "out", "--out", "out/x.tar.gz"), "inside the release"),
    (2, ("synth",), "--out"),
    (2, ("synth", "--out", "x.doc"), "does not say in what form"),
    (2, ("synth", "--out", "x.tsv", "--users", "0"), "users"),
    (2, ("synth", "--out", "x.tsv", "--users", "many"), "--users"),
    (1, ("synth", "--out", "nowhere/x.tsv", "--users", "2"), "cannot be written"),
    (2, ("methods", "frequent"), 'did you mean "frequent-queries"?'),
    (1, ("--config", "nowhere.toml", "methods"), "cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "call", "says"), MISTAKES)
def test_mistakes_are_explained(
    cli, release: Path, synthetic: Path, tmp_path: Path, code: int, call: tuple[str, ...], says: str
) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    ran = cli(*filled(call, synthetic))
    text = re.sub(r"[\s│]+", " ", ran.err)
    assert ran.code == code, ran
    assert says in text
    assert ran.out == ""
    assert "Traceback" not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_mistakes_in_a_process_of_its_own(command, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for args, code in (
        (("synth", "--out", "file/x.tsv"), 1),
        (("plan", "file", "--method", "x"), 2),
    ):
        ran = command(*args)
        assert ran.code == code
        assert ran.out == ""
        assert "Error" in ran.err
        assert "Traceback" not in ran.err


# --- what the commands do ------------------------------------------------------------------------


def test_anonymize_options(cli, synthetic: Path, tmp_path: Path) -> None:
    ran = cli(
        "anonymize", synthetic, "--method", "frequent-queries", "--min-users", "8",
        "--min-click-users", "4", "--pseudonym-scope", "session", "--time-precision", "month",
        "--no-include-clicks", "--output-format", "tsv", "--no-mapping",
        "--sample-users", "50%", "--seed", "5", "--since", "2006-03-02", "--out", "out", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    card = document(ran.out)
    assert card["parameters"] == {
        "min_users": 8,
        "min_click_users": 4,
        "pseudonym_scope": "session",
        "time_precision": "month",
        "include_clicks": False,
    }
    assert card["release_grade"] is False
    assert card["input"]["users"] == 150
    assert card["dropped"]["outside the dates asked for"] > 0
    assert (tmp_path / "out" / "public" / "log.tsv").exists()
    assert not (tmp_path / "out" / "private" / "mapping.tsv").exists()
    spec = ("frequent-queries:min-users=8:min-click-users=4:pseudonym-scope=session:"
            "time-precision=month:include-clicks=no")  # fmt: skip
    again = cli("anonymize", synthetic, "--method", spec, "--output-format", "tsv",
                "--sample-users", "0.5", "--seed", "5", "--since", "2006-03-02",
                "--out", "again", "--json")  # fmt: skip
    assert document(again.out)["files"] == card["files"]


def test_the_one_line_form(cli, synthetic: Path) -> None:
    one = cli("plan", synthetic, "--method", "frequent-queries:min-users=20", "--json")
    two = cli("plan", synthetic, "--method", "frequent-queries", "--min-users", "20", "--json")
    assert document(one.out)["preview"]["output"] == document(two.out)["preview"]["output"]
    assert document(one.out)["parameters"]["min_users"] == 20
    assert "What frequent-queries:min-users=20 would release" in cli(
        "plan", synthetic, "--method", "frequent-queries:min-users=20"
    ).out  # fmt: skip


def test_plan_writes_nothing(cli, synthetic: Path, tmp_path: Path) -> None:
    ran = cli("plan", synthetic, *METHOD)
    assert ran.code == 0
    assert "Nothing was written." in ran.out
    assert "What other values would keep" in ran.out
    assert list(tmp_path.iterdir()) == []


def test_a_plan_has_no_more_digits_than_a_forecast(cli, synthetic: Path) -> None:
    ran = cli("plan", synthetic, "--method", "dp-statistics", "--expected-users", "1000")
    assert ran.code == 0
    assert not re.search(r"\d\.\d{6}", ran.out)


def test_force(cli, release: Path, synthetic: Path) -> None:
    ran = cli(
        "anonymize", synthetic, *METHOD, "--out", "out", "--output-format", "csv", "--overwrite"
    )
    assert ran.code == 0
    assert (release / "public" / "log.csv").exists()
    assert "Written and verified: out/public" in ran.out


def test_methods(cli) -> None:
    ran = cli("methods")
    assert "keep a query that at least n users sent" in ran.out
    text = " ".join(cli("methods", "semantic-microaggregation").out.split())
    assert "every released log is shared by at least 5 users" in text
    assert "paper Batet" in text
    found = document(cli("methods", "frequent-queries", "--json").out)["methods"]
    assert [method["name"] for method in found] == ["frequent-queries"]
    n = found[0]["parameters"][0]
    assert (n["name"], n["option"], n["type"], n["default"]) == (
        "min_users",
        "--min-users",
        "int",
        30,
    )


def test_pack(cli, release: Path, tmp_path: Path) -> None:
    ran = cli("pack", "out", "--out", "x.tar.gz", "--json")
    assert document(ran.out) == {
        "schema": 1,
        "archive": "x.tar.gz",
        "bytes": (tmp_path / "x.tar.gz").stat().st_size,
        "standing": "rule-only",
    }
    with tarfile.open(tmp_path / "x.tar.gz") as tar:
        assert "out/log.parquet" in tar.getnames()
    assert cli("pack", "out", "--out", "x.tar.gz").code == 1
    assert cli("pack", "out", "--out", "x.tar.gz", "--overwrite").code == 0


def test_profile_prints_its_figures(cli, synthetic: Path) -> None:
    text, found = cli("profile", synthetic).out, document(cli("profile", synthetic, "--json").out)
    assert f"{found['rows']:,}" in text
    assert f"{found['risks']['unique_queries_fraction']:.1%}" in text
    assert "by rules, which miss rare names" in " ".join(text.split())


def test_users_can_be_left_out(cli, synthetic: Path, tmp_path: Path) -> None:
    users = synthetic.read_text().splitlines()[1:]
    gone = users[0].split("\t")[0]
    (tmp_path / "gone.txt").write_text(f"\ufeff{gone}\n\n")
    ran = cli(
        "anonymize", synthetic, *METHOD, "--exclude-users", "gone.txt", "--out", "out", "--json"
    )
    card = document(ran.out)
    assert card["input"]["users"] == 299
    lines = sum(line.startswith(gone) for line in users)
    assert card["dropped"]["user asked to be left out"] == lines


# --- the terminal --------------------------------------------------------------------------------


def test_a_terminal_that_lacks_letters_does_not_end_a_run(command, synthetic: Path) -> None:
    ran = command("plan", synthetic, *METHOD, PYTHONIOENCODING="ascii")
    assert (ran.code, ran.err) == (0, "")
    assert "Nothing was written." in ran.out


def test_a_closed_pipe_is_no_traceback(synthetic: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    with subprocess.Popen(
        [sys.executable, "-m", "queryveil", "profile", str(synthetic), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=os.environ,
    ) as process:  # fmt: skip
        process.stdout.close()
        told = process.stderr.read().decode()
        process.wait()
    assert "Traceback" not in told
