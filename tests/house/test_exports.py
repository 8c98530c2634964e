"""What is exported is what is meant."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import pytest

import queryveil

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(queryveil.__path__, "queryveil.")
    if not module.name.endswith("__main__")
)


PACKAGES = [
    name for name in ["queryveil", *MODULES] if hasattr(importlib.import_module(name), "__all__")
]


@pytest.mark.parametrize("name", PACKAGES)
def test_exported_names_exist_once(name: str) -> None:
    package = importlib.import_module(name)
    exported = package.__all__
    assert sorted(set(exported)) == sorted(exported)
    assert all(hasattr(package, entry) for entry in exported)


def test_only_packages_list_their_names() -> None:
    """In a module, a name without underscore is public: a list of them would be a second one."""
    listing = [name for name in PACKAGES if not hasattr(importlib.import_module(name), "__path__")]
    assert listing == []


def test_the_front_door() -> None:
    """Editors read the imports, Python reads the table: each public name is in both."""
    tree = ast.parse(Path(queryveil.__file__).read_text("utf-8"))
    imports = {
        name.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert imports == queryveil._MODULES
    assert sorted([*imports, "__version__"]) == sorted(queryveil.__all__)
    assert len(imports) > 100


def test_a_star_import_gives_every_name() -> None:
    names: dict[str, object] = {}
    exec("from queryveil import *", names)
    assert set(queryveil.__all__) <= set(names)
    assert set(queryveil.__all__) <= set(dir(queryveil))


def test_a_misspelled_name_is_corrected() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'FrequentQueries'"):
        _ = queryveil.FrequentQuery
    with pytest.raises(AttributeError, match=r"no attribute '_private'$"):
        _ = queryveil._private


@pytest.mark.parametrize(
    "kind", [*queryveil.METHODS.values(), *queryveil.MEASURES.values()], ids=lambda kind: kind.name
)
def test_every_method_and_measure_is_at_the_front_door(kind: type) -> None:
    assert getattr(queryveil, kind.__name__) is kind


def test_a_new_method_is_at_the_front_door_without_an_import() -> None:
    class Toy(queryveil.FrequentQueries):
        name = "toy"

    with pytest.raises(AttributeError, match="no attribute 'Toy'"):
        _ = queryveil.Toy
    with queryveil.METHODS.adding("toy", Toy):
        assert queryveil.Toy is Toy
