"""What must not stand in the code that protects: careless chance, floats as noise, other rooms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import queryveil

ROOT = Path(queryveil.__file__).parent
EXPONENTIAL = sorted((ROOT / "dp" / "exponential").glob("*.py"))
DP = [*sorted((ROOT / "dp").glob("*.py")), *EXPONENTIAL]
STATISTICS = sorted((ROOT / "methods" / "statistics").glob("*.py"))
REPLACEMENT = sorted((ROOT / "methods" / "replacement").glob("*.py"))
SIMILARITY = sorted((ROOT / "concepts" / "similarity").glob("*.py"))
NOISE = ROOT / "dp" / "noise.py"

CARELESS = {"random", "secrets", "numpy.random", "uuid", "scipy"}
# Where bytes of the operating system may be taken, to decide exactly and not as noise.
MAY_DRAW = {"dp/noise.py": "os.urandom"}
# The name of a set of categories is random; nothing is drawn by it.
MAY_NAME = {"methods/replacement/rendering.py": "pl.Categories.random"}
# Where noise.py may speak of floats: the exact double of a scale, and an error that shows one.
MAY_FLOAT = {"_double", "exact_scale"}
# What draws choices, from integer weights to the item that is given.
DRAWING = [ROOT / "dp" / "exponential" / "sampling.py"]
# Where a response may speak of floats: what is told about it, and a refusal.
MAY_TELL = {"truth_probability", "signal_strength", "__post_init__"}


# Calls that draw what epsilon is spent on.
NOISY = {
    "sample", "permute_and_flip", "uniform_below", "laplace", "gaussian", "replace", "release",
    "profiles",
}  # fmt: skip


def test_the_files_are_there() -> None:
    """Else the tests below would look at nothing."""
    for files in (DP, EXPONENTIAL, STATISTICS, REPLACEMENT, SIMILARITY):
        assert len(files) > 2
    assert all(path.exists() for path in (NOISE, *DRAWING))


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Give all modules that a file imports, with the number of leading dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield node.level, module
            yield from ((node.level, f"{module}.{alias.name}".strip(".")) for alias in node.names)


def careless(tree: ast.AST) -> set[str]:
    """Name the sources of chance that a file touches."""
    found = {
        name
        for level, name in imported(tree)
        if level == 0 and any(f"{name}.".startswith(f"{bad}.") for bad in CARELESS)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in ("random", "urandom", "getrandom"):
            found.add(ast.unparse(node))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("hash", "__import__"):
            found.add(ast.unparse(node.func))
    return found


@pytest.mark.parametrize("path", [*DP, *STATISTICS, *REPLACEMENT, *SIMILARITY], ids=name_of)
def test_no_careless_chance(path: Path) -> None:
    allowed = {given.get(name_of(path)) for given in (MAY_DRAW, MAY_NAME)}
    assert careless(tree_of(path)) <= allowed


def floats_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Give the function and line of each float: a literal, float(...), a division, np.float64."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            literal = isinstance(node, ast.Constant) and isinstance(node.value, float)
            called = isinstance(node, ast.Name) and node.id == "float"
            kind = isinstance(node, ast.Attribute) and node.attr.startswith(("float", "double"))
            divided = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
            is_note = isinstance(node, ast.Name) and function.returns is node
            if (literal or called or kind or divided) and not is_note:
                yield function.name, node.lineno


def test_no_float_on_the_way_of_noise() -> None:
    found = {name for name, _ in floats_in(tree_of(NOISE))}
    assert found <= MAY_FLOAT


@pytest.mark.parametrize("path", DRAWING, ids=name_of)
def test_no_float_on_the_way_of_a_choice(path: Path) -> None:
    assert list(floats_in(tree_of(path))) == []


def test_no_float_on_the_way_of_a_response() -> None:
    tree = tree_of(ROOT / "dp" / "randomized_response.py")
    divided = {  # by decimals or fractions, which are exact or rounded as is said there
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and ast.unparse(node).startswith("Decimal(")
    }
    found = {name for name, line in floats_in(tree) if line not in divided}
    assert found <= MAY_TELL


@pytest.mark.parametrize("path", REPLACEMENT, ids=name_of)
def test_what_protects_draws_from_noise(path: Path) -> None:
    """Order and names may come from chance; an answer, a choice or a count never does."""
    tree = tree_of(path)
    drawn = [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) in NOISY
    ]
    random = [call for call in drawn if re.search(r"\b(?:chance|rng)\b", call)]
    # A concept was drawn before; which of its names stands for it is no secret.
    assert [call for call in random if not call.startswith("names.")] == []


def test_the_double_of_a_scale_is_compared_with_the_scale() -> None:
    functions = {
        node.name: ast.unparse(node)
        for node in ast.walk(tree_of(NOISE))
        if isinstance(node, ast.FunctionDef)
    }
    assert "if Fraction(double) != scale:" in functions["_double"]
    for kind in ("laplace", "gaussian"):
        assert f"dp.m.make_{kind}(*space, scale=_double(scale))" in functions[kind]
        assert "dp.atom_domain(T='i64')" in functions[kind]
    assert "np.zeros(part, np.int64)" in functions["_draw_noise"]


def test_noise_is_drawn_in_one_place() -> None:
    """No file but noise.py and the test stream speaks to OpenDP."""
    speaks = {name_of(p) for p in ROOT.rglob("*.py") if "opendp.prelude" in p.read_text("utf-8")}
    assert speaks == {"dp/noise.py"}


@pytest.mark.parametrize("path", DP, ids=name_of)
def test_the_package_imports_only_errors_and_records(path: Path) -> None:
    """Records are a form of typed results: they know no log, and draw nothing."""
    outside = 3 if path in EXPONENTIAL else 2
    for level, name in imported(tree_of(path)):
        is_known = name.split(".")[0] == "errors" or name.startswith("core.records")
        assert level < outside or is_known, f"{path.name} imports {name}"
        assert not (level == 0 and name.split(".")[0] == "queryveil")


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "from random import gauss",
        "import numpy.random as r",
        "from numpy.random import default_rng",
        "from numpy import random",
        "import numpy as np\nnp.random.normal()",
        "import secrets",
        "import os\nos.urandom(8)",
        "hash('a')",
    ],
)
def test_carelessness_is_seen(code: str) -> None:
    assert careless(ast.parse(code))


@pytest.mark.parametrize("body", ["x * 0.5", "float(x)", "np.float64(x)", "x.astype(np.float32)",
                                  "x / 2"])  # fmt: skip
def test_a_float_is_seen(body: str) -> None:
    tree = ast.parse(f"def laplace(x):\n    return {body}")
    assert {name for name, _ in floats_in(tree)} == {"laplace"}
    assert not list(floats_in(ast.parse("def _double(x) -> float:\n    return x")))
