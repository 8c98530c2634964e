"""Commands of other distributions: added under their name, never in place of our own."""

from __future__ import annotations

import pytest
import typer

from queryveil.cli.app import app
from queryveil.cli.plugins import COMMANDS, _command_names, add_commands
from queryveil.errors import UsageError


def test_peers_come_by_an_entry_point() -> None:
    assert "peers" in COMMANDS
    assert COMMANDS.distribution("peers") is None  # of this distribution
    assert "peers" in _command_names(app)


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
