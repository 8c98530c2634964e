"""Typed results: frozen dataclasses that convert to JSON and back, and print without private data.

A card, a measurement or an entry of the ledger is a `Record`. Its fields, their types and their
order are those of its JSON document; the documentation's JSON schemas are generated from them
(`schemas.py`)::

    @dataclass(frozen=True, repr=False)
    class CheckResult(Record):
        shown = ("check", "holds")
        check: str
        holds: bool
        message: str

`repr=False` keeps the short `repr` of `Record`: it shows the fields that the class names, and no
others, because a notebook with its output is often shared.
"""

from __future__ import annotations

import dataclasses
import json
import re
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NoReturn,
    Self,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from ..errors import QueryveilError, VerificationError
from .notebook import Cell, NotebookShown, NotebookView

Scalar: TypeAlias = str | int | float | bool | None
# What `json` reads and writes: its values have any type until a record has checked them.
JsonObject: TypeAlias = dict[str, Any]
if TYPE_CHECKING:
    Json: TypeAlias = Scalar | Sequence["Json"] | Mapping[str, "Json"]
else:
    Json = Any  # type hints of records are read at run time, where a recursive alias has no end

# The digits are bounded: "1e999999999" would fill the memory.
_FRACTION = re.compile(r"-?([0-9]{1,1300}(/[0-9]{1,1300})?|[0-9.]{1,40}(E[+-]?[0-9]{1,4})?)")


def _parse_fraction(text: str) -> Fraction:
    if not _FRACTION.fullmatch(text):
        raise VerificationError(f"{text[:40]} is not an exact number")
    return Fraction(text)


