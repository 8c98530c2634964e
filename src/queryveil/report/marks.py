"""What tells the methods of a chart apart: a colour, a dash and a shape each."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["PALETTE", "color", "dash", "marker", "star_marker"]

_MANY = 10
_LIGHT = ("#0067a5", "#d1495b", "#2e8b57", "#b8720a", "#7a4fb5",
          "#0b8f9c", "#b5398c", "#6b6b00", "#5c6670", "#8c4a2f")  # fmt: skip
_DARK = ("#5fb2ec", "#f58a97", "#66cf98", "#f0b457", "#b99af0",
         "#55d0dc", "#ee86c9", "#cfcf55", "#aab6c1", "#d99a7c")  # fmt: skip
_DASHES = ("", "7 4", "2 3")


def _variables(colours: Sequence[str]) -> str:
    return "".join(f"--line{i}:{value};" for i, value in enumerate(colours))


PALETTE = f"""
:root {{ {_variables(_LIGHT)} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(_DARK)} }} }}
"""


def color(number: int) -> str:
    """Give the colour of a line, as a variable of the style `COLOURS`."""
    return f"var(--line{number % _MANY})"


def dash(number: int) -> str:
    """Give the attribute by which lines of the same colour differ."""
    pattern = _DASHES[number // _MANY % len(_DASHES)]
    return f' stroke-dasharray="{pattern}"' if pattern else ""


def marker(number: int, x: float, y: float) -> str:
    """Give each line a shape of its own: colours alone are not seen by all."""
    if number % 4 == 0:
        return f'<circle class="mark" cx="{x}" cy="{y}" r="4.5"/>'
    turns = {1: 0, 2: 45}
    if number % 4 in turns:
        turn = turns[number % 4]
        return (
            f'<rect class="mark" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" '
            f'transform="rotate({turn} {x} {y})"/>'
        )
    return f'<path class="mark" d="M{x} {y - 5.5:.1f}l5.5 9.5h-11z"/>'


def star_marker(x: float, y: float) -> str:
    """Give the shape of the one run that a chart is about."""
    return (
        f'<path class="mark" d="M{x} {y - 9:.1f}l2.6 6 6.4 .6-4.8 4.3 1.4 6.3-5.6-3.3'
        '-5.6 3.3 1.4-6.3-4.8-4.3 6.4-.6z"/>'
    )
