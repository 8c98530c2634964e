"""Registries: what can be named in a spec or an option, built in or from another distribution.

A registry is a mapping of names to items, such as all methods. The built-in items are discovered
in a package; others come from entry points of installed distributions::

    [project.entry-points."queryveil.methods"]
    head-queries = "acme.head:HeadQueries"

Entry points are loaded when a registry is first used. One that cannot be loaded is skipped with a
`PluginWarning`, so that it cannot stop the work of others. Two items of one name are an error:
which of them runs must never depend on the order of installation.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract, isclass
from typing import Any, Generic, TypeVar

from ..errors import ParameterError, PluginWarning, UsageError, did_you_mean
from .parameters import Parametrized, parse_spec
from .records import Record, Scalar

OWN_DISTRIBUTION = "queryveil"
Item = TypeVar("Item")
Kind = TypeVar("Kind", bound=Parametrized)


@dataclass(frozen=True, repr=False)
class Distribution(Record):
    """A distribution that provides a method, a measure or another item: its name and version."""

    shown = ("name", "version")
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Registry(Mapping[str, Item]):
    """All items of one sort by name, those of other distributions included.

    Args:
        noun: What an item is, for messages: "method".
        group: The group of entry points; None if other distributions cannot add items.
        built_ins: Returns the built-in items by name; called on first use.
        fault_of: Returns why an item that an entry point names cannot be used, or None.
    """

    def __init__(
        self,
        noun: str,
        group: str | None,
        built_ins: Callable[[], Mapping[str, Item]],
        fault_of: Callable[[str, Any], str | None],
    ) -> None:
        self.noun = noun
        self.group = group
        self._built_ins = built_ins
        self._fault_of = fault_of
        self._added: dict[str, Item] = {}

    def __getitem__(self, name: str) -> Item:
        return self._added[name] if name in self._added else self._loaded[0][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded[0] | self._added)

    def __len__(self) -> int:
        return len(self._loaded[0] | self._added)

    def names(self) -> list[str]:
        """Return the names for a help text; entry points are listed without being loaded."""
        points = entry_points(group=self.group) if self.group else ()
        return sorted({*self._built_ins(), *(point.name for point in points), *self._added})

    def find(self, name: str) -> Item:
        """Return the item of a name.

        Raises:
            UsageError: The name is unknown; the hint has a similar name.
        """
        if name not in self:
            raise UsageError(f'unknown {self.noun} "{name}"', hint=did_you_mean(name, self))
        return self[name]

    def distribution(self, name: str) -> Distribution | None:
        """Return the distribution that provides an item; None for a built-in one.

        An item that was only added for a while, or is not known by name at all, has no
        distribution that could be installed.
        """
        if name in self._added or name not in self:
            return Distribution("not installed", "unknown")
        return self._loaded[1].get(name)

    @contextmanager
    def adding(self, name: str, item: Item) -> Iterator[None]:
        """Add an item that no distribution provides, for tests and for notebooks.

        Adding it again inside of the context changes nothing.

        Raises:
            UsageError: The item cannot be used, or its name is taken.
        """
        if fault := self._fault_of(name, item):
            raise UsageError(f'"{name}" cannot be used as a {self.noun}: {fault}')
        if self._added.get(name) is item:
            yield
            return
        if name in self:
            raise UsageError(f'there is already a {self.noun} "{name}"')
        self._added[name] = item
        try:
            yield
        finally:
            del self._added[name]

    @cached_property
    def _loaded(self) -> tuple[dict[str, Item], dict[str, Distribution]]:
        """The items by name, and the distributions of those that are not built in."""
        items = dict(self._built_ins())
        distributions: dict[str, Distribution] = {}
        points = entry_points(group=self.group) if self.group else ()
        for point in sorted(points, key=lambda point: point.name):
            provider = _provider(point)
            if provider.name == OWN_DISTRIBUTION and point.name in items:
                continue
            item = self._load(point, provider)
            if item is None:
                continue
            if point.name in items:
                other = distributions.get(point.name, OWN_DISTRIBUTION)
                raise UsageError(
                    f'two distributions have a {self.noun} "{point.name}": {other} and {provider}',
                    hint="uninstall one of them, or ask its authors for another name",
                )
            items[point.name] = item
            if provider.name != OWN_DISTRIBUTION:
                distributions[point.name] = provider
        return items, distributions

    def _load(self, point: EntryPoint, provider: Distribution) -> Item | None:
        """Return the item of an entry point; None, with a warning, if it cannot be used."""
        try:
            item: Item = point.load()
            fault = self._fault_of(point.name, item)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        if fault is None:
            return item
        warnings.warn(
            f'the {self.noun} "{point.name}" of {provider} is left out: {fault}',
            PluginWarning,
            stacklevel=2,
        )
        return None


def _provider(point: EntryPoint) -> Distribution:
    if point.dist is None:
        return Distribution("an unknown distribution", "unknown")
    return Distribution(point.dist.name, point.dist.version)


class SpecRegistry(Registry[type[Kind]], Generic[Kind]):
    """All classes with declared parameters of one sort: methods or measures.

    Args:
        base: The base class.
        package: The name of the package with the built-in classes.
    """

    def __init__(self, noun: str, group: str, base: type[Kind], package: str) -> None:
        super().__init__(
            noun,
            group,
            lambda: discover_classes(base, package),
            lambda name, item: _class_fault(base, name, item),
        )

    def parse(self, text: str) -> Kind:
        """Parse a method or a measure from its spec.

        Args:
            text: A name, and parameters that are not at their default, separated by colons.

        Returns:
            The method or the measure.

        Raises:
            UsageError: The name or a parameter is unknown, or a value is out of range.

        >>> from queryveil import parse_method
        >>> parse_method("frequent-queries:min-users=20").min_users
        20
        """
        name, values = parse_spec(text)
        return self.build(name, dict(values))

    def build(self, name: str, values: Mapping[str, Scalar]) -> Kind:
        """Return an instance with these values of parameters.

        Raises:
            UsageError: The name or a parameter is unknown, or a value is out of range.
        """
        kind = self.find(name)
        own = {declared.name for declared in kind.parameters()}
        for parameter in values:
            others = [other for other, item in self.items() if _has_parameter(item, parameter)]
            if parameter not in own and others:
                raise ParameterError(
                    f"{name} has no parameter `{parameter}`",
                    parameter=parameter,
                    hint=f"these have it: {', '.join(others)}",
                )
        return kind.from_params(values)


def _has_parameter(kind: type[Parametrized], name: str) -> bool:
    return any(declared.name == name for declared in kind.user_parameters())


def discover_classes(base: type[Kind], package: str) -> dict[str, type[Kind]]:
    """Import all modules of a package; return the concrete subclasses that they define, by name."""
    classes = [
        item
        for module in _modules(package)
        for item in vars(module).values()
        if isclass(item) and item.__module__ == module.__name__ and issubclass(item, base)
    ]
    concrete = [cls for cls in classes if not isabstract(cls)]
    return {cls.name: cls for cls in sorted(concrete, key=lambda cls: cls.name)}


def discover_values(sort: type[Item], package: str) -> dict[str, Item]:
    """Import all modules of a package; return their constants of a class by their `name`."""
    values = [
        value
        for module in _modules(package)
        for constant, value in vars(module).items()
        if constant.isupper() and isinstance(value, sort)
    ]
    named = {value.name: value for value in values}  # type: ignore[attr-defined]
    return {name: named[name] for name in sorted(named)}


def _modules(package: str) -> Iterator[Any]:
    where = importlib.import_module(package)
    for module in pkgutil.walk_packages(where.__path__, f"{package}."):
        yield importlib.import_module(module.name)


def _class_fault(base: type, name: str, item: Any) -> str | None:
    """Return why an item cannot be used as a class of this name."""
    if not isclass(item) or not issubclass(item, base):
        return f"it is not a subclass of {base.__name__}"
    if isabstract(item):
        missing = ", ".join(sorted(getattr(item, "__abstractmethods__", ())))
        return f"it does not define {missing}"
    return value_fault(name, item)


def value_fault(name: str, item: Any) -> str | None:
    """Return why an item cannot have the name of its entry point; None if it can."""
    own = getattr(item, "name", None)
    return None if own == name else f'its own name is "{own}"'
