"""A tutorial is run as its reader would: in an empty folder, with nothing but its text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from page_commands import REPO, Outcome, run_page

Follow = Callable[[str], list[Outcome]]


@pytest.fixture
def follow(
    cli: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Follow:
    """Follow a tutorial, and return what its commands printed."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def run(name: str) -> list[Outcome]:
        return run_page(REPO / "docs" / "tutorials" / f"{name}.md", cli, tmp_path)

    return run


def printed(ran: list[Outcome], command: str) -> list[str]:
    """Return the output and the errors of each run of a command, with one blank between words."""
    texts = [
        " ".join(f"{done.out} {done.err}".split())
        for done in ran
        if done.command.startswith(f"queryveil {command}")
    ]
    assert texts, f"the tutorial has no command {command}"
    return texts
