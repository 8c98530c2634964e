"""An editor shows what a public function takes, returns and raises, with an example."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import queryveil

FUNCTIONS = {
    name: function
    for name in queryveil.__all__
    if inspect.isroutine(function := getattr(queryveil, name)) and name != "demo"
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_is_described(name: str) -> None:
    function: Callable[..., Any] = FUNCTIONS[name]
    text = inspect.getdoc(function) or ""
    for part in ("Args:", "Returns:", "Raises:", ">>> "):
        assert part in text, f"{name} has no {part}"
    described = re.findall(r"^    (\w+): ", text, re.M)
    missing = [one for one in inspect.signature(function).parameters if one not in described]
    assert not missing, f"{name} does not describe {missing}"
