"""Registries: built-in items, those of other distributions, and what is wrong with them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from queryveil.core.parameters import parameter
from queryveil.core.registry import Distribution, Registry, SpecRegistry, value_fault
from queryveil.errors import PluginWarning, UsageError
from queryveil.measures.base import MEASURES
from queryveil.methods.base import METHODS, Method
from queryveil.methods.frequent_queries import FrequentQueries

METHOD = """
from dataclasses import dataclass

from queryveil import FrequentQueries


@dataclass(frozen=True)
class Renamed(FrequentQueries):
    name = "{name}"
"""

POINT = "[queryveil.methods]\nacme-method = acme:Renamed\n"

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a distribution of one module, with its entry points, for one test."""
    monkeypatch.syspath_prepend(tmp_path)

    def add(name: str, module: str, points: str, version: str = "1.2") -> None:
        (tmp_path / f"{name}.py").write_text(module)
        info = tmp_path / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(points)
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, name, raising=False)

    return add


def fresh_methods() -> SpecRegistry[Method]:
    """Return a registry that has not been used: that of the process loads only once."""
    return SpecRegistry("method", "queryveil.methods", Method, "queryveil.methods")


def test_built_in_items_are_discovered_in_their_package() -> None:
    assert METHODS["frequent-queries"] is METHODS.find("frequent-queries") is FrequentQueries
    assert list(METHODS) == sorted(METHODS)
    assert list(MEASURES) == sorted(MEASURES)
    assert "profile-divergence" in MEASURES
    assert METHODS.distribution("frequent-queries") is None


def test_an_unknown_name_is_explained() -> None:
    with pytest.raises(UsageError, match=r'unknown method "frequent-querys".*did you mean'):
        METHODS.find("frequent-querys")
    assert "frequent-querys" not in METHODS


def test_a_method_of_another_distribution_is_one_of_ours(install: Install) -> None:
    install(
        "acme",
        METHOD.format(name="acme-method"),
        POINT,
    )
    methods = fresh_methods()
    assert methods.parse("acme-method").name == "acme-method"
    assert methods.distribution("acme-method") == Distribution("acme", "1.2")
    assert str(methods.distribution("acme-method")) == "acme 1.2"
    assert methods.distribution("frequent-queries") is None


def test_a_plug_in_is_loaded_on_first_use(install: Install) -> None:
    install(
        "acme",
        METHOD.format(name="acme-method"),
        POINT,
    )
    methods = fresh_methods()
    assert "acme" not in sys.modules
    assert len(methods) == len(METHODS) + 1
    assert "acme" in sys.modules


@pytest.mark.parametrize(
    ("module", "fault"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("", "AttributeError"),
        ("Renamed = 7", "not a subclass of Method"),
        ("class Renamed: pass", "not a subclass of Method"),
        ("from queryveil import Method as Renamed", "it does not define guarantee, run"),
        (METHOD.format(name="another-name"), 'its own name is "another-name"'),
    ],
)  # fmt: skip
def test_a_broken_plug_in_is_reported_and_skipped(
    install: Install, module: str, fault: str
) -> None:
    install("acme", module, POINT)
    methods = fresh_methods()
    with pytest.warns(PluginWarning, match='the method "acme-method" of acme 1.2 is left out') as w:
        assert list(methods) == list(METHODS)
    assert fault in str(w[0].message)


def test_two_items_of_one_name_are_an_error(install: Install) -> None:
    module = METHOD.format(name="frequent-queries")
    install("acme", module, "[queryveil.methods]\nfrequent-queries = acme:Renamed\n")
    with pytest.raises(UsageError, match=r'"frequent-queries": queryveil and acme 1.2.*uninstall'):
        len(fresh_methods())


def test_two_distributions_with_one_name_are_an_error(install: Install) -> None:
    for name in ("acme", "other"):
        module = METHOD.format(name="acme-method")
        install(name, module, f"[queryveil.methods]\nacme-method = {name}:Renamed\n")
    with pytest.raises(UsageError, match=r"acme 1.2 and other 1.2|other 1.2 and acme 1.2"):
        len(fresh_methods())


def test_an_item_can_be_added_for_a_while() -> None:
    @dataclass(frozen=True)
    class Toy(FrequentQueries):
        name = "toy"
        size: int = parameter(3, "a size", min=1)

    with METHODS.adding("toy", Toy):
        assert METHODS.parse("toy:size=4") == Toy(size=4)
        assert METHODS.distribution("toy") == Distribution("not installed", "unknown")
        with METHODS.adding("toy", Toy):
            pass
        assert "toy" in METHODS
    assert "toy" not in METHODS
    with pytest.raises(UsageError, match='its own name is "toy"'), METHODS.adding("plaything", Toy):
        pass
    with (
        pytest.raises(UsageError, match="already a method"),
        METHODS.adding("frequent-queries", FrequentQueries),
    ):
        pass


def test_a_registry_of_values() -> None:
    one = Distribution("one", "1")
    registry = Registry("thing", None, lambda: {"one": one}, value_fault)
    assert dict(registry) == {"one": one}
    with pytest.raises(UsageError, match='unknown thing "two"'):
        registry.find("two")
