"""Commands of other distributions: added under their name, never in place of our own."""

from __future__ import annotations

import pytest
import typer

from conftest import Run
from queryveil.cli.app import app
from queryveil.cli.plugins import COMMANDS, _command_names, add_commands, names_own_command
from queryveil.errors import UsageError


def test_peers_come_by_an_entry_point() -> None:
    assert "peers" in COMMANDS
    assert COMMANDS.distribution("peers") is None  # of this distribution
    add_commands(app)
    add_commands(app)
    assert [group.name for group in app.registered_groups].count("peers") == 1


def test_a_command_of_ours_needs_no_other_group(cli: Run) -> None:
    assert names_own_command(app, ["verify", "out"])
    for words in ([], ["--help"], ["more"]):
        assert not names_own_command(app, words)
    assert "simulate" in cli("peers", "--help").out


def test_a_group_is_added() -> None:
    own = typer.Typer()
    with COMMANDS.adding("more", typer.Typer()):
        add_commands(own)
    assert {"more", "peers"} <= _command_names(own)


@pytest.mark.parametrize("name", ["ledger", "verify", "anonymize", "taxonomy"])
def test_no_command_of_ours_is_replaced(name: str) -> None:
    assert name in _command_names(app)
    own = typer.Typer()
    own.command(name)(lambda: None)
    with COMMANDS.adding(name, typer.Typer()), pytest.raises(UsageError, match=name):
        add_commands(own)


def test_only_applications_are_commands() -> None:
    with pytest.raises(UsageError, match="not a Typer"), COMMANDS.adding("more", print):
        pass
