"""What must not stand in the source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import queryveil

ROOT = Path(queryveil.__file__).parent
REPO = Path(__file__).parents[2]
SYNTHETIC = ROOT / "synthetic"
FILES = [path for path in ROOT.rglob("*.py") if SYNTHETIC not in path.parents]


def test_no_careless_randomness() -> None:
    """`random`, `numpy.random` and `hash()` have no place in a release."""
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            careless = any(name.split(".")[0] == "random" for name in names)
            careless |= any(name.startswith("numpy.random") for name in names)
            if isinstance(node, ast.Attribute) and node.attr == "random":
                careless |= isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                careless |= node.func.id == "hash"
            if careless:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found


def test_no_assert_for_input_and_no_bare_valueerror() -> None:
    found = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            raised = node.exc if isinstance(node, ast.Raise) else None
            name = getattr(getattr(raised, "func", raised), "id", "")
            if isinstance(node, ast.Assert) or name in ("ValueError", "Exception", "RuntimeError"):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found


def test_files_fit_on_a_few_screens() -> None:
    long = {p.name: n for p in ROOT.rglob("*.py") if (n := p.read_text().count("\n")) > 400}
    assert not long


def test_nothing_names_an_index_or_another_host() -> None:
    """The lock file names packages and hashes alone."""
    lock = (REPO / "requirements.lock").read_text()
    assert "--hash=sha256:" in lock
    assert not re.search(r"https?://|index-url|find-links|file:", lock)


def test_the_quick_tests_leave_no_package_out() -> None:
    """Files that `make quick` leaves out exist, and each package keeps some."""
    slow = (REPO / "tests" / "slow.txt").read_text().split()
    assert [path for path in slow if not (REPO / path).is_file()] == []
    for package in (REPO / "tests" / "unit").iterdir():
        files = {path.relative_to(REPO).as_posix() for path in package.rglob("test_*.py")}
        assert not files or files - set(slow), package.name


MARKUP = re.compile(
    r"</?(?:p|div|table|t[dhr]|b|i|span|[ou]l|li|h[1-6]|section|html|body|svg)\b[^<]*>"
)


def test_no_markup_outside_of_templates() -> None:
    """Templates escape what they show; a text with markup in the code would not be escaped."""
    found = []
    for path in [path for path in FILES if ROOT / "testing" not in path.parents]:
        tree = ast.parse(path.read_text("utf-8"))
        docs = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and id(node) not in docs and MARKUP.search(node.value):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not found
