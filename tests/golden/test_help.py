"""The help of every command, at 80 columns, so that a change of a text is seen.

`UPDATE_GOLDEN=1 pytest tests/golden/test_help.py` writes the texts anew.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from conftest import Run
from queryveil.cli.app import app
from queryveil.cli.help import PlainCommand, PlainGroup
from queryveil.cli.plugins import add_commands
from queryveil.methods.base import METHODS

FOLDER = Path(__file__).with_name("help")
MAX_LINES = 80


def _walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _walk(inner, (*path, name))


add_commands(app)
COMMANDS = dict(_walk(typer.main.get_command(app)))
EXAMPLES = {path: command.epilog for path, command in COMMANDS.items() if command.epilog}


def _compare(name: str, text: str) -> None:
    golden = FOLDER / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_of_commands(cli: Run, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = cli(*path, "-h")
    assert (ran.code, ran.err) == (0, "")
    _compare("-".join(path) or "queryveil", ran.out)


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_is_short_and_cuts_no_name(
    cli: Run, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...], columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = cli(*path, "-h").out.splitlines()
    assert len(lines) <= MAX_LINES
    assert max(map(len, lines)) <= 80
    every = cli(*path, "--help-all").out
    assert "…" not in every
    words = set(every.replace(",", " ").split())
    options = [name for p in COMMANDS[path].params for name in p.opts if name.startswith("--")]
    if not hasattr(COMMANDS[path], "commands"):
        assert [name for name in options if name not in words] == []


@pytest.mark.parametrize("command", ["anonymize", "plan"])
@pytest.mark.parametrize("method", METHODS)
def test_options_of_a_method(cli: Run, command: str, method: str) -> None:
    ran = cli(command, "-h", "--method", method)
    assert ran == cli(command, "--method", method, "-h")
    assert ran == cli(command, f"--method={method}:x=1", "--help")
    for declared in METHODS[method].user_parameters():
        assert f"  {declared.option}" in ran.out
    assert len(ran.out.splitlines()) <= MAX_LINES


@pytest.mark.parametrize("method", METHODS)
def test_methods_in_full(cli: Run, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = cli("methods", method)
    assert (ran.code, ran.err) == (0, "")
    assert METHODS[method].paper in " ".join(ran.out.split())
    _compare(f"methods-{method}", ran.out)


def test_help_with_an_unknown_method(cli: Run) -> None:
    ran = cli("anonymize", "-h", "--method", "frequent-querys")
    assert ran.code == 2
    assert 'did you mean "frequent-queries"?' in ran.err


def test_every_command_has_plain_help_and_an_example() -> None:
    for path, command in COMMANDS.items():
        assert isinstance(command, PlainCommand | PlainGroup), path
        assert hasattr(command, "commands") or path in EXAMPLES, path


@pytest.mark.parametrize("path", EXAMPLES, ids=" ".join)
def test_examples_can_be_parsed(path: tuple[str, ...]) -> None:
    """Every option of an example exists, and none that is required is missing."""
    program, *words = shlex.split(EXAMPLES[path].replace("\\\n", " "))
    assert (program, *words[: len(path)]) == ("queryveil", *path)
    COMMANDS[path].make_context("queryveil", words[len(path) :])


def test_no_text_is_left_over() -> None:
    names = {"-".join(path) or "queryveil" for path in COMMANDS}
    names |= {f"methods-{method}" for method in METHODS}
    assert {path.stem for path in FOLDER.glob("*.txt")} == names
