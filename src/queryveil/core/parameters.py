"""Things with declared parameters: a method or a measure is a small frozen value.

The help of the commands, the errors, the docs and the cards are made from the declaration. Such a
value prints as one line and parses back from it::

    frequent-queries:n=20:link=session
"""

from __future__ import annotations

import dataclasses
import importlib
import math
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from inspect import isabstract
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

from ..errors import ParameterError, did_you_mean


@dataclass(frozen=True)
class Parameter:
    """One parameter: its type, range, default, unit, and one line in plain words."""

    name: str
    type: type
    default: Any
    help: str
    min: float | None = None
    max: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""

    @property
    def option(self) -> str:
        """The parameter as an option of a command."""
        return "--" + self.name.replace("_", "-")

    def parse(self, value: Any) -> Any:
        """Turn a value or its text into the parameter's type, or say what it must be."""
        if isinstance(value, str) and self.type is not str:
            value = self._from_text(value)
        if self.type is float and type(value) is int:
            value = float(value)
        if type(value) is not self.type or not self._allows(value):
            raise self._wrong(value)
        return value

    def _allows(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        low = -math.inf if self.min is None else self.min
        high = math.inf if self.max is None else self.max
        return self.type is str or low <= value <= high  # false for NaN too

    def _from_text(self, text: str) -> Any:
        words = {"true": True, "yes": True, "false": False, "no": False}
        try:
            return words[text.lower()] if self.type is bool else self.type(text)
        except (ValueError, KeyError):
            return text

    def _wrong(self, value: Any) -> ParameterError:
        return ParameterError(
            f'{self.option} cannot be "{value}"', hint=f"it must be {self.allowed}: {self.help}"
        )

    @property
    def allowed(self) -> str:
        """What values are allowed, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        kind = {int: "a whole number", float: "a number", bool: "yes or no", str: "a text"}
        low = f" from {self.min:,}" if self.min is not None else ""
        high = f" to {self.max:,}" if self.max is not None else ""
        return f"{kind[self.type]}{low}{high}"


def parameter(
    default: Any,
    help: str,  # noqa: A002  (the name that argparse, click and typer have for it)
    *,
    min: float | None = None,  # noqa: A002
    max: float | None = None,  # noqa: A002
    choices: tuple[str, ...] = (),
    unit: str = "",
) -> Any:
    """Declare a parameter: its default, one line in plain words, and its range."""
    about = {"help": help, "min": min, "max": max, "choices": choices, "unit": unit}
    return field(default=default, metadata=about)


@dataclass(frozen=True)
class Parametrized:
    """The base of what has declared parameters: they are checked when it is made."""

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for declared in self.parameters():
            object.__setattr__(self, declared.name, declared.parse(getattr(self, declared.name)))

    @classmethod
    @cache  # a comparison makes hundreds of methods, and reading type hints takes milliseconds
    def parameters(cls) -> tuple[Parameter, ...]:
        """List the declared parameters."""
        kinds = get_type_hints(cls)
        return tuple(
            Parameter(f.name, kinds[f.name], f.default, **f.metadata)
            for f in dataclasses.fields(cls)
        )

    @classmethod
    def from_params(cls, values: dict[str, Any]) -> Self:
        """Make it from values or texts, refusing names it does not have."""
        known = [declared.name for declared in cls.parameters()]
        for name in values:
            if name not in known:
                option = name.replace("_", "-")
                raise ParameterError(
                    f'{cls.name} has no parameter "{option}"',
                    hint=did_you_mean(option, [n.replace("_", "-") for n in known]),
                )
        return cls(**values)

    def params(self) -> dict[str, Any]:
        """Give the parameters and their values."""
        return {declared.name: getattr(self, declared.name) for declared in self.parameters()}

    def __str__(self) -> str:
        changed = (d for d in self.parameters() if getattr(self, d.name) != d.default)
        parts = (f"{d.name.replace('_', '-')}={getattr(self, d.name)}" for d in changed)
        return ":".join([self.name, *parts])


Kind = TypeVar("Kind", bound=Parametrized)


def discover(base: type[Kind], registry: str, file: str) -> dict[str, type[Kind]]:
    """Give by their names all that a room defines of a base, in any of its files.

    `registry` and `file` are the name and the file of the module that asks: its room is searched.
    """
    room = registry.rpartition(".")[0]
    for module in pkgutil.walk_packages([str(Path(file).parent)], f"{room}."):
        importlib.import_module(module.name)
    found = [kind for kind in _below(base) if not isabstract(kind)]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: kind.name)}


def _below(kind: type[Kind]) -> list[type[Kind]]:
    return [deeper for direct in kind.__subclasses__() for deeper in (direct, *_below(direct))]


def parse_spec(text: str) -> tuple[str, dict[str, str]]:
    """Part one line into a name and the texts of its parameters.

    >>> parse_spec("semantic-microaggregation:k=3:taxonomy=wordnet")
    ('semantic-microaggregation', {'k': '3', 'taxonomy': 'wordnet'})
    """
    name, *parts = text.strip().split(":")
    values: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise ParameterError(f'"{part}" in "{text}"', hint="write it as name=value")
        option = key.strip().replace("-", "_")
        if option in values:
            raise ParameterError(f'"{key.strip()}" stands twice in "{text}"', hint="give it once")
        values[option] = value.strip()
    return name, values


def split_specs(text: str, names: Iterable[str]) -> list[str]:
    """Part a list with commas into lines; a piece that begins with no name has a comma in a value.

    >>> split_specs("a:topics=x,y,b", ["a", "b"])
    ['a:topics=x,y', 'b']
    """
    known, lines = set(names), list[str]()
    for piece in text.split(","):
        if lines and piece.partition(":")[0].strip() not in known:
            lines[-1] += f",{piece}"
        else:
            lines.append(piece)
    return [line.strip() for line in lines]
