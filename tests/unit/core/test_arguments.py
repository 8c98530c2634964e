"""A misspelled keyword argument is answered with the name that was probably meant."""

from __future__ import annotations

import inspect

import pytest

from queryveil.core.arguments import guided
from queryveil.errors import ArgumentError, UsageError


@guided
def draw(shape: str, *, color: str = "red") -> str:
    """Draw a shape."""
    return f"{color} {shape}"


def test_a_similar_name_is_suggested() -> None:
    assert draw("circle") == "red circle"
    assert draw(shape="circle", color="blue") == "blue circle"
    with pytest.raises(ArgumentError, match=r'draw\(\) has no argument "colour".*`color`'):
        draw("circle", colour="blue")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required positional"):
        draw()  # type: ignore[call-arg]


def test_the_error_is_one_of_usage_and_of_python() -> None:
    assert issubclass(ArgumentError, UsageError)
    assert issubclass(ArgumentError, TypeError)


def test_editors_see_the_function_itself() -> None:
    assert str(inspect.signature(draw)) == "(shape: 'str', *, color: 'str' = 'red') -> 'str'"
    assert draw.__doc__ == "Draw a shape."
    assert draw.__name__ == "draw"
