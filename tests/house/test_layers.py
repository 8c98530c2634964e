"""Packages import what stands before them, as docs/decisions.md and CONTRIBUTING.md say."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import queryveil

ROOT = Path(queryveil.__file__).parent

BELOW = {
    "errors": set(),
    "_version": set(),
    "core": {"errors"},
    "engine": {"core"},
    "log": {"engine"},
    "render": {"core"},
    "dp": {"errors"},
    "ledger": {"dp"},
    "concepts": {"log"},
    "synthetic": {"concepts"},
    "release": {"ledger", "log", "render"},
    "methods": {"concepts", "release"},
    "measures": {"concepts", "release"},
    "workflows": {"methods", "measures", "synthetic"},
    "comparison": {"workflows"},
    "replication": {"comparison"},
    "cli": {"replication"},
    # A product of its own: nobody imports it, its commands and its paper are entry points.
    "peers": {"cli"},
}


def allowed(package: str) -> set[str]:
    """Return the packages that a package may import, those below them included."""
    direct = BELOW[package]
    deeper = set().union(*(allowed(one) for one in direct)) if direct else set()
    return direct | deeper | {"errors", "_version"}


def packages_imported(path: Path) -> set[str]:
    """Return the packages that a file imports, also inside functions."""
    inside = ["queryveil", *path.relative_to(ROOT).parts[:-1]]
    imported = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            base = ".".join(inside[: len(inside) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            names = [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        imported |= {name.split(".")[1] for name in names if name.startswith("queryveil.")}
    return imported


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


FILES = [p for p in sorted(ROOT.rglob("*.py")) if package_of(p) not in ("__init__", "__main__")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_to_earlier_packages(path: Path) -> None:
    package = package_of(path)
    assert package in BELOW, f"a new package: state in this test what {package} may import"
    wrong = (packages_imported(path) & BELOW.keys()) - allowed(package) - {package}
    assert not wrong, f"{package} must not import {', '.join(sorted(wrong))}"


def test_an_import_that_points_back_is_seen(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "log").mkdir()
    bad = tmp_path / "log" / "bad.py"
    bad.write_text("def f():\n    from ..methods.base import Method\n")
    assert packages_imported(bad) == {"methods"}
    assert "methods" not in allowed("log")


def test_import_is_light() -> None:
    """`import queryveil` loads no heavy extra and no command-line library."""
    heavy = "{'jinja2', 'pyspark', 'numba', 'scipy', 'spacy', 'typer', 'pandas', 'pyarrow'}"
    code = f"import sys, queryveil; print({heavy} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
