"""queryveil.toml: options that need not be typed, and that what is typed beats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture
def config(tmp_path: Path):
    def write(text: str, name: str = "queryveil.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return write


def parameters(ran) -> dict[str, object]:
    assert ran.code == 0, ran.err
    return json.loads(ran.out)["parameters"]


def test_options_for_one_command(cli, config, synthetic: Path) -> None:
    config(
        '[plan]\nmethod = "frequent-queries"\nmin_users = 7\ninclude_clicks = false\njson = true\n'
    )
    found = parameters(cli("plan", synthetic))
    assert (found["min_users"], found["include_clicks"], found["min_click_users"]) == (7, False, 5)


def test_options_for_all_commands(cli, config, synthetic: Path) -> None:
    config('[all]\nmethod = "frequent-queries"\nmin_users = 7\njson = true\noverwrite = true\n')
    assert parameters(cli("plan", synthetic))["min_users"] == 7
    assert parameters(cli("anonymize", synthetic, "--out", "out"))["min_users"] == 7
    assert parameters(cli("anonymize", synthetic, "--out", "out"))["min_users"] == 7  # overwrites
    assert json.loads(cli("methods").out)["methods"]


def test_a_command_beats_all(cli, config, synthetic: Path) -> None:
    config(
        '[all]\nmethod = "frequent-queries"\nmin_users = 7\nmin_click_users = 4\njson = '
        "true\n[plan]\nmin_users = 8\n"
    )
    found = parameters(cli("plan", synthetic))
    assert (found["min_users"], found["min_click_users"]) == (8, 4)


def test_the_command_line_beats_the_file(cli, config, synthetic: Path) -> None:
    config(
        '[all]\nmethod = "frequent-queries"\nmin_users = 7\nmin_click_users = 4\ninclude_clicks '
        "= false\njson = true\n"
    )
    found = parameters(cli("plan", synthetic, "--min-users", "9", "--include-clicks"))
    assert (found["min_users"], found["min_click_users"], found["include_clicks"]) == (9, 4, True)


def test_a_typed_line_beats_the_options_of_the_file(cli, config, synthetic: Path) -> None:
    config('[all]\nmethod = "frequent-queries"\nmin_users = 7\nmin_click_users = 4\njson = true\n')
    found = parameters(cli("plan", synthetic, "--method", "frequent-queries:min-users=9"))
    assert (found["min_users"], found["min_click_users"]) == (9, 5)


def test_a_typed_option_beats_the_line_of_the_file(cli, config, synthetic: Path) -> None:
    config('[all]\nmethod = "frequent-queries:min-users=7:min-click-users=4"\njson = true\n')
    found = parameters(cli("plan", synthetic, "--min-users", "9"))
    assert (found["min_users"], found["min_click_users"]) == (9, 4)


def test_a_line_and_options_in_the_file_are_a_mistake(cli, config, synthetic: Path) -> None:
    config('[all]\nmethod = "frequent-queries:min-users=7"\nmin_users = 9\n')
    ran = cli("plan", synthetic)
    assert ran.code == 2
    assert "given twice" in ran.err


@pytest.mark.parametrize("log", ["'LOG.tsv'", "['LOG.tsv']", "['LOG.tsv', 'LOG-2.tsv']"])
def test_the_log_can_stand_in_the_file(
    cli, config, synthetic: Path, log: str, tmp_path: Path
) -> None:
    first = tmp_path / "LOG"
    for path in (tmp_path / "LOG.tsv", tmp_path / "LOG-2.tsv"):
        path.write_bytes(synthetic.read_bytes())
    config(f"[all]\nlog = {log.replace('LOG', str(first))}\njson = true\n")
    found = json.loads(cli("profile").out)
    rows = len(synthetic.read_text().splitlines()) - 1
    assert found["rows"] == rows * log.count("LOG")


def test_options_are_named_as_they_are_typed(cli, config, synthetic: Path, tmp_path: Path) -> None:
    config(
        '[anonymize]\nmethod = "frequent-queries:min-users=6"\noutput-format = "csv"\nmapping = '
        "false\n"
        'out = "out"\nsample_users = "90%"\nsince = 2006-03-02\nmax-rejected = 0.5\nquiet = true\n'
    )
    assert cli("anonymize", synthetic) == (0, "", "")
    assert (tmp_path / "out" / "public" / "log.csv").exists()
    assert not (tmp_path / "out" / "private" / "mapping.tsv").exists()
    card = json.loads((tmp_path / "out" / "private" / "card.json").read_text())
    assert card["dropped"].keys() >= {"outside the dates asked for", "not in the sample of users"}


def test_another_file_can_be_named(cli, config, synthetic: Path) -> None:
    config("[all]\nmin_users = 3\n")
    config("[all]\nmin_users = 11\nmethod = 'frequent-queries'\njson = true\n", "other.toml")
    assert parameters(cli("--config", "other.toml", "plan", synthetic))["min_users"] == 11


def test_comments_and_an_empty_file(cli, config) -> None:
    config("# nothing\n")
    assert cli("methods").code == 0


MISTAKES = [
    (2, "[all]\nmehtod = 'x'\n", '[all] has no option "mehtod"', 'did you mean "method"?'),
    (
        2,
        "[anonymize]\nouput-format = 'x'\n",
        '[anonymize] has no option "ouput-format"',
        'did you mean "output-format"?',
    ),
    (2, "[verify]\nmethod = 'x'\n", '[verify] has no option "method"', "known are: "),
    (2, "[all]\npaths = 'x'\n", 'no option "paths"', ""),
    (
        2,
        "[anonymise]\nmin_users = 3\n",
        "there is no command [anonymise]",
        'did you mean "anonymize"?',
    ),
    (2, "min_users = 3\n", '"min_users" is outside a table', "begin with [all]"),
    (2, "all = 3\n", '"all" is outside a table', ""),
    (1, "[all\n", "this is not valid TOML", ""),
    (1, "[all]\nmin_users = \n", "this is not valid TOML", ""),
    (1, "[all]\nmin_users = 3\nmin_users = 4\n", "this is not valid TOML", ""),
]


@pytest.mark.parametrize(("code", "text", "says", "hint"), MISTAKES)
def test_mistakes_are_explained(cli, config, code: int, text: str, says: str, hint: str) -> None:
    config(text)
    ran = cli("methods")
    assert (ran.code, ran.out) == (code, "")
    assert "queryveil.toml: " in ran.err
    assert says in ran.err
    assert hint in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("min_users = 0", "a whole number from 1"),
        ("min_users = [1, 2]", "--min-users cannot be"),
        ("min_users = 2.5", '--min-users cannot be "2.5"'),
        ("min_users = {a = 1}", "--min-users cannot be"),
        ("include-clicks = 'perhaps'", "--include-clicks"),
        ("json = 'perhaps'", "--json"),
        ("method = 'frequent'", 'did you mean "frequent-queries"?'),
        ("since = 7", '"7" is not a date'),
        ("sample-users = true", "True"),
    ],
)
def test_wrong_values_are_explained(cli, config, synthetic: Path, line: str, says: str) -> None:
    method = "" if line.startswith("method") else "method = 'frequent-queries'\n"
    config(f"[all]\n{method}{line}\n")
    ran = cli("plan", synthetic)
    assert ran.code == 2, ran
    assert says in ran.err
    assert "Traceback" not in ran.err


def test_a_file_that_is_no_text(cli, tmp_path: Path) -> None:
    (tmp_path / "queryveil.toml").write_bytes(b"[all]\nmin_users = '\xff'\n")
    ran = cli("methods")
    assert ran.code == 1
    assert "this is not valid TOML" in ran.err


def test_a_folder_of_that_name_is_no_config(cli, tmp_path: Path) -> None:
    (tmp_path / "queryveil.toml").mkdir()
    assert cli("methods").code == 0
    assert cli("--config", "queryveil.toml", "methods").code == 1
