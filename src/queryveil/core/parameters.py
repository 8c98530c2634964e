"""Classes with declared parameters: a method or a measure is a small frozen value.

The declaration is the source of the command help, the errors, the docs and the cards. Such a
value prints as a spec, which is one line of text, and is parsed back from it::

    frequent-queries:min-users=20:pseudonym-scope=session
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Self,
    get_args,
    get_origin,
    get_type_hints,
)

from ..errors import ParameterError, did_you_mean
from .records import Scalar


@dataclass(frozen=True)
class Parameter:
    """A parameter: its type, range, default, unit and one line of help.

    An internal parameter is set by the program: it is on cards and in specs, and never in help.
    A number may have words for special values: `int | Literal["auto"]`.
    """

    name: str
    type: type
    default: Any
    help: str
    min: float | None = None
    max: float | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    internal: bool = False
    words: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """The parameter as an option of a command."""
        return "--" + self.name.replace("_", "-")

    def parse(self, value: Any) -> Any:
        """Convert a value or its text to the parameter's type; raise if it is not allowed."""
        if isinstance(value, str) and value in self.words:
            return value
        if isinstance(value, str) and self.type is not str:
            value = self._from_text(value)
        if self.type is float and type(value) is int:
            value = float(value)
        if type(value) is not self.type or not self._allows(value):
            raise self._error(value)
        return value

    def _allows(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        low = -math.inf if self.min is None else self.min
        high = math.inf if self.max is None else self.max
        return self.type is str or low <= value <= high  # False for NaN too

    def _from_text(self, text: str) -> Any:
        words = {"true": True, "yes": True, "false": False, "no": False}
        try:
            return words[text.lower()] if self.type is bool else self.type(text)
        except (ValueError, KeyError):
            return text

    def _error(self, value: Any) -> ParameterError:
        allowed = self.allowed
        if self.type is float and isinstance(value, str) and re.fullmatch(r"\d+,\d+", value):
            allowed += f", with a point ({value.replace(',', '.')})"
        return ParameterError(
            f'`{self.name}` cannot be "{value}"',
            parameter=self.name,
            hint=f"it must be {allowed}: {self.help}",
        )

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        type_names = {int: "a whole number", float: "a number", bool: "yes or no", str: "a text"}
        low = f" from {format_value(self.min)}" if self.min is not None else ""
        high = f" to {format_value(self.max)}" if self.max is not None else ""
        words = "".join(f"{word}, " for word in self.words) + "or " * bool(self.words)
        return f"{words}{type_names[self.type]}{low}{high}"

    @property
    def documentation(self) -> str:
        """The parameter as one line of a docstring."""
        text = f"{self.help[:1].upper()}{self.help[1:]}".rstrip(".")
        return f"{self.name}: {text}; {self.allowed}. Default: {self.default!r}."


def format_value(value: Scalar) -> str:
    """Return a value of a parameter as people write it.

    >>> format_value(1.0), format_value(0.4), format_value(1_000_000), format_value(1e-9)
    ('1', '0.4', '1,000,000', '1e-09')
    """
    if isinstance(value, str | bool) or value is None:
        return str(value)
    return f"{int(value):,}" if value == int(value) else f"{value:,}"


def parameter(
    default: Any,
    help: str,  # noqa: A002  (the name that argparse, click and typer have for it)
    *,
    min: float | None = None,  # noqa: A002
    max: float | None = None,  # noqa: A002
    choices: tuple[str, ...] = (),
    unit: str = "",
    internal: bool = False,
) -> Any:
    """Declare a parameter: its default, one line of help, and its range."""
    metadata = {"help": help, "min": min, "max": max, "choices": choices, "unit": unit}
    return field(default=default, metadata=metadata | {"internal": internal})


class _Signature:
    """The signature of a class with parameters, from its declarations."""

    def __get__(self, instance: object, owner: type[Parametrized]) -> inspect.Signature:
        hints = get_type_hints(owner)
        return inspect.Signature(
            [
                inspect.Parameter(
                    declared.name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=declared.default,
                    annotation=hints[declared.name],
                )
                for declared in dataclasses.fields(owner)
            ]
        )


class _Documentation:
    """The docstring of a class, with a list of its parameters for notebooks and `help()`."""

    def __init__(self, text: str | None) -> None:
        self.text = inspect.cleandoc(text or "")

    def __get__(self, instance: object, owner: type[Parametrized]) -> str:
        declared = () if inspect.isabstract(owner) else owner.user_parameters()
        if not declared or "__dataclass_fields__" not in vars(owner):
            return self.text
        lines = "\n".join(f"    {parameter.documentation}" for parameter in declared)
        about, mark, example = self.text.partition("\n>>> ")
        return f"{about.rstrip()}\n\nArgs:\n{lines}\n{mark}{example}"


@dataclass(frozen=True)
class Parametrized:
    """A base class with declared parameters, which are checked on construction."""

    name: ClassVar[str]

    if not TYPE_CHECKING:  # type checkers read the fields, and the docstring as it is written
        __signature__ = _Signature()

        def __new__(cls, *_args: object, **values: object) -> Self:
            """Check the names of the parameters before Python does, for a better message."""
            cls._check_names(values)
            return super().__new__(cls)

        def __init_subclass__(cls, **kwargs: object) -> None:
            super().__init_subclass__(**kwargs)
            cls.__doc__ = _Documentation(cls.__doc__)

    def __post_init__(self) -> None:
        for declared in self.parameters():
            object.__setattr__(self, declared.name, declared.parse(getattr(self, declared.name)))

    @classmethod
    @cache  # a comparison builds hundreds of methods; reading type hints takes milliseconds
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the declared parameters."""
        hints = get_type_hints(cls)
        return tuple(
            Parameter(f.name, kind, f.default, **f.metadata, words=words)
            for f in dataclasses.fields(cls)
            for kind, words in [_split_hint(hints[f.name])]
        )

    @classmethod
    def user_parameters(cls) -> tuple[Parameter, ...]:
        """Return the parameters that users set, for help: all but internal ones."""
        return tuple(declared for declared in cls.parameters() if not declared.internal)

    @classmethod
    def from_params(cls, values: Mapping[str, Scalar]) -> Self:
        """Build an instance from values or texts; raise if a name is not a parameter."""
        cls._check_names(values)
        return cls(**values)

    @classmethod
    def _check_names(cls, names: Iterable[str]) -> None:
        known = {declared.name for declared in dataclasses.fields(cls)}
        for name in names:
            if name not in known:
                raise ParameterError(
                    f"{cls.name} has no parameter `{name}`",
                    parameter=name,
                    hint=did_you_mean(name, known, quote="`"),
                )

    def params(self) -> dict[str, Scalar]:
        """Return the parameters and their values."""
        return {declared.name: getattr(self, declared.name) for declared in self.parameters()}

    def __str__(self) -> str:
        changed = (d for d in self.parameters() if getattr(self, d.name) != d.default)
        parts = (f"{d.name.replace('_', '-')}={getattr(self, d.name)}" for d in changed)
        return ":".join([self.name, *parts])


def _split_hint(hint: Any) -> tuple[type, tuple[str, ...]]:
    """Return the type of an annotation, and the words that are allowed beside it.

    >>> _split_hint(int | Literal["auto"])
    (<class 'int'>, ('auto',))
    """
    kinds = [kind for kind in get_args(hint) or (hint,) if get_origin(kind) is not Literal]
    literals = [kind for kind in get_args(hint) if get_origin(kind) is Literal]
    return kinds[0], tuple(word for literal in literals for word in get_args(literal))


def parse_spec(text: str) -> tuple[str, dict[str, str]]:
    """Split a spec into its name and the texts of its parameters.

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
            raise ParameterError(f'"{key.strip()}" is twice in "{text}"', hint="give it once")
        values[option] = value.strip()
    return name, values


def split_specs(text: str, names: Iterable[str]) -> list[str]:
    """Split a comma-separated list into specs.

    A piece that does not begin with one of `names` continues a value that contains a comma.

    >>> split_specs("a:topics=x,y,b", ["a", "b"])
    ['a:topics=x,y', 'b']
    """
    known, specs = set(names), list[str]()
    for piece in text.split(","):
        if specs and piece.partition(":")[0].strip() not in known:
            specs[-1] += f",{piece}"
        else:
            specs.append(piece)
    return [spec.strip() for spec in specs]
