"""The questions of `queryveil advise` in a terminal, answered as people do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from queryveil.cli.advise import _parse_number


def _answer(folder: Path, *answers: str) -> tuple[str, str]:
    """Type answers into a terminal, and return the dialog and the advice."""
    ours, theirs = os.openpty()
    os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
    with subprocess.Popen(
        [sys.executable, "-m", "queryveil", "advise"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=os.environ | {"FORCE_COLOR": "1"},  # standard error counts as a terminal too
        text=True,
    ) as process:
        advice, dialog = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    return dialog, advice


def test_choices_by_number_and_a_count_with_a_point(tmp_path: Path) -> None:
    dialog, advice = _answer(tmp_path, "agency", "2", "3", "a few", "ca. 2.000", "german", "1, 2")
    assert "2. partner" in dialog
    assert 'cannot be "agency"' in dialog
    assert "a whole number is needed" in dialog
    for line in (
        "recipient: partner",
        "purpose:   suggestion",
        "users:     about 2,000",
        "never:     identify-a-user, reveal-a-rare-query",
    ):
        assert line in advice


@pytest.mark.parametrize("text", ["2000", "2.000", "2,000", "2 000", "2'000", "ca. 2.000", "~2000"])
def test_numbers_as_people_write_them(text: str) -> None:
    assert _parse_number(text) == 2000


@pytest.mark.parametrize("text", ["2.5", "2,00", "0", "-3", "many", "1.0000", "9" * 30, ""])
def test_what_is_no_count(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="whole number"):
        _parse_number(text)
