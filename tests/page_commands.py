"""Run the shell commands of a page of the documentation, as a reader would.

A block that is marked `sh` runs; comments and output are not commands. A command whose comment
begins with "fails" must fail. Commands of queryveil run in this process, since Python's start takes
longer than most of them; all others, and those with pipes, run in a shell.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).parents[1]
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_HERE_DOCUMENT = re.compile(r"<<-? *'?(\w+)'?")
_COMMENT = re.compile(r"\s+#\s(.*)$")
_SHELL = re.compile(r"[|<;&`]|\$\(")


class Outcome(NamedTuple):
    """A command of a page and what it printed."""

    command: str
    code: int
    out: str
    err: str


def fences(page: Path) -> list[tuple[str, str]]:
    """Return the language and the text of each block of a page."""
    return [(found[1], found[2]) for found in _FENCE.finditer(page.read_text("utf-8"))]


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks in one language."""
    return [text for found, text in fences(page) if found == language]


def statements(block: str) -> Iterator[str]:
    """Split a block into commands: continued lines and here-documents stay together."""
    lines = iter(block.splitlines())
    for first in lines:
        line = first
        while line.endswith("\\"):
            line = line[:-1] + next(lines).strip()
        document = _HERE_DOCUMENT.search(line)
        if document:
            for more in lines:
                line += f"\n{more}"
                if more.strip() == document[1]:
                    break
            line += "\n"
        if line.strip() and not line.startswith("#"):
            yield line


def run_page(
    page: Path,
    cli: Callable[..., tuple[int, str, str]],
    folder: Path,
    change: Callable[[str], str] = str,
) -> list[Outcome]:
    """Run all commands of a page in a folder, and return what they printed.

    Args:
        change: Returns what runs instead of a command.
    """
    ran = []
    for statement in (text for block in blocks(page, "sh") for text in statements(block)):
        comment = _COMMENT.search(statement)
        command = statement if "\n" in statement else _COMMENT.sub("", statement)
        code, out, err = _run(change(command.strip()), cli, folder)
        must_fail = comment is not None and comment[1].startswith("fails")
        assert (code != 0) == must_fail, f"{command}\nexit code {code}\n{out[-2000:]}\n{err}"
        ran.append(Outcome(command.strip(), code, out, err))
    return ran


def _run(
    command: str, cli: Callable[..., tuple[int, str, str]], folder: Path
) -> tuple[int, str, str]:
    if command.startswith("queryveil ") and not _SHELL.search(command):
        plain, _, target = command.partition(" > ")
        code, out, err = cli(*shlex.split(plain)[1:])
        if target:
            (folder / target.strip()).write_text(out, "utf-8")
        return code, out, err
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", f"{_FUNCTION}\n{command}"],
        cwd=folder, env=os.environ | {"PYTHON": sys.executable}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


_FUNCTION = 'queryveil() { "$PYTHON" -m queryveil "$@"; }; python() { "$PYTHON" "$@"; }'