_TEXT_FORMS: dict[Any, Any] = {
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    Fraction: _parse_fraction,
    Path: Path,
}


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed; unlike a mapping proxy it can be pickled and written as JSON.

    >>> FrozenDict(rows=3)["rows"]
    3
    >>> FrozenDict(rows=3).update(rows=4)
    Traceback (most recent call last):
    TypeError: a result cannot be changed; copy it with dict(...)
    """

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise TypeError("a result cannot be changed; copy it with dict(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


# For a required field whose keys stand beside the others: `field(metadata=FLAT)`.
FLAT = {"flat": True}


def json_field(*, flat: bool = False, optional: bool = False, **kwargs: Any) -> Any:
    """Declare a field of a record whose JSON form is special.

    Args:
        flat: The value is a record or a mapping whose keys stand beside the other fields' keys.
        optional: The key is left out where the value is None or empty.
        kwargs: What `dataclasses.field` takes, such as `default`.
    """
    return dataclasses.field(metadata={"flat": flat, "optional": optional}, **kwargs)


@dataclass(frozen=True, repr=False)
class Record(NotebookShown):
    """The base class of typed results."""

    # The fields that `repr` shows: never names of users, queries or arrays.
    shown: ClassVar[tuple[str, ...]] = ()
    # A document that is stored or exchanged by itself has a number, which its first key holds.
    schema_number: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        for declared in dataclasses.fields(self):
            value = getattr(self, declared.name)
            if isinstance(value, dict) and not isinstance(value, FrozenDict):
                object.__setattr__(self, declared.name, FrozenDict(value))
            elif isinstance(value, list):
                object.__setattr__(self, declared.name, tuple(value))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.shown)
        return f"{type(self).__name__}({values})"

    def notebook_view(self) -> NotebookView | None:
        """Return what a notebook shows: the fields that `repr` shows."""
        if not self.shown:
            return None
        values = ((name, getattr(self, name)) for name in self.shown)
        facts = ((name.replace("_", " "), _to_cell(value)) for name, value in values)
        return NotebookView(
            type(self).__name__, tuple(fact for fact in facts if fact[1] is not None)
        )

    def to_dict(self) -> JsonObject:
        """Return the JSON form, with the keys in the order of the fields."""
        document: JsonObject = {}
        if self.schema_number is not None:
            document["schema"] = self.schema_number
        for declared in dataclasses.fields(self):
            value = getattr(self, declared.name)
            if declared.metadata.get("optional") and _is_empty(value):
                continue
            converted = to_json_value(value)
            if declared.metadata.get("flat"):
                document.update(converted or {})
            else:
                document[declared.name] = converted
        return document

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the JSON document as text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False)

    @classmethod
    def from_dict(cls, document: Any) -> Self:
        """Build the record from its JSON form.

        Raises:
            VerificationError: A key is missing or unknown, or a value has the wrong type.
        """
        record: Self = _read_record(cls, document, cls.__name__)
        return record


def to_json_value(value: Any) -> Any:  # noqa: PLR0911  (one case a type)
    """Return a value as JSON has it: records and mappings as dicts, tuples as lists.

    >>> to_json_value({"epsilon": Fraction(1, 2), "rows": (1, 2)})
    {'epsilon': '1/2', 'rows': [1, 2]}
    """
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_json_value(item) for item in value]
    if isinstance(value, date):  # a datetime is a date too
        return value.isoformat()
    if isinstance(value, Fraction | Path):
        return str(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def _to_cell(value: Any) -> Cell:
    if isinstance(value, Enum):
        return str(value.value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, tuple | Mapping) and not value)


@cache
def field_types(cls: Any) -> Mapping[str, Any]:
    """Return the type of each field of a record class `cls`."""
    hints = get_type_hints(cls)
    return {declared.name: hints[declared.name] for declared in dataclasses.fields(cls)}


def is_required(declared: dataclasses.Field[Any]) -> bool:
    """Return whether a JSON document must have the key of a field."""
    has_default = (
        declared.default is not dataclasses.MISSING
        or declared.default_factory is not dataclasses.MISSING
    )
    return not has_default and not declared.metadata.get("optional")


def _read_record(cls: Any, document: Any, where: str) -> Any:
    if not isinstance(document, Mapping):
        raise _wrong(where, "a JSON object", document)
    rest = dict(document)
    if cls.schema_number is not None and rest.pop("schema", None) != cls.schema_number:
        raise VerificationError(
            f"{where} does not have schema {cls.schema_number}",
            hint="another version of queryveil wrote it",
        )
    values = _read_fields(cls, rest, where)
    if rest:
        raise VerificationError(f'{where} has an unknown key "{str(next(iter(rest)))[:40]}"')
    return _build(cls, values, where)


def _build(cls: Any, values: JsonObject, where: str) -> Any:
    try:
        return cls(**values)
    except QueryveilError as error:  # a value that the class itself refuses
        raise VerificationError(f"{where} is damaged: {error.what}") from error


def _read_fields(cls: Any, rest: JsonObject, where: str) -> JsonObject:
    """Return the values of the fields by name; their keys are taken out of `rest`."""
    expected, values = field_types(cls), JsonObject()
    flat = []
    for declared in dataclasses.fields(cls):
        if declared.metadata.get("flat"):
            flat.append(declared)
        elif declared.name in rest:
            path = f"{where}.{declared.name}"
            values[declared.name] = read_value(
                expected[declared.name], rest.pop(declared.name), path
            )
        elif is_required(declared):
            raise VerificationError(f'{where} has no key "{declared.name}"')
    for declared in flat:  # records first by their own keys; a mapping takes all keys that are left
        values[declared.name] = _read_flat(expected[declared.name], rest, where)
    return values


def flat_record(expected: Any) -> tuple[Any, bool]:
    """Return the record class of a flat field (None: a mapping), and whether it may be None."""
    choices = (
        get_args(expected) if get_origin(expected) in (Union, types.UnionType) else (expected,)
    )
    classes = [kind for kind in choices if isinstance(kind, type) and issubclass(kind, Record)]
    return (classes[0] if classes else None), type(None) in choices


def _read_flat(expected: Any, rest: JsonObject, where: str) -> Any:
    """Read a field whose keys stand beside those of the other fields."""
    record, may_be_none = flat_record(expected)
    if record is not None:
        if may_be_none and not any(key in rest for key in field_types(record)):
            return None
        return _build(record, _read_fields(record, rest, where), where)
    taken = dict(rest)
    rest.clear()
    return read_value(expected, taken, where)


def read_value(  # noqa: PLR0911  (one case a type)
    expected: Any, value: Any, where: str
) -> Any:
    """Return a JSON value as the type that is expected, or raise VerificationError."""
    origin, arguments = get_origin(expected), get_args(expected)
    if expected is Any:
        return value
    if origin in (Union, types.UnionType):
        return _read_union(arguments, value, where)
    if origin is Literal:
        if value not in arguments:
            raise _wrong(where, f"one of {', '.join(map(str, arguments))}", value)
        return value
    if origin is tuple:
        return _read_tuple(arguments, value, where)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _read_mapping(arguments, value, where)
    if issubclass(expected, Record):
        return _read_record(expected, value, where)
    return _read_plain(expected, value, where)


def _read_union(arguments: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in arguments:
        return None
    choices = [one for one in arguments if one is not type(None)]
    # The text of a date is a text too, so the types are tried in the order in which they stand.
    for choice in choices[:-1]:
        try:
            return read_value(choice, value, where)
        except VerificationError:
            continue
    return read_value(choices[-1], value, where)


def _read_tuple(arguments: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise _wrong(where, "a list", value)
    if arguments[1:] == (...,):
        return tuple(read_value(arguments[0], one, f"{where}[]") for one in value)
    if len(value) != len(arguments):
        raise _wrong(where, f"a list of {len(arguments)} values", value)
    return tuple(read_value(*pair, f"{where}[]") for pair in zip(arguments, value, strict=True))


def _read_mapping(arguments: tuple[Any, ...], value: Any, where: str) -> FrozenDict:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _wrong(where, "a JSON object", value)
    return FrozenDict({key: read_value(arguments[1], one, where) for key, one in value.items()})


def _read_plain(expected: type[Any], value: Any, where: str) -> Any:
    """Read a text, a number, a truth value, or what is written as a text."""
    if expected is float and type(value) is int and abs(value) < 1 << 1000:
        return float(value)
    if expected in (str, int, float, bool):
        if type(value) is expected:
            return value
    elif isinstance(value, str) and (expected in _TEXT_FORMS or issubclass(expected, Enum)):
        try:
            return _TEXT_FORMS.get(expected, expected)(value)
        except (ValueError, TypeError, ZeroDivisionError, VerificationError):
            pass
    raise _wrong(where, f"of type {expected.__name__}", value)


def _wrong(where: str, expected: str, value: Any) -> VerificationError:
    return VerificationError(f"{where} is not {expected}, but a {type(value).__name__}")
