"""A chart as a picture: alone, in the dark, and beside others."""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from queryveil.errors import UsageError
from queryveil.render.charts.bars import Bar, Reference, bar_chart
from queryveil.render.charts.line import ChartLine, ChartPoint, line_chart
from queryveil.render.charts.picture import Chart
from queryveil.render.charts.style import picture_style

SVG = "{http://www.w3.org/2000/svg}"


def lines(label: str = "a", title: str = "t") -> object:
    points = tuple(ChartPoint(x, 1.0 + x, 1.0 + x, 1.0 + x, f"at {x}") for x in (1.0, 2.0))
    return line_chart([ChartLine(label, points)], title=title, x_title="x", y_title="y")


def bars(*values: float, **more: object) -> object:
    made = [Bar(f"row {i}", value, f"{value:g}", **more) for i, value in enumerate(values)]
    return bar_chart(made, title="bars", x_title="users")


def test_a_picture_needs_nothing_else() -> None:
    text = Chart("two & three", (lines(), bars(2.0, 4.0))).svg
    svg = ElementTree.fromstring(text)
    assert svg.find(f"{SVG}title").text == "two & three"
    assert svg.get("aria-label") == "two & three"
    assert not re.search(r"<script|href|url\(|@import|var\(", text)


def test_its_rules_are_for_charts_alone() -> None:
    """A notebook has several pictures, and its own style: no rule may reach beyond a picture."""
    style = picture_style()
    for selectors in re.findall(r"([^{}]+)\{[^{}]*\}", re.sub(r"@media[^{]*\{", "", style)):
        for selector in selectors.split(","):
            assert selector.strip().strip("}").strip().startswith(".qv-chart")


def test_it_has_colors_for_the_dark() -> None:
    light, dark = picture_style().split("@media screen and (prefers-color-scheme: dark)")
    ink = re.compile(r"\.qv-chart \.tint0 \{ color: (#\w+); \}")
    assert ink.search(light)[1] != ink.search(dark)[1]
    rest = dark[dark.index("@media") :]
    assert "max-width" in rest  # what holds on phones comes last, for both


def test_several_charts_have_one_legend() -> None:
    chart = Chart("t", (lines("same"), lines("same"), lines("other")), columns=2)
    texts = [one.text for one in ElementTree.fromstring(chart.svg).iter(f"{SVG}text")]
    assert texts.count("same") == 1
    assert texts.count("other") == 1


def test_it_is_saved_by_its_ending(tmp_path: Path) -> None:
    chart = Chart("<t>", (lines("<b>"),))
    svg = chart.save(tmp_path / "a.svg")
    assert svg.read_text() == chart.svg == chart._repr_svg_()
    assert stat.S_IMODE(svg.stat().st_mode) == 0o600  # it may show private figures
    page = chart.save(str(tmp_path / "a.html")).read_text()
    assert "<title>&lt;t&gt;</title>" in page
    assert "<b>" not in page
    with pytest.raises(UsageError, match=r'"a\.jpg"') as raised:
        chart.save(tmp_path / "a.jpg")
    assert ".svg, .html, .png" in raised.value.hint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.svg"]


def test_png_needs_a_converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(UsageError, match="needs resvg_py"):
        Chart("t", (lines(),)).save(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_bars_are_as_long_as_their_values() -> None:
    first, second = bars(2.0, 4.0).bars
    assert second.width == pytest.approx(2 * first.width, abs=0.2)
    assert bars().bars if bars() else bars() is None


def test_bars_with_their_own_scales_have_no_axis() -> None:
    made = [Bar("a", 1.0, "1", maximum=2.0), Bar("b", 50.0, "50", maximum=100.0)]
    chart = bar_chart(made, title="t", x_title="")
    assert chart.bars[0].width == chart.bars[1].width
    assert chart.x_axis.ticks == ()


def test_bars_show_intervals_and_baselines() -> None:
    (bar,) = bars(5.0, interval=(4.0, 8.0), references=(Reference("by chance", 2.0),)).bars
    low, high = bar.reach
    assert low < bar.width + 236 < high
    assert bar.references[0] < low
    assert bar.tooltip == "row 0: 5; by chance 2"
    assert bar.text_x > high
