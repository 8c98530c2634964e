"""The style sheet of a picture that stands alone: colors for light and for dark screens.

Pages share `colors.css`, whose variables belong to the whole page. A picture may stand in any page,
beside other pictures: its rules apply to charts alone, and its colors are constants, which editors
and converters of SVG understand too.
"""

from __future__ import annotations

import re
from functools import cache

from ..html import read_static

_VARIABLE = re.compile(r"--(\w+): (#\w+)")
_USE = re.compile(r"var\(--(\w+)\)")
_RULE = re.compile(r"[^{}]+\{[^{}]*\}")
_MEDIA = re.compile(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_TINT = re.compile(r"\.tint[\w-]* \{[^{}]*\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SCOPE = ".qv-chart"


@cache
def picture_style() -> str:
    """Return the rules of charts, with constants for colors, and those of a dark screen."""
    light, dark = _read_colors()
    tints = [f"{_SCOPE} {rule}" for rule in _TINT.findall(read_static("colors.css"))]
    text = _COMMENT.sub("", read_static("chart.css"))
    plain = [rule.strip() for rule in (*tints, *_RULE.findall(_MEDIA.sub("", text)))]
    colored = [rule for rule in plain if "var(" in rule]
    parts = [
        *(_resolve(rule, light) for rule in plain),
        f"{_SCOPE} {{ margin: 0; max-width: 60rem; }}",
        "@media screen and (prefers-color-scheme: dark) {",
        *(_resolve(rule, dark) for rule in colored),
        "}",
        *_MEDIA.findall(text),  # last: the rules for phones hold in the dark too
    ]
    return "\n".join(parts)


def _read_colors() -> tuple[dict[str, str], dict[str, str]]:
    text = read_static("colors.css")
    (dark_text,) = _MEDIA.findall(text)
    light = dict(_VARIABLE.findall(text.replace(dark_text, "")))
    return light, light | dict(_VARIABLE.findall(dark_text))


def _resolve(rule: str, colors: dict[str, str]) -> str:
    return _USE.sub(lambda use: colors[use[1]], rule)
