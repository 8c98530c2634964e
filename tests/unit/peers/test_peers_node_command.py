"""`queryveil peers node ...`: invitations, friends, and what a node's folder tells."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from queryveil.errors import FormatError, InputError, UsageError
from queryveil.peers import cli_node as peers_node


def run(*words: object) -> str:
    """Run a command, and give what it prints; its errors come through."""
    done = CliRunner().invoke(peers_node.app, list(map(str, words)), catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


def told(*words: object) -> Any:
    return json.loads(run(*words, "--json"))


@pytest.fixture
def ann(tmp_path: Path) -> Path:
    home = tmp_path / "ann"
    run("invite", "--node-dir", home, "--name", "ann", "--address", "127.0.0.1:7101")
    return home


def test_friends_exchange_invitations(ann: Path, tmp_path: Path) -> None:
    bob = tmp_path / "bob"
    made = told("invite", "--node-dir", bob, "--name", "bob")
    line = run("invite", "--node-dir", bob, "--name", "bob")
    assert line.strip() == made["invitation"]
    assert line.startswith("queryveil:bob@-#")
    (tmp_path / "bob.txt").write_text(line)
    for given in (made["invitation"], tmp_path / "bob.txt"):
        (friend,) = told("accept", "--node-dir", ann, given)["friends"]
        assert friend == {"name": "bob", "fingerprint": made["fingerprint"]}
    assert "robert is a friend now" in run(
        "accept", "--node-dir", ann, line.strip(), "--name", "robert"
    )
    found = told("status", "--node-dir", ann)
    assert [one["name"] for one in found["friends"]] == ["robert"]
    assert (found["exposure"], found["own"], found["seen"]) == (None, 0, 0)
    assert "robert" in run("status", "--node-dir", ann)
    assert "no friend any more" in run("forget", "robert", "--node-dir", ann)
    assert "no friends yet" in run("status", "--node-dir", ann)


def test_mistakes_are_told(ann: Path, tmp_path: Path) -> None:
    own = run("invite", "--node-dir", ann, "--name", "ann").strip()
    with pytest.raises(UsageError, match="own invitation"):
        run("accept", "--node-dir", ann, own)
    with pytest.raises(FormatError, match="not an invitation"):
        run("accept", "--node-dir", ann, "queryveil:nonsense")
    with pytest.raises(InputError, match="nor a file"):
        run("accept", "--node-dir", ann, tmp_path / "nothing")
    with pytest.raises(UsageError, match="one friend"):
        run("accept", "--node-dir", ann, own, own, "--name", "x")
    with pytest.raises(UsageError, match="no node"):
        run("status", "--node-dir", tmp_path / "nobody")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--listen", "7071"), "`listen`"), (("--listen", "host:x"), "`listen`"),
        (("--engine", "google"), "`engine`"), (("--max-hops", 99), "`max_hops`"),
        (("--submit-probability", 0), "`submit_probability`"),
    ],
)  # fmt: skip
def test_a_node_that_cannot_run_says_why(ann: Path, options: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        run("run", "--node-dir", ann, "--port", 0, *options)


def test_ports_that_are_taken_are_told(ann: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        with pytest.raises(UsageError, match="not available"):
            run("run", "--node-dir", ann, "--port", port, "--listen", "none")
        with pytest.raises(UsageError, match="cannot listen"):
            run("run", "--node-dir", ann, "--port", 0, "--listen", f"127.0.0.1:{port}")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, ann: Path) -> None:
    def gone(name: str) -> None:
        raise ModuleNotFoundError(name="cryptography")

    monkeypatch.setattr("importlib.import_module", gone)
    with pytest.raises(UsageError, match="needs cryptography"):
        run("status", "--node-dir", ann)
