"""Examples run: docstrings, README and docs."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import queryveil

REPO = Path(__file__).parents[2]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(queryveil.__path__, "queryveil.")
    if not module.name.endswith("__main__")
)
PAGES = [REPO / "README.md", *sorted((REPO / "docs").rglob("*.md"))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_docstring_examples() -> None:
    modules = map(importlib.import_module, MODULES)
    found = sum(len(t.examples) for m in modules for t in doctest.DocTestFinder().find(m))
    assert found > 30


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_pages(page: Path, tmp_path: Path) -> None:
    """The Python of a page runs from top to bottom, in a folder with a small log.tsv."""
    code = "\n".join(blocks(page, "python"))
    if not code:
        return
    queryveil.synth(tmp_path / "log.tsv", users=400)
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_commands_in_the_readme(tmp_path: Path) -> None:
    """The commands of the README's five-minute start run as they stand, in their order."""
    lines = "\n".join(blocks(REPO / "README.md", "sh")).splitlines()
    commands = [line.split(" #")[0].strip() for line in lines if line.startswith("queryveil ")]
    assert len(commands) >= 6
    where = os.environ | {"COLUMNS": "100"}
    for command in commands:
        words = [sys.executable, "-m", *shlex.split(command)]
        run = subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, env=where, check=False
        )
        assert run.returncode == 0, f"{command}\n{run.stderr}"


def test_links_in_pages() -> None:
    broken = []
    for page in [*PAGES, REPO / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
            if not link.startswith("http") and not (page.parent / link).exists():
                broken.append(f"{page.name}: {link}")
    assert not broken
