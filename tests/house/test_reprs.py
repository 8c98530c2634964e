"""A repr ends up in notebooks, logs and tracebacks: nothing of a log or its users stands in one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from fractions import Fraction
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import queryveil as qv
from queryveil.core.records import Record, field_types

# Tables and columns of a log, bytes of a file, users who objected: all that holds people's texts.
DATA = re.compile(r"DataFrame|LazyFrame|\bSeries\b|\bTable\b|\bbytes\b|frozenset\[str\]")
PUBLIC = {"stop_words", "linkers"}  # of a language


def shown_fields() -> Iterator[tuple[str, str]]:
    for module in pkgutil.walk_packages(qv.__path__, "queryveil."):
        if module.name.endswith("__main__"):
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(kind) and is_dataclass(kind) and kind.__module__ == module.name:
                shown = fields(kind) if kind.__dataclass_params__.repr else ()
                for field in shown:
                    if field.repr and field.name not in PUBLIC:
                        yield f"{module.name}.{kind.__name__}.{field.name}", str(field.type)


def test_no_repr_shows_a_table() -> None:
    """A dataclass shows no field that holds data of a log."""
    wrong = [name for name, kind in shown_fields() if DATA.search(kind) and "Callable" not in kind]
    assert not wrong


# What a repr may show: a number, a word or a date, or a record, which shows no other fields.
PLAIN = (str, int, float, bool, type(None), date, Fraction, Enum, Record)
# Fields of a record that hold what people typed, who they are, or where their files are.
PRIVATE = re.compile(r"user|query|queries|text|texts|phrase|word|url|file|path|place|digest")


def record_classes() -> list[type[Record]]:
    waiting, classes = [Record], list[type[Record]]()
    while waiting:
        for kind in waiting.pop().__subclasses__():
            waiting.append(kind)
            if kind.__module__.startswith("queryveil."):
                classes.append(kind)
    return classes


def is_plain(kind: Any) -> bool:
    if get_origin(kind) in (Union, types.UnionType):
        return all(is_plain(choice) for choice in get_args(kind))
    return get_origin(kind) is Literal or (inspect.isclass(kind) and issubclass(kind, PLAIN))


def holds_text(kind: Any) -> bool:
    return str in (kind, *get_args(kind))


def property_type(kind: type[Record], name: str) -> Any:
    return get_type_hints(inspect.getattr_static(kind, name).fget)["return"]


def test_records_show_only_the_fields_that_they_name() -> None:
    """No record has a generated repr: it would show every field, and those of its records."""
    list(shown_fields())  # imports all modules
    classes = record_classes()
    assert len(classes) > 50
    for kind in classes:
        assert not kind.__dataclass_params__.repr, kind


def test_records_show_plain_fields_that_hold_no_data() -> None:
    list(shown_fields())
    wrong = []
    for kind in record_classes():
        for name in kind.shown:
            shown = field_types(kind).get(name) or property_type(kind, name)
            private = PRIVATE.fullmatch(name) and holds_text(shown)
            if private or not is_plain(shown):
                wrong.append(f"{kind.__name__}.{name}: {shown}")
    assert not wrong
