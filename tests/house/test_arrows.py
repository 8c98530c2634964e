"""Rooms import to the left only, as docs/decisions.md and CONTRIBUTING.md say."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import queryveil

ROOT = Path(queryveil.__file__).parent

MAY_IMPORT = {
    "errors": set(),
    "version": set(),
    "engine": {"errors"},
    "log": {"errors", "version", "engine"},
    "concepts": {"errors", "engine", "log"},
    "dp": {"errors"},
    "release": {"errors", "version", "engine", "log", "dp"},  # a guarantee says what is lost
    "methods": {"errors", "engine", "log", "concepts", "dp", "release"},
    "measures": {"errors", "engine", "log", "concepts", "release"},
    "report": {"errors", "measures", "release"},
    # The engine for its chance and its progress: there is one source of randomness.
    "peers": {"errors", "engine", "log", "measures"},
}
LEFT_OF_JOBS = set(MAY_IMPORT)
MAY_IMPORT["jobs"] = LEFT_OF_JOBS
MAY_IMPORT["cli"] = MAY_IMPORT["studio"] = LEFT_OF_JOBS | {"jobs"}


def rooms_imported(path: Path) -> set[str]:
    """Give the rooms that a file imports, also inside functions."""
    inside = ["queryveil", *path.relative_to(ROOT).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            base = ".".join(inside[: len(inside) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            names = [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("queryveil.")}
    return found


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


FILES = [p for p in sorted(ROOT.rglob("*.py")) if room_of(p) not in ("__init__", "__main__")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_arrows_point_left(path: Path) -> None:
    room = room_of(path)
    assert room in MAY_IMPORT, f"a new room: say in this test what {room} may import"
    wrong = (rooms_imported(path) & MAY_IMPORT.keys()) - MAY_IMPORT[room] - {room}
    assert not wrong, f"{room} must not know of {', '.join(sorted(wrong))}"


def test_an_arrow_that_points_back_is_seen(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "log").mkdir()
    bad = tmp_path / "log" / "bad.py"
    bad.write_text("def f():\n    from ..methods.base import Method\n")
    assert rooms_imported(bad) == {"methods"}


def test_import_is_light() -> None:
    """`import queryveil` loads no heavy extra and no command-line library."""
    heavy = "{'pyspark', 'numba', 'scipy', 'spacy', 'typer', 'pandas', 'pyarrow'}"
    code = f"import sys, queryveil; print({heavy} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
