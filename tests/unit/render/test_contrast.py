"""Texts have enough contrast with what is behind them, in both color schemes (WCAG AA)."""

from __future__ import annotations

import re

import pytest

from queryveil.render.html import read_static

LIGHT, DARK = read_static("colors.css").split("@media", 1)
SCHEMES = {"light": LIGHT, "dark": DARK}
TEXTS = ("ink", "soft", "good", "warn", "bad")


def luminance(color: str) -> float:
    digits = color.removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(w * x for w, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("behind", ["back", "card"])
def test_texts_can_be_read(scheme: str, text: str, behind: str) -> None:
    colors = dict(re.findall(r"--(\w+): (#[0-9a-f]+)", SCHEMES[scheme]))
    assert contrast(colors[text], colors[behind]) >= 4.5


def test_contrast_is_computed_as_defined() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)
