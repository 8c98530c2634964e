"""Imports point one way, as the contracts in pyproject.toml have it, and importing is light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import queryveil

ROOT = Path(queryveil.__file__).parent
REPO = Path(__file__).parents[2]


def lint_imports(source: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of import-linter on a source folder."""
    # The folder must come first on the path, whatever is installed: so it is set in the process.
    code = (
        f"import sys; sys.path.insert(0, {str(source)!r}); "
        "from importlinter.cli import lint_imports_command as run; run(['--no-cache'])"
    )
    return subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=REPO, capture_output=True, text=True, check=False
    )


def test_imports_point_one_way() -> None:
    ran = lint_imports(ROOT.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " 0 broken" in ran.stdout


def test_an_import_that_points_back_is_seen(tmp_path: Path) -> None:
    """Also one inside of a function, and one of the package itself."""
    for path in ROOT.rglob("*.py"):
        copy = tmp_path / "queryveil" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    bad = tmp_path / "queryveil" / "dp" / "bad.py"
    bad.write_text("def f():\n    from ..log.query_log import QueryLog\n")
    with (tmp_path / "queryveil" / "__init__.py").open("a") as file:
        file.write("from .peers import protocol\n")
    ran = lint_imports(tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    for line in (
        "Packages import what stands below them BROKEN",
        "Rendering, mechanisms and ledgers know no log BROKEN",
        "Nobody imports peers BROKEN",
    ):
        assert line in ran.stdout


def test_import_is_light() -> None:
    """`import queryveil` loads no heavy extra and no command-line library."""
    heavy = "{'pyspark', 'numba', 'scipy', 'spacy', 'typer', 'pandas', 'pyarrow', 'jinja2'}"
    code = f"import sys, queryveil; print({heavy} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "set()"
