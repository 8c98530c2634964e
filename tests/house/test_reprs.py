"""A repr ends up in notebooks, logs and tracebacks: nothing of a log or its users stands in one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import queryveil as qv

# Tables and columns of a log, bytes of a file, users who objected: all that holds people's texts.
DATA = re.compile(r"DataFrame|LazyFrame|\bSeries\b|\bTable\b|\bbytes\b|frozenset\[str\]")
PUBLIC = {"stop_words"}  # of a language


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
